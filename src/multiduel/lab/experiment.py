"""Experiments are data: which problem, which contenders, how long, how often. A TOML file or a dataclass holds one.

>>> experiment = parse('''
... horizon = 1e4
... runs = 5
... [problem]
... kind = "synthetic"
... arms = 8
... [[contenders]]
... policy = "multi-rucb"
... slate_size = 4
... params = { alpha = 0.6 }
... ''', "small.toml")
>>> experiment.name, experiment.horizon, experiment.contenders[0].label
('small', 10000, 'multi-rucb')
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from multiduel import problems
from multiduel.arrays import Ints
from multiduel.engine.play import KINDS as REGRETS
from multiduel.engine.registry import find, resolve
from multiduel.inputs import BadInput, did_you_mean, whole
from multiduel.kernels.contract import FOREVER
from multiduel.problems import Problem

PANELS = Path(__file__).with_name("paper") / "panels"  # experiments that come with the package

# What each kind of problem may be told besides its kind.
PROBLEMS: dict[str, tuple[str, ...]] = {
    "synthetic": ("arms", "link"),
    "random": ("arms", "link", "seed"),
    "bradley-terry": ("arms", "seed", "scale"),
    "tournament": ("arms", "seed", "condorcet"),
    "cyclic": ("arms", "gap", "cycle_gap", "condorcet"),
    "csv": ("file",),
    "mslr": ("arms", "file"),
}
MSLR_FILE = "mslr_informational_24_total_order_margin.csv"
MOST = {"horizon": FOREVER, "runs": 1_000_000, "checkpoints": 100_000, "arms": 100_000}
DATA = "MULTIDUEL_DATA"  # the environment variable that names the folder of real data


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A policy with its parameters, as one line of the figure."""

    policy: str
    label: str = ""  # the policy's name if not given
    params: dict[str, Any] = field(default_factory=dict)
    slate_size: int | None = None  # the experiment's if not given; two-dueling policies compare two
    runs: int | None = None  # the experiment's if not given
    rival: bool = False  # drawn as a dashed line


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One problem, several contenders, and how they are measured."""

    name: str  # of its folder of results
    title: str = ""
    problem: dict[str, Any]
    contenders: tuple[Contender, ...]
    slate_size: int = 2
    horizon: int
    runs: int = 50
    seed: int = 0
    checkpoints: int | tuple[int, ...] = 50  # so many, evenly spaced on a logarithmic axis; or the rounds themselves
    regret: str = "average"
    benchmark: str = "condorcet"
    reset_horizon: bool = True  # policies that must know the horizon play one run per checkpoint, told it ends there

    def marks(self) -> Ints:
        """The rounds at which regret is recorded."""
        if not isinstance(self.checkpoints, int):
            return np.array(self.checkpoints, np.int64)
        if self.checkpoints == 1:
            return np.array([self.horizon])
        spaced = np.geomspace(1, self.horizon, self.checkpoints)
        return np.unique(spaced.astype(np.int64).clip(1, self.horizon))

    def runs_of(self, contender: Contender) -> int:
        return contender.runs or self.runs

    def slate_size_of(self, contender: Contender) -> int:
        return 2 if find(contender.policy).slate == "two" else contender.slate_size or self.slate_size

    def to_json(self) -> dict[str, Any]:
        """What ``from_json`` takes back."""
        return dataclasses.asdict(self)


def load(path: str | os.PathLike[str]) -> Experiment:
    """The experiment in a TOML file. A file it names is looked for beside it."""
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise BadInput(f"'{path}' must be a file that exists. Got no such file.") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"'{path}' must be UTF-8 text. Got other bytes at position {error.start}.") from None
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None
    return parse(text, path)


def parse(text: str, where: str | os.PathLike[str]) -> Experiment:
    """The experiment in a TOML text; ``where`` is the file it is from, for its name and for error sentences."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"'{where}' is not TOML: {error}.") from None
    table.setdefault("name", Path(where).stem)
    problem = table.get("problem")
    if isinstance(problem, dict) and problem.get("kind") == "csv" and isinstance(problem.get("file"), str):
        problem["file"] = str(Path(where).parent / problem["file"])
    return from_json(table, where)


def from_json(table: Mapping[str, Any], where: str | os.PathLike[str]) -> Experiment:
    """An experiment from a table of its fields. Whatever is wrong is refused, and said where."""
    try:
        return _experiment(dict(table))
    except BadInput as error:
        raise BadInput(f"'{where}': {error}") from None


def shipped() -> dict[str, Path]:
    """The experiments that come with the package, by name."""
    return {path.stem: path for path in sorted(PANELS.glob("*.toml"))}


def quick(experiment: Experiment) -> Experiment:
    """A small version for a first look, in a folder of its own."""
    horizon = min(experiment.horizon, 10_000)
    marks: int | tuple[int, ...]
    if isinstance(experiment.checkpoints, int):
        marks = min(experiment.checkpoints, 20)
    else:
        marks = (*(mark for mark in experiment.checkpoints if mark < horizon), horizon)
    return dataclasses.replace(
        experiment,
        name=f"{experiment.name}-quick",
        title=f"{experiment.title or experiment.name} (quick look)",
        contenders=tuple(dataclasses.replace(c, runs=c.runs and min(c.runs, 5)) for c in experiment.contenders),
        horizon=horizon,
        runs=min(experiment.runs, 5),
        checkpoints=marks,
    )


def resolve_problem(experiment: Experiment, data: Path | None = None) -> Problem:
    """The experiment's problem. ``data`` is the folder of real data, that of MULTIDUEL_DATA if not given."""
    given = dict(experiment.problem)
    kind = given.pop("kind")
    arms = given.pop("arms", 48)
    if kind == "csv":
        return problems.read_csv(given["file"])
    if kind == "mslr":
        return _mslr(given.get("file", MSLR_FILE), experiment.problem.get("arms", 24), data)
    made = {
        "synthetic": problems.synthetic,
        "random": problems.random_utilities,
        "bradley-terry": problems.bradley_terry,
        "tournament": problems.random_tournament,
        "cyclic": problems.cyclic,
    }
    return made[kind](arms, **given)  # type: ignore[operator, no-any-return]


def _mslr(name: str, arms: int, data: Path | None) -> Problem:
    folder = data or (Path(os.environ[DATA]) if os.environ.get(DATA) else None)
    if folder is None:
        from multiduel.lab.paper.stand_in import stand_in

        return stand_in(arms)
    problem = problems.read_csv(folder / name)
    if problem.n_arms != arms:
        raise BadInput(f"'arms' of the problem must be {problem.n_arms}, as many as '{name}' has. Got {arms}.")
    return problem


def _experiment(table: dict[str, Any]) -> Experiment:
    _refuse_unknown(table, _names(Experiment), "an experiment")
    for name in ("problem", "contenders", "horizon"):
        if name not in table:
            raise BadInput(f"'{name}' is missing.")
    if not isinstance(table["contenders"], list | tuple) or not table["contenders"]:
        raise BadInput("'contenders' must be at least one [[contenders]] table.")
    name = table["name"]
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(f"'name' names a folder: it must be of letters, digits, dots, dashes, underscores. Got {name!r}.")
    table["title"] = _text("title", table.get("title", ""))
    for key, least in (("slate_size", 2), ("horizon", 1), ("runs", 1), ("seed", 0)):
        if key in table:
            table[key] = _at_most(key, whole(key, table[key], least, of="experiment"))
    table["checkpoints"] = _checkpoints(table.get("checkpoints", 50), table["horizon"])
    _choice("regret", table.get("regret", "average"), REGRETS)
    _choice("benchmark", table.get("benchmark", "condorcet"), problems.BENCHMARKS)
    table["reset_horizon"] = _truth("reset_horizon", table.get("reset_horizon", True))
    table["problem"] = _problem(table["problem"])
    table["contenders"] = tuple(_contender(number, given) for number, given in enumerate(table["contenders"], 1))
    experiment = Experiment(**table)
    _check_contenders(experiment)
    return experiment


def _contender(number: int, given: Any) -> Contender:
    which = f"contender {number}"
    if not isinstance(given, Mapping):
        raise BadInput(f"{which} must be a table with a 'policy'. Got {given!r}.")
    table = dict(given)
    if not isinstance(table.get("policy"), str):
        raise BadInput(f"{which} must name its 'policy'. Got {table.get('policy')!r}.")
    params = table.get("params", {})
    known = _names(Contender)
    for name in table:
        if name not in known and name in find(table["policy"]).params._fields:
            raise BadInput(f"{which}: '{name}' belongs into 'params', such as params = {{ {name} = {table[name]} }}.")
    _refuse_unknown(table, known, which)
    if not isinstance(params, Mapping):
        raise BadInput(f"'params' of {which} must be a table, such as params = {{ alpha = 1.01 }}. Got {params!r}.")
    for name in ("slate_size", "horizon"):
        if name in params:
            raise BadInput(f"'{name}' must not be among the 'params' of {which}: the experiment sets it.")
    for name, value in params.items():
        if not isinstance(value, bool | int | float | str):
            raise BadInput(f"'{name}' among the 'params' of {which} must be a number, a word, true or false. Got {value!r}.")
    for key, least in (("slate_size", 2), ("runs", 1)):
        if table.get(key) is not None:
            table[key] = _at_most(key, whole(key, table[key], least, of=which))
    table["label"] = _text("label", table.get("label") or table["policy"])
    table["rival"] = _truth("rival", table.get("rival", False))
    return Contender(**{**table, "params": dict(params)})


def _check_contenders(experiment: Experiment) -> None:
    """Policies and parameters must exist, and labels differ: before the first round is played."""
    labels = [contender.label for contender in experiment.contenders]
    for number, contender in enumerate(experiment.contenders, 1):
        try:
            spec, size = find(contender.policy), experiment.slate_size_of(contender)
            resolve(spec, n_arms=size, slate_size=size, horizon=experiment.horizon, given=contender.params)
        except BadInput as error:
            raise BadInput(f"contender {number}: {error}") from None
        if labels.count(contender.label) > 1:
            raise BadInput(f"contender {number}: each needs a 'label' of its own. Got '{contender.label}' twice.")


def _problem(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or "kind" not in given:
        raise BadInput(f"'problem' must be a table with a 'kind': {', '.join(PROBLEMS)}.")
    problem = dict(given)
    kind = problem["kind"]
    _choice("kind", kind, PROBLEMS)
    _refuse_unknown(problem, ("kind", *PROBLEMS[kind]), f"a problem of kind '{kind}'")
    for key, least in (("arms", 1), ("seed", 0)):
        if key in problem:
            problem[key] = _at_most(key, whole(key, problem[key], least, of="problem"))
    for key in ("scale", "gap", "cycle_gap"):
        if key in problem and (isinstance(problem[key], bool) or not isinstance(problem[key], int | float)):
            raise BadInput(f"'{key}' of the problem must be a number. Got {problem[key]!r}.")
    if "condorcet" in problem:
        _truth("condorcet", problem["condorcet"])
    if "link" in problem:
        _choice("link", problem["link"], problems.LINKS)
    if kind == "csv" and "file" not in problem:
        raise BadInput("A problem of kind 'csv' must name its 'file'.")
    if "file" in problem:
        _text("file", problem["file"])
    return problem


def _checkpoints(given: Any, horizon: int) -> int | tuple[int, ...]:
    if not isinstance(given, list | tuple):
        return _at_most("checkpoints", whole("checkpoints", given, 1, of="experiment"))
    marks = tuple(whole("checkpoints", mark, 1, of="experiment") for mark in given)
    if not marks or any(b <= a for a, b in itertools.pairwise(marks)):
        raise BadInput(f"'checkpoints' must be rounds in ascending order. Got {list(marks)[:8]}.")
    if marks[-1] > horizon:
        raise BadInput(f"'checkpoints' must not pass the horizon, {horizon}. Got {marks[-1]}.")
    return marks


def _at_most(name: str, value: int) -> int:
    """What would only fill the memory is refused."""
    most = MOST.get(name)
    if most is not None and value > most:
        raise BadInput(f"'{name}' must be at most {most:,}. Got {value:,}.")
    return value


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(entry.name for entry in dataclasses.fields(kind))


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    for name in table:
        if name not in known:
            hint = did_you_mean(name, known)
            raise BadInput(f"{what} has no '{name}'.{hint} It has: {', '.join(known)}.")


def _choice(name: str, given: Any, known: Iterable[str]) -> None:
    if not isinstance(given, str) or given not in known:
        raise BadInput(f"'{name}' must be one of {', '.join(known)}. Got {given!r}.{did_you_mean(str(given), known)}")


def _text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise BadInput(f"'{name}' must be text in quotes. Got {given!r}.")
    return given


def _truth(name: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise BadInput(f"'{name}' must be true or false. Got {given!r}.")
    return given
