"""A tally that keeps few answers: the same counts and standings as one that keeps all, and close to them where it thins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from multiduel.inference import RunningTally, Tally, running_tally, standings, verdict
from multiduel.inputs import BadInput


def wins_of(pairs: Any, n: int) -> Any:
    wins = np.zeros((n, n))
    for a, b, placing in pairs:
        wins[a, b], wins[b, a] = (0.5, 0.5) if placing == 0 else (1.0, 0.0) if placing > 0 else (0.0, 1.0)
    return wins


def an_answer(rng: Any, arms: int, most: int = 4) -> tuple[tuple[int, ...], list[tuple[int, int, int]]]:
    n = int(rng.integers(2, most + 1))
    shown = tuple(int(arm) for arm in rng.permutation(arms)[:n])
    score = np.array([-0.3 * arm + rng.gumbel() for arm in shown]).round(int(rng.integers(0, 3)))
    pairs = [(a, b, int(np.sign(score[a] - score[b]))) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.9]
    return shown, pairs


@pytest.mark.parametrize("unit", ["answer", "rater", "case"])
def test_counts_and_standings_are_those_of_a_tally_through_undo_growth_and_saving(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_tally, "AWAKE", 2)
    rng, running, told = np.random.default_rng(5), RunningTally(5, unit=unit), []
    plain = Tally(5, unit=unit)
    for step in range(400):
        if told and rng.random() < 0.25:  # the last of a rater, as arenas do
            who = f"r{rng.integers(6)}"
            mine = [one for one in told if one[3] == who]
            if mine:
                number, shown, pairs, _, answer = mine[-1]
                told.remove(mine[-1])
                plain.undo(answer)
                running.undo(number, shown, pairs, who)
        else:
            who = f"r{rng.integers(6)}"
            shown, pairs = an_answer(rng, plain.n_arms)
            running.add(step, shown, pairs, who)
            told.append((step, shown, pairs, who, plain.add(shown, wins_of(pairs, len(shown)), who)))
        if step % 37 == 0:
            running = RunningTally.restored(running.saved())
        if step == 200:
            plain.grow(6)
            running.grow(6)
    assert np.array_equal(plain.above, running.above) and np.array_equal(plain.ties, running.ties)
    assert plain.answers == running.answers and plain.showings.tolist() == running.showings.tolist()
    if unit != "answer":
        for who in ("r0", "r3", "nobody"):
            for i, j in ((0, 1), (4, 2)):
                assert plain.has_judged(who, i, j) == running.has_judged(who, i, j)
    judged = verdict(running)
    one, other = standings(plain, by=unit, verdict=judged), standings(running.frozen(), verdict=judged)
    for name in ("strength", "error", "low", "high", "won", "won_low", "won_high", "shown"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-8, err_msg=name)
    with pytest.raises(BadInput, match="as this tally counts"):
        standings(running, by="rater" if unit != "rater" else "answer")


def test_thinning_keeps_few_answers_and_the_errors_of_strengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard errors within 5 %, from one answer in ten."""
    monkeypatch.setattr(running_tally, "LEAST_KEPT", 400)
    monkeypatch.setattr(running_tally, "KEPT", 0)
    rng, K = np.random.default_rng(2), 8
    thin, whole = RunningTally(K), Tally(K)
    for number in range(30_000):
        shown, pairs = an_answer(rng, K - 1)
        if number % 150 == 0:  # the last option is rare
            shown = (*(arm for arm in shown if arm != K - 2), K - 1)[-4:]
            pairs = [(a, b, 1 if shown[a] < shown[b] else -1) for a in range(len(shown)) for b in range(a + 1, len(shown))]
        thin.add(number, shown, pairs)
        whole.add(shown, wins_of(pairs, len(shown)))
    kept = thin.kept()
    assert len(kept.weight) < 0.2 * thin.answers and kept.weight.max() >= 8
    assert RunningTally.restored(thin.saved()).kept().weight.tolist() == kept.weight.tolist()
    one, other = standings(whole), standings(thin)
    np.testing.assert_allclose(one.strength, other.strength, atol=1e-8)
    np.testing.assert_allclose(one.shown, other.shown)
    np.testing.assert_allclose(other.error / one.error, 1.0, atol=0.05)


def test_the_weights_of_kept_answers_add_up_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept stands for what was left out, on average; and it does not grow with the answers."""
    monkeypatch.setattr(running_tally, "KEPT", 400)
    tally, sizes = RunningTally(500), []
    for number in range(60_000):
        tally.add(number, (0, 1, 2), [(0, 1, 1), (0, 2, 1), (1, 2, -1)])
        sizes.append(len(tally._numbers))
    weight = tally.kept().weight
    assert sizes[399] == 400 and max(sizes) < 900 and weight.max() == 256.0
    assert abs(weight.sum() / 60_000 - 1.0) < 0.15


def test_what_is_kept_is_what_its_rule_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule in plain words, through undo and saving: an answer's level never falls, and one in two to its power is kept."""
    monkeypatch.setattr(running_tally, "LEAST_KEPT", 5)
    monkeypatch.setattr(running_tally, "KEPT", 0)
    rng, K, limit = np.random.default_rng(3), 6, 0
    tally, compared, kept, told = RunningTally(K), [0] * K, {}, []

    def level(arms: Any) -> int:
        return max(0, (min(compared[arm] for arm in arms) // 5).bit_length() - 1)

    def is_drawn(number: int, level: int) -> bool:
        return running_tally.mixed(number) % 2**level == 0

    for number in range(3_000):
        if told and rng.random() < 0.2:
            old, shown, pairs, arms = told.pop(int(rng.integers(len(told))))
            tally.undo(old, shown, pairs)
            kept.pop(old, None)
            for arm in arms:
                compared[arm] -= 1
        else:
            shown, pairs = an_answer(rng, K)
            arms = sorted({shown[place] for a, b, _ in pairs for place in (a, b)})
            if not pairs:
                continue
            tally.add(number, shown, pairs)
            told.append((number, shown, pairs, arms))
            if len(pairs) > 1 and is_drawn(number, level(arms)):
                kept[number] = level(arms), arms
            for arm in arms:
                compared[arm] += 1
            if len(kept) > limit:
                kept = {n: (max(before, level(of)), of) for n, (before, of) in kept.items()}
                kept = {n: (now, of) for n, (now, of) in kept.items() if is_drawn(n, now)}
                limit = 2 * len(kept)
        if number % 100 == 0:
            tally = RunningTally.restored(tally.saved())
            saved = tally.saved()
            assert saved["numbers"].tolist() == list(kept)
            assert saved["level"].tolist() == [level for level, _ in kept.values()]
    assert max(level for level, _ in kept.values()) >= 5


@pytest.mark.parametrize(
    "name, value", [("first", 9), ("second", -1), ("placed", 5), ("sizes", -2), ("sizes", 0), ("codes", 3 * (1 << 14) + 9)]
)
def test_a_saved_tally_that_was_altered_is_refused(name: str, value: int) -> None:
    tally = RunningTally(4, unit="rater" if name == "codes" else "answer")
    tally.add(1, (0, 1, 2), [(0, 1, 1), (0, 2, 1), (1, 2, 0)], "r1")
    saved = tally.saved()
    saved[name] = saved[name].copy()
    saved[name][0] = value
    with pytest.raises(BadInput, match="what 'saved' returned"):
        RunningTally.restored(saved)
