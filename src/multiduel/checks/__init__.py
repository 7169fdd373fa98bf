"""The conformance suite: what every registered policy must pass, yours included.

    from multiduel import checks
    print(checks.check("path/to/my_policy.py:SPEC", oracle=my_oracle))

An exception is declared in the policy's description, ``SPEC.exceptions = {check: reason}``. A declared check must then fail:
an exception that is no longer needed is a failure too. The policy must live in a file, because one of the checks plays it
in another process, without the compiler.

>>> from multiduel import checks
>>> print(checks.check("uniform", only=["header"]))
uniform: 1 of 1 checks passed
  passed    header
>>> len(checks.CHECKS)
16
"""

from __future__ import annotations

import multiduel.checks.parent  # noqa: F401  first of all

# isort: split
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, NamedTuple

from multiduel.checks import agreement, behaviour, boundary, features, observing, symmetry
from multiduel.checks.stream import NaiveStream
from multiduel.checks.subject import Failed, OracleMaker, Skipped, Subject
from multiduel.display.progress import progress_bar
from multiduel.engine.registry.registry import find
from multiduel.inputs import BadInput, did_you_mean
from multiduel.kernels.contract import PolicySpec

CHECKS: dict[str, Callable[[Subject], None]] = {
    "slates-valid": behaviour.slates_valid,
    "outcomes-matter": behaviour.outcomes_matter,
    "relabelling": symmetry.relabelling,
    "compiled-equals-plain": agreement.compiled_equals_plain,
    "naive-oracle": agreement.naive_oracle,
    "commit-equals-step": agreement.commit_equals_step,
    "snapshot": agreement.snapshot,
    "reproducible": agreement.reproducible,
    "late-tells": behaviour.late_tells,
    "observing": observing.observing,
    "contexts": features.contexts,
    "beats-uniform": behaviour.beats_uniform,
    "small-sizes": behaviour.small_sizes,
    "bad-input": boundary.bad_input,
    "no-recompilation": boundary.no_recompilation,
    "header": boundary.header,
}

__all__ = ["CHECKS", "Failed", "Finding", "NaiveStream", "Report", "Skipped", "Subject", "check", "run"]


class Finding(NamedTuple):
    """How a check ended: passed, failed, skipped, excepted (fails, as declared) or unneeded (declared, yet passes).

    >>> finding = Finding("my-policy", "header", "failed", "It has no citation.")
    >>> print(finding, finding.ok)
    failed    header: It has no citation. False
    """

    policy: str
    check: str
    status: str
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the check passed, was skipped, or failed as declared."""
        return self.status in ("passed", "skipped", "excepted")

    def __str__(self) -> str:
        return f"{self.status:9} {self.check}{': ' if self.reason else ''}{self.reason}"


class Report(NamedTuple):
    """All findings about one policy.

    >>> report = check("uniform", only=["header"])
    >>> report.ok, report.failures
    (True, ())
    """

    policy: str
    findings: tuple[Finding, ...]
    plain: bool = False  # played without the compiler, and so fewer and shorter runs

    @property
    def ok(self) -> bool:
        """Whether all findings are ok."""
        return all(finding.ok for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that are not ok."""
        return tuple(finding for finding in self.findings if not finding.ok)

    def __str__(self) -> str:
        passed = sum(finding.status == "passed" for finding in self.findings)
        lines = [
            f"{self.policy}: {passed} of {len(self.findings)} checks passed",
            *(f"  {finding}" for finding in self.findings),
        ]
        if self.plain:
            lines.append("Played without the compiler, so in fewer and shorter runs. The full suite needs the compiler.")
        return "\n".join(lines)


def check(
    policy: str | PolicySpec,
    *,
    oracle: OracleMaker | None = None,
    only: Iterable[str] | None = None,
    progress: bool = True,
    **params: Any,
) -> Report:
    """Check a policy: make all checks, or ``only`` some.

    Parameters
    ----------
    policy
        Its name, its address (``path/to/file.py:SPEC``), or its ``PolicySpec``.
    oracle
        Called as ``oracle(n_arms, slate_size, words, **params)``, it makes a plain second implementation: ``ask(round)``
        returns the arms of the slate, ``tell(round, arms, wins)`` learns. ``words`` are the four integers from which the
        policy's stream starts; ``NaiveStream(words)`` draws from it. Arms are the kernel's own numbers.
    only
        Names of checks, of those in ``CHECKS``.
    progress
        Whether to show a progress bar in a terminal.
    **params
        Parameters of the policy.

    Returns
    -------
    Report
        A finding for each check. Print it to read them.

    Examples
    --------
    >>> check("uniform", only=["header", "slates-valid"]).ok
    True
    """
    chosen, policy = list(CHECKS) if only is None else list(only), find(policy, "typed").name
    findings: list[Finding] = []
    with progress_bar(f"checks of {policy}") if progress else nullcontext() as watch:
        for place, name in enumerate(chosen):
            if watch is not None:
                watch(place / len(chosen), label=f"checks of {policy}: {name}")
            finding = run(name, policy, oracle=oracle, **params)
            findings.append(finding)
            if name == "slates-valid" and not finding.ok:  # compiled code does not check indices: playing on could do harm
                rest = [each for each in chosen if each != name]
                findings += [Finding(policy, each, "failed", "Not tried, because its slates are not valid.") for each in rest]
                break
    return Report(policy, tuple(findings), Subject(policy, params).plain)


def run(name: str, policy: str | PolicySpec, *, oracle: OracleMaker | None = None, **params: Any) -> Finding:
    """Make one check of a policy.

    Parameters
    ----------
    name
        Name of the check, of those in ``CHECKS``.
    policy, oracle, **params
        As for ``check``.

    Examples
    --------
    >>> print(run("header", "uniform"))
    passed    header
    """
    policy = find(policy, "typed").name
    if name not in CHECKS:
        raise BadInput(f"There is no check '{name}'.{did_you_mean(name, CHECKS)} There are: {', '.join(CHECKS)}.")
    subject = Subject(policy, params, oracle)
    exceptions = subject.spec.exceptions
    unknown = next((key for key in exceptions if key not in CHECKS), None)
    if unknown is not None:
        raise BadInput(f"'exceptions' of '{policy}' names no check: {unknown!r}.{did_you_mean(unknown, CHECKS)}")
    declared = exceptions.get(name)
    try:
        CHECKS[name](subject)
    except Skipped as reason:
        return Finding(policy, name, "skipped", str(reason))
    except Exception as error:
        if declared:
            return Finding(policy, name, "excepted", declared)
        seen = str(error) if isinstance(error, Failed) else f"It raised {type(error).__name__}: {error}"
        return Finding(policy, name, "failed", seen)
    if declared:
        return Finding(policy, name, "unneeded", f"The declared exception is no longer needed: {declared}")
    return Finding(policy, name, "passed")
