"""What a policy does with what it is told: valid slates, always; the winner, in the end."""

from __future__ import annotations

from multiduel.checks.plain import play_small, require_plain_passes
from multiduel.checks.subject import EASY, EASY_WINNER, MIXED, Subject, play_late, played, require, require_bet

LONG = 20_000
SHORT = 2000  # without the compiler: enough for most


def slates_valid(subject: Subject) -> None:
    """Every slate holds 1 to m distinct arms in range, for every m, compiled and plain."""
    require_plain_passes(subject, "slates-valid")  # plain Python first: it notices an index out of range
    for m in range(2, MIXED.n_arms + 1):
        policy = subject.make(MIXED.n_arms, m, seed=m)
        for _ in played(subject, policy, MIXED.matrix, 80, seed=m, slate_size=m):
            pass
        require_bet(policy)


def outcomes_matter(subject: Subject) -> None:
    """Opposite outcomes on the same seed lead to different states and, in 2 of 3 runs, to different recommendations."""
    different = 0
    for seed in range(3):
        ends = []
        for P in (EASY.matrix, EASY.matrix.T):  # the winner of one world is the loser of the other
            policy = subject.make(EASY.n_arms, 3, seed=seed)
            for _ in played(subject, policy, P, 1500, seed=seed, slate_size=3):
                pass
            ends.append((policy.snapshot()["state"], policy.recommend()))
        (state, bet), (opposite_state, opposite_bet) = ends
        require(state != opposite_state, "Opposite outcomes must lead to different states. They were equal.")
        different += bet != opposite_bet
    require(
        different >= 2,
        f"Opposite outcomes must lead to different recommendations in 2 of 3 runs. They did in {different}.",
    )


def late_tells(subject: Subject) -> None:
    """Late, shuffled, missing, tied, partial outcomes: slates stay valid, an easy winner is found in 4 runs of 5."""
    require_plain_passes(subject, "late-tells")
    found = 0
    for seed in range(5):
        policy = subject.make(EASY.n_arms, 3, seed=seed)
        play_late(subject, policy, EASY.matrix, 2500, seed, slate_size=3)
        found += policy.recommend() == EASY_WINNER
    require(found >= 4, f"With late and missing tells it must find an easy winner in 4 of 5 runs. It did in {found}.")


def beats_uniform(subject: Subject) -> None:
    """On an easy instance it finds the winner in 19 runs of 20, and pays at most 70 % of the regret of uniform play.

    Without the compiler, ten short runs are enough if all of them find it; else the long ones decide.
    """
    if subject.plain:
        found, share = _easy_runs(subject, SHORT, 10)
        if found == 10 and share <= 0.7:
            return
    found, share = _easy_runs(subject, LONG, 20)
    require(found >= 19, f"It must find an easy winner in at least 19 of 20 runs. It did in {found}.")
    require(share <= 0.7, f"Its regret must be at most 70 % of uniform play's. It is {100 * share:.0f} %.")


def _easy_runs(subject: Subject, horizon: int, runs: int) -> tuple[int, float]:
    """In how many runs it found the winner, and its regret as a share of uniform play's."""
    result = subject.simulate(EASY, horizon=horizon, slate_size=2, runs=runs, seed=5, checkpoints=[horizon])
    uniform = horizon * float(EASY.benchmark_gaps("condorcet").mean())  # exact: every arm is seated equally often
    return int((result.recommended == EASY_WINNER).sum()), float(result.mean[-1]) / uniform


def small_sizes(subject: Subject) -> None:
    """K = 1, 2, 3 with m = 2, m = K, m > K and horizons 1, 2, 50 work, by ask and tell and in the play loop."""
    require_plain_passes(subject, "small-sizes")
    play_small(subject, (1, 2, 50))
    for n_arms in (1, 2, 3):
        P = MIXED.matrix[:n_arms, :n_arms]
        for horizon in (1, 2, 50):
            for slate_size in (2, 5):
                result = subject.simulate(P, horizon=horizon, slate_size=slate_size, runs=1, seed=1)
                regret, arm = float(result.final[0]), int(result.recommended[0])
                where = f"K = {n_arms}, m = {slate_size}, horizon {horizon}"
                require(0 <= arm < n_arms, f"'recommend' must name one of {n_arms} arms ({where}). Got {arm}.")
                require(0.0 <= regret <= 0.5 * horizon, f"Regret must be 0 to {0.5 * horizon:g} ({where}). Got {regret}.")
