"""One implementation per algorithm, chosen by the type of its ``Params``: the only module that touches ``numba.njit``.

``@generic`` turns a stub into a function with one implementation per ``Params`` class. Plain Python finds it in a table;
compiled code finds it while compiling (``numba.extending.overload``), so nothing is looked up at run time. Helpers that
implementations share are plain functions under ``@kernel``.

Only *entries* (the play loop, one ask, one tell) are compiled on their own, and each is compiled per policy: a copy of the
function whose name carries the policy and a hash of every source file behind it. So Numba's disk cache hits across
processes, is never stale after an edit in any of those files, and never confuses two policies of equal types.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import os
import pathlib
import sys
import sysconfig
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
import numpy as np
from numba.extending import overload

JIT: bool = not numba.config.DISABLE_JIT

# No reference counts in compiled code (kernels allocate nothing: every array comes from outside), and division by zero
# gives inf or nan as in NumPy instead of a branch that could raise.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

# A State is many arrays, so a call that passes one on costs more than most kernels do: implementations are inlined.
INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True}

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
LOADED = time.time()
INSTALLED = tuple(pathlib.Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib"))

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A helper that compiled code may call. Called from Python it stays plain Python: nothing is compiled for it alone."""
    return _jitable(function, function)


def wrapping(function: F) -> F:
    """A kernel of arithmetic modulo 2^64, of which NumPy's scalars would warn in plain Python."""
    return _jitable(np.errstate(over="ignore")(function), function)


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel or implementation compiled on its own, uncached: for tests and experiments. With JIT off, as it is."""
    return numba.njit(getattr(function, "py_func", function), error_model="numpy", _nrt=False) if JIT else function


def _jitable(plain: F, function: Callable[..., Any]) -> F:
    plain.py_func = function  # type: ignore[attr-defined]
    if JIT:
        overload(plain, jit_options=OPTIONS, strict=False)(lambda *args: function)
    return plain


class Generic:
    """A function with one implementation per ``Params`` class; see ``generic``."""

    def __init__(self, stub: Callable[..., Any], *, optional: bool) -> None:
        functools.update_wrapper(self, stub)
        self.table: dict[type, Callable[..., Any]] = {}
        self.fallback = stub if optional else None

    def find(self, cls: type) -> Callable[..., Any]:
        found = self.table.get(cls, self.fallback)
        if found is None:
            raise TypeError(f"'{self.__name__}' is not implemented for {cls.__module__}.{cls.__qualname__}.")  # type: ignore[attr-defined]
        return found

    def __call__(self, params: Any, *args: Any) -> Any:
        return self.find(type(params))(params, *args)

    def implement(self, cls: type) -> Callable[[F], F]:
        """Decorator: this function is the implementation for ``cls``. Its parameter names are the stub's."""

        def register(function: F) -> F:
            expected, given = (list(inspect.signature(f).parameters) for f in (self, function))
            if expected != given:
                raise TypeError(f"{function.__name__} must take ({', '.join(expected)}). Got ({', '.join(given)}).")
            self.table[cls] = function
            return function

        return register


def generic(stub: Callable[..., Any] | None = None, *, optional: bool = False) -> Any:
    """Make a stub generic in the type of its first argument, ``params``. An optional one falls back to the stub's body."""
    if stub is None:
        return functools.partial(generic, optional=optional)
    made = Generic(stub, optional=optional)
    if JIT:

        def typing(params: Any, *args: Any) -> Callable[..., Any]:
            return _bare(made.find(params.instance_class))

        typing.__signature__ = inspect.signature(_bare(stub))  # type: ignore[attr-defined]
        overload(made, jit_options=INLINED)(typing)
    return made


def _bare(function: Callable[..., Any]) -> types.FunctionType:
    """A copy without annotations: Numba wants stub and implementation to agree in them too, and ours name State classes."""
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


class Entry:
    """A function that Python calls with ``params`` first, compiled for one policy with one choice of machines."""

    def __init__(self, function: Callable[..., Any], shape: tuple[Any, ...], label: str) -> None:
        self.label = label
        self.ready = not JIT
        self.call = function
        if JIT:
            kind = f"{function.__name__}_{shape[0].__module__.rpartition('.')[2]}_{_digest(repr(shape).encode())}"
            self.family, self.name = kind, f"{kind}_{_source_hash(function, shape)}"
            copy = types.FunctionType(function.__code__, function.__globals__, self.name)
            copy.__qualname__, copy.__module__ = self.name, function.__module__
            self.call = numba.njit(copy, cache=True, nogil=True, **OPTIONS)

    def prepare(self, *args: Any) -> None:
        """Load the compiled code from disk, or compile and store it, before the first call."""
        if self.ready:
            return
        folder = pathlib.Path(self.call.stats.cache_path)  # type: ignore[attr-defined]
        if not any(folder.glob(f"*{self.name}-*.nbi")):
            announce(self.label)
            for stale in folder.glob(f"*{self.family}_*"):
                if self.name not in stale.name:  # another process may be writing this very one
                    stale.unlink(missing_ok=True)
        self.call.compile(tuple(numba.typeof(value) for value in args))  # type: ignore[attr-defined]
        self.ready = True

    def bind(self, *args: Any) -> Callable[..., Any]:
        """The compiled code itself, for arguments of just these types: it looks at no type again, which saves most of the
        2 us that a call with a State costs otherwise. For callers whose types cannot change."""
        self.prepare(*args)
        if not JIT:
            return self.call
        kinds = tuple(numba.typeof(value) for value in args)
        if kinds not in self.call.overloads:  # type: ignore[attr-defined]
            self.call.compile(kinds)  # type: ignore[attr-defined]
        return self.call.overloads[kinds].entry_point  # type: ignore[attr-defined]


def announce(label: str) -> None:
    """Say what a new user waits for. Silent when nobody watches the screen."""
    if sys.stderr.isatty():
        print(f"multiduel: compiling {label} for this machine, once ...", file=sys.stderr, flush=True)


def entry(function: Callable[..., Any], params: Any, label: str, *others: type) -> Entry:
    """The entry ``function`` compiled for the types in ``params`` and the ``others`` it dispatches on; one per process."""
    return _entry(function, (*_shape(params), *others), label)


@functools.cache
def _entry(function: Callable[..., Any], shape: tuple[Any, ...], label: str) -> Entry:
    return Entry(function, shape, label)


def _shape(params: Any) -> tuple[Any, ...]:
    """The tree of Params classes: a policy's own and those of the machines plugged into it."""
    return (type(params), *(_shape(value) for value in params if hasattr(value, "_fields")))


def _source_hash(function: Callable[..., Any], shape: tuple[Any, ...]) -> str:
    """A hash of the files of the entry and of the Params classes, with all that those import."""
    files: set[pathlib.Path] = set()
    for name in (function.__module__, *(cls.__module__ for cls in _classes(shape))):
        _collect(sys.modules[name], files)
    contents = [path.read_bytes() for path in sorted(files)]
    if any(path.stat().st_mtime > LOADED for path in files):  # edited since: what runs here is not what the file says now
        contents.append(f"{os.getpid()} {time.time()}".encode())
    return _digest(*contents)


def _classes(shape: tuple[Any, ...]) -> Iterator[type]:
    for part in shape:
        if isinstance(part, tuple):
            yield from _classes(part)
        else:
            yield part


def _collect(module: types.ModuleType, files: set[pathlib.Path]) -> None:
    """Add the module's file and, through its import statements, every file behind it that is not an installed library's."""
    if getattr(module, "__file__", None) is None:
        return
    path = pathlib.Path(str(module.__file__)).resolve()
    ours = PACKAGE in path.parents
    if path in files or path == PACKAGE / "__init__.py" or (not ours and any(folder in path.parents for folder in INSTALLED)):
        return
    files.add(path)
    for node in ast.walk(ast.parse(path.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            stem = "." * node.level + (node.module or "")
            home = importlib.util.resolve_name(stem, module.__package__) if node.level else stem
            names = [home, *(f"{home}.{alias.name}" for alias in node.names)]
        for name in names:
            if name in sys.modules:
                _collect(sys.modules[name], files)


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]
