"""Generic functions, and a compiled cache that hits across processes and is never stale."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap
from typing import NamedTuple

import numpy as np
import pytest

from multiduel.kernels.compiler import dispatch
from multiduel.kernels.compiler.dispatch import compiled, entry, generic, kernel

SOURCES = pathlib.Path(dispatch.__file__).resolve().parents[3]


class Cat(NamedTuple):
    lives: int = 9


class Dog(NamedTuple):
    lives: int = 1


class Fish(NamedTuple):
    lives: int = 1


class Cage(NamedTuple):
    inside: Dog = Dog()


@generic
def sound(params, times):
    """What it says."""


@generic(optional=True)
def tricks(params, times):
    return times + 100


@sound.implement(Cat)
def meow(params, times):
    return params.lives * times


@sound.implement(Dog)
def bark(params, times):
    return -params.lives * times


@sound.implement(Cage)
def muffled(params, times):
    return 2 * sound(params.inside, times)


@tricks.implement(Dog)
def sit(params, times):
    return times


@kernel
def twice(params, times):
    return sound(params, times) + sound(params, times)


def make_noise(params, times):
    return twice(params, times)


def show(params, times):
    return tricks(params, times)


def test_implementations_are_chosen_by_type_in_plain_python_and_compiled():
    assert (sound(Cat(), 2), sound(Dog(), 2), twice(Cat(3), 2)) == (18, -2, 12)
    for params in (Cat(), Dog(), Cage(), Cat(3)):  # Cat and Dog have equal fields of equal types
        assert compiled(make_noise)(params, 2) == make_noise(params, 2) == 2 * sound(params, 2)


def test_an_optional_generic_falls_back_to_its_body():
    assert (tricks(Cat(), 1), tricks(Dog(), 1)) == (101, 1)
    assert (compiled(show)(Cat(), 1), compiled(show)(Dog(), 1)) == (101, 1)


def test_a_missing_implementation_is_named():
    with pytest.raises(TypeError, match=r"'sound' is not implemented for .*test_dispatch\.Fish\."):
        sound(Fish(), 1)
    with pytest.raises(Exception, match=r"'sound' is not implemented for .*test_dispatch\.Fish\."):
        compiled(make_noise)(Fish(), 1)


def test_parameter_names_must_be_the_stubs():
    with pytest.raises(TypeError, match=r"wrong must take \(params, times\)\. Got \(params, time\)\."):

        @sound.implement(Fish)
        def wrong(params, time):
            return time

    assert Fish not in sound.table


def test_a_generic_keeps_the_stubs_name_and_words():
    assert sound.__name__ == "sound" and sound.__doc__ == "What it says."


def test_one_entry_per_tree_of_types():
    assert entry(make_noise, Cat(1), "cat") is entry(make_noise, Cat(2), "cat")
    assert entry(make_noise, Cat(), "cat") is not entry(make_noise, Dog(), "cat")
    assert entry(make_noise, Cat(), "cat") is not entry(show, Cat(), "cat")


HELPER = """
from multiduel.kernels.compiler.dispatch import kernel

@kernel
def factor(x):
    return x * {factor}
"""

POLICY = """
from typing import NamedTuple
import numpy as np
from multiduel.kernels.contract import ask, init, tell
{imports}

class Params(NamedTuple):
    first: int = 0

class State(NamedTuple):
    seen: np.ndarray

@init.implement(Params)
def start(params, n_arms, rng):
    return State(np.zeros(1, np.int64))

@ask.implement(Params)
def choose(params, state, rng, round, limit, slate):
    slate[0] = factor(round) + params.first
    return 1, 1
"""

DRIVER = """
import importlib, json, sys
import numpy as np
from multiduel.engine.session.rounds import ask_once
from multiduel.kernels.contract import init
from multiduel.kernels.compiler.dispatch import entry

report = {}
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    params, rng, slate = module.Params(), np.ones(4, np.uint64), np.zeros(3, np.int64)
    state = init(params, 3, rng)
    ready = entry(ask_once, params, name)
    ready.prepare(params, state, rng, 1, slate)
    ready.call(params, state, rng, 1, slate)
    stats = ready.call.stats
    report[name] = [int(slate[0]), sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]
print(json.dumps(report))
"""


@pytest.fixture
def third_party(tmp_path):
    """A folder of modules written by someone else, a fresh cache, and a way to run them in a process of its own."""
    for folder in ("modules", "modules/animals", "cache"):
        (tmp_path / folder).mkdir()

    def write(name, text):
        (tmp_path / "modules" / f"{name}.py").write_text(text)

    def run(*names):
        environment = {
            **{key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"},
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": os.pathsep.join([str(SOURCES), str(tmp_path / "modules")]),
            "PYTHONDONTWRITEBYTECODE": "1",  # an edit within the same second must be seen by Python too
        }
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, *names], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run.write = write
    return run


def test_the_cache_hits_across_processes_and_is_never_stale(third_party):
    third_party.write("helper", HELPER.format(factor=7))
    third_party.write("animals/__init__", "")
    third_party.write("animals/deep", HELPER.format(factor=100))
    third_party.write("one", POLICY.format(imports="from helper import factor"))
    third_party.write("two", POLICY.format(imports="from animals.deep import factor"))
    assert third_party("one", "two") == {"one": [7, 0, 1], "two": [100, 0, 1]}
    assert third_party("two", "one") == {"one": [7, 1, 0], "two": [100, 1, 0]}  # equal names and types, never confused

    third_party.write("helper", HELPER.format(factor=8))  # a file that only the policy's file imports
    assert third_party("one", "two") == {"one": [8, 0, 1], "two": [100, 1, 0]}
    third_party.write("one", POLICY.format(imports="from helper import factor").replace("first: int = 0", "first: int = 1"))
    assert third_party("one") == {"one": [9, 0, 1]}
    assert third_party("one") == {"one": [9, 1, 0]}


def test_the_cache_is_not_stale_after_a_relative_import_changes(third_party):
    third_party.write("animals/__init__", "")
    third_party.write("animals/deep", HELPER.format(factor=3))
    third_party.write("animals/three", POLICY.format(imports="from .deep import factor"))
    assert third_party("animals.three") == {"animals.three": [3, 0, 1]}
    third_party.write("animals/deep", HELPER.format(factor=5))
    assert third_party("animals.three") == {"animals.three": [5, 0, 1]}


def test_wrapping_silences_only_its_own_overflow():
    @dispatch.wrapping
    def product(a):
        return a * np.uint64(3)

    with np.errstate(over="raise"):
        big = np.uint64(2**63 + 5)
        assert int(product(big)) == (3 * (2**63 + 5)) % 2**64
        assert int(compiled(product)(big)) == (3 * (2**63 + 5)) % 2**64
        with pytest.raises(FloatingPointError):
            big * np.uint64(3)


def test_the_only_module_that_touches_njit():
    sources = (SOURCES / "multiduel").rglob("*.py")
    users = {path.name for path in sources if any(word in path.read_text() for word in ("njit(", "@njit", "numba.jit"))}
    assert users == {"dispatch.py"}, textwrap.shorten(str(users), 200)


def test_damaged_cache_files_are_thrown_away(third_party, tmp_path):
    third_party.write("helper", HELPER.format(factor=7))
    third_party.write("one", POLICY.format(imports="from helper import factor"))
    third_party("one")
    files = [path for path in (tmp_path / "cache").rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    whole = {path: path.read_bytes() for path in files}
    for suffix in (".nbi", ".nbc"):
        for size in (0, 1, 40, 200):
            for path, content in whole.items():
                path.write_bytes(content[:size] if path.suffix == suffix else content)
            assert third_party("one")["one"][0] == 7, f"{suffix} cut to {size} bytes"
            assert third_party("one") == {"one": [7, 1, 0]}, "it is stored anew"


def test_without_a_folder_for_the_cache_one_sentence_and_it_works(monkeypatch):
    real = dispatch.numba.njit

    def no_cache(function, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(function, **options)

    monkeypatch.setattr(dispatch.numba, "njit", no_cache)
    dispatch._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="Set NUMBA_CACHE_DIR to a folder that can be written") as said:
        first, second = (dispatch.Entry(make_noise, (Cat,), name) for name in ("one", "two"))
        first.prepare(Cat(), 2)
        second.prepare(Cat(), 2)
    assert first.call(Cat(), 2) == 36 and len(said) == 1


def test_a_full_disk_costs_the_cache_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.setattr(dispatch.numba.config, "CACHE_DIR", str(tmp_path))
    ready = dispatch.Entry(make_noise, (Dog,), "dog")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ready.call._cache, "save_overload", full)
    dispatch._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="it cannot be stored: No space left on device"):
        ready.prepare(Dog(), 2)
    assert ready.call(Dog(), 2) == -4
