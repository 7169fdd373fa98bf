"""The experiments that come with the package, a TOML file each: the paper's ten panels, and further ones.

Further experiments vary what the paper leaves open (interpretations), one choice at a time or several jointly, and go on to
longer horizons. A panel is known by its experiment's name, a contender by its id. Panels on rankers take the MSLR matrix from
the folder of data; where there is none, rankers of a generated corpus are handed to them, every title says so, and no further
experiments are played on them.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from multiduel.lab import experiment as experiments
from multiduel.lab import problem as problem_tables
from multiduel.lab.experiment import Experiment
from multiduel.lab.paper import stand_in
from multiduel.lab.results import Panel
from multiduel.problems import Problem

FOLDER = Path(__file__).parent
TWO = tuple(f"two-dueling-{letter}" for letter in "abcdef")
MULTI = tuple(f"multi-dueling-{letter}" for letter in "abcd")
ALPHAS = ("interpretation-alpha-linear", "interpretation-alpha-logit")
MULTI_VARIED = tuple(f"interpretation-multi-rucb{kind}-{m}" for kind in ("", "-rankers") for m in (8, 16))
INTERPRETATIONS = (*ALPHAS, "interpretation-doubler-bai", *MULTI_VARIED)
SLATE_SIZES = ("slate-sizes", "slate-sizes-rankers")
LONG = ("long-10-7", "long-10-8")
THEORY = ("theory-doubler-bai", "theory-multi-rucb")
JOINT = tuple(f"joint-{name}" for name in (*TWO, *MULTI))
# Those with figures of their own first: they are drawn while the others are played, and these take runs from them.
FURTHER = (*SLATE_SIZES, *THEORY, *JOINT, *INTERPRETATIONS, *LONG)
# The experiments that vary contenders of a panel, on its problem and with its slates.
VARIED_IN: dict[str, tuple[str, ...]] = {
    "two-dueling-a": ("interpretation-alpha-linear", "interpretation-doubler-bai"),
    "two-dueling-c": ("interpretation-alpha-logit",),
    **{panel: (varied,) for panel, varied in zip(MULTI, MULTI_VARIED, strict=True)},
}
STAND_IN = {"kind": "given", "source": "multiduel.lab.paper.stand_in"}


def shipped() -> dict[str, Path]:
    """The files by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def load_all(*, quick: bool = False, mslr: str | None = None) -> list[Experiment]:
    """The paper's ten panels, then the further experiments; ``mslr`` is another file with the matrix of the panels on rankers."""
    loaded = []
    for name in (*TWO, *MULTI, *FURTHER):
        experiment = experiments.load(shipped()[name])
        if mslr is not None and on_rankers(experiment):
            experiment = dataclasses.replace(experiment, problem={**experiment.problem, "file": mslr})
        if quick:
            experiment = dataclasses.replace(experiments.quick(experiment), name=name, title=experiment.title)
        loaded.append(experiment)
    return loaded


def with_problem(experiment: Experiment, data: Path | None) -> tuple[Experiment, Problem | None]:
    """The experiment as it can be run here, with the problem to hand over where its data is not at hand."""
    if experiment.problem["kind"] == "data" and problem_tables.data_folder(data) is None:
        return dataclasses.replace(experiment, problem=STAND_IN), stand_in.stand_in(experiment.problem.get("arms", 24))
    return experiment, None


def worth_playing(experiment: Experiment, data: Path | None) -> bool:
    """Not so further experiments on generated rankers: they count towards nothing."""
    return experiment.name not in FURTHER or not on_rankers(experiment) or problem_tables.data_folder(data) is not None


def on_rankers(experiment: Experiment) -> bool:
    return experiment.problem["kind"] == "data" or generated(experiment)


def generated(experiment: Experiment) -> bool:
    """Do generated rankers stand in for MSLR's?"""
    return experiment.problem == STAND_IN


def title(panel: Panel) -> str:
    """The panel's title; of one on rankers, with whose they are."""
    text = panel.experiment.title or panel.experiment.name
    said = _with_whose(panel.experiment, text)
    return said if said != text or not on_rankers(panel.experiment) else f"{text}, {_whose(panel.experiment)}"


def short(panel: Panel) -> str:
    """A few words for it, such as its letter."""
    text = panel.experiment.short
    return _with_whose(panel.experiment, text) if text else title(panel)


def _with_whose(experiment: Experiment, text: str) -> str:
    return text.replace("rankers", _whose(experiment)) if on_rankers(experiment) else text


def _whose(experiment: Experiment) -> str:
    return stand_in.LABEL if generated(experiment) else "MSLR rankers"
