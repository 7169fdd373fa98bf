"""The checks themselves: each must fail on a policy that is broken in its way, and none on one that is not."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from multiduel import BadInput, checks
from multiduel.checks import plain
from multiduel.engine.registry.registry import POLICIES
from multiduel.engine.session.policy import Policy
from multiduel.kernels.compiler.dispatch import JIT
from multiduel.policies import uniform
from tests.checks.sabotaged import EXPLORE, FAULTS, SPEC
from tests.naive.stream import NaiveStream

CAUGHT = [
    ("repeats-an-arm", "slates-valid", "distinct"),
    ("arm-out-of-range", "slates-valid", "Without the compiler"),
    ("ignores-outcomes", "outcomes-matter", "different states"),
    ("recommends-a-constant", "outcomes-matter", "different recommendations"),
    ("recommends-a-constant", "beats-uniform", "19 of 20"),
    ("believes-losers", "beats-uniform", "19 of 20"),
    ("lowest-first", "relabelling", "no arm is special"),
    ("leans-to-low-numbers", "relabelling", "standard errors"),
    ("wraps-integers", "compiled-equals-plain", "plain differ in round 4"),
    ("commits-too-far", "commit-equals-step", "equal regrets"),
    ("exceeds-the-limit", "commit-equals-step", "the limit"),
    ("recommend-changes-state", "snapshot", "must change nothing"),
    ("global-numpy-random", "reproducible", "left alone"),
    ("unseeded", "reproducible", "same slates"),
    ("chokes-on-late-tells", "late-tells", "IndexError"),
    ("fails-at-one-arm", "small-sizes", "K = 1"),
    ("types-depend-on-size", "no-recompilation", "compiled 2 times"),
    ("remembers-the-order", "observing", "must lead to the same slates"),
    ("ignores-outcomes", "observing", "5 of 5 runs"),
    ("hides-a-field", "snapshot", "must speak of every field"),
]
NEEDS_COMPILER = ("compiled-equals-plain", "no-recompilation")


class Oracle:
    """Sabotaged without a fault, in plain Python."""

    def __init__(self, n_arms, slate_size, words, fault="none"):
        self.m, self.rng, self.best = slate_size, NaiveStream(words), None
        self.W = [[0.0] * n_arms for _ in range(n_arms)]

    def ask(self, round):
        K = len(self.W)
        if round <= EXPLORE:
            return self.rng.distinct(range(K), self.m)
        if self.best is None:
            won, lost = [sum(row) for row in self.W], [sum(column) for column in zip(*self.W, strict=True)]
            self.best = max(range(K), key=lambda i: won[i] / (won[i] + lost[i]))
        return [self.best]

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b, j in enumerate(slate):
                self.W[i][j] += wins[a, b]


@pytest.fixture(scope="module", autouse=True)
def registered():
    POLICIES[SPEC.name] = SPEC
    plain.gather(checks.Subject(SPEC.name, {"fault": fault}) for fault in FAULTS)  # one process for all of them
    yield
    del POLICIES[SPEC.name]


@pytest.mark.parametrize("check", checks.CHECKS)
def test_a_sound_policy_passes(check):
    finding = checks.run(check, SPEC.name, oracle=Oracle, fault="none")
    if finding.status == "skipped":
        pytest.skip(finding.reason)
    assert finding.status == "passed", finding.reason


@pytest.mark.parametrize(("fault", "check", "words"), CAUGHT)
def test_a_fault_is_caught(fault, check, words):
    if not JIT and check in NEEDS_COMPILER:
        pytest.skip("the compiler is off: nothing to compare, nothing to compile")
    finding = checks.run(check, SPEC.name, fault=fault)
    assert finding.status == "failed"
    assert words in finding.reason
    assert finding.reason.endswith((".", ")"))


def test_every_fault_is_used():
    assert {fault for fault, _, _ in CAUGHT} == set(FAULTS) - {"none"}


def test_a_policy_that_says_it_is_blind_and_is_not_is_caught(monkeypatch):
    monkeypatch.setitem(POLICIES, SPEC.name, dataclasses.replace(SPEC, blind="it says so"))
    assert checks.run("observing", SPEC.name).status == "passed"
    monkeypatch.setattr(Policy, "observe", lambda self, arms, outcome: None)
    finding = checks.run("observing", SPEC.name)
    assert finding.status == "failed"
    assert "It was accepted" in finding.reason


def test_a_wrong_oracle_is_caught():
    class Wrong(Oracle):
        def ask(self, round):
            return super().ask(round) if round != 123 else [0]

    finding = checks.run("naive-oracle", SPEC.name, oracle=Wrong)
    assert finding.status == "failed"
    assert "round 123" in finding.reason


def test_a_missing_oracle_is_a_failure_of_ours_and_skipped_of_others():
    finding = checks.run("naive-oracle", SPEC.name)
    assert finding.status == "skipped" and finding.ok
    assert "No oracle" in finding.reason and "would show that the kernel plays what the paper says" in finding.reason
    ours = checks.run("naive-oracle", "uniform")
    assert ours.status == "failed" and "No oracle" in ours.reason


def test_a_boundary_that_learns_before_it_looks_is_caught(monkeypatch):
    careful = Policy.tell

    def careless(self, slate, outcome):
        self._tally.above[...] += 1.0
        careful(self, slate, outcome)

    monkeypatch.setattr(Policy, "tell", careless)
    finding = checks.run("bad-input", SPEC.name)
    assert finding.status == "failed"
    assert "tally" in finding.reason


def test_a_boundary_that_accepts_anything_is_caught(monkeypatch):
    monkeypatch.setattr(Policy, "tell", lambda self, slate, outcome: None)
    finding = checks.run("bad-input", SPEC.name)
    assert finding.status == "failed"
    assert "It was accepted" in finding.reason


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cite": "nobody2099"}, "CITATIONS"),
        ({"parameters": {}}, "must have a Parameter with a meaning"),
        ({"anytime": False}, "horizon"),
        ({"slate": "three"}, "'two' or 'any'"),
        ({"use": " "}, "'use'"),
        ({"name": "Sabotaged!"}, "written like"),
    ],
)
def test_a_careless_card_is_caught(monkeypatch, change, words):
    card = dataclasses.replace(SPEC, **change)
    monkeypatch.setitem(POLICIES, card.name, card)
    finding = checks.run("header", card.name)
    assert finding.status == "failed"
    assert words in finding.reason


@pytest.mark.parametrize("part", ["Paper", "Assumes", "Symbols", "Deviates", "    for t", ">>>"])
def test_an_incomplete_header_is_caught(monkeypatch, part):
    from tests.checks import sabotaged

    lines = sabotaged.__doc__.split("\n")
    if part.startswith(" "):
        kept = [line for line in lines if not line.startswith("    ")]
    else:
        kept = [line for line in lines if not line.startswith(part)]
    monkeypatch.setattr(sabotaged, "__doc__", "\n".join(kept))
    finding = checks.run("header", SPEC.name)
    assert finding.status == "skipped" and finding.ok, "of a plug-in policy it is said, and no failure"
    assert part.split()[0] in finding.reason or "listing" in finding.reason
    assert "would tell a reader" in finding.reason
    monkeypatch.setattr(uniform, "__doc__", "\n".join(kept))
    ours = checks.run("header", "uniform")
    assert ours.status == "failed" and ours.reason in finding.reason.replace(
        "tests.checks.sabotaged", "multiduel.policies.uniform"
    )


def test_declared_exceptions_must_be_needed(monkeypatch):
    why = {"header": "never finished", "outcomes-matter": "deaf by design"}
    monkeypatch.setitem(POLICIES, SPEC.name, dataclasses.replace(SPEC, exceptions=why))
    deaf = checks.run("outcomes-matter", SPEC.name, fault="ignores-outcomes")
    assert (deaf.status, deaf.ok, deaf.reason) == ("excepted", True, "deaf by design")
    spare = checks.run("header", SPEC.name)
    assert (spare.status, spare.ok) == ("unneeded", False)
    assert "no longer needed: never finished" in spare.reason


def test_an_exception_from_no_check_is_refused(monkeypatch):
    monkeypatch.setitem(POLICIES, SPEC.name, dataclasses.replace(SPEC, exceptions={"heeder": "typo"}))
    with pytest.raises(BadInput, match="Did you mean 'header'"):
        checks.run("header", SPEC.name)


def test_a_report_reads_well_and_stops_at_invalid_slates():
    report = checks.check(SPEC.name, only=["slates-valid", "header"], fault="arm-out-of-range")
    assert not report.ok
    assert [finding.check for finding in report.failures] == ["slates-valid", "header"]
    assert "Not tried" in report.failures[1].reason
    assert str(report).startswith("sabotaged: 0 of 2 checks passed\n  failed    slates-valid: ")


def test_a_plain_policy_is_put_through_all_checks_in_few_rounds(tmp_path):
    """At half a millisecond a round, 80,000 are 40 seconds."""
    contributing = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    skeleton = re.search(r"<!-- skeleton: policy -->\n```python[^\n]*\n(.*?)^```$", contributing, re.M | re.S)[1]
    skeleton = skeleton.replace("    use=", "    plain=True,\n    use=").replace("epsilon-greedy", "epsilon-plain")
    skeleton = (
        skeleton.replace("    if state.seen[0] == 0 or", "    ASKED[0] += 1\n    if state.seen[0] == 0 or") + "\n\nASKED = [0]\n"
    )
    file = tmp_path / "plain_policy.py"
    file.write_text(skeleton + "\n\nASKED = [0]\n")
    report = checks.check(f"{file}:SPEC", progress=False)
    asked = sys.modules[POLICIES["epsilon-plain"].params.__module__].ASKED[0]
    del POLICIES["epsilon-plain"]
    assert report.ok, str(report)
    assert {finding.check for finding in report.findings if finding.status == "skipped"} == {"naive-oracle", "no-recompilation"}
    assert str(report).splitlines()[-1].startswith("Played without the compiler")
    assert 10_000 < asked < 80_000


def test_names_are_checked():
    with pytest.raises(BadInput, match=r"There is no check 'snapshots'\. Did you mean 'snapshot'"):
        checks.run("snapshots", SPEC.name)
    with pytest.raises(BadInput, match="There is no policy 'sabotage'"):
        checks.check("sabotage")


def test_the_suite_needs_no_pytest():
    code = "import sys, multiduel.checks; sys.exit('pytest' in sys.modules)"
    path = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}
    assert subprocess.run([sys.executable, "-c", code], env=path, check=False).returncode == 0
