"""Verdicts: when each is given, for whom, and what it says."""

import math

import numpy as np
import pytest

import multiduel as md
from multiduel.inference import Forecast, Tally, Weighed, forecast, verdict
from multiduel.inference.evidence import run, stakes_of
from multiduel.inference.forecast import fill_missing, strengths
from multiduel.kernels.evidence import log_evidence
from multiduel.kernels.random import stream

CYCLE = np.array([[0, 90, 30], [30, 0, 90], [90, 30, 0]])


def clear(K, wins, losses=0):
    """0 beats all, everything else is even."""
    D = np.full((K, K), 10.0)
    np.fill_diagonal(D, 0.0)
    D[0, 1:], D[1:, 0] = wins, losses
    return D


def needed_wins(bound):
    return next(n for n in range(1000) if log_evidence(float(n), 0.0) >= bound)


@pytest.mark.parametrize("K", [2, 5, 20])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_a_winner_needs_ln_K_over_alpha_against_each(K, alpha):
    n = needed_wins(math.log(K / alpha))
    assert verdict(clear(K, n), alpha=alpha).winner == 0
    assert verdict(clear(K, n), alpha=alpha).kind == "winner"
    D = clear(K, 500)
    D[0, K - 1] = n - 1
    short = verdict(D, alpha=alpha)
    assert short.winner is None and short.kind in ("narrowed", "open") and 0 in short.still_in


def test_out_needs_one_over_alpha_in_the_mean_over_rivals():
    n = needed_wins(math.log(2 / 0.05))  # two rivals: one has all the evidence, the other 1 at most
    D = np.zeros((3, 3))
    D[0, 1] = n
    result = verdict(D)
    mean = (math.exp(log_evidence(float(n), 0.0)) + 1.0) / 2.0
    assert result.against[1] == pytest.approx(math.log(mean)) and result.out == (1,) and result.still_in == (0, 2)
    D[0, 1] = n - 2
    assert verdict(D).kind == "open"


def test_the_last_one_in_is_not_the_winner():
    D = np.zeros((3, 3))
    D[0, 1], D[1, 2] = 60, 60  # 0 and 2 never met
    result = verdict(D)
    assert result.still_in == (0,) and result.kind == "narrowed" and result.winner is None and not result.settled
    assert "that there is one is not certain" in str(result)


def test_a_cycle_is_named_and_certain_only_if_every_step_is():
    result = verdict(CYCLE, names=["rock", "scissors", "paper"])
    assert result.kind == "cycle" and result.settled and result.winner is None and result.cycle_is_certain
    steps = set(zip(result.cycle, (*result.cycle[1:], result.cycle[0]), strict=True))
    assert steps == {(0, 1), (1, 2), (2, 0)}
    assert "No option beats all others" in str(result) and "'rock' above 'scissors'" in str(result)
    between = next(n for n in range(30, 90) if log_evidence(float(n), 30.0) > math.log(2 / 0.05))
    assert log_evidence(float(between), 30.0) < math.log(6 / 0.05)
    weaker = verdict(np.array([[0, between, 30], [30, 0, 90], [90, 30, 0]]))
    assert weaker.kind == "cycle" and not weaker.cycle_is_certain and "most place" in str(weaker)


def test_a_margin_settles_two_equal_leaders():
    D = np.array([[0, 400, 90], [400, 0, 90], [10, 10, 0]])
    assert verdict(D).winner is None
    result = verdict(D, margin=0.1)
    assert result.winner in (0, 1) and result.kind == "winner"
    assert "no other option is preferred to it in more than 60 %" in str(result)
    ties = np.zeros((3, 3))
    ties[0, 1] = ties[1, 0] = 300.0
    D[0, 1] = D[1, 0] = 0
    assert verdict(D, ties).winner is None  # without a margin ties say nothing
    assert verdict(D, ties, margin=0.1).winner in (0, 1)  # with one they are what is asked for


def test_options_that_come_and_go():
    few = needed_wins(math.log(2 * 6 / 0.05))
    D = clear(4, few)
    assert verdict(D, room=6).winner == 0
    assert verdict(clear(4, few - 1), room=6).winner is None
    D[3, 0] = 100.0  # 3 may beat 0: once it has retired that does not matter, but every pair must hold
    assert verdict(D, room=6).winner is None
    many = needed_wins(math.log(2 * 6 * 5 / 0.05))
    assert many > few and verdict(D, room=6, retired=[3]).winner is None
    D[0, 1:3] = many
    late = verdict(D, room=6, retired=[3])
    assert late.winner == 0 and late.present == (0, 1, 2) and 3 not in late.still_in + late.out
    E = np.zeros((4, 4))
    E[1, 2] = needed_wins(math.log(2 * 6 / 0.05)) + 3
    full = verdict(E, room=6)
    assert full.against[2] == pytest.approx(math.log((math.exp(log_evidence(E[1, 2], 0.0)) + 4.0) / 5.0))
    after = verdict(E, room=6, retired=[0])
    assert after.against[2] == pytest.approx(log_evidence(E[1, 2], 0.0))
    assert verdict(np.zeros((1, 1)), room=3).winner == verdict(np.zeros((1, 1)), room=1).winner == 0


def test_for_whom():
    tally = Tally(2, unit="rater")
    for rater in range(30):
        tally.add((0, 1), [[0, 1], [0, 0]], rater=rater)
    assert "for people like these raters" in str(verdict(tally)) and "raters that tell the two apart" in str(verdict(tally))
    assert "for these raters" in str(verdict(tally.above))
    for D in (np.zeros((3, 3)), CYCLE, clear(3, 30), clear(3, 9)):
        for unit, words in (("answer", "for these raters"), ("rater", "for people like these raters")):
            assert words in str(verdict(D, unit=unit))
    assert verdict(tally).to_json()["unit"] == verdict(tally, unit="rater").unit == "rater"
    with pytest.raises(md.BadInput, match="'unit' of this tally is 'rater'"):
        verdict(tally, unit="answer")


def test_copeland_and_borda_stand_beside():
    result = verdict(CYCLE)
    assert [(s.value, s.low, s.high) for s in result.copeland] == [(1.0, 1.0, 1.0)] * 3
    assert all(s.value == 0.5 and s.low < 0.5 < s.high for s in result.borda)
    top = verdict(clear(3, 50)).copeland[0]
    assert top.arm == 0 and (top.value, top.low, top.high) == (2.0, 2.0, 2.0)
    low, high = verdict(clear(3, 50)).intervals
    bordas = {s.arm: s for s in verdict(clear(3, 50)).borda}
    assert bordas[0].low == pytest.approx((low[0, 1] + low[0, 2]) / 2)
    assert bordas[1].high == pytest.approx((high[1, 0] + high[1, 2]) / 2)
    assert verdict([[0]]).copeland[0].high == 0.0 and str(verdict([[0]])) == "'option 0' is the only option."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"alpha": 0.0}, "'alpha'"),
        ({"alpha": 1.0}, "'alpha'"),
        ({"margin": 0.5}, "'margin'"),
        ({"margin": -0.1}, "'margin'"),
        ({"room": 2}, "'room'"),
        ({"retired": [0]}, "'room', the number of options in all"),
        ({"retired": [0, 1, 2], "room": 5}, "not all"),
        ({"retired": [7], "room": 5}, "'retired'"),
        ({"names": ["a"]}, "'names'"),
        ({"unit": "day"}, "'unit'"),
    ],
)
def test_what_is_refused(arguments, says):
    with pytest.raises(md.BadInput, match=says):
        verdict(CYCLE, **arguments)


def test_a_forecast_is_early_then_a_range_then_nothing():
    assert forecast(Tally.of(clear(4, 5))).too_early
    assert str(forecast(Tally.of(clear(4, 5)))) == "too early to say (fewer than 40 showings per option)"
    D = clear(4, 30, 22)
    result = forecast(Tally.of(D, showings=[90] * 4), slate_size=3)
    assert 0 < result.low < result.likely < result.high
    assert result.too_early and str(result) == "too early to say (the range is too wide)"
    narrow = forecast(Tally.of(clear(4, 90, 60), showings=[220] * 4), slate_size=3)
    assert not narrow.too_early and "more answers" in str(narrow)
    longer = forecast(Tally.of(D, showings=[90] * 4), slate_size=2)
    assert longer.low > result.low
    assert str(forecast(Tally.of(clear(4, 60)))) == "none: it is settled"
    assert forecast(Tally.of(np.array([[0, 400, 90], [380, 0, 90], [10, 10, 0]])), margin=0.08).high < 3000


def test_strengths_are_the_mode():
    rng = np.random.default_rng(0)
    W = rng.integers(0, 30, (5, 5)).astype(float)
    np.fill_diagonal(W, 0.0)
    u, _ = strengths(W)

    def log_posterior(v):
        return (W * -np.log1p(np.exp(v[None, :] - v[:, None]))).sum() - 0.5 * (v**2).sum()

    for _ in range(50):
        assert log_posterior(u) > log_posterior(u + rng.normal(size=5) * 1e-3)


def test_a_forecast_knows_who_has_retired():
    """After a retirement more evidence is needed; what was enough before is so no longer, and the forecast must not say so."""
    above = np.array([[0, 40, 3], [22, 0, 3], [3, 3, 0]], float)
    tally = Tally.of(above, showings=[70, 70, 70])
    words = {"room": 6, "retired": [2]}
    assert not verdict(tally, **words).settled
    guess = forecast(tally, **words)
    assert not guess.too_early and guess.likely > 0.0
    alone = forecast(Tally.of(above[:2, :2], showings=[70, 70]), room=6)
    assert guess.likely > alone.likely


def test_the_numbers_behind_a_verdict():
    D = clear(4, 30, 2)
    result = verdict(D, alpha=0.1)
    assert result.needed == pytest.approx(math.log(4 / 0.1)) and result.pairs == pytest.approx(math.log(12 / 0.1))
    assert result.names == ("option 0", "option 1", "option 2", "option 3") and result.present == (0, 1, 2, 3)
    assert result.evidence[0, 1] == pytest.approx(log_evidence(30.0, 2.0))
    assert result.out == (1, 2, 3) and result.still_in == (0,) and result.cycle == () and not result.cycle_is_certain
    assert result.to_json() == {
        "kind": "winner", "sentence": str(result), "winner": 0, "still_in": [0], "out": [1, 2, 3], "cycle": [],
        "cycle_is_certain": False, "confidence": 0.9, "margin": 0.0, "unit": "answer", "needed": result.needed,
        "above": D.tolist(), "ties": np.zeros((4, 4)).tolist(),
    }  # fmt: skip
    room = verdict(D, alpha=0.1, room=7)
    assert room.needed == pytest.approx(math.log(2 * 7 / 0.1)) and room.pairs == pytest.approx(math.log(2 * 7 * 6 / 0.1))
    gone = verdict(D, alpha=0.1, room=7, retired=[3])
    assert gone.needed == gone.pairs == pytest.approx(math.log(2 * 7 * 6 / 0.1))
    D[0, 1] = 0.0
    assert result.tally[0][0, 1] == 30.0, "a verdict keeps its own counts"


def test_scores_in_order_with_what_is_certain_of_them():
    D = np.array([[0, 60, 5, 0], [2, 0, 50, 0], [5, 3, 0, 0], [0, 0, 0, 0]])
    ties = np.zeros((4, 4))
    ties[0, 1] = ties[1, 0] = 18.0
    result = verdict(D, ties)
    assert [(s.arm, s.value, s.low, s.high) for s in result.copeland] == [
        (0, 2.0, 1.0, 3.0), (1, 1.5, 1.0, 2.0), (3, 1.5, 0.0, 3.0), (2, 1.0, 0.0, 2.0),
    ]  # fmt: skip
    borda = {s.arm: s.value for s in result.borda}
    assert borda[0] == pytest.approx((69 / 80 + 0.5 + 0.5) / 3)  # ties count half, and so does a pair never judged
    assert borda[1] == pytest.approx((11 / 80 + 50 / 53 + 0.5) / 3) and borda[3] == 0.5
    assert [s.arm for s in verdict(D, ties, room=4, retired=[3]).copeland] == [0, 1, 2]
    with_margin = verdict(D, ties, margin=0.1)
    assert with_margin.copeland == result.copeland
    even = verdict([[0, 400], [400, 0]], margin=0.1)
    assert even.evidence[0, 1] > even.pairs and [(s.low, s.high) for s in even.copeland] == [(0.0, 1.0)] * 2, (
        "scores know no margin"
    )


def test_evidence_that_is_kept_is_not_changed_and_may_change():
    D, ties = clear(3, 30, 2), np.zeros((3, 3))
    kept = Weighed.of(D, ties, margin=0.1)
    result = verdict(D, margin=0.1, weighed=kept)
    expected = verdict(D, margin=0.1)
    assert np.array_equal(result.evidence, expected.evidence) and np.array_equal(result.against, expected.against)
    D[1, 2] += 5.0
    kept.update(D, ties, (1, 2), margin=0.1)
    assert np.array_equal(result.evidence, expected.evidence), "what the verdict holds stays"
    anew = Weighed.of(D, ties, margin=0.1)
    for mine, theirs in zip(kept, anew, strict=True):
        assert np.allclose(mine, theirs)
    assert not np.allclose(kept.L, kept.even)
    assert np.array_equal(kept.L, verdict(D, margin=0.1).evidence)


def test_a_forecast_in_words_and_numbers():
    assert str(Forecast(False, 123.0, 200.0, 4567.0)) == "120 to 4,600 more answers"
    assert str(Forecast(False, 0.0, 3.0, 9.0)) == "0 to 9 more answers"
    assert (
        str(Forecast(False, 15.0, 99.0, 2e6)) == str(Forecast(False, 15.0, 99.0, 1e6)) == "15 to more than 1,000,000 more answers"
    )
    assert str(Forecast(False, 1.0, 1.0, 1.0)) == "1 to 1 more answers"
    with pytest.raises(md.BadInput, match="'slate_size' of a forecast must be at least 2"):
        forecast(Tally(3), slate_size=1)
    tally = Tally.of(clear(4, 30, 22), showings=[90] * 4)
    assert forecast(tally) == forecast(tally, seed=0) != forecast(tally, seed=1)
    assert forecast(tally) == forecast(tally, slate_size=2, alpha=0.05, margin=0.0)
    assert np.isfinite(forecast(Tally.of(clear(2, 20, 20), showings=[40, 40])).likely)
    assert np.isnan(forecast(Tally.of(clear(2, 19, 20), showings=[39, 40])).likely)
    wide = forecast(Tally.of(clear(4, 30, 22), showings=[90] * 4), slate_size=50)
    assert wide == forecast(Tally.of(clear(4, 30, 22), showings=[90] * 4), slate_size=4), "no slate holds more than all"


def between(n):
    """Evidence that n wins in a row give, and n - 1 do not."""
    return 0.5 * (log_evidence(n - 1.0, 0.0) + log_evidence(float(n), 0.0))


@pytest.mark.parametrize("at_once", [1.0, 2.0])
def test_a_forecast_counts_the_answers_that_are_missing(at_once):
    """Strengths so far apart that the stronger wins every time: no luck is left."""
    above = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    draws, missing = np.array([[1000.0, 0.0, -1000.0], [-1000.0, 0.0, 1000.0]]), np.zeros(2)
    luck = stream(np.random.SeedSequence(0))
    run(fill_missing, stakes_of(0.5), luck, draws, above, np.zeros((3, 3)), between(9), at_once, missing)
    assert missing.tolist() == ([16.0, 13.0] if at_once == 1.0 else [9.0, 9.0])  # 7 and 9, 4 and 9


@pytest.mark.parametrize(("slate_size", "at_once"), [(2, 1.0), (3, 2.0), (50, 2.0)])
def test_a_forecast_is_the_quantiles_of_two_hundred_draws(slate_size, at_once):
    """Strengths have the mode and the covariance of their posterior; ties are half a win for both."""
    above, ties = np.array([[0.0, 30.0, 33.0], [9.0, 0.0, 12.0], [8.0, 11.0, 0.0]]), 6.0 * (1.0 - np.eye(3))
    mode, root = strengths(above + 0.5 * ties)
    noise = np.random.default_rng(7).standard_normal((200, 3))
    draws, missing = mode + noise @ np.linalg.inv(root), np.zeros(200)
    luck, claim = stream(np.random.SeedSequence(7)), math.log(3 / 0.0001)
    run(fill_missing, stakes_of(0.45), luck, draws, above, ties, claim, at_once, missing)
    tally = Tally.of(above, ties, showings=[99] * 3)
    result = forecast(tally, slate_size=slate_size, alpha=0.0001, margin=0.05, seed=7)
    assert result == Forecast(False, *np.quantile(missing, (0.1, 0.5, 0.9)).tolist()) and result.low < result.likely < result.high


def test_where_it_is_settled_nothing_is_missing():
    nothing = Forecast(False, 0.0, 0.0, 0.0)
    assert forecast(Tally.of(clear(3, 40.0))) == nothing
    assert forecast(Tally.of(CYCLE)) == nothing, "that there is no winner is settled too"


@pytest.mark.parametrize(("K", "answers", "neighbours_only"), [(10, 30.0, False), (10, 1e5, False), (30, 1e6, True)])
def test_strengths_are_the_mode_however_far_apart(K, answers, neighbours_only):
    """The slope of the posterior is 0 there, but for rounding; of thirty in a row the first is hundreds above the last."""
    W = np.triu(np.full((K, K), answers), 1)
    W = np.triu(np.tril(W, 1)) if neighbours_only else W
    n = W + W.T
    u, _ = strengths(W)
    slope = (W - n / (1.0 + np.exp(u[None, :] - u[:, None]))).sum(axis=1) - u
    assert np.abs(slope).max() < 1e-15 * n.sum()


def test_usual_strengths_are_found_in_a_few_steps(monkeypatch):
    steps, solve = [], np.linalg.solve
    monkeypatch.setattr(np.linalg, "solve", lambda *system: steps.append(system) or solve(*system))
    strengths(clear(5, 30.0, 22.0))
    assert 2 <= len(steps) <= 8


def test_a_forecast_of_equals_ends_after_a_million_answers_and_where_all_is_there_none_is_missing():
    missing, fresh = np.zeros(1), np.zeros((2, 2))
    luck = stream(np.random.SeedSequence(0))
    run(fill_missing, stakes_of(0.5), luck, np.zeros((1, 2)), fresh, fresh, math.log(1e9), 1.0, missing)
    assert 1e6 <= missing[0] < 1.06e6
    run(fill_missing, stakes_of(0.5), luck, np.zeros((1, 2)), clear(2, 9.0), fresh, between(9), 1.0, missing)
    assert missing[0] == 0.0


def test_many_answers_are_drawn_some_at_once():
    missing = np.zeros(1)
    for enough, drawn in ((20, 20.0), (21, 22.0), (22, 22.0), (39, 40.0), (41, 43.0)):  # by two from 20 on, by three from 40 on
        fresh, luck = np.zeros((2, 2)), stream(np.random.SeedSequence(0))
        run(fill_missing, stakes_of(0.5), luck, np.array([[1000.0, 0.0]]), fresh, fresh, between(enough), 1.0, missing)
        assert missing[0] == drawn


def test_strengths_far_apart_are_found_and_their_spread_is_the_curvature():
    W = np.array([[0.0, 1e6, 1e6], [0.0, 0.0, 1e6], [0.0, 0.0, 0.0]])
    u, root = strengths(W)
    p = 1.0 / (1.0 + np.exp(u[None, :] - u[:, None]))
    n = W + W.T
    assert np.allclose((W - n * p).sum(axis=1), u, atol=1e-6)  # the slope is 0 at the mode; the ridge pulls by u
    weight = n * p * p.T
    assert np.allclose(root @ root.T, np.diag(weight.sum(axis=1) + 1.0) - weight)


def test_room_that_is_full_asks_for_more_evidence_and_changes_none():
    D = clear(4, 30, 12)
    assert np.allclose(verdict(D, room=4).against, verdict(D).against)
    assert verdict([[0]], room=2).against[0] == 0.0, "the 1 that was bet on the empty place"


def test_within_a_margin_the_winner_may_be_one_that_another_surely_beats():
    """A slight cycle, seen very often: without a margin all are out; with one there is a winner, and it is still in."""
    slight = np.array([[0, 20900, 19100], [19100, 0, 20900], [20900, 19100, 0]])
    assert verdict(slight).kind == "cycle"
    result = verdict(slight, margin=0.1)
    assert result.kind == "winner" and result.still_in == (result.winner,) and result.winner not in result.out
