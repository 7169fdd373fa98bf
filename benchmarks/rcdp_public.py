"""Play the linear instance of rcdp-public here and with its own code; judge its README as the paper's claims are judged.

    git clone https://github.com/youngmin0oh/rcdp-public FOLDER       commit 3ed73c6 was measured
    python benchmarks/rcdp_public.py FOLDER
    python benchmarks/rcdp_public.py              the stored comparisons behind each claim; plays nothing

The panels are rcdp-public.toml and rcdp-public-late.toml; regret of every run goes to rcdp_public.json. Their code is given
the theta of the panel; its features, coins and delays are its own. No answers are falsified.
Their code imports PyTorch for a network that the linear instance does not use: a stand-in is enough. It gives the estimate over
all answers (the full MLE) to its own method, and one gradient step to the baselines. "mle" gives that estimate to a baseline too.
It is solved for here, by Newton's method with halved steps: the code's own solver overflows on answers that all count in full.
"""

from __future__ import annotations

import itertools
import json
import math
import pathlib
import statistics
import sys
import tempfile
import types
from unittest import mock

import numpy as np

from multiduel.engine.simulation.delays import read_delay
from multiduel.engine.simulation.statistics import ratio
from multiduel.lab import experiment, problem, runner
from multiduel.lab.paper.verdicts import Claim, Topic, claim, comparison

HERE = pathlib.Path(__file__).parent
STORE = HERE / "rcdp_public.json"
PANELS = ("rcdp-public", "rcdp-public-late")
BASELINES = {"colstim": "CoLSTIM", "max-pair-ucb": "MaxPairUCB"}
BELOW, SAME = (-math.inf, 1.0), (0.8, 1.25)


def panel(name: str) -> experiment.Experiment:
    return experiment.load(HERE / f"{name}.toml")


def stand_in() -> None:
    torch = types.ModuleType("torch")
    nn, optim = types.ModuleType("torch.nn"), types.ModuleType("torch.optim")

    class Module:
        def to(self, device):
            return self

        def parameters(self):
            return []

    torch.__getattr__ = nn.__getattr__ = optim.__getattr__ = lambda name: mock.MagicMock()
    nn.Module, torch.nn, torch.optim = Module, nn, optim
    sys.modules.update({"torch": torch, "torch.nn": nn, "torch.optim": optim})


def estimate_of(Z, won, theta):
    """argmin |theta|^2 / 2 + the loss of all answers, from ``theta``."""

    def loss(x):
        return 0.5 * x @ x + np.sum(np.logaddexp(0.0, Z @ x) - won * (Z @ x))

    before = loss(theta)
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(Z @ theta, -500, 500)))
        gradient = theta + Z.T @ (p - won)
        step = np.linalg.solve(np.eye(len(theta)) + (Z * (p * (1.0 - p))[:, None]).T @ Z, -gradient)
        if np.abs(step).max() < 1e-7:
            break
        while (after := loss(theta + step)) > before + 1e-9 and np.abs(step).max() > 1e-9:
            step = step / 2.0
        theta, before = theta + step, after
    return theta


def with_mle(learner, rounds):
    """The learner with the estimate over all answers in place of its own step."""
    contrasts, outcomes, told = np.zeros((rounds, learner.d)), np.zeros(rounds), 0
    step = learner.update

    def update(X, a, b, outcome, *rest):
        nonlocal told
        before = learner.theta_hat.copy()
        step(X, a, b, outcome, *rest)
        contrasts[told], outcomes[told] = X[a] - X[b], outcome
        told += 1
        learner.theta_hat = estimate_of(contrasts[:told], outcomes[:told], before)

    learner.update = update
    return learner


def play_theirs(folder: str) -> dict[str, dict[str, list[float]]]:
    """Regret at the end of every run of their code, by panel and contender."""
    stand_in()
    sys.path.insert(0, folder)
    import contextual_dueling_bandit as theirs

    found = {}
    for name in PANELS:
        played = panel(name)
        instance, mean = problem.resolve(played.problem), read_delay(played.delay).mean
        d, K, T = instance.dimension, instance.n_arms, played.horizon
        theta = np.linalg.lstsq(instance.rows, instance.utilities, rcond=None)[0]
        makers = {
            "colstim-step": lambda d=d: theirs.ColSTIMLearner(d, alpha=0.5),
            "max-pair-ucb-step": lambda d=d: theirs.MaxPairUCBLearner(d, alpha=math.sqrt(d)),
            "colstim-mle": lambda d=d, T=T: with_mle(theirs.ColSTIMLearner(d, alpha=0.5), T),
            "max-pair-ucb-mle": lambda d=d, T=T: with_mle(theirs.MaxPairUCBLearner(d, alpha=math.sqrt(d)), T),
            "rcdp-ucb": lambda d=d: theirs.DuelingGLMLearner(
                d=d, e=0, lambda_reg=1.0, alpha=0.1, C=25.0, Lambda=10000.0, mu_tau=100.0, kappa=0.25
            ),
        }
        found[name] = {}
        for id, make in makers.items():
            finals = []
            for run in range(played.runs):
                np.random.seed(run)
                env = theirs.ContextualDuelingBanditEnv(d=d, e=0, k=K, delay_model=theirs.StochasticGeometricDelay(mean))
                env.theta_star, env.get_true_post_context = theta, lambda X: np.zeros((len(X), 0))
                finals.append(float(theirs.run_simulation(env, make(), T, name="")[-1]))
            found[name][id] = np.round(finals, 2).tolist()
            print(name, id, np.mean(finals), flush=True)
    return found


def play_ours() -> dict[str, dict[str, list[float]]]:
    """Regret at the end of every run of the panels."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in PANELS:
            lines = runner.run(panel(name), pathlib.Path(folder) / name).lines
            found[name] = {line.contender.id: np.round(line.final, 2).tolist() for line in lines}
            print(name, {id: np.mean(finals) for id, finals in found[name].items()}, flush=True)
    return found


def claims(store) -> list[Claim]:
    """What is claimed of the instance, judged by ``lab.paper.verdicts``."""
    ours, theirs = store["ours"], store["theirs"]

    def compared(name, what, a, b, wanted, **words):
        where = panel(name).short
        topic = Topic(panel=name, pair=what, where=where, short=where, what=what, **words)
        return comparison(topic, ratio(np.array(a), np.array(b), paired=False), wanted)

    same, estimates, best = [], [], []
    for name in PANELS:
        mine, its = ours[name], theirs[name]
        for id, title in BASELINES.items():
            for estimator, words in (("step", "their step"), ("mle", "full MLE")):
                key = f"{id}-{estimator}"
                same.append(compared(name, f"{title}, {words}: ours / theirs", mine[key], its[key], SAME))
                further = "" if estimator == "step" else "with the full MLE for the baselines too"
                best.append(compared(name, f"RCDP-UCB / {title}, {words}", its["rcdp-ucb"], its[key], BELOW, further=further))
            for whose, runs in (("their code", its), ("ours", mine)):
                what = f"{title}, full MLE / their step, {whose}"
                estimates.append(compared(name, what, runs[f"{id}-mle"], runs[f"{id}-step"], BELOW))
    end = "Ratio of mean regrets at the end"
    return [
        claim(
            "same",
            "Our CoLSTIM and MaxPairUCB have their regret.",
            f"{end}, ours over their code's; {SAME[0]} to {SAME[1]}.",
            same,
        ),
        claim("estimate", "The full MLE lowers the regret of both.", f"{end}; below 1.", estimates),
        claim("best", "RCDP-UCB has less regret than both, as their README says.", f"{end}, all of their code; below 1.", best),
    ]


def main(folder: str | None) -> None:
    if folder is not None:
        STORE.write_text(json.dumps({"ours": play_ours(), "theirs": play_theirs(folder)}) + "\n")
    found = json.loads(STORE.read_text(encoding="utf-8"))
    for name, whose in itertools.product(PANELS, found):
        for id, runs in found[whose][name].items():
            error = 1.96 * statistics.stdev(runs) / math.sqrt(len(runs))
            print(f"{name}, {whose}, {id}: {statistics.fmean(runs):,.0f} ±{error:,.0f}")
    for each in claims(found):
        print(each.name, each.line, each.why)
        for c in each.comparisons:
            print("   ", c.where, "|", c.what, "|", f"{c.value:.3f} ({c.low:.3f} to {c.high:.3f})", c.outcome)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
