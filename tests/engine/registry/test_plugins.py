"""Policies of others, by where they are."""

from __future__ import annotations

import dataclasses
import importlib.machinery
import importlib.metadata
import os
import pickle
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel import authoring
from multiduel.cli import app
from multiduel.engine.registry import plugins, registry
from multiduel.kernels.compiler.sources import code_hash
from multiduel.kernels.contract import PolicySpec
from multiduel.lab import cluster, experiment, results, runner, task
from tests.engine.own_policy import TEXT

NAME = "round-robin"


@pytest.fixture(autouse=True)
def forgotten(tmp_path, monkeypatch):
    """What a test loads is forgotten after it."""
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    registry.POLICIES.pop(NAME, None)
    for name in set(sys.modules) - modules:
        if name.startswith((plugins.PREFIX, "own_", "helper")):
            del sys.modules[name]


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own_robin.py"
    file.write_text(TEXT)
    return file


def test_a_file_a_module_and_a_card_are_the_same_policy(own):
    P = md.synthetic(5)
    options = {"horizon": 300, "runs": 3, "seed": 4, "threads": 1}
    by_file = md.simulate(f"{own}:SPEC", P, **options)
    assert by_file.policy == NAME
    assert (md.simulate(NAME, P, **options).final == by_file.final).all(), "from then on it is known by its name"
    assert (md.simulate(registry.find(NAME), P, **options).final == by_file.final).all()
    assert md.make(str(own), n_arms=3, seed=0).ask().round == 1, "the only card of a file need not be named"
    del registry.POLICIES[NAME]
    assert (md.simulate("own_robin:SPEC", P, **options).final == by_file.final).all()


def test_an_edited_file_is_loaded_again_and_a_helper_beside_it_is_found(own, tmp_path):
    first = registry.find(f"{own}:SPEC", "typed")
    assert registry.find(f"{own}:SPEC", "typed") is first
    before = code_hash(first.params.__module__)
    assert code_hash(first.params.__module__) == before
    (tmp_path / "helper_of_robin.py").write_text("STEP = 2\n")
    own.write_text(TEXT.replace("import numpy as np", "import helper_of_robin\nimport numpy as np", 1))
    os.utime(own, ns=(1, own.stat().st_mtime_ns + 10**9))
    second = registry.find(f"{own}:SPEC", "typed")
    assert second is not first and registry.POLICIES[NAME] is second
    assert code_hash(second.params.__module__) == code_hash(second.params.__module__) != before
    assert [name for name, _ in plugins.parcel(second).files] == ["own_robin.py", "helper_of_robin.py"]


@pytest.mark.parametrize(
    ("text", "address", "said"),
    [
        (TEXT, "own_robin.py:SPECK", "'own_robin.py' has no 'SPECK'. Did you mean 'SPEC'? It has: SPEC."),
        (TEXT, "own_robin.py:Params", "'Params' of 'own_robin.py' must be a PolicySpec. Got a type."),
        (TEXT, "own_robin.py:", "is named 'my_module:SPEC' or 'path/to/file.py:SPEC'. Got 'own_robin.py:'."),
        (TEXT, ":SPEC", "is named 'my_module:SPEC' or 'path/to/file.py:SPEC'. Got ':SPEC'."),
        ("x = 1\n", "own_robin.py", "'own_robin.py' must have one PolicySpec. It has none."),
        ("x = 1\n", "own_robin.py:SPEC", "'own_robin.py' has no 'SPEC'. It has no PolicySpec at all."),
        (
            TEXT + "OTHER = PolicySpec(**{**vars(SPEC), 'name': 'other'})\n",
            "own_robin.py",
            "must have one PolicySpec. It has 2: SPEC, OTHER. Write 'own_robin.py:NAME'.",
        ),
        (
            "import numpy\n\nx = nump.zeros(3)\n",
            "own_robin.py:SPEC",
            "name 'nump' is not defined ('{folder}/own_robin.py', line 3).",
        ),
        ("def f(:\n", "own_robin.py:SPEC", "invalid syntax ('{folder}/own_robin.py', line 1)."),
        ("import no_such_thing\n", "own_robin:SPEC", "No module named 'no_such_thing' ('{folder}/own_robin.py', line 1)."),
        (
            "raise ModuleNotFoundError('no luck')\n",
            "own_robin:SPEC",
            "module 'own_robin' cannot be loaded: ModuleNotFoundError: no luck ('{folder}/own_robin.py', line 1).",
        ),
        ("1 / 0\n", "own_robin:SPEC", "cannot be loaded: ZeroDivisionError: division by zero ('{folder}/own_robin.py', line 1)."),
        (TEXT, "nowhere.py:SPEC", "'{folder}/nowhere.py' cannot be read: No such file or directory."),
        (TEXT, "nowhere:SPEC", "There is no module 'nowhere'. A file is named with its ending: nowhere.py:SPEC."),
        (TEXT.replace('"round-robin"', '"rucb"'), "own_robin.py:SPEC", "The name 'rucb' is taken."),
    ],
)
def test_what_is_wrong_is_said_with_its_place(own, tmp_path, text, address, said):
    own.write_text(text)
    done = CliRunner().invoke(app, ["simulate", address, "--arms", "4", "--horizon", "10", "--runs", "1"])
    assert done.exit_code == 2
    assert said.format(folder=tmp_path.resolve()) in done.stderr and done.stderr.count("\n") == 1


def test_a_name_that_nobody_knows_says_how_to_name_ones_own():
    with pytest.raises(md.BadInput, match=r"no policy 'rucbb'. Did you mean 'rucb'.*path/to/file.py:SPEC"):
        registry.find("rucbb", "typed")
    with pytest.raises(md.BadInput, match="takes a PolicySpec"):
        md.register("rucb")


def test_an_address_beside_a_folder():
    assert plugins.beside("own.py:SPEC", Path("/some/where")) == "/some/where/own.py:SPEC"
    assert plugins.beside("../own.py", Path("/some/where")) == "/some/own.py"
    assert plugins.beside("own.robins:SPEC", Path("/some/where")) == "own.robins:SPEC"


def test_folders_are_looked_into_once(own, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one not in ("", str(tmp_path))])
    before = len(sys.path)
    card = plugins.load("own_robin:SPEC", PolicySpec)
    assert sys.path[before:] == [os.getcwd()] and plugins.load("own_robin:SPEC", PolicySpec) is card
    assert sys.path[before:] == [os.getcwd()]
    sys.path[before:] = [""]  # the folder one works in, too
    plugins.load("own_robin:SPEC", PolicySpec)
    assert sys.path[before:] == [""]
    del sys.path[before:]
    assert plugins.load(str(own), PolicySpec).name == NAME
    own.write_text(TEXT + "\n")
    assert plugins.load(str(own), PolicySpec).name == NAME
    assert sys.path[before:] == [str(own.parent.resolve())]


def test_a_file_that_fails_leaves_nothing_or_its_last_version(own):
    def modules():
        return {name: module for name, module in sys.modules.items() if name.startswith(plugins.PREFIX)}

    none = modules()
    own.write_text("1 / 0\n")
    with pytest.raises(md.BadInput, match="division by zero"):
        plugins.load(str(own), PolicySpec)
    assert modules() == none
    own.write_text(TEXT)
    plugins.load(str(own), PolicySpec)
    loaded = modules()
    assert len(loaded) == len(none) + 1
    own.write_text("1 / 0\n")
    with pytest.raises(md.BadInput, match="division by zero"):
        plugins.load(str(own), PolicySpec)
    assert modules() == loaded


def test_a_file_may_import_what_has_no_file(own, tmp_path):
    (tmp_path / "helper_space" / "inner").mkdir(parents=True)  # a namespace package: its __file__ is None
    own.write_text(TEXT.replace("import numpy as np", "import helper_space.inner\nimport numpy as np", 1))
    assert plugins.load(str(own), PolicySpec).name == NAME and "helper_space.inner" in sys.modules


def run_as(monkeypatch, own, name):
    """The policy's file as the script that was started; with a name, by ``python -m name``."""
    main = types.ModuleType("__main__")
    main.__file__, main.__package__ = str(own), name.rpartition(".")[0]
    main.__spec__ = importlib.machinery.ModuleSpec(name, None) if name else None
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec(own.read_text(), vars(main))
    return main.SPEC


def test_where_another_process_finds_a_policy(own, monkeypatch):
    by_file, by_name = plugins.load(str(own), PolicySpec), plugins.load("own_robin:SPEC", PolicySpec)
    assert plugins.address_of(by_file) == f"{own.resolve()}:SPEC"
    assert plugins.address_of(by_name) == "own_robin:SPEC" and plugins.parcel(by_name).address == "own_robin"
    with pytest.raises(md.BadInput, match="The description of 'round-robin' must have a name in own_robin, where its Params are"):
        plugins.address_of(dataclasses.replace(by_name))
    script = run_as(monkeypatch, own, "")
    assert plugins.address_of(script) == f"{own}:SPEC"
    sent = plugins.parcel(script)
    assert sent == plugins.Parcel(f"{plugins.PREFIX}own_robin", "SPEC", (("own_robin.py", own.read_bytes()),))
    assert plugins.receive(sent).params.__module__ == sent.address
    part = run_as(monkeypatch, own, "robins.own_robin")
    assert plugins.address_of(part) == "robins.own_robin:SPEC"
    assert plugins.parcel(part) == plugins.Parcel("robins.own_robin", "SPEC")


def test_what_is_installed_is_not_sent(own, tmp_path):
    (tmp_path / "some.dist-info").mkdir()
    assert plugins.parcel(plugins.load("own_robin:SPEC", PolicySpec)) == plugins.Parcel("own_robin", "SPEC")


def test_helpers_below_the_file_travel_with_it_and_no_others(own, tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    package, near = home / "helper_robins" / "__init__.py", home / "helper_robins" / "inner" / "most" / "near.py"
    for path in (package, near, home / "helper_ours" / "kernel.py", elsewhere / "helper_far.py"):
        path.parent.mkdir(parents=True)
        path.write_text("STEP = 1\n")
    sys.path.append(str(elsewhere))
    monkeypatch.setattr(plugins, "PACKAGE", home / "helper_ours")  # where multiduel is, which workers have
    imports = "import helper_far\nimport helper_robins.inner.most.near\nimport helper_ours.kernel\nimport numpy as np"
    (home / own.name).write_text(TEXT.replace("import numpy as np", imports, 1))
    sent = plugins.parcel(plugins.load(str(home / own.name), PolicySpec))
    assert [name for name, _ in sent.files] == ["own_robin.py", "helper_robins/__init__.py", "helper_robins/inner/most/near.py"]
    for name in [name for name in sys.modules if name.startswith(("helper_robins", plugins.PREFIX))]:
        del sys.modules[name]
    package.unlink()
    near.unlink()
    card = plugins.receive(sent)
    unpacked = Path(sys.modules["helper_robins.inner.most.near"].__file__)
    assert not unpacked.is_relative_to(tmp_path) and sys.modules["helper_robins"].STEP == 1 and plugins.receive(sent) is card, (
        "unpacked once"
    )


EXPERIMENT = """
horizon = 200
runs = 4
[problem]
kind = "synthetic"
arms = 5
[[contenders]]
policy = "robins/own_robin.py:SPEC"
"""


def test_experiments_name_files_beside_them_and_reports_need_none(own, tmp_path):
    (tmp_path / "robins").mkdir()
    moved = own.rename(tmp_path / "robins" / own.name)
    (tmp_path / "some.toml").write_text(EXPERIMENT)
    os.chdir("/")
    chosen = experiment.load(tmp_path / "some.toml")
    assert chosen.contenders[0].id == NAME and chosen.contenders[0].source == f"{moved}:SPEC"
    panel = runner.run(chosen, tmp_path / "out", threads=1)
    expected = md.simulate(NAME, panel.problem, horizon=200, runs=4, threads=1, checkpoints=chosen.marks())
    assert (panel.lines[0].final == expected.final).all()
    del registry.POLICIES[NAME]
    moved.unlink()
    again = results.read(tmp_path / "out" / "some")
    assert (again.lines[0].final == expected.final).all()
    cited = CliRunner().invoke(app, ["cite", str(tmp_path / "out" / "some"), "rucb"])
    assert "% 'round-robin' is a plug-in policy, and its results name no paper" in cited.stdout and "@" in cited.stdout


def test_results_know_what_a_plug_in_policy_cites_without_its_code(own, tmp_path):
    entry = "@misc{robin2031, title = {Round and Round}, year = 2031}"
    own.write_text(own.read_text().replace('cite="none"', f'cite="{entry}"'))
    (tmp_path / "some.toml").write_text(EXPERIMENT.replace("robins/", ""))
    runner.run(experiment.load(tmp_path / "some.toml"), tmp_path / "out", threads=1)
    del registry.POLICIES[NAME]
    own.unlink()
    cited = CliRunner().invoke(app, ["cite", str(tmp_path / "out" / "some")])
    assert cited.stdout.strip() == entry


def test_another_process_gets_the_file(own, tmp_path):
    (tmp_path / "some.toml").write_text(EXPERIMENT.replace("robins/", ""))
    chosen = experiment.load(tmp_path / "some.toml")
    made = task.task(chosen, md.synthetic(5), results.Block(NAME, 0, 4))
    sent = pickle.loads(pickle.dumps(made))
    here = task.play(sent)
    spec = registry.POLICIES.pop(NAME)
    del sys.modules[spec.params.__module__]
    own.unlink()
    plugins._loaded.clear()
    there = task.play(sent)
    assert registry.POLICIES[NAME] is not spec
    assert (there.final == here.final).all()


def test_a_module_that_workers_lack_is_a_sentence():
    sent = plugins.Parcel("no_such_package.policies", "SPEC")
    with pytest.raises(md.BadInput, match=r"no module 'no_such_package'.*Install its package where the workers are"):
        plugins.receive(sent)
    ours = plugins.Parcel("multiduel.policies.rucb", "SPECK")
    with pytest.raises(md.BadInput, match="another version"):
        plugins.receive(ours)
    assert plugins.parcel(registry.find("rucb")) is None
    assert cluster.KEPT


def test_what_was_typed_in_cannot_travel_and_is_never_taken_from_the_cache(monkeypatch):
    module = types.ModuleType("own_cell")
    monkeypatch.setitem(sys.modules, "own_cell", module)
    exec(TEXT, vars(module))
    card: PolicySpec = module.SPEC
    assert card.params.__module__ == "own_cell"
    with pytest.raises(md.BadInput, match="typed in"):
        plugins.parcel(card)
    assert code_hash("own_cell") != code_hash("own_cell")
    with pytest.raises(TypeError, match="implemented for Params already"):
        authoring.ask.implement(module.Params)(lambda params, state, rng, round, limit, slate: (1, 1))


class Offered:
    """An entry point, as an installed package offers it."""

    value = "somewhere:SPEC"

    def __init__(self, name, load, package=""):
        self.name, self.load = name, load
        self.dist = types.SimpleNamespace(name=package) if package else None


def test_installed_packages_offer_policies_and_a_broken_one_is_a_warning(own, monkeypatch):
    card = plugins.load(f"{own}:SPEC", PolicySpec)
    points = [Offered(NAME, lambda: card), Offered("broken", lambda: 1 / 0), Offered("odd", lambda: 3)]
    points += [Offered("bent", lambda: 1 / 0, "robins")]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == "multiduel.policies" else [])
    registry._installed.cache_clear()
    try:
        with (
            pytest.warns(UserWarning, match="is no PolicySpec"),
            pytest.warns(RuntimeWarning, match=r"'broken' of the package '\?'.*division by zero"),
            pytest.warns(RuntimeWarning, match="'bent' of the package 'robins'.*division by zero"),
        ):
            assert registry.find(NAME, "typed") is card
        assert registry._installed() == [card]
        assert NAME in CliRunner().invoke(app, ["policies"]).stdout
    finally:
        registry._installed.cache_clear()


def test_a_plugin_is_loaded_without_the_other_packages(own, monkeypatch):
    card = plugins.load(f"{own}:SPEC", PolicySpec)
    points = [Offered("other", lambda: pytest.fail("this was not typed")), Offered("robin", lambda: card)]
    points += [Offered("broken", lambda: 1 / 0), Offered("odd", lambda: 3)]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == "multiduel.policies" else [])
    assert registry.load_plugin("robin") is card and registry.find(NAME) is card
    assert registry.load_plugin(NAME) is card and registry.load_plugin("ucb") is registry.MACHINES["ucb"], "known already"
    for name, said in (
        ("robni", "There is no plug-in 'robni'. Did you mean 'robin'? Installed packages offer: broken, odd, other, robin; "),
        ("broken", "the plug-in 'broken' cannot be loaded: ZeroDivisionError"),
        ("odd", "The plug-in 'odd' must be a PolicySpec or a MachineSpec. Got a int."),
    ):
        with pytest.raises(md.BadInput, match=re.escape(said)):
            registry.load_plugin(name)


def test_a_pickle_may_name_an_installed_policy_and_a_snapshot_may_not(own, monkeypatch):
    card = plugins.load(f"{own}:SPEC", PolicySpec)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Offered(NAME, lambda: card)])
    registry._installed.cache_clear()
    try:
        policy = md.make(NAME, n_arms=3, seed=1)
        pickled, saved = pickle.dumps(policy), policy.snapshot()
        del registry.POLICIES[NAME]
        with pytest.raises(md.BadInput, match=f"There is no registered policy '{NAME}'"):
            md.restore(saved)
        assert pickle.loads(pickled).ask() == policy.ask()
    finally:
        registry._installed.cache_clear()


def test_the_face_for_authors_has_what_it_says():
    for name in authoring.__all__:
        assert getattr(authoring, name) is not None and (
            name in authoring.__doc__ or name in ("hold", "renew", "stopped", "additional_feedback")
        )
    assert isinstance(np.float64(authoring.FOREVER), float)
