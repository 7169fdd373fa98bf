"""Experiments are data: which problem, which contenders, how long, how often. A TOML file or a dataclass holds one.

An experiment is known by its name and a contender by its id; titles and labels are only shown.

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
>>> experiment.name, experiment.horizon, experiment.contenders[0].id
('small', 10000, 'multi-rucb')
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.arrays import Ints
from multiduel.engine.registry.plugins import beside, is_address, is_ours
from multiduel.engine.registry.registry import POLICIES, Source, feature_table, find, resolve
from multiduel.engine.simulation.delays import read_delay
from multiduel.engine.simulation.play import KINDS as REGRETS
from multiduel.files import read_text
from multiduel.inputs import MOST_SEED, BadInput, choice, did_you_mean, no_others, shortened, text, truth, whole
from multiduel.kernels.contract import FOREVER
from multiduel.lab import problem as problem_tables
from multiduel.lab.expansion import kebab, members, swept
from multiduel.problems import BENCHMARKS

# What would only fill the memory is refused.
MOST = {"horizon": FOREVER, "runs": 1_000_000, "checkpoints": 100_000, "seed": MOST_SEED}
SPACINGS = ("log", "both")
QUICK = "-quick"  # after the name of a small version
KEBAB, LONGEST_ID = r"[a-z0-9]+(-[a-z0-9]+)*", 80  # an id names files


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A policy with its parameters, as one line of the figure."""

    # docs/reference/experiment.md shows these comments, up to "source".
    policy: str  # a name from 'multiduel policies', or your own: my_policy.py:SPEC (beside the file) or my_module:SPEC
    id: str = ""  # name of its results; the policy's name if not given. Two contenders with one policy need two ids
    label: str = ""  # name in figures and tables; the id if not given
    params: dict[str, Any] = field(default_factory=dict)  # the policy's parameters: see 'multiduel policies NAME'
    slate_size: int | None = None  # the experiment's if not given; two-dueling policies compare two
    runs: int | None = None  # the experiment's if not given
    rival: bool = False  # whether its line is dashed
    features: tuple[tuple[float, ...], ...] | None = None  # a row per arm, for policies that take features
    source: str = ""  # where a plug-in policy was found
    anytime: bool | None = None  # as the policy description says
    cite: str = ""  # what a plug-in policy cites, so that results know it without its code

    def __post_init__(self) -> None:
        if self.anytime is None:
            spec = find(self.policy, "typed")
            if not is_ours(spec):
                object.__setattr__(self, "source", self.source or self.policy)
                object.__setattr__(self, "cite", spec.cite)
            object.__setattr__(self, "policy", spec.name)
            object.__setattr__(self, "anytime", spec.anytime)
        object.__setattr__(self, "id", self.id or self.policy)
        object.__setattr__(self, "label", self.label or self.id)
        if not isinstance(self.id, str) or not re.fullmatch(KEBAB, self.id) or len(self.id) > LONGEST_ID:
            rule = f"small letters and digits with single dashes between, at most {LONGEST_ID}"
            raise BadInput(f"'id' of a contender must be of {rule}. Got {self.id!r}.")

    def check_features(self, n_arms: int) -> None:
        """Refuse features that this policy does not take, or that are not those of ``n_arms`` arms."""
        feature_table(find(self.policy), self.features, n_arms)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One problem, several contenders, and how they are measured."""

    # docs/reference/experiment.md shows these comments.
    name: str  # name of the experiment and of its folder of results; the file's name if not given
    title: str = ""  # shown over the figure
    short: str = ""  # shorter title for tables; the title if not given
    problem: dict[str, Any]  # the table [problem]
    contenders: tuple[Contender, ...]  # the tables [[contenders]]
    slate_size: int = 2  # largest number of arms in a slate; two-dueling policies compare two
    horizon: int  # number of rounds T
    runs: int = 50  # number of independent runs
    seed: int = 0  # the same seed gives the same numbers; all contenders meet the same random numbers
    checkpoints: int | tuple[int, ...] = 50  # number or list of rounds at which regret is recorded
    spacing: str = "log"  # checkpoints evenly spaced on a logarithmic axis; "both": half of them so, half on a linear axis
    horizons: int | tuple[int, ...] | None = None  # number or list of horizons, with reset_horizon; as checkpoints if not given
    regret: str = "average"  # kind of regret that is shown: average, strong, weak or slots; all four are stored
    benchmark: str = "condorcet"  # winner that regret is measured against: condorcet, copeland, borda or utility
    reset_horizon: bool = True  # a policy that must know the horizon plays a run for each checkpoint, which is its horizon
    delay: int | str = 0  # rounds that each answer is late, or "geometric:MEAN"

    def __post_init__(self) -> None:
        ids = [contender.id for contender in self.contenders]
        for number, id in enumerate(ids, 1):
            if ids.count(id) > 1:
                raise BadInput(f"contender {number}: each needs an 'id' of its own. Got '{id}' {ids.count(id)} times.")

    def marks(self) -> Ints:
        """List the rounds at which regret is recorded."""
        return _rounds(self.checkpoints, self.horizon, self.spacing)

    def marks_of(self, contender: Contender) -> Ints:
        """List the rounds for one contender: those that play a run per checkpoint may have fewer."""
        if self.horizons is None or not self.plays_again(contender):
            return self.marks()
        return _rounds(self.horizons, self.horizon, "log")

    def plays_again(self, contender: Contender) -> bool:
        """Tell whether a contender plays a run for each checkpoint, with that checkpoint as its horizon."""
        return self.reset_horizon and not contender.anytime

    def contender(self, id: str) -> Contender:
        for contender in self.contenders:
            if contender.id == id:
                return contender
        ids = [contender.id for contender in self.contenders]
        raise BadInput(f"'{self.name}' has no contender '{id}'.{did_you_mean(id, ids)} It has: {', '.join(ids)}.")

    def runs_of(self, contender: Contender) -> int:
        return contender.runs or self.runs

    def slate_size_of(self, contender: Contender) -> int:
        """Return the slate size for ``simulate``: two-dueling policies compare two, whatever it is."""
        return contender.slate_size or self.slate_size

    def to_json(self) -> dict[str, Any]:
        """Return a table for ``from_json``. A delay of 0 is left out, so that earlier results stay valid."""
        table = dataclasses.asdict(self)
        return table if self.delay else {name: value for name, value in table.items() if name != "delay"}


def _rounds(marks: int | tuple[int, ...], horizon: int, spacing: str) -> Ints:
    """The rounds themselves, of a list or of how many there are to be."""
    if not isinstance(marks, int):
        return np.array(marks, np.int64)
    if marks == 1:
        return np.array([horizon])
    if spacing == "both":
        spaced = np.concatenate([np.geomspace(1, horizon, marks - marks // 2), np.linspace(1, horizon, marks // 2)])
    else:
        spaced = np.geomspace(1, horizon, marks)
    return np.unique(spaced.astype(np.int64).clip(1, horizon))


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """The experiments of one file, which differ in their problem or slate size; most files have only one."""

    name: str  # the folder of theirs
    title: str = ""
    experiments: tuple[Experiment, ...]

    @property
    def several(self) -> bool:
        return len(self.experiments) > 1


def load(path: str | os.PathLike[str]) -> Experiment:
    """Read the experiment in a TOML file. A file that it names is looked for beside it."""
    return parse(read_text(path), path)


def load_all(path: str | os.PathLike[str]) -> Sweep:
    """Read the experiments in a TOML file: one, or those of a sweep."""
    return parse_all(read_text(path), path)


def parse(text: str, where: str | os.PathLike[str]) -> Experiment:
    """Read the experiment in a TOML text; ``where`` is its file, for its name and for error sentences."""
    sweep = parse_all(text, where)
    if sweep.several:
        raise BadInput(f"'{where}' must be one experiment. Got a sweep of {len(sweep.experiments)}: 'load_all' takes it.")
    return sweep.experiments[0]


def parse_all(text: str, where: str | os.PathLike[str]) -> Sweep:
    """Read the experiments in a TOML text: one, or as many as its lists and problems make."""
    table = _table(text, where, ())
    table["name"] = table.get("name", Path(where).stem)
    try:
        if isinstance(table.get("contenders"), list):
            table["contenders"] = [contender for entry in table["contenders"] for contender in swept(entry)]
        found = members(table)
    except BadInput as error:
        raise BadInput(f"'{where}': {error}") from None
    if len(found) == 1:
        one = from_json(found[0][1], where, "typed")
        return Sweep(name=one.name, title=one.title, experiments=(one,))
    from_json(found[0][1], where, "typed")  # its name and title are refused as they stand in the file
    title = table.get("title") or table["name"]
    named = ({**own, "name": kebab(words), "title": f"{title}: {words}", "short": words} for words, own in found)
    return Sweep(
        name=table["name"], title=table.get("title", ""), experiments=tuple(from_json(own, where, "typed") for own in named)
    )


def _table(text: str, where: str | os.PathLike[str], users: tuple[Path, ...]) -> dict[str, Any]:
    """The table in a TOML text, on top of the table of the base that it names, if it does."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError, a number of thousands of digits, brackets without end
        raise BadInput(f"'{where}' is not TOML: {error}.") from None
    folder, contenders, several = Path(where).parent, table.get("contenders"), table.get("problems")
    for problem in (table.get("problem"), *(several if isinstance(several, list) else ())):
        if isinstance(problem, dict) and problem.get("kind") == "csv":
            file = problem.get("file")
            if isinstance(file, str):
                problem["file"] = str(folder / file)
            elif isinstance(file, list) and all(isinstance(each, str) for each in file):
                problem["file"] = [str(folder / each) for each in file]
    for contender in contenders if isinstance(contenders, list) else ():
        policy = contender.get("policy") if isinstance(contender, dict) else None
        if isinstance(policy, str) and is_address(policy):
            contender["policy"] = beside(policy, folder)
    if "base" not in table:
        return table
    base = table.pop("base")
    if not isinstance(base, str):
        raise BadInput(f"'{where}': 'base' must be the name of a file beside it. Got {shortened(base)}.")
    path = Path(os.path.abspath(folder / base))
    if path in (*users, Path(os.path.abspath(where))):
        raise BadInput(f"'{where}': its base '{base}' is based on itself.")
    below = _table(read_text(path), path, (*users, Path(os.path.abspath(where))))
    below.pop("name", None)
    if "problem" in table or "problems" in table:
        below = {name: value for name, value in below.items() if name not in ("problem", "problems")}
    return {**below, **table, **_contenders(below.get("contenders"), contenders)}


def _contenders(below: Any, above: Any) -> dict[str, Any]:
    """The base's contenders, each replaced by one of the same id, if there is one; then the others."""
    if not (isinstance(below, list) and isinstance(above, list)):
        return {}

    def known_by(entry: Any) -> Any:
        return (entry.get("id") or entry.get("policy")) if isinstance(entry, dict) else None

    new = {known_by(entry): entry for entry in above}
    kept = [new.pop(known_by(entry), entry) for entry in below]
    return {"contenders": [*kept, *(entry for entry in above if known_by(entry) in new)]}


def from_json(table: Mapping[str, Any], where: str | os.PathLike[str], source: Source = "data") -> Experiment:
    """Make an experiment from a table of its fields. An error names the entry that is wrong.

    ``source`` says whose names of policies these are (see ``registry.find``): typed, in a person's own file, or data, in results.
    """
    try:
        return _experiment(dict(table), source)
    except BadInput as error:
        raise BadInput(f"'{where}': {error}") from None


def quick_all(sweep: Sweep) -> Sweep:
    """Make a small version of a sweep. Its experiments keep their names, in a folder of another name."""
    small = (dataclasses.replace(quick(each), name=each.name, title=each.title) for each in sweep.experiments)
    experiments = tuple(small) if sweep.several else (quick(sweep.experiments[0]),)
    return dataclasses.replace(sweep, name=f"{sweep.name}{QUICK}", experiments=experiments)


def quick(experiment: Experiment) -> Experiment:
    """Make a small version for a first look, with a folder of its own."""
    horizon = min(experiment.horizon, 10_000)

    def fewer(marks: int | tuple[int, ...]) -> int | tuple[int, ...]:
        return min(marks, 20) if isinstance(marks, int) else (*(mark for mark in marks if mark < horizon), horizon)

    return dataclasses.replace(
        experiment,
        name=f"{experiment.name}{QUICK}",
        title=f"{experiment.title or experiment.name} (quick look)",
        contenders=tuple(dataclasses.replace(c, runs=c.runs and min(c.runs, 5)) for c in experiment.contenders),
        horizon=horizon,
        runs=min(experiment.runs, 5),
        checkpoints=fewer(experiment.checkpoints),
        horizons=None if experiment.horizons is None else fewer(experiment.horizons),
    )


def _experiment(table: dict[str, Any], source: Source) -> Experiment:
    no_others(table, _names(Experiment), "an experiment")
    for name in ("problem", "contenders", "horizon"):
        if name not in table:
            raise BadInput(f"'{name}' is missing.")
    if not isinstance(table["contenders"], list | tuple) or not table["contenders"]:
        raise BadInput("'contenders' must be at least one [[contenders]] table.")
    name = table["name"]
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise BadInput(f"'name' names a folder: it must be of letters, digits, dots, dashes, underscores. Got {name!r}.")
    for key in ("title", "short"):
        text(key, table.get(key, ""))
    for key, least in (("slate_size", 2), ("horizon", 1), ("runs", 1), ("seed", 0)):
        if key in table:
            table[key] = whole(key, table[key], least, MOST.get(key), of="experiment")
    table["checkpoints"] = _checkpoints("checkpoints", table.get("checkpoints", 50), table["horizon"])
    if table.get("horizons") is not None:
        table["horizons"] = _checkpoints("horizons", table["horizons"], table["horizon"])
    choice("spacing", table.get("spacing", "log"), SPACINGS)
    choice("regret", table.get("regret", "average"), REGRETS)
    choice("benchmark", table.get("benchmark", "condorcet"), BENCHMARKS)
    truth("reset_horizon", table.get("reset_horizon", True))
    table["delay"] = read_delay(table.get("delay", 0), of="experiment").word
    table["problem"] = problem_tables.check(table["problem"])
    table["contenders"] = tuple(_contender(number, entry, source) for number, entry in enumerate(table["contenders"], 1))
    experiment = Experiment(**table)
    _check_contenders(experiment)
    return experiment


def _contender(number: int, entry: Any, source: Source) -> Contender:
    which = f"contender {number}"
    if not isinstance(entry, Mapping):
        raise BadInput(f"{which} must be a table with a 'policy'. Got {entry!r}.")
    table = dict(entry)
    if not isinstance(table.get("policy"), str):
        raise BadInput(f"{which} must name its 'policy'. Got {table.get('policy')!r}.")
    params = table.get("params", {})
    known = _names(Contender)
    if not text("source", table.get("source", "")):
        table.pop("anytime", None)  # as its card says
    elif "anytime" in table:
        truth("anytime", table["anytime"])
    fields: tuple[str, ...] = ()
    if "anytime" not in table or is_at_hand(table["policy"], table["source"]):
        try:
            spec = find(table["policy"], source)
        except BadInput as error:
            raise BadInput(f"{which}: {error}") from None
        fields = spec.params._fields
        if not is_ours(spec):
            table["source"] = table.get("source") or table["policy"]
        table["policy"] = spec.name
    for name in table:
        if name not in known and name in fields:
            raise BadInput(f"{which}: '{name}' belongs into 'params', such as params = {{ {name} = {table[name]} }}.")
    no_others(table, known, which)
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
            table[key] = whole(key, table[key], least, MOST.get(key), of=which)
    for key in ("id", "label", "cite"):
        text(key, table.get(key, ""))
    truth("rival", table.get("rival", False))
    features = table.get("features")
    if features is not None:
        if not isinstance(features, list | tuple) or not all(isinstance(row, list | tuple) for row in features):
            raise BadInput(f"'features' of {which} must be a list of rows of numbers, one per arm. Got {shortened(features)}.")
        table["features"] = tuple(tuple(row) for row in features)
    try:
        return Contender(**{**table, "params": dict(params)})
    except BadInput as error:
        raise BadInput(f"{which}: {error}") from None


def _check_contenders(experiment: Experiment) -> None:
    """Policies and parameters must exist, and labels differ: before the first round is played."""
    labels = [contender.label for contender in experiment.contenders]
    for number, contender in enumerate(experiment.contenders, 1):
        try:
            if is_at_hand(contender.policy, contender.source):
                spec, size = find(contender.policy), experiment.slate_size_of(contender)
                resolve(spec, n_arms=size, slate_size=size, horizon=experiment.horizon, words=contender.params)
                contender.check_features(len(contender.features or ()))
        except BadInput as error:
            raise BadInput(f"contender {number}: {error}") from None
        if labels.count(contender.label) > 1:
            raise BadInput(f"contender {number}: each needs a 'label' of its own. Got '{contender.label}' twice.")


def is_at_hand(policy: str, source: str) -> bool:
    """Tell whether the policy is loaded. Results can be read without the file of a plug-in policy."""
    return not source or policy in POLICIES


def _checkpoints(name: str, value: Any, horizon: int) -> int | tuple[int, ...]:
    if not isinstance(value, list | tuple):
        return whole(name, value, 1, MOST["checkpoints"], of="experiment")
    marks = tuple(whole(name, mark, 1, of="experiment") for mark in value)
    if not marks or any(b <= a for a, b in itertools.pairwise(marks)):
        raise BadInput(f"'{name}' must be rounds in ascending order. Got {list(marks)[:8]}.")
    if marks[-1] > horizon:
        raise BadInput(f"'{name}' must not pass the horizon, {horizon}. Got {marks[-1]}.")
    return marks


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(entry.name for entry in dataclasses.fields(kind))
