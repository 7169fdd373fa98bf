"""Policies by name, and their parameters from words: what the boundary knows and the kernels need not."""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from multiduel import machines, policies
from multiduel.arrays import Floats
from multiduel.engine.registry import plugins
from multiduel.engine.registry.plugin_mistakes import refuse_mistakes
from multiduel.inputs import BadInput, did_you_mean, shortened
from multiduel.kernels.contract import FOREVER, MachineSpec, Parameter, PolicySpec
from multiduel.policies import challengers
from multiduel.policies.wrappers import Closing

PLUGINS = (
    "A plug-in is loaded only where a person names it: on the command line ('--plugin'), in an experiment's file, or in Python "
    "('multiduel.register')."
)
LONGEST_HINTED = 100  # letters of an unknown name that are compared with those there are
SMALL, LARGE = 1e-12, 1e12  # parameters: squares, cubes and logarithms of them stay numbers

MOST_FEATURE = 1e6  # squares of features, summed over any number of answers, stay numbers
ROUNDS_DIFFER = (
    "With features that change from round to round, an arm is another option in every round: there is no overall winner to "
    "find, only the best of a round."
)

POLICIES: dict[str, PolicySpec] = {spec.name: spec for spec in policies.ALL}
MACHINES: dict[str, MachineSpec] = {spec.name: spec for spec in machines.ALL}

# Where a name comes from. Typed: by a person, on the command line, in a Python call, or in their own experiment's file. Data:
# everything else, such as a request, a journal, a log, a snapshot, a folder of results.
Source = Literal["typed", "data"]


def register(spec: PolicySpec | MachineSpec) -> None:
    """Make your own policy or machine known by its name to ``make``, ``simulate`` and the checks.

    Parameters
    ----------
    spec
        Its description. A later version of the same module takes the place of an earlier one.

    Raises
    ------
    BadInput
        If another policy or machine has the name.

    Examples
    --------
    >>> register(policies.uniform.SPEC)  # one of ours is known already
    >>> find("uniform").title
    'Uniform'
    """
    if not isinstance(spec, PolicySpec | MachineSpec):
        raise BadInput(f"'register' takes a PolicySpec or a MachineSpec. Got {shortened(spec)}.")
    table: dict[str, Any] = POLICIES if isinstance(spec, PolicySpec) else MACHINES
    known = table.get(spec.name, spec)
    if known.params is not spec.params and (plugins.is_ours(known) or known.params.__module__ != spec.params.__module__):
        raise BadInput(f"The name '{spec.name}' is taken. Give your {type(spec).__name__} another one.")
    if not plugins.is_ours(spec):
        refuse_mistakes(spec)
    table[spec.name] = spec


def find(name: str | PolicySpec, source: Source = "data") -> PolicySpec:
    """Find a policy by its name. This is the only place that decides whether a name may load code.

    A name that a person typed may also be an address (``my_module:SPEC``, ``path/to/file.py:SPEC``), or be offered by an
    installed package: its code is loaded, and from then on the policy is registered. A name in data finds what is registered
    in this process, and loads nothing. A policy's description itself is taken from anywhere.

    >>> find("uniform").title
    'Uniform'
    >>> find("my_policy.py:SPEC")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    multiduel.inputs.BadInput: There is no registered policy 'my_policy.py:SPEC'. A plug-in is loaded only where a person ...
    """
    if isinstance(name, PolicySpec):
        register(name)
        return name
    if not isinstance(name, str):
        raise BadInput(f"A policy is named by a word such as 'multi-rucb'. Got {shortened(name)}.")
    if source == "typed":
        return _find_typed(name)
    if name not in POLICIES:
        raise BadInput(
            f"There is no registered policy {shortened(name)}.{did_you_mean(name[:LONGEST_HINTED], POLICIES)} {PLUGINS}"
        )
    return POLICIES[name]


def _find_typed(name: str) -> PolicySpec:
    if plugins.is_address(name):
        spec = plugins.load(name, PolicySpec)
        register(spec)
        return spec
    if name not in POLICIES and name not in known_policies():
        raise BadInput(
            f"There is no policy '{name}'.{did_you_mean(name, POLICIES)} 'multiduel policies' lists them; "
            "one of your own is named 'path/to/file.py:SPEC'."
        )
    return POLICIES[name]


def load_plugin(name: str) -> PolicySpec | MachineSpec:
    """Load and register one plug-in that a person typed, so that data may name it from then on: an address of a policy, or the
    name of an installed package's entry point. Other packages are not loaded."""
    if plugins.is_address(name):
        return find(name, "typed")
    known = POLICIES.get(name) or MACHINES.get(name)
    if known is None:
        known = plugins.offered(name)
        register(known)
    return known


def known_policies() -> dict[str, PolicySpec]:
    """All there are by name, those of installed packages included."""
    for spec in _installed():
        if spec.name not in POLICIES and spec.name not in MACHINES:
            register(spec)
    return POLICIES


@functools.cache
def _installed() -> list[PolicySpec | MachineSpec]:
    return plugins.installed()


def resolve(
    spec: PolicySpec, *, n_arms: int, slate_size: int = 2, horizon: int | None = None, words: Mapping[str, Any] | None = None
) -> Any:
    """The policy's Params. Names that are not the policy's own go to the machine plugged into it.

    ``closing=True`` lets challengers take over where the policy has nothing left to compare and the verdict is open; a number
    in its place is the error of that verdict.
    """
    rest = dict(words or {})
    closing = rest.pop("closing", False)
    fields = spec.params._field_defaults
    values: dict[str, Any] = {}
    if slate_size < 2:
        raise BadInput(f"'slate_size' of '{spec.name}' must be at least 2. Got {slate_size}.")
    if "slate_size" in fields:
        values["slate_size"] = min(slate_size, n_arms)
    if "horizon" in fields:
        rest.setdefault("horizon", horizon)
        if rest["horizon"] is None:
            raise BadInput(f"'{spec.name}' must know how many rounds there will be. Give it 'horizon', for example 100000.")
    for name, default in fields.items():
        parameter = spec.parameters.get(name, Parameter(meaning=""))
        if parameter.machines:
            values[name] = _machine(spec, parameter, default, rest.pop(name, None), rest)
        elif name in rest:
            values[name] = _value(spec.name, name, parameter, default, rest.pop(name))
    if rest:
        unknown = next(iter(rest))
        known = [*fields, *(f for value in values.values() if hasattr(value, "_fields") for f in value._fields)]
        raise BadInput(
            f"'{spec.name}' has no parameter '{unknown}'.{did_you_mean(unknown, known)} It has: {', '.join(known) or 'none'}."
        )
    return _closed(spec.name, spec.params(**values), closing)


def _closed(name: str, params: Any, closing: Any) -> Any:
    said = str(closing).lower()
    if said in ("false", "no"):
        return params
    default, card = challengers.Params().alpha, challengers.SPEC.parameters["alpha"]
    error = _value(name, "closing", card, default, default if said in ("true", "yes") else closing)
    return Closing(params, challengers.Params(max(2, getattr(params, "slate_size", 2)), error))


def feature_table(spec: PolicySpec, features: Any, n_arms: int) -> Floats | None:
    """The arms' features as an array, a row per arm; None if none were given."""
    if features is None:
        return None
    if not spec.features:
        users = ", ".join(name for name, card in POLICIES.items() if card.features)
        raise BadInput(f"'{spec.name}' takes no features of the arms. These do: {users}.")
    try:
        table = np.array(features, np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"'features' of '{spec.name}' must be a table of numbers. Got {shortened(features)}.") from None
    if table.ndim != 2 or table.shape[0] != n_arms or table.shape[1] == 0:
        raise BadInput(f"'features' of '{spec.name}' must be a table with {n_arms} rows, one per arm. Got shape {table.shape}.")
    if not np.isfinite(table).all():
        raise BadInput(f"'features' of '{spec.name}' must be finite numbers.")
    if spec.contextual and not np.abs(table).max() <= MOST_FEATURE:
        raise BadInput(
            f"'features' of '{spec.name}' must be from {-MOST_FEATURE:,.0f} to {MOST_FEATURE:,.0f}. Got {np.abs(table).max():g}."
        )
    return table


def with_dimension(spec: PolicySpec, words: Mapping[str, Any], dimension: int, source: str) -> dict[str, Any]:
    """The words of a policy whose features may change, with the number of features that ``source`` brings."""
    if not spec.contextual or dimension == 0:
        return dict(words)
    if str(words.get("dimension", dimension)) != str(dimension):
        raise BadInput(
            f"'dimension' of '{spec.name}' must be {dimension}, as many as {source} has. Got {shortened(words['dimension'])}."
        )
    return {**words, "dimension": dimension}


def dimension_of(params: Any) -> int:
    """How many features an arm has; 0 for a policy that has none, or whose arms have none."""
    return int(getattr(params.policy if isinstance(params, Closing) else params, "dimension", 0))


def refuse_closing(spec: PolicySpec, params: Any) -> None:
    """Refuse challengers where the options of each round are others."""
    if isinstance(params, Closing):
        raise BadInput(f"'closing' of '{spec.name}' needs options that stay the same. {ROUNDS_DIFFER}")


def _machine(spec: PolicySpec, parameter: Parameter, default: Any, choice: Any, rest: dict[str, Any]) -> Any:
    by_params = {machine.params: machine for machine in MACHINES.values()}
    fitting = {name: machine for name, machine in MACHINES.items() if machine.kind == parameter.machines}
    if choice is None:
        base = default
    elif isinstance(choice, str) and choice in fitting:
        base = fitting[choice].params()
    else:
        base = choice  # a machine's Params
    machine = by_params.get(type(base))
    if machine is None or machine.name not in fitting:
        hint = did_you_mean(choice, fitting) if isinstance(choice, str) else ""
        raise BadInput(f"'machine' of '{spec.name}' must be one of {', '.join(fitting)}. Got {shortened(choice)}.{hint}")
    own = {name: rest.pop(name) for name in base._fields if name in rest and name not in spec.params._fields}
    return base._replace(
        **{
            name: _value(f"{spec.name}, {machine.name}", name, machine.parameters[name], getattr(base, name), value)
            for name, value in own.items()
        }
    )


def _value(owner: str, name: str, parameter: Parameter, default: Any, word: Any) -> Any:
    """A word or number as the kernel wants it: of the default's type, so that nothing is compiled twice."""
    where = f"'{name}' of '{owner}'"
    if parameter.choices:
        if not isinstance(word, str) or word not in parameter.choices:
            raise BadInput(f"{where} must be one of {', '.join(parameter.choices)}. Got {shortened(word)}.")
        return type(default)(parameter.choices[word])
    if isinstance(default, bool):
        truths = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        said = str(word).lower()
        if said not in truths:
            raise BadInput(f"{where} must be true or false. Got {shortened(word)}.")
        return truths[said]
    try:
        if isinstance(word, bool) or not isinstance(word, str | numbers.Real):
            raise ValueError
        value = float(word)
    except OverflowError:  # an int that no float can hold
        value = math.inf
    except ValueError:
        raise BadInput(f"{where} must be a number. Got {shortened(word)}.") from None
    integer = isinstance(default, int)
    if math.isnan(value) or (integer and not math.isinf(value) and value != math.floor(value)):
        raise BadInput(f"{where} must be a {'whole ' if integer else ''}number. Got {shortened(word)}.")
    limits = (
        (parameter.at_least, "at least", operator.ge),
        (parameter.above, "above", operator.gt),
        (parameter.at_most, "at most", operator.le),
        (parameter.below, "below", operator.lt),
    )
    for limit, words_of, holds in limits:
        if limit is not None and not holds(value, limit):
            raise BadInput(f"{where} must be {words_of} {limit:g}. Got {shortened(word)}.")
    if integer and abs(value) > FOREVER:
        raise BadInput(f"{where} must be at most {FOREVER:,}. Got {shortened(word)}.")
    if not integer and value != 0.0 and not SMALL <= abs(value) <= LARGE and not (math.isinf(default) and math.isinf(value)):
        raise BadInput(f"{where} must be 0, or from {SMALL:g} to {LARGE:g} in size. Got {shortened(word)}.")
    return int(word) if integer and isinstance(word, int) else type(default)(value)  # ints stay exact


def describe(params: Any) -> dict[str, Any]:
    """Params as words and numbers that JSON can hold, the machine's beside the policy's; ``resolve`` takes them back."""
    if isinstance(params, Closing):
        return describe(params.policy) | {"closing": params.closer.alpha}
    known: tuple[PolicySpec | MachineSpec, ...] = (*POLICIES.values(), *MACHINES.values())
    cards = {spec.params: spec for spec in known}
    card = cards[type(params)]
    words: dict[str, Any] = {}
    for name, value in params._asdict().items():
        parameter = card.parameters.get(name, Parameter(meaning=""))
        if hasattr(value, "_fields"):
            words[name] = cards[type(value)].name
            words.update(describe(value))
        elif parameter.choices:
            words[name] = next(word for word, number in parameter.choices.items() if number == value)
        else:
            words[name] = str(value) if isinstance(value, float) and math.isinf(value) else value
    return words
