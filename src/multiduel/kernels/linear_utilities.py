"""Linear utilities u_i = <x_i, theta> learned from duels, in O(d^2) a duel.

The columns of ``X`` are arms, so that inner loops run over arms and vectorise as they are. ``A`` is always the inverse of a
matrix ridge I + sum of weight z z' over contrasts z = x_a - x_b, so that |z|_A^2 = z' A z is the uncertainty about <z, theta>.
"""

from __future__ import annotations

import math

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.kernels.compiler.dispatch import kernel
from multiduel.kernels.random import below, uniform

TIE = 1e-10  # values this close, relative to the largest in size, are equal but for rounding
MOST_STEPS = 60  # of Newton's method for one number; a handful is usual


@kernel
def logistic(v: float) -> float:
    """1 / (1 + e^-v).

    >>> logistic(0.0), logistic(-1000.0)
    (0.5, 0.0)
    """
    return 1.0 / (1.0 + math.exp(-v)) if v > -700.0 else 0.0


@kernel
def softplus(v: float) -> float:
    """ln(1 + e^v), the loss of a duel."""
    return v + math.log1p(math.exp(-v)) if v > 0.0 else math.log1p(math.exp(v))


@kernel
def gumbel(rng: Stream) -> float:
    """Standard Gumbel: the noise whose differences are logistic.

    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> -5.0 < gumbel(rng) < 40.0
    True
    """
    u = 1.0 - uniform(rng)  # above 0
    return -math.log(-math.log(u)) if u < 1.0 else math.inf


@kernel
def set_features(X: Floats, arms: Ints, rows: Floats) -> None:
    """Write the features of some arms into their columns."""
    for a in range(arms.shape[0]):
        for i in range(rows.shape[1]):
            X[i, arms[a]] = rows[a, i]


@kernel
def utilities(X: Floats, theta: Floats, u: Floats) -> None:
    """u_k <- <x_k, theta> for all arms."""
    u[:] = 0.0
    for i in range(theta.shape[0]):
        for k in range(u.shape[0]):
            u[k] += theta[i] * X[i, k]


@kernel
def own_variances(X: Floats, A: Floats, q: Floats, y: Floats) -> None:
    """q_k <- x_k' A x_k for all arms. ``y`` is scratch, a number an arm."""
    q[:] = 0.0
    for i in range(A.shape[0]):
        for k in range(q.shape[0]):
            y[k] = 0.5 * A[i, i] * X[i, k]
        for j in range(i):
            for k in range(q.shape[0]):
                y[k] += A[i, j] * X[j, k]
        for k in range(q.shape[0]):
            q[k] += 2.0 * y[k] * X[i, k]


@kernel
def widths_to(X: Floats, A: Floats, q: Floats, arm: int, z: Floats, y: Floats, w: Floats) -> None:
    """w_k <- |x_k - x_arm|_A for all arms, given ``own_variances`` q. ``z`` and ``y`` are scratch of d numbers."""
    for i in range(z.shape[0]):
        z[i] = X[i, arm]
    times(A, z, y)
    utilities(X, y, w)
    for k in range(w.shape[0]):
        w[k] = math.sqrt(max(q[k] + q[arm] - 2.0 * w[k], 0.0))
    w[arm] = 0.0


@kernel
def contrast(X: Floats, i: int, j: int, z: Floats) -> None:
    """z <- x_i - x_j."""
    for row in range(z.shape[0]):
        z[row] = X[row, i] - X[row, j]


@kernel
def dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def times(A: Floats, z: Floats, y: Floats) -> float:
    """y <- A z for a symmetric A. Returns z' A z."""
    y[:] = 0.0
    for j in range(z.shape[0]):
        for i in range(z.shape[0]):
            y[i] += A[j, i] * z[j]
    return dot(y, z)


@kernel
def add_contrast(A: Floats, y: Floats, q: float, weight: float) -> None:
    """A <- (A^-1 + weight z z')^-1, by Sherman and Morrison, given y = A z and q = z' A z."""
    scale = weight / (1.0 + weight * q)
    for i in range(y.shape[0]):
        for j in range(y.shape[0]):
            A[i, j] -= scale * (y[i] * y[j])


@kernel
def surprise(v: float, q: float, won: float, n: float) -> float:
    """The root r of r = won - n logistic(v + r q).

    With v = <z, theta> and q = z' A z, theta + r A z is the exact minimum of |. - theta|^2 / 2, in the norm of A^-1, plus the
    loss of n duels of which ``won`` were won. The root is unique and lies between won - n and won.

    >>> round(surprise(0.0, 0.0, 1.0, 1.0), 6)
    0.5
    """
    low, high, r = won - n, won, 0.0
    for _ in range(MOST_STEPS):
        p = logistic(v + r * q)
        rest = won - n * p - r  # falls in r: its sign tells on which side the root is
        if rest > 0.0:
            low = r
        else:
            high = r
        step = r + rest / (1.0 + n * p * (1.0 - p) * q)
        step = step if low < step < high else 0.5 * (low + high)
        moved = abs(step - r)
        r = step
        if moved <= 1e-12 * (1.0 + n):
            break
    return r


@kernel
def factor(C: Floats, L: Floats, jitter: float) -> None:
    """Cholesky: L L' = C + jitter I. A pivot that rounding made too small is held at jitter^2, or a little above 0."""
    least = max(jitter * jitter, 1e-300)
    for i in range(C.shape[0]):
        for j in range(i + 1):
            rest = C[i, j] + (jitter if i == j else 0.0)
            for k in range(j):
                rest -= L[i, k] * L[j, k]
            L[i, j] = math.sqrt(max(rest, least)) if i == j else rest / L[j, j]


@kernel
def solve(L: Floats, x: Floats) -> None:
    """x <- (L L')^-1 x."""
    n = x.shape[0]
    for i in range(n):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for back in range(n):
        i = n - 1 - back
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]


@kernel
def best_of(values: Floats, rng: Stream) -> int:
    """Index of the largest value, of any sign; uniform among those equal to it but for rounding (one draw, only if tied).

    >>> rng = np.arange(1, 5, dtype=np.uint64)
    >>> best_of(np.array([-3.0, -1.0, -2.0]), rng)
    1
    """
    most = -math.inf
    size = 0.0
    for k in range(values.shape[0]):
        if values[k] > most:
            most = values[k]
        if values[k] > -math.inf:
            size = max(size, abs(values[k]))
    least = most - TIE * size if size < math.inf else most
    tied = 0
    best = 0
    for k in range(values.shape[0]):
        if values[k] >= least:
            best = k if tied == 0 else best
            tied += 1
    if tied > 1:
        skip = below(tied, rng)
        for k in range(values.shape[0]):
            if values[k] >= least:
                if skip == 0:
                    return k
                skip -= 1
    return best


@kernel
def first_best(values: Floats) -> int:
    """Index of the largest value; the first among ties."""
    best = 0
    for k in range(1, values.shape[0]):
        if values[k] > values[best]:
            best = k
    return best


def ridge_inverse(dimension: int, ridge: float) -> Floats:
    """(ridge I)^-1: what is known before the first duel. Plain Python."""
    return np.eye(dimension) / ridge
