"""Kernels are compiled to be linked into an entry, and for nothing else.

Numba optimises every function that it compiles as if it were called by itself, and makes machine code of it. A kernel is only
ever a part of an entry, which has its own copy of it and is optimised as a whole: the kernel's own code would never run, and
making it took a third of all compiling. So parts are kept as they are until an entry takes them in.

This leans on names inside Numba that are not promised. Where one of them is gone, all is compiled as Numba does it by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

ENTRIES = ("_ZN7cpython", "cfunc.")  # how the functions begin by which Python, or C, calls what is compiled
ENVIRONMENT = "_ZN08NumbaEnv"  # how the place begins in which a function finds its Python constants
NEEDED = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols")


class Library(JITCodeLibrary):  # type: ignore[misc]
    """What Numba makes of one function: a part, unless something outside can call it."""

    is_part = False

    def finalize(self) -> None:
        self.is_part = not any(function.name.startswith(ENTRIES) for function in self._final_module.functions)
        super().finalize()

    def _optimize_final_module(self) -> None:
        if not self.is_part:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if not self.is_part:
            super()._finalize_final_module()
            self._furnish()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def _furnish(self) -> None:
        """Give the parts in here their constants, as Numba does when it loads what is stored."""
        for place in self._final_module.global_variables:
            environment = lookup_environment(place.name) if place.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(place.name, environment)

    @property
    def codegen(self) -> Any:
        """Who is told of a function's constants: of a part's, nobody, until it is taken in."""
        return _Nowhere() if self.is_part else self._codegen


class _Nowhere:
    def set_env(self, name: str, environment: Any) -> None:
        pass


@contextmanager
def parts_only_linked() -> Iterator[None]:
    """While this lasts, what is compiled and cannot be called from outside becomes no machine code."""
    codegen = cpu_target.target_context.codegen()
    usual = getattr(codegen, "_library_class", None)
    if usual is not JITCodeLibrary or not all(hasattr(JITCodeLibrary, name) for name in NEEDED):
        yield
        return
    codegen._library_class = Library
    try:
        yield
    finally:
        codegen._library_class = usual
