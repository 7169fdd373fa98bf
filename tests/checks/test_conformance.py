"""Every registered policy against every check; exceptions are those of the policies' cards, and must be needed."""

import pytest

from multiduel import checks
from multiduel.policies import ALL
from tests.naive.follow import oracle
from tests.naive.stream import NaiveStream


def oracle_of(name):
    module = oracle(name)
    if module is None:
        return None
    return lambda n_arms, slate_size, words, **params: module.Naive(n_arms, slate_size, NaiveStream(words), **params)


@pytest.mark.parametrize("check", checks.CHECKS)
@pytest.mark.parametrize("policy", [spec.name for spec in ALL])
def test_conformance(policy, check):
    finding = checks.run(check, policy, oracle=oracle_of(policy) if check == "naive-oracle" else None)
    if finding.status == "skipped":
        pytest.skip(finding.reason)
    if finding.status == "excepted":
        pytest.xfail(finding.reason)
    assert finding.ok, f"{policy}, {check}: {finding.reason}"


def test_every_registered_policy_is_checked():
    assert len({spec.name for spec in ALL}) == len(ALL) >= 5
    assert len(checks.CHECKS) == 16
