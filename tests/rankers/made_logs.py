"""Judgements as a log would give them, without writing one: for tests and benchmarks that need hundreds of logs."""

import numpy as np

from multiduel.rankers.judgements import Codes, Judgements


def made_judgements(arms, won, user, *, names, fields=None, metrics=None):
    """``arms`` i[N, n], ``won`` f[N, pairs] (1/2 a tie), ``user`` i[N]."""
    arms, won, user = np.asarray(arms), np.asarray(won, np.float32), np.asarray(user, np.int32)
    N, n = arms.shape
    return Judgements(
        rankers=Codes(names),
        users=Codes([f"u{k}" for k in range(int(user.max()) + 1)]),
        methods=Codes(["pair-draft"]),
        fields=fields or {},
        ids=b"".join(b"%d\n" % k for k in range(N)),
        time=1e9 + np.arange(N, dtype=float),
        user=user,
        session=np.full(N, -1, np.int32),
        method=np.zeros(N, np.int32),
        drop=np.ones(N, bool),
        clicks=np.ones(N, np.int32),
        offset=np.arange(N),
        arm_start=np.arange(N + 1) * n,
        arms=arms.astype(np.int32).ravel(),
        won={"click": won.ravel()} | {name: np.asarray(column, np.float32).ravel() for name, column in (metrics or {}).items()},
    )


def a_log(P, users, pages, rng, *, taste=0.0, tie=0.3):
    """Each user sees so many pages of two rankers; ``P[i, j]`` for the user at hand is shifted by a taste of his or her own."""
    P = np.asarray(P)
    K, N = len(P), users * pages
    first = rng.integers(K, size=N)
    second = (first + 1 + rng.integers(K - 1, size=N)) % K
    user = rng.permutation(np.repeat(np.arange(users), pages))
    shift = taste * rng.standard_normal((users, K))
    chance = np.clip(P[first, second] + shift[user, first] - shift[user, second], 0.0, 1.0)
    won = (rng.random(N) < chance).astype(float)
    won[rng.random(N) < tie] = 0.5
    return made_judgements(np.column_stack([first, second]), won[:, None], user, names=list("abcd")[:K])
