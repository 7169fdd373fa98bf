"""What the statements of a ranker report err, and what they find: simulated logs, a thousand a setting.

Users have tastes of their own: the chance that a user's page favours ranker i over j is P[i, j], shifted by the difference of
two normal draws of that user. Slates of two: at random; by a policy that learns from all users; or ("own clicks") by a rule that
shows the pair again only to users who liked ranker 0 so far: that breaks the condition of the means of users.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import stats

import multiduel as md
from multiduel import rankers
from tests.rankers.made_logs import made_judgements

TIE = 0.3
LOOKS = 5
EQUAL, FOUR = np.full((2, 2), 0.5), np.full((4, 4), 0.5)
BETTER = np.array([[0.5, 0.6], [0.4, 0.5]])
BEST = 0.5 + np.array([[0, 0.06, 0.06, 0.06], [-0.06, 0, 0, 0], [-0.06, 0, 0, 0], [-0.06, 0, 0, 0]])
SETTINGS = (  # name, P, users, pages of each, taste, slates
    ("equal", EQUAL, 60, 40, 0.2, "random"),
    ("equal", EQUAL, 60, 40, 0.2, "due-duel"),
    ("equal", EQUAL, 12, 200, 0.2, "due-duel"),
    ("equal", EQUAL, 1000, 2, 0.2, "random"),
    ("equal", FOUR, 400, 5, 0.1, "random"),
    ("equal", FOUR, 60, 40, 0.2, "ind-self-sparring"),
    ("equal", EQUAL, 60, 40, 0.2, "own clicks"),
    ("one is better", BETTER, 60, 40, 0.1, "random"),
    ("one is better", BETTER, 60, 40, 0.1, "challengers"),
    ("one is better", BETTER, 1000, 2, 0.1, "random"),
    ("one is better", BEST, 400, 20, 0.1, "random"),
)


def a_log(P, users, pages, taste, slates, rng):
    K, N = len(P), users * pages
    user = rng.permutation(np.repeat(np.arange(users), pages))
    shift = taste * rng.standard_normal((users, K))
    names = list("abcd")[:K]
    if slates == "random":
        first = rng.integers(K, size=N)
        second = (first + 1 + rng.integers(K - 1, size=N)) % K
        chance = np.clip(P[first, second] + shift[user, first] - shift[user, second], 0.0, 1.0)
        won = np.where(rng.random(N) < TIE, 0.5, rng.random(N) < chance)
        return made_judgements(np.column_stack([first, second]), won[:, None], user, names=names)
    policy = None if slates == "own clicks" else md.make(slates, n_arms=K, slate_size=2, seed=int(rng.integers(2**31)))
    rows, liked = [], {}
    coins, ties = rng.random(N), rng.random(N) < TIE
    for page, u in enumerate(user.tolist()):
        if policy is None:
            if not liked.get(u, True):
                continue
            arms = (0, 1)
        else:
            slate = policy.ask()
            arms = slate.arms
            if len(arms) < 2:
                continue
        i, j = arms
        part = 0.5 if ties[page] else float(coins[page] < P[i, j] + shift[u, i] - shift[u, j])
        if policy is not None:
            policy.tell(slate, [[0.0, part], [1.0 - part, 0.0]])
        elif part != 0.5:
            liked[u] = part == 1.0
        rows.append((i, j, part, u))
    if not rows:
        return None
    columns = np.array(rows)
    return made_judgements(columns[:, :2].astype(int), columns[:, 2:3], columns[:, 3].astype(int), names=names)


def t_test(log):
    """The winner by a t-test of the users' means, at 5 %, one look; for two rankers."""
    won = np.where(log.arms[::2] == 0, log.won["click"], 1.0 - log.won["click"])
    told = won != 0.5
    count = np.bincount(log.user[told])
    means = np.bincount(log.user[told], won[told])[count > 0] / count[count > 0]
    if len(means) < 2 or means.std() == 0.0:
        return None
    found = stats.ttest_1samp(means, 0.5)
    return None if found.pvalue > 0.05 else int(found.statistic < 0)


def first_by_standings(log):
    """The ranker that the standings name first, at any of five looks."""
    for look in range(1, LOOKS + 1):
        n = log.pages * look // LOOKS
        part = made_judgements(log.arms.reshape(-1, 2)[:n], log.won["click"][:n, None], log.user[:n], names=log.rankers.names)
        found = rankers.analyse(part).standings
        if found is not None and not np.isnan(found.low).all() and len(found.top(1).possible) == 1:
            return found.top(1).possible[0]
    return None


def statements(worlds=None, only=None, logs=1000):
    """Of so many logs, in how many each statement names a winner, and in how many the right one."""
    rows = []
    for number, (name, P, users, pages, taste, slates) in enumerate(SETTINGS):
        rng, start = np.random.default_rng(number), time.process_time()
        named = {what: [0, 0] for what in ("verdict", "means", "standings", "t-test")}
        for _ in range(logs):
            log = a_log(P, users, pages, taste, slates, rng)
            if log is None:
                continue
            found = rankers.analyse(log)
            said = {"verdict": found.verdict.winner, "means": found.means and found.means.winner}
            said["standings"] = first_by_standings(log)
            said["t-test"] = t_test(log) if len(P) == 2 else None
            for what, winner in said.items():
                named[what][0] += winner is not None
                named[what][1] += winner == 0
        row = {"setting": name, "rankers": len(P), "users": users, "pages": pages, "taste": taste, "slates": slates, "logs": logs}
        rows.append(row | {"named": named, "seconds": time.process_time() - start})
        print(rows[-1], flush=True)
    return rows


def contradictions(worlds=None, only=None, logs=120, pages=4000):
    """Logs of four close rankers, as a report was made of them before, and is now."""
    P = 0.5 + 0.07 * np.array([[0, 1, 1, 2], [-1, 0, 0, 1], [-1, 0, 0, 1], [-2, -1, -1, 0]])
    rows = []
    for margin in (0.0, 0.03):
        rng = np.random.default_rng(7)
        once = lost = halves = either = several = 0
        for _ in range(logs):
            log = a_log(P, pages, 1, 0.0, "random", rng)
            found = rankers.analyse(log, margin=margin)
            if found.verdict.winner is None:
                continue
            once += 1
            b, now = found.verdict.winner, found.stood.now
            lost += now.winner != b  # headline and history said different things
            low = np.delete(now.intervals[0][b], b)
            halves += now.winner == b and bool((low < 0.5 - margin).any())  # "is best", beside intervals that say it may not be
            shown, history = np.delete(found.intervals[0][b], b), found.settled
            either += history is None or history.leader != b or bool((shown < 0.5 - margin).any())  # of the report as it is now
            several += len(found.stood.winners) > 1
        counts = {"once": once, "lost": lost, "halves": halves, "either": either, "several": several}
        rows.append({"margin": margin, "logs": logs, "pages": pages, **counts})
        print(rows[-1], flush=True)
    return rows
