"""Kernels become machine code as parts of an entry only; and where that cannot be had, Numba goes its usual way."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from multiduel.kernels.compiler import linking
from multiduel.kernels.compiler.dispatch import JIT, Entry, kernel

pytestmark = pytest.mark.skipif(not JIT, reason="the compiler is off (NUMBA_DISABLE_JIT)")
TABLE = (2.0, 3.0, 5.0)


class Params(NamedTuple):
    shift: float = 1.0


@kernel
def weigh(values, place):
    return TABLE[place] * values[place]


@kernel
def total(values):
    return weigh(values, 0) + weigh(values, 1) + weigh(values, 2) + values[np.argmax(values)]


def shifted(params, values):
    return params.shift + total(values)


@pytest.fixture
def libraries(monkeypatch):
    """What is compiled, as it is finished."""
    made = []
    finalize = linking.Library.finalize

    def watched(self):
        finalize(self)
        made.append(self)

    monkeypatch.setattr(linking.Library, "finalize", watched)
    return made


def test_only_the_entry_becomes_machine_code(libraries, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # nothing is there yet
    values = np.array([1.0, 10.0, 100.0])
    compiled = Entry(shifted, (Params,), "shifted")
    compiled.prepare(Params(), values)
    assert compiled.call(Params(), values) == 1.0 + 2.0 + 30.0 + 500.0 + 100.0
    parts = {library.name.rpartition(".")[2] for library in libraries if library.is_part}
    assert {"weigh", "total"} <= parts
    whole = [library for library in libraries if compiled.name in library.name]
    assert len(whole) == 1 and not whole[0].is_part

    @numba.njit
    def own(values):  # what was left without machine code above can be used, by somebody else too
        return np.argmax(values)

    assert own(values) == 2


def test_numba_is_left_as_it_was():
    codegen = linking.cpu_target.target_context.codegen()
    with linking.parts_only_linked():
        assert codegen._library_class is linking.Library
    assert codegen._library_class is JITCodeLibrary


def test_where_numba_has_changed_all_is_compiled_its_way(libraries, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(linking, "NEEDED", ("_a_name_that_is_gone",))
    compiled = Entry(shifted, (Params, Params), "shifted")
    compiled.prepare(Params(), np.ones(3))
    assert compiled.call(Params(), np.ones(3)) == 12.0
    assert not libraries
