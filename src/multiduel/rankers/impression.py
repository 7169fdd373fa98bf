"""For a search engine: mix the slate's rankings into one page, and later turn its clicks into an outcome to tell.

>>> from multiduel import make
>>> policy = make("multi-rucb", n_arms=3, slate_size=3, seed=1)
>>> rankings = {0: ["a", "b", "c"], 1: ["b", "c", "d"], 2: ["d", "a", "c"]}   # what each ranker returns for the query
>>> slate = policy.ask()
>>> impression = multileave(rankings, slate.arms, length=3, seed=7)         # plain JSON; show impression["documents"]
>>> outcome = credit(impression, clicks=impression["documents"][:1])        # any time later, in any process
>>> policy.tell(slate, outcome)

Nothing is kept between the two: the impression is a token that carries the page and what is needed to read its
clicks. Who can forge the token can forge the outcome, so sign it if it travels through a browser
(examples/search_server.py does).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from multiduel.arrays import Floats, Ints, Stream
from multiduel.inputs import BadInput, whole
from multiduel.kernels.dispatch import entry
from multiduel.kernels.random import stream
from multiduel.rankers.letor import MOST_DOCUMENTS
from multiduel.rankers.multileaving import METHODS, check_method, judge, lay_out
from multiduel.rankers.multileaving.contract import Flags, Positions

FORMAT = "multiduel-impression-1"

Document = str | int


def multileave(
    rankings: Mapping[int, Sequence[Document]] | Sequence[Sequence[Document]],
    slate: Sequence[int] | None = None,
    *,
    method: str = "team-draft",
    length: int = 10,
    seed: int | None = None,
) -> dict[str, Any]:
    """One list of documents from the rankings of the slate's arms; without ``slate``, of all of them.

    ``rankings[arm]`` are the arm's documents, best first; a document is a string or a whole number. Rankers need not
    return the same documents: those that a ranker left out count as below all it returned. Without ``seed`` every
    call draws anew.
    """
    check_method(method)
    length = whole("length", length, 1, of="multileave")
    keys = list(rankings) if isinstance(rankings, Mapping) else list(range(len(rankings)))
    arms = [int(arm) for arm in (keys if slate is None else slate)]
    if not arms or len(set(arms)) < len(arms):
        raise BadInput(f"'slate' must name at least one arm, each once. Got {arms}.")
    for arm in arms:
        if arm not in keys:
            raise BadInput(f"'rankings' must have a ranking for every arm of the slate. Got none for arm {arm}.")
    lists = [_documents(arm, rankings[arm]) for arm in arms]
    drawn = np.random.SeedSequence(None if seed is None else whole("seed", seed, 0, of="multileave"))
    union = list(dict.fromkeys(document for ranking in lists for document in ranking))
    if len(union) > MOST_DOCUMENTS:
        raise BadInput(f"The rankings may have at most {MOST_DOCUMENTS} documents together. Got {len(union)}.")
    if not union:
        return _impression(method, arms, [], [])

    order, rank = _positions(lists, union, np.random.default_rng(drawn.spawn(1)[0]))
    chosen = METHODS[method](len(arms), len(union), length)
    shown, evidence = np.zeros(length, np.int64), np.zeros((length, len(arms)))
    taken, rows = np.zeros(len(union), np.uint8), np.arange(len(arms))
    args = (chosen, stream(drawn), order, rank, rows, taken, shown, evidence)
    lay = entry(lay_out_once, chosen, f"{method} (lay out)")
    lay.prepare(*args)
    count = lay.call(*args)
    return _impression(method, arms, [union[d] for d in shown[:count]], evidence[:count].tolist())


def credit(impression: Mapping[str, Any], clicks: Iterable[Document]) -> Floats:
    """The outcome of a page, to be told as it is: wins[a, b], the chance from 0 to 1 that slate[a] beat slate[b].

    ``clicks`` are the documents clicked, in any order; one clicked twice counts once. No clicks at all: every pair is
    a tie.
    """
    method, arms, documents, evidence = _read(impression)
    slot = {document: k for k, document in enumerate(documents)}
    clicked = np.zeros(max(1, len(documents)), np.uint8)
    for document in clicks:
        if document not in slot:
            raise BadInput(f"Only documents that were shown can be clicked. Got {document!r}; the page showed {documents}.")
        clicked[slot[document]] = 1
    n = len(arms)
    wins = np.zeros((n, n))
    chosen = METHODS[method](n, 1, max(1, len(documents)))
    args = (chosen, evidence, clicked, len(documents), n, wins)
    read = entry(judge_once, chosen, f"{method} (judge)")
    read.prepare(*args)
    read.call(*args)
    return wins


def lay_out_once(
    method: Any, rng: Stream, order: Positions, rank: Positions, rows: Ints, taken: Flags, shown: Ints, evidence: Floats
) -> int:
    return lay_out(method, rng, order, rank, rows, taken, shown, evidence)


def judge_once(method: Any, evidence: Floats, clicked: Flags, length: int, places: int, wins: Floats) -> None:
    judge(method, evidence, clicked, length, places, wins)


def _documents(arm: int, ranking: Sequence[Document]) -> list[Document]:
    documents = list(ranking)
    for document in documents:
        if not isinstance(document, str | int) or isinstance(document, bool):
            raise BadInput(f"A document must be a string or a whole number. Arm {arm} returned {document!r}.")
    if len(set(documents)) < len(documents):
        twice = next(d for k, d in enumerate(documents) if d in documents[:k])
        raise BadInput(f"A ranking must hold each document once. Arm {arm} returned {twice!r} twice.")
    return documents


def _positions(lists: list[list[Document]], union: list[Document], rng: np.random.Generator) -> tuple[Positions, Positions]:
    number = {document: d for d, document in enumerate(union)}
    rest = [union[d] for d in rng.permutation(len(union))]  # one order for what rankers left out, shared by all
    order = np.zeros((len(lists), len(union)), np.int16)
    rank = np.zeros_like(order)
    for a, ranking in enumerate(lists):
        own = set(ranking)
        order[a] = [number[document] for document in (*ranking, *(d for d in rest if d not in own))]
        rank[a, order[a]] = np.arange(len(union))
    return order, rank


def _impression(method: str, arms: list[int], documents: list[Document], evidence: list[list[float]]) -> dict[str, Any]:
    return {"format": FORMAT, "method": method, "slate": arms, "documents": documents, "evidence": evidence}


def _read(impression: Mapping[str, Any]) -> tuple[str, list[int], list[Document], Floats]:
    try:
        if impression["format"] != FORMAT:
            raise ValueError
        method, arms, documents = impression["method"], list(impression["slate"]), list(impression["documents"])
        evidence = np.array(impression["evidence"], np.float64).reshape(len(documents), len(arms))
        whole_arms = all(isinstance(arm, numbers.Integral) for arm in arms)
        if method not in METHODS or not arms or not whole_arms or not np.isfinite(evidence).all():
            raise ValueError
        if len(set(documents)) < len(documents) or len(set(arms)) < len(arms):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"'impression' must be what 'multileave' returned ({FORMAT}). Got something else.") from None
    return method, arms, documents, evidence
