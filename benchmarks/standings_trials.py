"""Experiments in worlds of known strengths, compiled: a policy chooses slates, raters answer, the rows of answers are kept."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from multiduel.inference.standings import Known, ahead_by_strength, estimate
from multiduel.inference.strengths import Rows
from multiduel.inference.tally import Tally
from multiduel.kernels.compiler.dispatch import OPTIONS
from multiduel.kernels.contract import ask, init, tell
from multiduel.kernels.random import below, uniform
from multiduel.policies import challengers
from multiduel.policies import uniform as uniform_slates
from multiduel.policies.due_duel import due_duel

PARAMS = {
    "uniform": uniform_slates.Params,
    "challengers": challengers.Params,
    "due-duel": due_duel.Params,
}
NO_TIES, TIES = 0.0, 0.4  # of duels: a tie with chance 2 TIES p (1 - p), so that the expected score is still p


@numba.njit(**OPTIONS)
def answers(params, state, rng, tastes, each, level, T, first, second, won, starts, rater, slate, wins, score):
    """Up to T answers; how many were given, and rows written. A rater of ``tastes`` gives ``each`` answers in a row."""
    R = tastes.shape[0]
    n_answers, n_rows, t = 0, 0, 0
    while n_answers < T and t < 20 * T:
        t += 1
        n, rounds = ask(params, state, rng, t, 20 * T + 1 - t, slate)
        if n < 2:  # nothing to compare for so many rounds
            t += rounds - 1
            continue
        who = (n_answers // each) % R if each > 0 else below(R, rng)
        for a in range(n):
            score[a] = tastes[who, slate[a]] - math.log(-math.log(1.0 - uniform(rng)))
        for a in range(n):
            wins[a, a] = 0.0
            for c in range(a + 1, n):
                y = 1.0 if score[a] > score[c] else 0.0
                if level > 0.0:
                    p = 1.0 / (1.0 + math.exp(tastes[who, slate[c]] - tastes[who, slate[a]]))
                    # of wins, a share 1 - p of level; of losses, a share p: ties with chance 2 level p (1 - p)
                    if uniform(rng) < level * ((1.0 - p) if y == 1.0 else p):
                        y = 0.5
                wins[a, c] = y
                wins[c, a] = 1.0 - y
                first[n_rows] = slate[a]
                second[n_rows] = slate[c]
                won[n_rows] = y
                n_rows += 1
        tell(params, state, rng, t, slate[:n], wins[:n, :n])
        rater[n_answers] = who
        n_answers += 1
        starts[n_answers] = n_rows
    return n_answers, n_rows


class Setting(NamedTuple):
    """What an experiment is like."""

    K: int
    m: int
    slates: str
    strengths: str
    T: int
    ties: bool = False
    raters: str = "none"  # "sample": each gives ten answers and is gone; "panel": 60 answer in any order
    by: str = "answer"


FIRST_LOOK = 20.0  # showings of an option on average
LOOKS = 20


def truth(kind: str, K: int) -> Any:
    if kind == "alike":
        return np.zeros(K)
    if kind == "spread":
        return np.linspace(1.0, -1.0, K)
    theta = np.zeros(K)
    theta[0] = 3.0  # one far ahead
    return theta - theta.mean()


def experiment(setting: Setting, seed: int) -> tuple[Any, Any]:
    """Votes of one experiment: rows, and the true strengths."""
    rng = np.random.default_rng([seed, 1])
    theta = truth(setting.strengths, setting.K)
    tastes, each = theta[None, :], 0
    if setting.raters == "sample":
        tastes, each = theta + rng.normal(0.0, 1.0, (setting.T // 10 + 1, setting.K)), 10
    elif setting.raters == "panel":
        tastes = theta + rng.normal(0.0, 1.0, (60, setting.K))
    order = rng.permutation(setting.K)  # labels, so that no tie-break leaks anything
    tastes = np.ascontiguousarray(tastes[:, order])
    m = min(setting.m, setting.K)
    params = PARAMS[setting.slates](slate_size=m)
    stream = np.random.SeedSequence([seed, 2]).generate_state(4, np.uint64)
    rows = setting.T * m * (m - 1) // 2
    first, second, won = np.zeros(rows, np.int32), np.zeros(rows, np.int32), np.zeros(rows, np.float32)
    starts, rater = np.zeros(setting.T + 1, np.int64), np.zeros(setting.T, np.int64)
    n, r = answers(
        params, init(params, setting.K, stream), stream, tastes, each, TIES if setting.ties else NO_TIES, setting.T,
        first, second, won, starts, rater, np.zeros(setting.K, np.int64), np.zeros((setting.K, setting.K)), np.zeros(setting.K),
    )  # fmt: skip
    return (first[:r], second[:r], won[:r], starts[: n + 1], rater[:n]), theta[order]


def known_after(setting: Setting, votes: Any, n: int) -> Known:
    """What ``standings`` reads from the first n answers."""
    first, second, won, starts, rater = votes
    rows = int(starts[n])
    f, s, w = first[:rows], second[:rows], won[:rows]
    outcome = (2.0 * w - 1.0).astype(np.int8)
    K = setting.K
    code, back = f.astype(np.int64) * K + s, s.astype(np.int64) * K + f
    above = (np.bincount(code[w == 1.0], minlength=K * K) + np.bincount(back[w == 0.0], minlength=K * K)).astype(float)
    half = np.bincount(code[w == 0.5], minlength=K * K).reshape(K, K).astype(float)
    above, ties = above.reshape(K, K), half + half.T
    none = np.zeros((rows, 0))
    grouped, units = None, n
    if setting.by == "rater":
        of_row = np.repeat(rater[:n], np.diff(starts[: n + 1]))
        of_row = np.unique(of_row, return_inverse=True)[1]
        order = np.argsort(of_row, kind="stable")
        edges = np.concatenate(([0], np.cumsum(np.bincount(of_row))))
        grouped, units = Rows(f, s, outcome, np.ones(1), order, edges, np.ones(1), none), len(edges) - 1
    elif setting.m > 2:
        grouped = Rows(f, s, outcome, np.ones(1), np.zeros(0, np.int64), starts[: n + 1], np.ones(1), none)
    return Known((), setting.by, above, ties, n, units, grouped, None, 2.0, lambda: Tally(1))


def looks(setting: Setting, n: int) -> Any:
    start = min(n, max(40, FIRST_LOOK * setting.K / setting.m / 2))
    return np.unique(np.geomspace(start, n, LOOKS).round().astype(int))


def outcome(setting: Setting, seed: int, alpha: float = 0.05) -> dict[str, float]:
    """Whether any interval missed at any look, of both kinds; and the mean width at the last."""
    from statistics import NormalDist

    votes, theta = experiment(setting, seed)
    n = len(votes[3]) - 1
    z = NormalDist().inv_cdf(1.0 - alpha / setting.K / 2.0)
    missed = fixed = last = wrong = False
    wide, usual = [], []
    for look in looks(setting, n):
        found = estimate(known_after(setting, votes, int(look)), alpha / setting.K)
        stated = ~np.isnan(found.wide)
        off = np.abs(found.theta - found.centre @ theta)[stated]
        missed |= bool((off > found.wide[stated]).any())
        last = bool((off > z * found.error[stated]).any())
        fixed |= last
        ahead = ahead_by_strength(found, alpha / (setting.K * (setting.K - 1)))
        wrong |= bool((ahead & (theta[:, None] <= theta[None, :])).any())
        wide, usual = found.wide[stated], z * found.error[stated]
    ratio = float(np.mean(wide / usual)) if len(wide) else math.nan
    return {
        "missed": missed,
        "wrong": wrong,
        "fixed": fixed,
        "last": last,
        "wide": float(np.mean(wide)) if len(wide) else math.nan,
        "ratio": ratio,
    }
