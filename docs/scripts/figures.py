"""Figures of the documentation, and the numbers behind them: ``make figures``, or ``python docs/scripts/figures.py NAME...``.

What is played stands in PLANS and ``policy_plan``. The numbers go into docs/figures/results.json, from which the pages are made;
the same command on the same version gives the same numbers.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import blocks  # beside this file
import matplotlib as mpl

import multiduel as md
from multiduel.display.regret_figures import STYLE, UNDATED
from multiduel.engine.simulation.contexts import parse_problem
from multiduel.policies import ALL
from multiduel.problems import Problem, parse

FIGURES = Path(__file__).resolve().parents[1] / "figures"
RESULTS = FIGURES / "results.json"
YARDSTICK, CONTEXTUAL_YARDSTICK = "rmed1", "colstim"


class Line(NamedTuple):
    label: str
    policy: str
    slate_size: int
    dashed: bool = False


class Plan(NamedTuple):
    """Regret of some policies on one problem."""

    problem: str
    arms: int
    horizon: int
    lines: tuple[Line, ...]
    runs: int = 20
    size: str = "double"
    answers: str = "coins"


PLANS = {
    "front": Plan("synthetic", 48, 100_000, tuple(Line(name, name, 8) for name in ("due-duel", "multi-rucb", "rucb", "uniform"))),
    "slate-sizes": Plan("synthetic", 48, 100_000, tuple(Line(f"m = {m}", "due-duel", m) for m in (2, 4, 8, 16))),
    "two-at-a-time": Plan(
        "synthetic", 16, 100_000, tuple(Line(name, name, 2) for name in ("due-duel", "rmed1", "dts", "rucb", "ws-s", "if2"))
    ),
    "cyclic": Plan("cyclic", 4, 100_000, tuple(Line(name, name, 2) for name in ("rmed2", "rmed1", "due-duel", "dts", "rucb"))),
}


def policy_plan(name: str) -> Plan:
    """A policy beside a yardstick, on a small problem; those that compare several at once with four seats too."""
    spec = next(spec for spec in ALL if spec.name == name)
    lines = [Line(f"{name}, m = 2" if spec.slate == "any" else name, name, 2)]
    if spec.slate == "any":
        lines.append(Line(f"{name}, m = 4", name, 4))
    if spec.contextual:  # judges rank what they are shown, so that slates of more than two are read as they are by default
        rival = CONTEXTUAL_YARDSTICK if name != CONTEXTUAL_YARDSTICK else "max-pair-ucb"
        return Plan("contexts", 10, 20_000, (*lines, Line(rival, rival, 2, True)), answers="rankings")
    rival = YARDSTICK if name != YARDSTICK else "dts"
    return Plan("synthetic", 10, 100_000, (*lines, Line(rival, rival, 2, True)), size="double")


def plans() -> Iterator[tuple[str, Plan]]:
    yield from PLANS.items()
    for spec in ALL:
        yield f"policy-{spec.name}", policy_plan(spec.name)


def play(name: str, plan: Plan) -> dict[str, Any]:
    """Play it, draw it, and return its numbers."""
    problem = parse_problem(plan.problem, n_arms=plan.arms, answers=plan.answers)
    options: dict[str, Any] = {"horizon": plan.horizon, "runs": plan.runs, "seed": 0, "checkpoints": 60, "threads": 1}
    results = md.Results(md.simulate(line.policy, problem, slate_size=line.slate_size, **options) for line in plan.lines)
    figure = results.plot(
        title=f"{problem.label}: mean of {plan.runs} runs, band: 95 % interval of the mean",
        labels=[line.label for line in plan.lines],
        dashed=[line.dashed for line in plan.lines],
        size=plan.size,
    )
    assert figure is not None
    with mpl.rc_context(STYLE | {"svg.fonttype": "none"}):  # letters stay letters: small files, and they can be searched
        figure.savefig(FIGURES / f"{name.replace('+', '-plus')}.svg", format="svg", metadata=UNDATED["svg"])
    lines = {}
    for line, result in zip(plan.lines, results, strict=True):
        low, high = result.interval()
        lines[line.label] = {
            "policy": line.policy,
            "slate_size": line.slate_size,
            "mean": round(float(result.mean[-1]), 1),
            "low": round(float(low[-1]), 1),
            "high": round(float(high[-1]), 1),
        }
    return {"problem": problem.label, "arms": plan.arms, "horizon": plan.horizon, "runs": plan.runs, "seed": 0, "lines": lines}


def main(wanted: list[str]) -> None:
    FIGURES.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, plan in plans():
        if wanted and name not in wanted:
            continue
        known[name] = play(name, plan)
        print(name, {label: line["mean"] for label, line in known[name]["lines"].items()}, flush=True)
        RESULTS.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    if not wanted or "problems" in wanted:
        draw_problems()
    if not wanted or "standings" in wanted:
        draw_standings()
    if not wanted or "which-ranker" in wanted:
        run_guide("which-ranker", "evidence.svg")


def run_guide(name: str, figure: str) -> None:
    """Run the code of a guide, and keep the figure that it made."""
    with tempfile.TemporaryDirectory() as folder:
        blocks.run_page(FIGURES.parent / "guides" / f"{name}.md", Path(folder))
        shutil.copyfile(Path(folder) / figure, FIGURES / f"{name}.svg")


def draw_standings() -> None:
    """Standings of the example's votes."""
    found = md.standings(md.read_votes(FIGURES.parents[1] / "examples" / "votes.csv"))
    found.plot(FIGURES / "standings.svg")


def draw_problems() -> None:
    """Matrices of the instances that ship, as pictures."""
    from matplotlib.figure import Figure

    shown: list[Problem] = [parse(spec, n_arms=arms) for spec, arms in PICTURED]
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE | {"svg.fonttype": "none", "font.size": 7, "axes.titlesize": 7})
        columns = 4
        figure = Figure(figsize=(7.0, 1.9 * -(-len(shown) // columns)), layout="constrained")
        axes = figure.subplots(-(-len(shown) // columns), columns).ravel()
        for panel, ((spec, _), problem) in zip(axes, zip(PICTURED, shown, strict=True), strict=False):
            image = panel.imshow(problem.matrix, vmin=0, vmax=1, cmap="PuOr", interpolation="nearest")
            panel.set(title=f"{spec}, K = {problem.n_arms}", xticks=[], yticks=[])
        for panel in axes[len(shown) :]:
            panel.set_axis_off()
        figure.colorbar(image, ax=axes.tolist(), label="chance that the row beats the column", shrink=0.6)
        figure.savefig(FIGURES / "problems.svg", format="svg", metadata=UNDATED["svg"])


PICTURED: tuple[tuple[str, int | None], ...] = (
    *(("synthetic", 16), ("1good", 6), ("3good", 6), ("arithmetic", 8), ("cyclic", 4), ("three-winners", 12), ("swirl", 9)),
    *(("bvsc", 8), ("random", 16), ("bradley-terry", 16), ("tournament", 16), ("cyclic", 17)),
)


if __name__ == "__main__":
    main(sys.argv[1:])
