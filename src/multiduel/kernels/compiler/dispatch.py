"""One implementation per algorithm, chosen by the type of its ``Params``: the only module that touches ``numba.njit``.

``@generic`` turns a stub into a function with one implementation per ``Params`` class. Plain Python finds it in a table;
compiled code finds it while compiling (``numba.extending.overload``), so nothing is looked up at run time. Helpers that
implementations share are plain functions under ``@kernel``.

Only *entries* (the play loop, one ask, one tell) are compiled on their own, and each is compiled per policy: a copy of the
function whose name carries the policy and a hash of every source file behind it. So Numba's disk cache hits across
processes, is never stale after an edit in any of those files, and never confuses two policies of equal types.
"""

from __future__ import annotations

import functools
import gc
import inspect
import os
import pathlib
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numba.extending import overload

from multiduel.inputs import did_you_mean
from multiduel.kernels.compiler.explain import explained
from multiduel.kernels.compiler.linking import parts_only_linked
from multiduel.kernels.compiler.sources import PACKAGE, code_hash, digest, files_behind

JIT: bool = not numba.config.DISABLE_JIT

# No reference counts in compiled code (kernels allocate nothing: every array comes from outside), and division by zero
# gives inf or nan as in NumPy instead of a branch that could raise.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

# A State is many arrays, so a call that passes one on costs more than most kernels do: implementations are inlined.
INLINED: dict[str, Any] = {**OPTIONS, "forceinline": True}

# In code that is not ours, an index out of range is an error and no crash of memory, unless its author's word is taken for it.
CHECKED: dict[str, Any] = {"boundscheck": True}
_trusted: set[str] = set()  # modules

_compiling = threading.RLock()  # Numba compiles one function at a time; threads that want the same wait for it

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Mark a helper that compiled code may call. Called from Python it stays plain Python: nothing is compiled for it alone.

    Parameters
    ----------
    function
        Of numbers and arrays, with what Numba compiles.

    Examples
    --------
    >>> @kernel
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """
    return register(function, function)


def wrapping(function: F) -> F:
    """A kernel of arithmetic modulo 2^64, of which NumPy's scalars would warn in plain Python."""
    return register(np.errstate(over="ignore")(function), function)


def compiled(function: Callable[..., Any]) -> Any:
    """A kernel or implementation compiled on its own, uncached: for tests and experiments. With JIT off, as it is."""
    return numba.njit(getattr(function, "py_func", function), error_model="numpy", _nrt=False) if JIT else function


def register(plain: F, function: Callable[..., Any]) -> F:
    """Let compiled code that calls ``plain`` call ``function``."""
    plain.py_func = function  # type: ignore[attr-defined]
    if JIT and is_ours(function.__module__):
        overload(plain, jit_options=OPTIONS, strict=False)(lambda *args: function)
    elif JIT:
        module = function.__module__
        overload(plain, jit_options=OPTIONS | CHECKED, strict=False)(lambda *args: function if is_checked(module) else None)
        overload(plain, jit_options=OPTIONS, strict=False)(lambda *args: None if is_checked(module) else function)
    return plain


def is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def is_checked(module: str) -> bool:
    return not is_ours(module) and module not in _trusted


GENERICS: dict[str, Generic] = {}  # by name: the contracts of policies, machines and worlds


class Generic:
    """A function with one implementation per ``Params`` class; see ``generic``."""

    def __init__(self, stub: Callable[..., Any], *, optional: bool) -> None:
        functools.update_wrapper(self, stub)
        self.table: dict[type, Callable[..., Any]] = {}
        self.fallback = stub if optional else None

    def find(self, cls: type) -> Callable[..., Any]:
        implementation = self.table.get(cls, self.fallback)
        if implementation is None:
            raise TypeError(f"'{self.__name__}' is not implemented for {cls.__module__}.{cls.__qualname__}.")  # type: ignore[attr-defined]
        return implementation

    def __call__(self, params: Any, *args: Any) -> Any:
        return self.find(type(params))(params, *args)

    def implement(self, cls: type) -> Callable[[F], F]:
        """Decorator: this function is the implementation for ``cls``. Its parameter names are the stub's."""

        def register(function: F) -> F:
            expected, names = (list(inspect.signature(f).parameters) for f in (self, function))
            if expected != names:
                raise TypeError(f"{function.__name__} must take ({', '.join(expected)}). Got ({', '.join(names)}).")
            if self.table.get(cls, function) is not function:  # what is compiled already would not notice
                raise TypeError(
                    f"'{self.__name__}' is implemented for {cls.__qualname__} already. Define {cls.__qualname__} anew too: "  # type: ignore[attr-defined]
                    "in a notebook, run its cell again."
                )
            self.table[cls] = function
            return function

        return register


def implement(cls: type) -> Callable[[F], F]:
    """Register the decorated function as the generic of the same name, for ``cls``.

    >>> class Params(NamedTuple):
    ...     slate_size: int = 2
    >>> @implement(Params)
    ... def recommend(params, state):
    ...     return 0
    >>> @implement(Params)
    ... def recomend(params, state):
    ...     return 0
    Traceback (most recent call last):
    TypeError: There is no generic 'recomend' to implement. Did you mean 'recommend'?
    """

    def register(function: F) -> F:
        if function.__name__ not in GENERICS:
            name = function.__name__
            raise TypeError(f"There is no generic '{name}' to implement.{did_you_mean(name, GENERICS)}")
        return GENERICS[function.__name__].implement(cls)(function)

    return register


def generic(stub: Callable[..., Any] | None = None, *, optional: bool = False) -> Any:
    """Make a stub generic in the type of its first argument, ``params``. An optional one falls back to the stub's body."""
    if stub is None:
        return functools.partial(generic, optional=optional)
    function = GENERICS[stub.__name__] = Generic(stub, optional=optional)
    if JIT:

        def typing(checked: bool, params: Any) -> Callable[..., Any] | None:
            cls = params.instance_class
            return _bare(function.find(cls)) if is_checked(cls.__module__) == checked else None

        for options, checked in ((INLINED, False), (INLINED | CHECKED, True)):
            overload(function, jit_options=options)(_with_signature(stub, functools.partial(typing, checked)))
    return function


def _with_signature(stub: Callable[..., Any], find: Callable[[Any], Any]) -> Callable[..., Any]:
    """What Numba asks for an implementation: it must look as if it took the stub's parameters."""

    def typing(params: Any, *args: Any) -> Any:
        return find(params)

    typing.__signature__ = inspect.signature(_bare(stub))  # type: ignore[attr-defined]
    return typing


def _bare(function: Callable[..., Any]) -> types.FunctionType:
    """A copy without annotations: Numba wants stub and implementation to agree in them too, and ours name State classes."""
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


class Care(NamedTuple):
    """How code is treated that is not ours."""

    plain: bool = False  # played as it is, without the compiler
    trusted: bool = False  # compiled without checks, as ours is


class Entry:
    """A function that Python calls with ``params`` first, compiled for one policy with one choice of machines."""

    def __init__(self, function: Callable[..., Any], shape: tuple[Any, ...], label: str, care: Care = Care()) -> None:
        self.label = label
        self.jit = JIT and not care.plain
        self.ready = not self.jit
        self.call = function
        if self.jit:
            kind = f"{function.__name__}_{shape[0].__module__.rpartition('.')[2]}_{digest(repr(shape).encode())}"
            modules = (function.__module__, *(cls.__module__ for cls in _classes(shape)))
            self.theirs = [module for module in modules if not is_ours(module)]
            if care.trusted:
                _trusted.update(self.theirs)
            kind += "_checked" * any(is_checked(module) for module in self.theirs)
            self.family, self.name = kind, f"{kind}_{code_hash(*modules)}"
            self._copy = types.FunctionType(function.__code__, function.__globals__, self.name)
            self._copy.__qualname__, self._copy.__module__ = self.name, function.__module__
            try:
                self.call = numba.njit(self._copy, cache=True, nogil=True, **OPTIONS)
            except RuntimeError:  # Numba found no folder that it may write
                self._go_without_cache("no folder can be written")

    def prepare(self, *args: Any) -> None:
        """Load the compiled code from disk, or compile and store it, before the first call."""
        if self.ready:
            return
        with _compiling, uncollected():
            if not self.ready:
                self._discard_other_versions()
                self._compile(tuple(numba.typeof(value) for value in args))
                self.ready = True

    def _compile(self, kinds: tuple[Any, ...]) -> None:
        """Compile for these types. What is wrong with a user's code is said in a sentence."""
        try:
            self._load_or_compile(kinds)
        except Exception as error:
            own = [path for module in self.theirs for path in files_behind(module) if not path.is_relative_to(PACKAGE)]
            sentence = explained(error, list(dict.fromkeys(own)))
            if sentence is error:
                raise
            raise sentence from None

    def _load_or_compile(self, kinds: tuple[Any, ...]) -> None:
        """What lies in the cache is input like any other: if it cannot be read, it goes."""
        for _ in range(2):
            try:
                with parts_only_linked():
                    self.call.compile(kinds)  # type: ignore[attr-defined]
                return
            except numba.core.errors.NumbaError:
                raise  # the code's own fault
            except OSError as error:
                if kinds in self.call.overloads:  # type: ignore[attr-defined]
                    _warn_once(f"it cannot be stored: {error.strerror}")  # compiled all the same
                    return
                break
            except Exception:
                for file in self._cached():
                    file.unlink(missing_ok=True)
        uncached = numba.njit(self._copy, nogil=True, **OPTIONS)
        uncached.compile(kinds)  # if this fails too, the code is at fault and not the cache
        self.call = uncached
        _warn_once("what is stored cannot be read")

    def _cached(self) -> list[pathlib.Path]:
        """The files of this entry in the cache."""
        return [*pathlib.Path(self.call.stats.cache_path).glob(f"*{self.name}-*")]  # type: ignore[attr-defined]

    def _discard_other_versions(self) -> None:
        """What other versions of the same code left behind; and a word to the user, if this one is new."""
        folder = self.call.stats.cache_path  # type: ignore[attr-defined]
        if folder is None or not self._cached():
            announce(self.label)
        if folder is not None and os.access(folder, os.W_OK):
            for stale in pathlib.Path(folder).glob(f"*{self.family}_*"):
                if self.name not in stale.name:  # another process may be writing this very one
                    stale.unlink(missing_ok=True)

    def _go_without_cache(self, why: str) -> None:
        _warn_once(why)
        self.call = numba.njit(self._copy, nogil=True, **OPTIONS)

    def bind(self, *args: Any) -> Callable[..., Any]:
        """The compiled code itself, for arguments of just these types: it looks at no type again, which saves most of the
        2 us that a call with a State costs otherwise. For callers whose types cannot change."""
        self.prepare(*args)
        if not self.jit:
            return self.call
        kinds = tuple(numba.typeof(value) for value in args)
        if kinds not in self.call.overloads:  # type: ignore[attr-defined]
            with _compiling:
                self._compile(kinds)
        return self.call.overloads[kinds].entry_point  # type: ignore[attr-defined]


@contextmanager
def uncollected() -> Iterator[None]:
    """Make millions of objects that all stay, such as compiled code or a long log, without a search for garbage meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@functools.cache
def _warn_once(why: str) -> None:
    warnings.warn(
        f"Compiled code cannot be kept, so that every process compiles anew: {why}. "
        "Set NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=2,
    )


def announce(label: str) -> None:
    """Say what a new user waits for. Silent when nobody watches the screen."""
    if sys.stderr.isatty():
        print(f"multiduel: compiling {label} for this machine, once ...", file=sys.stderr, flush=True)


def entry(function: Callable[..., Any], params: Any, label: str, *others: type, care: Care = Care()) -> Entry:
    """The entry ``function`` compiled for the types in ``params`` and the ``others`` it dispatches on; one per process."""
    with _compiling:
        return _entry(function, (*_shape(params), *others), label, care)


@functools.cache
def _entry(function: Callable[..., Any], shape: tuple[Any, ...], label: str, care: Care) -> Entry:
    return Entry(function, shape, label, care)


def _shape(params: Any) -> tuple[Any, ...]:
    """The tree of Params classes: a policy's own and those of the machines plugged into it."""
    return (type(params), *(_shape(value) for value in params if hasattr(value, "_fields")))


def _classes(shape: tuple[Any, ...]) -> Iterator[type]:
    for part in shape:
        if isinstance(part, tuple):
            yield from _classes(part)
        else:
            yield part
