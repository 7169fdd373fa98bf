"""What a policy shows to the outside: errors that explain, one compilation for all sizes, a header that can be read."""

from __future__ import annotations

import doctest
import random
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from multiduel.checks.subject import HORIZON, MIXED, Failed, Skipped, Subject, coins, played, require
from multiduel.engine.registry.registry import MACHINES
from multiduel.engine.session.outcomes import best, duels, ranking
from multiduel.engine.session.policy import Policy, make
from multiduel.engine.session.rounds import ask_once, observe_pairs, observe_slate, recommend_once, tell_once
from multiduel.engine.session.slates import Slate
from multiduel.engine.simulation.play import play
from multiduel.engine.simulation.worlds import BlockMatrix, Matrix
from multiduel.inputs import BadInput
from multiduel.kernels.compiler.dispatch import JIT, entry
from multiduel.kernels.contract import Parameter, PolicySpec, ask, init, recommend, tell, valid
from multiduel.policies import ALL
from multiduel.policies.citations import is_citation


def bad_input(subject: Subject) -> None:
    """Wrong parameters, slates and outcomes raise BadInput with a sentence, and change nothing."""
    for what, wrong in _wrong_parameters(subject):
        values: dict[str, Any] = {"n_arms": 4, "horizon": HORIZON} | dict(subject.words) | wrong
        _refused(what, lambda values=values: make(subject.name, **values))  # type: ignore[misc]
    policy = subject.make(MIXED.n_arms, 3, seed=2)
    coin = random.Random(2)
    told, open_slate = _two_slates(policy, coin)
    before = policy.snapshot()
    for what, act in _wrong_tells(policy, told, open_slate):
        _refused(what, act)
        after = policy.snapshot()
        changed = [part for part, value in before.items() if value != after[part]]
        require(not changed, f"Refused input must change nothing. After {what}, these parts differ: {', '.join(changed)}.")


def _refused(what: str, act: Callable[[], Any]) -> None:
    try:
        act()
    except BadInput as error:
        require(
            re.search(r"\w.*[.?]$", str(error), re.DOTALL),
            f"The error for {what} must be a sentence. Got {str(error)!r}.",
        )
    except Exception as error:
        raise Failed(f"{what[0].upper()}{what[1:]} must raise BadInput. It raised {type(error).__name__}: {error}") from error
    else:
        raise Failed(f"{what[0].upper()}{what[1:]} must raise BadInput. It was accepted.")


def _wrong_parameters(subject: Subject) -> list[tuple[str, dict[str, Any]]]:
    spec = subject.spec
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("no arm at all", {"n_arms": 0}),
        ("half an arm", {"n_arms": 2.5}),
        ("a slate of one", {"slate_size": 1}),
        ("a negative seed", {"seed": -1}),
        ("an unknown parameter", {"no_such_parameter": 1}),
    ]
    for name in spec.params._field_defaults:
        card = spec.parameters.get(name)
        if card is None:
            raise Failed(f"'{name}' has no Parameter in SPEC.parameters, so that its limits cannot be checked.")
        if name == "slate_size":
            continue
        wrong += [(f"the word 'no such word' for '{name}'", {name: "no such word"})]
        wrong += [(f"{value} for '{name}'", {name: value}) for value in _beyond(card)]
    if not spec.anytime:
        wrong.append(("a missing horizon", {"horizon": None}))
    return wrong


def _beyond(card: Parameter) -> list[float]:
    """Values just outside the parameter's limits."""
    if card.choices or card.machines:
        return []
    values = [limit for limit in (card.above, card.below) if limit is not None]
    values += [card.at_least - 1] if card.at_least is not None else []
    values += [card.at_most + 1] if card.at_most is not None else []
    return values


def _two_slates(policy: Policy, coin: random.Random) -> tuple[Slate, Slate]:
    """One slate that is told and one that is open, both of two arms or more."""
    told: Slate | None = None
    for _ in range(1000):
        slate = policy.ask()
        if len(slate.arms) < 2:
            continue
        if told is not None:
            return told, slate
        policy.tell(slate, coins(MIXED.matrix, slate.arms, coin))
        told = slate
    raise Failed("It must compare two arms at least twice in 1000 rounds. It did not.")


def _wrong_tells(policy: Policy, told: Slate, slate: Slate) -> list[tuple[str, Callable[[], None]]]:
    n = len(slate.arms)
    fine = np.triu(np.ones((n, n)), 1)
    stranger = next(arm for arm in (*range(policy.n_arms), policy.n_arms) if arm not in slate.arms)
    outcomes: dict[str, Any] = {
        "a ranking with an arm that was not shown": ranking([slate.arms[0], stranger]),
        "an unknown arm as the best": best(policy.n_arms + 7),
        "a duel of an arm with itself": duels([(slate.arms[0], slate.arms[0])]),
        "an arm ranked twice": ranking([slate.arms[0], slate.arms[0]]),
        "a matrix of the wrong shape": np.zeros((n + 1, n + 1)),
        "negative wins": -fine,
        "wins that are not a number": fine * np.nan,
        "infinite wins": np.where(fine > 0, np.inf, 0.0),
        "an arm that beats itself in a matrix": np.eye(n),
        "a word as an outcome": "left",
        "nothing as an outcome": None,
    }
    slates: dict[str, Any] = {
        "a slate told twice": told,
        "a round that was never asked": Slate(policy.round + 1, slate.arms),
        "round 0": Slate(0, slate.arms),
        "other arms than were shown": Slate(slate.round, slate.arms[::-1]),
        "a word as a slate": "slate",
        "nothing as a slate": None,
    }
    acts: list[tuple[str, Callable[[], None]]] = []
    for what, outcome in outcomes.items():
        acts.append((what, lambda outcome=outcome: policy.tell(slate, outcome)))  # type: ignore[misc]
    for what, wrong in slates.items():
        acts.append((what, lambda wrong=wrong: policy.tell(wrong, fine)))  # type: ignore[misc]
    return acts


def no_recompilation(subject: Subject) -> None:
    """The play loop, ask, tell and recommend are compiled once, whatever K and m."""
    if not JIT or subject.spec.plain:
        raise Skipped("The compiler is off (NUMBA_DISABLE_JIT), or the policy is plain: nothing is compiled.")
    for n_arms, slate_size in ((3, 2), (7, 4)):
        utilities = np.linspace(0.2, 0.8, n_arms)
        P = 0.5 + 0.5 * (utilities[:, None] - utilities)
        policy = subject.make(n_arms, slate_size, seed=6)
        for _ in played(subject, policy, P, 30, seed=6, slate_size=slate_size):
            pass
        policy.recommend()
        if subject.spec.observes:
            policy.observe((0, 1), duels([(0, 1)]))
        subject.simulate(P, horizon=20, slate_size=slate_size, runs=1)
    params, name, care = subject.params(7), subject.name, subject.spec.care
    watch = observe_pairs if subject.spec.slate == "two" else observe_slate
    for what, one in (
        ("play loop", entry(play, params, name, BlockMatrix if subject.spec.blocks else Matrix, care=care)),
        ("ask", entry(ask_once, params, f"{name} (ask)", care=care)),
        ("tell", entry(tell_once, params, f"{name} (tell)", care=care)),
        ("recommend", entry(recommend_once, params, f"{name} (recommend)", care=care)),
        *((("observe", entry(watch, params, f"{name} (observe)", care=care)),) if subject.spec.observes else ()),
    ):
        count = len(one.call.signatures)
        require(count == 1, f"The {what} must be compiled once for all sizes. It was compiled {count} times.")


def header(subject: Subject) -> None:
    """The file says what it implements; the description is complete; the citation resolves; a policy of ours is in ALL.

    Of a plug-in policy, a header that is not complete is no failure: what it would add is said.
    """
    spec = subject.spec
    module = sys.modules[spec.params.__module__]
    ours = module.__name__.startswith("multiduel.")
    lacking = _lacking(module.__name__, module.__doc__ or "")
    require(not (ours and lacking), lacking)
    known = "a key of multiduel.policies.CITATIONS, a citation such as 'Du, Wang, Huang. Title. AAMAS 2020.', or a BibTeX entry"
    require(is_citation(spec.cite), f"'cite' must be {known}. Got {spec.cite!r}.")
    require(not ours or spec in ALL, f"'{spec.name}' must be listed in multiduel.policies.ALL.")
    _card(spec)
    if lacking:
        raise Skipped(f"{lacking} It would tell a reader of the file what is implemented, and what is not as in the paper.")


def _lacking(name: str, text: str) -> str:
    """What the header of a policy's file lacks, in a sentence; "" if it is complete."""
    for word in ("Paper", "Assumes", "Symbols", "Deviates"):
        if not re.search(rf"^{word}\s+\S", text, re.MULTILINE):
            return f"The header of {name} must have a line '{word}' that says something ('nothing' will do)."
    if not re.search(r"\n\n {4}\S", text):
        return f"The header of {name} must show the listing, indented by four, after a blank line."
    if not doctest.DocTestParser().get_examples(text):
        return f"The header of {name} must end in an example of use (>>>)."
    return ""


def _card(spec: PolicySpec) -> None:
    fields = spec.params._fields
    require(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*[+]?", spec.name), f"A name is written like 'multi-rucb'. Got {spec.name!r}.")
    require(spec.slate in ("two", "any"), f"'slate' must be 'two' or 'any'. Got {spec.slate!r}.")
    require(spec.commits in ("exact", "distribution"), f"'commits' must be 'exact' or 'distribution'. Got {spec.commits!r}.")
    require(spec.anytime == ("horizon" not in fields), "'anytime' must be false exactly if Params has a 'horizon'.")
    for name in ("title", "assumes", "regret", "use"):
        require(str(getattr(spec, name)).strip(), f"'{name}' of SPEC must say something.")
    for generic in (init, ask, tell, recommend, valid):
        require(spec.params in generic.table, f"'{generic.__name__}' must be implemented for its Params.")
    for name in fields:
        require(name in spec.params._field_defaults, f"'{name}' of Params must have a default.")
        card = spec.parameters.get(name)
        require(card is not None and card.meaning.strip(), f"'{name}' of Params must have a Parameter with a meaning.")
        assert card is not None
        kind = "a machine" if hasattr(spec.params._field_defaults[name], "_fields") else ""
        require(
            bool(kind) == bool(card.machines),
            f"'machines' of the Parameter of '{name}' must name a kind exactly if it is a machine.",
        )
        for machine in MACHINES.values():
            shared = set(fields) & set(machine.params._fields) if machine.kind == card.machines else set()
            require(
                not shared,
                f"Policy and machine '{machine.name}' must not share parameter names. Both have {sorted(shared)}.",
            )
    extra = sorted(set(spec.parameters) - set(fields))
    require(not extra, f"SPEC.parameters must name fields of Params. There is none called {', '.join(extra)}.")
