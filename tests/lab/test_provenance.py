"""Which code made a number: the lab asks the one hash there is."""

import importlib
import os
import sys
import time

import pytest

import multiduel as md
from multiduel.engine.registry.registry import POLICIES
from multiduel.lab.experiment import parse
from multiduel.lab.provenance import code_digest
from multiduel.lab.results import make_folder
from tests.test_package import skeleton

EXPERIMENT = """
horizon = 50
runs = 2
[problem]
kind = "synthetic"
arms = 5
[[contenders]]
policy = "epsilon-greedy"
"""


@pytest.fixture
def own_policy(tmp_path, monkeypatch):
    """A user's policy whose epsilon comes from a helper of its own; returns the helper's file."""
    helper = tmp_path / "my_helper.py"
    helper.write_text("EPSILON = 0.1\n")
    text = skeleton("policy").replace("epsilon: float = 0.1", "epsilon: float = EPSILON")
    (tmp_path / "epsilon_greedy.py").write_text(
        text.replace("import numpy as np\n", "import numpy as np\nfrom my_helper import EPSILON\n")
    )
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() - 3600,) * 2)
    monkeypatch.syspath_prepend(tmp_path)
    md.register(importlib.import_module("epsilon_greedy").SPEC)
    yield helper
    del POLICIES["epsilon-greedy"], sys.modules["epsilon_greedy"], sys.modules["my_helper"]


def test_an_edited_helper_of_a_users_policy_makes_results_other_results(own_policy, tmp_path):
    experiment, problem = parse(EXPERIMENT, "mine.toml"), md.synthetic(5)
    make_folder(tmp_path / "out", experiment, problem)
    make_folder(tmp_path / "out", experiment, problem)  # the same code: go on
    own_policy.write_text("EPSILON = 0.2\n")
    os.utime(own_policy, (time.time() - 1800,) * 2)
    with pytest.raises(md.BadInput, match="they are of another state of multiduel's code"):
        make_folder(tmp_path / "out", experiment, problem)


def test_machines_count_for_the_policies_they_plug_into():
    assert code_digest("multi-sbm") != code_digest("rucb") != code_digest("mdb")
    assert code_digest("rucb") == code_digest("rucb")
