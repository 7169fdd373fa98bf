"""A report agrees with itself: headline, history, table, figure and JSON say one thing, whatever the log."""

import re

import numpy as np
import pytest

from multiduel import rankers
from multiduel.inference import Votes, standings
from multiduel.inference.unit_means import means_verdict
from multiduel.rankers import analysis, report
from tests.rankers.made_logs import a_log, made_judgements

CLOSE = np.full((4, 4), 0.5) + 0.5 * np.array([[0, 0.1, 0.2, 0.1], [-0.1, 0, 0.1, 0], [-0.2, -0.1, 0, 0], [-0.1, 0, 0, 0]])


def check(found):
    """No two statements of the report contradict each other. Returns whether a verdict was clouded."""
    low, high = found.intervals
    head, *rest = report.words(found)
    text, numbers = " ".join([head, *rest]), found.to_json()
    assert (low <= high + 1e-12).all()
    assert (found.settled is not None) == ("It has been certain since" in text) == found.verdict.settled
    assert not (found.settled is not None and ("Still needed" in text or "No winner yet" in text))
    if found.standings is not None:  # the second statement never contradicts the first
        assert found.verdict.winner is None or found.standings.order[0] == found.verdict.winner
        assert found.verdict.kind != "winner" or found.margin or f"'{found.names[found.verdict.winner]}' is first" in text
    assert numbers["verdict"]["winner"] == found.verdict.winner and numbers["verdict"]["sentence"] == head
    if found.verdict.kind == "winner":
        for b in found.stood.winners:
            assert f"'{found.names[b]}'" in head
            assert (np.delete(low[b], b) >= 0.5 - found.margin).all() and (np.delete(high[:, b], b) <= 0.5 + found.margin).all()
        winner = found.names[found.verdict.winner]
        assert found.settled.leader == found.verdict.winner == found.leader
        assert winner in report.intervals(found) and f"for {winner} against" in report.figure(found)
        if not found.margin:
            for j in range(len(found.names)):  # the table says of the winner's pairs what the headline says
                if j != found.verdict.winner:
                    assert report.is_certain(found, found.verdict.winner, j)
                    assert re.match(r"(above 0\.50|0\.[5-9]|1\.0)", report.ends_words(found, found.verdict.winner, j, 2))
        assert found.moments[-1].least[found.leader] >= found.verdict.needed  # the figure's line crosses
    else:
        assert (found.moments[-1].least < found.verdict.needed).all()
    assert report.page(found).count("<svg") == 3
    return bool(found.stood.doubt)


def test_reports_of_many_logs_agree_with_themselves():
    """Logs whose users change half way, so that many a verdict is clouded or contradicted."""
    clouded = settled = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        before, after = a_log(0.5 + 3.0 * (CLOSE - 0.5), 400, 2, rng), a_log(CLOSE.T, 600, 2, rng)
        arms = np.concatenate([before.arms, after.arms]).reshape(-1, 2)
        won = np.concatenate([before.won["click"], after.won["click"]])[:, None]
        user = np.concatenate([before.user, after.user + 400])
        log = made_judgements(arms, won, user, names=list("abcd"))
        for margin in (0.0, 0.03):
            found = rankers.analyse(log, margin=margin)
            clouded += check(found)
            settled += found.verdict.settled
    assert settled > 10 and clouded > 3


def test_a_growing_log_never_takes_a_verdict_back():
    taken_back = 0
    for seed in range(12):
        log = a_log(0.5 + 3.0 * (CLOSE - 0.5), 500, 2, np.random.default_rng(seed))
        winner = None
        for pages in range(100, 1001, 100):
            part = made_judgements(
                log.arms.reshape(-1, 2)[:pages], log.won["click"][:pages, None], log.user[:pages], names=list("abcd")
            )
            now = rankers.analyse(part).verdict.winner
            taken_back += winner is not None and now != winner
            winner = now if winner is None else winner
    assert taken_back == 0


def test_with_a_margin_headline_and_history_name_the_same_rankers():
    rng = np.random.default_rng(3)
    found = rankers.analyse(a_log(np.full((3, 3), 0.5), 6000, 1, rng, tie=0.5), margin=0.06)
    check(found)
    assert len(found.stood.winners) > 1
    assert all(f"'{found.names[arm]}'" in report.headline(found) for arm in found.stood.winners)
    assert "are best, give or take 6 %" in report.headline(found)


def test_an_ab_log_is_no_comparison():
    arms = np.random.default_rng(0).integers(3, size=(500, 1))
    log = made_judgements(arms, np.zeros((500, 0)), np.arange(500), names=list("abc"))
    found = rankers.analyse(log)
    assert "No comparison: every page shows one ranker alone" in report.headline(found)
    assert found.forecast is None and "Still needed" not in " ".join(report.words(found))
    assert found.to_json()["still_needed"] is None and found.verdict.kind == "open"


def test_rankers_never_told_apart_get_no_forecast():
    same = made_judgements([[0, 1]] * 300, np.full((300, 1), 0.5), np.arange(300), names=["a", "b"])
    found = rankers.analyse(same)
    assert "no page tells two rankers apart. 300 pages mixed the same two" in report.headline(found) and found.forecast is None
    rng = np.random.default_rng(0)
    arms = np.array([[0, 1], [2, 3]])[rng.integers(2, size=600)]
    apart = rankers.analyse(made_judgements(arms, rng.integers(2, size=(600, 1)), np.arange(600), names=list("abcd")))
    assert "No comparison between ('a' and 'b') and ('c' and 'd')" in report.headline(apart) and apart.forecast is None
    arms = np.array([[0, 1], [0, 2], [1, 2]])[rng.integers(3, size=900)]
    won = np.where((arms[:, 0] == 0) & (arms[:, 1] == 1), 0.5, 1.0)[:, None]  # a and b always tie, both beat c
    alike = rankers.analyse(made_judgements(arms, won, np.arange(900), names=list("abc")))
    assert "'a' and 'b' are never told apart" in report.headline(alike) and alike.forecast is None


@pytest.mark.parametrize("unit", ["user", "session", "impression"])
def test_sentences_speak_of_rankers_and_users(unit):
    found = rankers.analyse(a_log(CLOSE, 300, 3, np.random.default_rng(1)), unit=unit)
    text = " ".join(report.words(found))
    assert not {"option", "options", "raters", "answers", "rater"} & set(re.findall(r"\w+", text))


def test_returning_users_count_in_the_second_statement():
    """60 users with 40 pages each, and a difference that a t-test of user means sees: one judgement a user is too little."""
    named = settled = means = 0
    for seed in range(8):
        log = a_log([[0.5, 0.62], [0.38, 0.5]], 60, 40, np.random.default_rng(seed), taste=0.05)
        found = rankers.analyse(log)
        settled += found.verdict.winner == 0
        named += found.standings.top(1).possible == (0,)
        means += found.means.winner == 0
        check(found)
    assert settled <= 2 and named >= 7 and means >= 7


def test_statements_say_when_they_hold():
    log = a_log([[0.5, 0.62], [0.38, 0.5]], 60, 40, np.random.default_rng(0), taste=0.05)
    both, one = "These two statements hold only if a user's own clicks do not change", "This statement holds only if a user's own"
    found = rankers.analyse(log)
    assert found.means.winner == 0 and found.verdict.winner is None and sum(both in line for line in report.words(found)) == 1
    early = rankers.analyse(a_log(CLOSE, 100, 2, np.random.default_rng(1)))
    assert early.means.winner is None and one in " ".join(report.words(early))
    pages = " ".join(report.words(rankers.analyse(log, unit="impression")))  # no page of a user waits for another one
    assert both not in pages and one not in pages


@pytest.mark.parametrize("unit", ["user", "impression"])
def test_standings_and_means_by_portions_are_those_of_all_rows(monkeypatch, unit):
    """What the report counts portion by portion, unit after unit, here from columns of all judgements in their order."""
    log = a_log(CLOSE, 80, 20, np.random.default_rng(4), taste=0.1)
    monkeypatch.setattr(analysis, "BLOCK", 37)
    found = rankers.analyse(log, unit=unit)
    told = log.won["click"] != 0.5
    first, second = log.arms.reshape(-1, 2)[told].T
    won, user = log.won["click"][told].astype(float), log.user[told]
    raters = [f"u{k}" for k in range(80)]
    starts = np.arange(len(won) + 1)
    votes = Votes.of(list("abcd"), first=first, second=second, outcome=np.sign(won - 0.5).astype(int), starts=starts,
                     rater=user, raters=raters)  # fmt: skip
    by = "answer" if unit == "impression" else "rater"
    plain = standings(votes, by=by, verdict=found.verdict)
    assert found.standings.to_json(pairs=True) == plain.to_json(pairs=True)
    if unit == "impression":
        assert found.means is None
        return
    means = means_verdict(user, first, second, won, n_arms=4)
    np.testing.assert_array_equal(found.means.evidence, means.evidence)
    assert found.means.winner == means.winner
    assert found.means.reached == (None if means.reached is None else int(np.flatnonzero(told)[means.reached - 1]) + 1)
