"""Run the baselines of rcdp-public itself on its linear instance, and store their regret in benchmarks/contexts.json.

    git clone https://github.com/youngmin0oh/rcdp-public FOLDER       commit 3ed73c6 was measured
    python benchmarks/rcdp_public.py FOLDER

The thetas are those of ``contexts.py``, part ``public``; features and coins are its own. No delays, no false answers.
Its code imports PyTorch for a network that the linear instance does not use: a stand-in is enough. "exact" gives a baseline the
estimate over all answers that the code has for its own method. That estimate is solved for here, by Newton's method with halved
steps: the code's own solver overflows on answers that all count in full.
"""

from __future__ import annotations

import json
import math
import sys
import types
from unittest import mock

import numpy as np
from contexts import STORE, public_instance  # beside this file

ROUNDS, THETAS = 2000, 40


def stand_in() -> None:
    torch = types.ModuleType("torch")
    torch.manual_seed = lambda seed: None
    nn, optim = types.ModuleType("torch.nn"), types.ModuleType("torch.optim")
    nn.Module, torch.nn, torch.optim = object, nn, optim
    torch.__getattr__ = nn.__getattr__ = optim.__getattr__ = lambda name: mock.MagicMock()
    sys.modules.update({"torch": torch, "torch.nn": nn, "torch.optim": optim})


def estimate_of(Z, won, theta):
    """argmin |theta|^2 / 2 + the loss of all answers, from ``theta``."""

    def loss(x):
        return 0.5 * x @ x + np.sum(np.logaddexp(0.0, Z @ x) - won * (Z @ x))

    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(Z @ theta, -500, 500)))
        gradient = theta + Z.T @ (p - won)
        step = np.linalg.solve(np.eye(len(theta)) + (Z * (p * (1.0 - p))[:, None]).T @ Z, -gradient)
        while loss(theta + step) > loss(theta) + 1e-12 and np.abs(step).max() > 1e-12:
            step = step / 2.0
        theta = theta + step
        if np.abs(step).max() < 1e-8:
            break
    return theta


def exact(learner):
    """The learner with the estimate over all answers in place of its own step."""
    contrasts, outcomes = [], []
    step = learner.update

    def update(X, a, b, outcome, *rest):
        before = learner.theta_hat.copy()
        step(X, a, b, outcome, *rest)
        contrasts.append(X[a] - X[b])
        outcomes.append(outcome)
        learner.theta_hat = estimate_of(np.array(contrasts), np.array(outcomes), before)

    learner.update = update
    return learner


def main(folder: str) -> None:
    stand_in()
    sys.path.insert(0, folder)
    import contextual_dueling_bandit as theirs

    d = K = 10
    makers = {
        "their CoLSTIM": lambda: theirs.ColSTIMLearner(d, alpha=0.5),
        "MaxPairUCB": lambda: theirs.MaxPairUCBLearner(d, alpha=math.sqrt(d)),
    }
    rows = []
    for name, make in makers.items():
        for estimate in ("their step", "exact estimate"):
            finals = []
            for k in range(THETAS):
                np.random.seed(k)
                env = theirs.ContextualDuelingBanditEnv(d=d, e=0, k=K, delay_model=theirs.StochasticGeometricDelay(0))
                env.theta_star = public_instance(k)[1]
                env.get_true_post_context = lambda X: np.zeros((len(X), 0))
                learner = exact(make()) if estimate.startswith("exact") else make()
                finals.append(theirs.run_simulation(env, learner, ROUNDS, name="")[-1])
            error = float(np.std(finals, ddof=1) / math.sqrt(THETAS))
            rows.append({"label": f"{name}, {estimate}", "thetas": THETAS, "mean": [float(np.mean(finals))], "error": [error]})
            print(rows[-1], flush=True)
    store = json.loads(STORE.read_text())
    store["their_code"] = {"rows": rows}
    STORE.write_text(json.dumps(store, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
