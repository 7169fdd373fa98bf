"""Policies of others, by where they are: ``my_module:SPEC``, ``path/to/file.py:SPEC``, or an installed package's entry point.

A file is loaded under a name of its own, and again when it was edited. What is wrong with it is said with its line.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from multiduel.engine.registry.plugin_errors import blamed
from multiduel.inputs import BadInput, did_you_mean
from multiduel.kernels.compiler import dispatch
from multiduel.kernels.compiler.sources import LOADED_LATER, PACKAGE, digest, files_behind, library_folder
from multiduel.kernels.contract import MachineSpec, PolicySpec

PREFIX = "multiduel_file_"  # of the names under which files are loaded
GROUP = "multiduel.policies"  # of the entry points that installed packages offer

_loaded: dict[Path, tuple[tuple[int, int], types.ModuleType]] = {}
_received: dict[Parcel, tempfile.TemporaryDirectory[str]] = {}  # the folders live as long as the process


def is_address(name: str) -> bool:
    """Does this say where a policy is, and not only what it is called?"""
    return ":" in name or name.endswith(".py")


def beside(address: str, folder: Path) -> str:
    """An address whose file is looked for in ``folder``; that of a module stays as it is."""
    path, attribute = _split(address)
    if not path.endswith(".py"):
        return address
    return f"{os.path.abspath(folder / path)}{f':{attribute}' if attribute else ''}"


Card = TypeVar("Card", PolicySpec, MachineSpec)


def load(address: str, kind: type[Card]) -> Card:
    """The policy, or machine, at an address. Without ``:NAME``, the only one that a file has."""
    place, attribute = _split(address)
    module = _file(Path(place)) if place.endswith(".py") else _module(place)
    there = {name: value for name, value in vars(module).items() if isinstance(value, kind)}
    if not attribute:
        if len(there) != 1:
            listed = f": {', '.join(there)}. Write '{place}:NAME'" if there else ""
            raise BadInput(f"'{place}' must have one {kind.__name__}. It has {len(there) or 'none'}{listed}.")
        return next(iter(there.values()))
    card = getattr(module, attribute, None)
    if card is None:
        listed = f" It has: {', '.join(there)}." if there else f" It has no {kind.__name__} at all."
        raise BadInput(f"'{place}' has no '{attribute}'.{did_you_mean(attribute, there)}{listed}")
    if not isinstance(card, kind):
        raise BadInput(f"'{attribute}' of '{place}' must be a {kind.__name__}. Got a {type(card).__name__}.")
    return card


def load_function(address: str) -> Callable[..., Any]:
    """The function at an address that a person typed: ``path/to/file.py:function`` or ``module:function``."""
    place, attribute = _split(address, "A function is named 'my_module:function' or 'path/to/file.py:function'.")
    module = _file(Path(place)) if place.endswith(".py") else _module(place)
    there = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    if not attribute:
        raise BadInput(f"Which function of '{place}'? It has: {', '.join(there) or 'none'}. Write '{place}:NAME'.")
    function = getattr(module, attribute, None)
    if function is None:
        raise BadInput(f"'{place}' has no '{attribute}'.{did_you_mean(attribute, there)}")
    if not callable(function):
        raise BadInput(f"'{attribute}' of '{place}' must be a function. Got a {type(function).__name__}.")
    return cast(Callable[..., Any], function)


def address_of(card: PolicySpec | MachineSpec) -> str:
    """Where another process of this computer finds it."""
    module = sys.modules[card.params.__module__]
    attribute = next((name for name, value in vars(module).items() if value is card), "")
    if not attribute:
        raise BadInput(f"The description of '{card.name}' must have a name in {module.__name__}, where its Params are.")
    file = getattr(module, "__file__", None)
    if file is None:
        raise BadInput(f"'{card.name}' was typed in, so that no other process can have it. Put it into a file of its own.")
    name = _import_name(module)
    loaded_here = name == "__main__" or name.startswith(PREFIX)
    return f"{os.path.abspath(file) if loaded_here else name}:{attribute}"


def _import_name(module: types.ModuleType) -> str:
    """As another process imports it: what was run with ``python -m`` has another name here."""
    return module.__spec__.name if module.__spec__ else module.__name__


def _split(
    address: str, form: str = "A policy of your own is named 'my_module:SPEC' or 'path/to/file.py:SPEC'."
) -> tuple[str, str]:
    if address.endswith(".py"):
        return address, ""
    place, _, attribute = address.rpartition(":")
    if not place or not attribute.isidentifier():
        raise BadInput(f"{form} Got '{address}'.")
    return place, attribute


def _module(name: str) -> types.ModuleType:
    """An importable module; the folder one works in is looked into too, which a command does not do by itself."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    try:
        with _dated():
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.split(".")[: error.name.count(".") + 1] == error.name.split("."):
            raise BadInput(f"There is no module '{error.name}'. A file is named with its ending: {error.name}.py:SPEC.") from None
        raise blamed(error, f"module '{name}' cannot be loaded") from error
    except Exception as error:
        raise blamed(error, f"module '{name}' cannot be loaded") from error


def _file(path: Path, name: str = "") -> types.ModuleType:
    """The module in a file: as loaded before, unless the file was edited since."""
    path = Path(os.path.realpath(path))
    try:
        seen = path.stat()
    except OSError as error:
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from None
    version = (seen.st_mtime_ns, seen.st_size)
    if path in _loaded and _loaded[path][0] == version:
        return _loaded[path][1]
    name = name or f"{PREFIX}{path.stem}_{digest(os.fsencode(path))[:8]}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    described = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert described is not None
    module = importlib.util.module_from_spec(described)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # for what it imports from beside it
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        with _dated():  # compiled from its text: Python's own cache would miss an edit within the same second
            exec(loader.source_to_code(path.read_bytes(), str(path)), vars(module))
    except Exception as error:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise blamed(error, f"'{path}' cannot be loaded") from error
    _loaded[path] = version, module
    LOADED_LATER[path] = seen.st_mtime
    return module


@contextmanager
def _dated() -> Iterator[None]:
    """Note of which date the files are that are imported meanwhile: what is older than its import was not edited since."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file:
            path = Path(file).resolve()
            LOADED_LATER.setdefault(path, path.stat().st_mtime)


def offered(name: str) -> PolicySpec | MachineSpec:
    """Load the entry point of this name, and no other."""
    points = list(importlib.metadata.entry_points(group=GROUP))
    found = [point for point in points if point.name == name]
    if not found:
        names = sorted(point.name for point in points)
        raise BadInput(
            f"There is no plug-in '{name}'.{did_you_mean(name, names)} Installed packages offer: {', '.join(names) or 'none'}; "
            "a file is named 'path/to/file.py:SPEC'."
        )
    try:
        spec = found[0].load()
    except Exception as error:
        raise blamed(error, f"the plug-in '{name}' cannot be loaded") from error
    if not isinstance(spec, PolicySpec | MachineSpec):
        raise BadInput(f"The plug-in '{name}' must be a PolicySpec or a MachineSpec. Got a {type(spec).__name__}.")
    return spec


def installed() -> list[PolicySpec | MachineSpec]:
    """What installed packages offer. One that cannot be loaded is a warning: the others are not at fault."""
    found: list[PolicySpec | MachineSpec] = []
    for point in importlib.metadata.entry_points(group=GROUP):
        try:
            spec = point.load()
        except Exception as error:
            package = point.dist.name if point.dist else "?"
            warnings.warn(
                f"The policy '{point.name}' of the package '{package}' cannot be loaded: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
            continue
        if isinstance(spec, PolicySpec | MachineSpec):
            found.append(spec)
        else:
            warnings.warn(f"'{point.value}' is no PolicySpec, but the entry point '{point.name}' of {GROUP}.", stacklevel=2)
    return found


class Parcel(NamedTuple):
    """A policy on its way to another process: where to import it from, or the files themselves."""

    address: str  # of an installed module; else the name under which the files are loaded
    attribute: str
    files: tuple[tuple[str, bytes], ...] = ()  # the policy's first, the others as they lie beside it


def is_ours(spec: PolicySpec | MachineSpec) -> bool:
    """Does it come with multiduel?"""
    return dispatch.is_ours(spec.params.__module__)


def parcel(spec: PolicySpec | MachineSpec) -> Parcel | None:
    """What another process needs to play it; None for ours, which it has."""
    if is_ours(spec):
        return None
    attribute = _split(address_of(spec))[1]
    module = sys.modules[spec.params.__module__]
    path = Path(str(module.__file__)).resolve()
    name = _import_name(module)
    if module.__package__ or library_folder(path.parent):
        return Parcel(name, attribute)
    own = [path, *(one for one in files_behind(module.__name__) if one != path and one.is_relative_to(path.parent))]
    own = [one for one in own if not one.is_relative_to(PACKAGE)]
    files = tuple((str(one.relative_to(path.parent)), one.read_bytes()) for one in own)
    return Parcel(f"{PREFIX}{path.stem}" if name == "__main__" else name, attribute, files)


def receive(sent: Parcel) -> PolicySpec | MachineSpec:
    """The policy, in the process that a parcel was sent to."""
    if not sent.files:
        try:
            return _card(_module(sent.address), sent)
        except BadInput as error:
            reason = str(error).partition(" A file is named")[0]  # nobody here named anything
            raise BadInput(f"{reason} Install its package where the workers are, as it is here.") from None
    if sent not in _received:
        folder = tempfile.TemporaryDirectory(prefix="multiduel-")
        for name, content in sent.files:
            path = Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        _received[sent] = folder
    return _card(_file(Path(_received[sent].name, sent.files[0][0]), sent.address), sent)


def _card(module: types.ModuleType, sent: Parcel) -> PolicySpec | MachineSpec:
    card: Any = getattr(module, sent.attribute, None)
    if not isinstance(card, PolicySpec | MachineSpec):
        raise BadInput(f"'{module.__name__}' of this process has no description '{sent.attribute}': it is another version.")
    return card
