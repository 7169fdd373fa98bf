"""The check "contexts" notices what may be wrong with features that change, and passes a policy that is sound."""

import pytest

from multiduel import checks
from multiduel.checks import plain
from multiduel.engine.registry.registry import POLICIES
from tests.checks.sabotaged_features import FAULTS, SPEC

CAUGHT = {
    "ignores-features": "at most 70 %",
    "misplaces-rows": "slates of fixed features",
    "learns-from-the-last": "features of its own round",
}


@pytest.fixture(scope="module", autouse=True)
def registered():
    POLICIES[SPEC.name] = SPEC
    plain.gather(checks.Subject(SPEC.name, {"fault": fault}) for fault in FAULTS)
    yield
    del POLICIES[SPEC.name]


def test_a_sound_policy_passes():
    assert checks.run("contexts", SPEC.name, fault="none").status == "passed"


@pytest.mark.parametrize("fault", CAUGHT)
def test_a_fault_is_caught(fault):
    finding = checks.run("contexts", SPEC.name, fault=fault)
    assert finding.status == "failed" and CAUGHT[fault] in finding.reason


def test_every_fault_is_used():
    assert set(CAUGHT) == set(FAULTS) - {"none"}
