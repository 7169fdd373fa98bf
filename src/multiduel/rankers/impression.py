"""For a search engine: mix the slate's rankings into one page, and later tell the policy its clicks.

>>> from multiduel import make
>>> policy = make("multi-rucb", n_arms=3, slate_size=3, seed=1)
>>> rankings = {0: ["a", "b", "c"], 1: ["b", "c", "d"], 2: ["d", "a", "c"]}   # what each ranker returns for the query
>>> slate = policy.ask()
>>> impression = multileave(rankings, slate, policy=policy, length=3, seed=7)  # plain JSON; show impression["documents"]
>>> clicks = impression["documents"][:1]
>>> policy.tell(impression, clicks)                                            # any time later
>>> policy.tell(Impression(impression), clicks)                                # in any process, if it went through JSON
Traceback (most recent call last):
    ...
multiduel.inputs.BadInput: Round 1 is told already, or had a single arm.

Nothing is kept between the two: the impression is a token that carries the page and what is needed to read its
clicks, for which policy and in which round. Who can forge the token can forge the outcome, so sign it if it travels
through a browser (examples/search_server.py does).
"""

from __future__ import annotations

import math
import numbers
import operator
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.engine.session.policy import Policy
from multiduel.engine.session.slates import Slate, Told
from multiduel.inputs import BadInput, choice, shortened, whole
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.random import stream
from multiduel.rankers.letor import MOST_DOCUMENTS
from multiduel.rankers.multileaving import (
    COUNTED,
    MANY,
    METHOD,
    METHODS,
    TIES,
    TWO_ONLY,
    WHOLE_CLICKS,
    WHOLE_PAGES,
    check_method,
    judge,
    lay_out,
)
from multiduel.rankers.multileaving.contract import Lists, Positions

FORMAT = "multiduel-impression-2"
MOST_LENGTH = 1_000_000  # documents on a page
MOST_ROUND = 2**63 - 1  # what tables of results can hold
MOST_RANKERS = 1000  # on a page: tables of as many squared
MOST_EVIDENCE = 1e12  # in size: above any rank, and any sum of it is a number

if TYPE_CHECKING:
    from multiduel.rankers.shared_policy import SharedPolicy

Document = str | int
Clicks = Iterable[Document] | Mapping[Document, float]


class Impression(dict[str, Any]):
    """A page that was shown: a dict of plain JSON, which ``policy.tell`` takes with the clicks on it.

    ``documents`` in order; ``slate``, the arms whose rankings it mixes, and ``rankers``, their names; ``round`` and ``policy``,
    that policy's fingerprint, None if no policy asked for it; ``method``, ``ties`` and ``evidence``, by which clicks are read.
    What went through JSON is a plain dict: ``Impression(it)`` makes it one again, and refuses what is none.

    >>> import json
    >>> page = multileave([["a", "b", "c"], ["b", "c", "a"]], names=["old", "new"], length=2, seed=1)
    >>> Impression(json.loads(json.dumps(page))) == page
    True
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        read_content(content)
        super().__init__(content)

    def told(self, clicks: Clicks) -> Told:
        """Return the arguments of ``policy.tell``: the round, its arms, the policy they belong to, and the wins.

        Parameters
        ----------
        clicks
            As for ``credit``.
        """
        if self["round"] is None or self["policy"] is None:
            raise BadInput(
                "This impression belongs to no policy: give 'multileave' the slate and the policy, or tell the slate with "
                "the outcome of 'credit'."
            )
        return Told(self["round"], tuple(self["slate"]), self["policy"], credit(self, clicks))


def multileave(
    rankings: Mapping[int, Sequence[Document]] | Sequence[Sequence[Document]],
    slate: Slate | Sequence[int] | None = None,
    *,
    policy: Policy | SharedPolicy | None = None,
    names: Sequence[str] | None = None,
    method: str = METHOD,
    ties: str = TIES[0],
    length: int = 10,
    seed: int | None = None,
) -> Impression:
    """Mix the rankings of the slate's arms into one list of documents.

    ``rankings[arm]`` are the arm's documents, best first; a document is a string or a whole number. Rankers need not
    return the same documents, nor equally many: one that has nothing left passes, and has no credit for what others show.

    Parameters
    ----------
    rankings
        Documents by arm.
    slate
        The arms to mix; without it, all of them.
    policy
        The policy whose slate it is: with both, ``policy.tell(impression, clicks)`` knows where it belongs.
    names
        Names of all rankers, by arm, for logs.
    method
        How the list is made and credit is given.
    ties
        What a pair is told that the clicks do not tell apart: half a win each ("half"), or nothing ("drop"); "auto" is half with
        two rankers and drop with more.
    length
        How many documents.
    seed
        Of the draw. Without it every call draws anew.

    Returns
    -------
    Impression
        The page, with what is needed to read its clicks.

    Examples
    --------
    >>> page = multileave([["a", "b", "c"], ["b", "c", "a"]], names=["old", "new"], length=2, seed=1)
    >>> page["rankers"], len(page["documents"])
    (['old', 'new'], 2)
    """
    method = check_method(method)
    choice("ties", ties, TIES)
    length = whole("length", length, 1, MOST_LENGTH, of="multileave")
    if not isinstance(rankings, Mapping | Sequence) or isinstance(rankings, str | bytes):
        raise BadInput(f"'rankings' must hold a ranking per arm. Got {shortened(rankings)}.")
    if names is not None and (not isinstance(names, Sequence | np.ndarray) or isinstance(names, str | bytes)):
        raise BadInput(f"'names' must be a list of names, by arm. Got {shortened(names)}.")
    round, shown_arms = slate if isinstance(slate, Slate) else (None, slate)
    keys = list(rankings) if isinstance(rankings, Mapping) else list(range(len(rankings)))
    try:
        arms = [operator.index(arm) for arm in (keys if shown_arms is None else shown_arms)]
    except TypeError:
        raise BadInput(f"'slate' must be the Slate that 'ask' returned, or arms. Got {shortened(slate)}.") from None
    if not arms or len(set(arms)) < len(arms):
        raise BadInput(f"'slate' must name at least one arm, each once. Got {arms}.")
    if len(arms) > MOST_RANKERS:
        raise BadInput(f"A page may mix at most {MOST_RANKERS} rankers. Got {len(arms)}.")
    for arm in arms:
        if arm not in keys:
            raise BadInput(f"'rankings' must have a ranking for every arm of the slate. Got none for arm {arm}.")
        if names is not None and not 0 <= arm < len(names):
            raise BadInput(f"'names' must have a name for every arm. Got none for arm {arm}.")
    rankers = [str(arm) if names is None else str(names[arm]) for arm in arms]
    if len(set(rankers)) < len(rankers):
        raise BadInput(f"'names' must be different for different arms. Got {shortened(rankers)}.")
    if policy is not None and round is None:
        raise BadInput("'policy' goes with the Slate that its 'ask' returned. Got other arms.")
    seed = secrets.randbits(64) if seed is None else whole("seed", seed, 0, of="multileave")
    about = {
        "format": FORMAT,
        "method": method,
        "ties": ("drop" if len(arms) >= MANY else "half") if ties == "auto" else ties,
        "seed": seed,
        "round": round,
        "policy": None if policy is None else policy.fingerprint,
        "slate": arms,
        "rankers": rankers,
    }
    lists = [_documents(arm, rankings[arm]) for arm in arms]
    drawn = np.random.SeedSequence(seed)
    union = list(dict.fromkeys(document for ranking in lists for document in ranking))
    if len(union) > MOST_DOCUMENTS:
        raise BadInput(f"The rankings may have at most {MOST_DOCUMENTS} documents together. Got {len(union)}.")
    if not union:
        return Impression({**about, "documents": [], "evidence": []})

    order, rank = _positions(lists, union)
    chosen = METHODS[method](len(arms), len(union), length)
    shown, evidence = np.zeros(length, np.int64), np.zeros((length + len(arms), len(arms) + 1))
    own, taken = np.array([len(ranking) for ranking in lists]), np.zeros(len(union), np.uint8)
    args = (chosen, stream(drawn), Lists(order, rank, np.arange(len(arms)), own, taken), shown, evidence)
    lay = entry(lay_out_once, chosen, f"{method} (lay out)")
    lay.prepare(*args)
    count = lay.call(*args)
    below = int(np.argmin(evidence[count:, -1] > 0.0))  # rows of documents that found no slot
    return Impression({**about, "documents": [union[d] for d in shown[:count]], "evidence": evidence[: count + below].tolist()})


def more(
    impression: Impression, rankings: Mapping[int, Sequence[Document]] | Sequence[Sequence[Document]], *, length: int = 10
) -> Impression:
    """Continue a page with more documents. It stays one list, told once with all its clicks.

    Its beginning is what was shown: the same draws are made again and then go on. ``optimised`` and ``greedy`` choose whole
    pages and cannot go on.

    Parameters
    ----------
    impression
        The page so far.
    rankings
        Those of the first page, or longer ones that begin with them.
    length
        How many documents more.

    Returns
    -------
    Impression
        The page with all that was shown.

    Examples
    --------
    >>> rankings = [["a", "b", "c"], ["b", "c", "a"]]
    >>> page = multileave(rankings, length=2, seed=1)
    >>> longer = more(page, rankings, length=1)
    >>> longer["documents"][:2] == page["documents"], len(longer["documents"])
    (True, 3)
    """
    method, arms, documents, _ = read_content(impression)
    if method in WHOLE_PAGES:
        raise BadInput(f"'{method}' chooses whole pages, and cannot continue one.")
    whole("length", length, 1, of="more")
    names = dict(zip(arms, impression["rankers"], strict=True))
    options: dict[str, Any] = {"method": method, "ties": impression["ties"], "seed": impression["seed"]}
    longer = multileave(rankings, arms, length=len(documents) + length, **options)
    if longer["documents"][: len(documents)] != documents:
        raise BadInput("A page can be continued by the rankings that it was made of. These begin otherwise.")
    kept = {"round": impression["round"], "policy": impression["policy"], "rankers": list(names.values())}
    return Impression({**longer, **kept})


def position_weights(impression: Mapping[str, Any], clicks: Iterable[Document]) -> dict[Document, float]:
    """Give clicks weights that grow with the slot, log2(1 + slot), slots from 1: a click far down the page means more.

    Parameters
    ----------
    impression
        The page.
    clicks
        The documents clicked.

    Examples
    --------
    >>> page = multileave([["a", "b", "c"], ["b", "c", "a"]], names=["old", "new"], length=2, seed=1)
    >>> position_weights(page, page["documents"][:1])[page["documents"][0]]
    1.0
    """
    documents = read_content(impression)[2]
    clicked = _weights(METHOD, documents, list(clicks))
    return {document: math.log2(2.0 + k) for k, document in enumerate(documents) if clicked[k] > 0.0}


def credit(impression: Mapping[str, Any], clicks: Clicks) -> Floats:
    """Turn the clicks on a page into wins[a, b], the share from 0 to 1 that slate[a] won against slate[b].

    For those without a policy; ``policy.tell(impression, clicks)`` is the way with one. Pairs that the clicks do not tell apart,
    all of them on a page without a click, are 1/2 both ways; or 0, if the page was made with ``ties="drop"``.

    Parameters
    ----------
    impression
        The page.
    clicks
        The documents clicked, in any order; one clicked twice counts once. A dict gives each click a weight above 0, for methods
        that add clicks up.

    Examples
    --------
    >>> page = multileave([["a", "b", "c"], ["b", "c", "a"]], names=["old", "new"], length=2, seed=1)
    >>> wins = credit(page, page["documents"])  # both were clicked: nobody won
    >>> wins[0, 1] == wins[1, 0]
    np.True_
    """
    method, arms, documents, evidence = read_content(impression)
    clicked = _weights(method, documents, clicks)
    n = len(arms)
    wins = np.zeros((n, n))
    chosen = METHODS[method](n, 1, max(1, len(documents)))
    args = (chosen, evidence, clicked, len(documents), n, wins)
    read = entry(judge_once, chosen, f"{method} (judge)")
    read.prepare(*args)
    read.call(*args)
    return np.where(wins == wins.T, 0.0, wins) if impression["ties"] == "drop" else wins


def lay_out_once(method: Any, rng: Stream, lists: Lists, shown: Ints, evidence: Floats) -> int:
    return lay_out(method, rng, lists, shown, evidence)


def judge_once(method: Any, evidence: Floats, clicked: Floats, length: int, places: int, wins: Floats) -> None:
    judge(method, evidence, clicked, length, places, wins)


def _documents(arm: int, ranking: Sequence[Document]) -> list[Document]:
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Iterable):
        raise BadInput(f"A ranking must be a list of documents. Arm {arm} returned {shortened(ranking)}.")
    documents: dict[Document, None] = {}
    for given in ranking:
        document = read_document(given)
        if document is None:
            raise BadInput(f"A document must be a string or a whole number. Arm {arm} returned {shortened(given)}.")
        if document in documents:
            raise BadInput(f"A ranking must hold each document once. Arm {arm} returned {shortened(document)} twice.")
        documents[document] = None
    return list(documents)


def read_document(given: Any) -> Document | None:
    """As JSON knows it: NumPy's numbers and words become Python's. None for what is no document."""
    if isinstance(given, str):
        return str(given)
    return int(given) if isinstance(given, numbers.Integral) and not isinstance(given, bool | np.bool) else None


def _weights(method: str, documents: list[Document], clicks: Clicks) -> Floats:
    slot: dict[Any, int] = {document: k for k, document in enumerate(documents)}
    clicked = np.zeros(max(1, len(documents)))
    if isinstance(clicks, str):
        raise BadInput(f"'clicks' must be a list of documents. Got the text {shortened(clicks)}.")
    if not isinstance(clicks, Iterable):
        raise BadInput(f"'clicks' must be a list of documents. Got {shortened(clicks)}.")
    for given in clicks:
        document = read_document(given)
        if document is None or document not in slot:
            raise BadInput(
                f"Only documents that were shown can be clicked. Got {shortened(given)}; the page showed {shortened(documents)}."
            )
        weight = clicks[given] if isinstance(clicks, Mapping) else 1.0
        if not is_weight(weight):
            raise BadInput(
                f"The weight of a click must be a finite number above 0. Got {shortened(weight)} for {shortened(document)}."
            )
        if weight != 1.0 and method in WHOLE_CLICKS:
            raise BadInput(f"'{method}' counts clicks and cannot weigh them. Got a weight of {weight!r} for {document!r}.")
        clicked[slot[document]] = float(weight)
    return clicked


def is_weight(value: Any) -> bool:
    """Is this what a click may weigh: a finite number above 0? It may be above 1."""
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0.0 < float(value) < math.inf
    except OverflowError:  # an int that no float can hold
        return False


def _positions(lists: list[list[Document]], union: list[Document]) -> tuple[Positions, Positions]:
    """Orders and their inverses. What a ranker did not return stands after what it did, where nobody looks."""
    number = {document: d for d, document in enumerate(union)}
    order = np.zeros((len(lists), len(union)), np.int16)
    rank = np.zeros_like(order)
    for a, ranking in enumerate(lists):
        own = set(ranking)
        order[a] = [number[document] for document in (*ranking, *(d for d in union if d not in own))]
        rank[a, order[a]] = np.arange(len(union))
    return order, rank


class Content(NamedTuple):
    """What an impression says of its page."""

    method: str
    arms: list[int]
    documents: list[Document]
    evidence: Floats  # f8[rows, n + 1]


def read_content(impression: Mapping[str, Any]) -> Content:
    """Checked: what ``multileave`` did not return is refused."""
    try:
        lists = impression["slate"], impression["documents"]
        if impression["format"] != FORMAT or not all(isinstance(one, list | tuple) for one in lists):
            raise ValueError
        method, arms, documents = impression["method"], list(lists[0]), list(lists[1])
        evidence = np.array(impression["evidence"], np.float64).reshape(-1, len(arms) + 1)
        names, round, policy, seed = impression["rankers"], impression["round"], impression["policy"], impression["seed"]
        good = (
            method in METHODS
            and impression["ties"] in COUNTED
            and (not evidence.size or bool(np.abs(evidence).max() < MOST_EVIDENCE))
            and len(arms) <= MOST_RANKERS
            and (len(arms) <= 2 or method not in TWO_ONLY)
            and len(evidence) >= len(documents)
            and (len(evidence) == len(documents) or bool((evidence[len(documents) :, -1] > 0.0).all()))
            and {*map(type, arms)} == {int}
            and {*map(type, documents)} <= {str, int}
            and isinstance(names, list)
            and {*map(type, names)} == {str}
            and len(names) == len(set(names)) == len(arms) == len(set(arms))
            and len(set(documents)) == len(documents)
            and type(seed) is int
            and seed >= 0
            and (round is None or (type(round) is int and 0 <= round <= MOST_ROUND))
            and (policy is None or isinstance(policy, str))
        )
        if not good:
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError):
        raise BadInput(f"'impression' must be what 'multileave' returned ({FORMAT}). Got something else.") from None
    return Content(method, arms, documents, evidence)
