"""What is wrong with a policy that is not ours, in a sentence with its file and line: its slates, its bets, its errors."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.arrays import Ints
from multiduel.inputs import BadInput
from multiduel.kernels.compiler.sources import PACKAGE
from multiduel.kernels.contract import PolicySpec, ask, recommend

LIBRARIES = {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}  # an installed policy is here too


def seats_of(spec: PolicySpec, params: Any, n_arms: int) -> int:
    """The most arms that its slates may hold."""
    inner = params
    while hasattr(inner, "policy"):  # closed or watched by another
        inner = inner.policy
    return min(n_arms, 2 if spec.slate == "two" else getattr(inner, "slate_size", n_arms))


def refuse_slate(spec: PolicySpec, slate: Ints, n: int, rounds: int, limit: int, *, most: int, n_arms: int, round: int) -> None:
    """Say what is wrong with a slate that ``faulty`` found."""
    where = f"in round {round} ({_home(ask, spec)})"
    if not 1 <= n <= most:
        raise BadInput(f"'ask' of '{spec.name}' must show 1 to {most} arms. It returned {n} {where}.")
    if not 1 <= rounds <= limit:
        raise BadInput(f"'ask' of '{spec.name}' must commit to 1 to 'limit' rounds, here {limit}. It returned {rounds} {where}.")
    arms = slate[:n].tolist()
    if not all(0 <= arm < n_arms for arm in arms):
        raise BadInput(f"'ask' of '{spec.name}' must show arms from 0 to {n_arms - 1}. It showed {arms[:20]} {where}.")
    if len(set(arms)) < n:
        raise BadInput(f"'ask' of '{spec.name}' must show distinct arms. It showed {arms[:20]} {where}.")


def refuse_arm(spec: PolicySpec, arm: int, n_arms: int) -> None:
    if not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
        raise BadInput(
            f"'recommend' of '{spec.name}' must name an arm from 0 to {n_arms - 1}. It returned {arm} ({_home(recommend, spec)})."
        )


def _home(generic: Any, spec: PolicySpec) -> str:
    code = generic.find(spec.params).__code__
    return f"'{code.co_filename}', line {code.co_firstlineno}"


def blamed(error: Exception, what: str) -> BadInput:
    """The error of a user's own code: its last line there, and what Python says."""
    if isinstance(error, BadInput):
        return error
    if isinstance(error, SyntaxError):
        return BadInput(f"{what}: {error.msg} ('{error.filename}', line {error.lineno}).")
    steps = [step for step in traceback.extract_tb(error.__traceback__) if not step.filename.startswith("<frozen")]
    theirs = [step for step in steps if not Path(step.filename).is_relative_to(PACKAGE)]
    own = [step for step in theirs if not any(Path(step.filename).is_relative_to(folder) for folder in LIBRARIES)] or theirs
    if not own and isinstance(error, IndexError):  # from compiled code, which does not say where
        return BadInput(
            f"{what}: an index of an array is out of range. With 'plain=True' in its SPEC, Python says in which line."
        )
    where = f" ('{own[-1].filename}', line {own[-1].lineno})" if own else ""
    return BadInput(f"{what}: {type(error).__name__}: {error}{where}.")


def guarded(spec: PolicySpec, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose errors are sentences if the policy is not ours."""
    if not spec.watched:
        return function

    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            raise blamed(error, f"'{spec.name}' failed") from error

    return call
