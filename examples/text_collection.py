"""A made-up text collection with judged queries, and rankers for it: BM25 and TF-IDF of three libraries, and plain ones.

    pip install bm25s rank_bm25 scikit-learn      # each is used where it is installed

Documents are about subtopics of topics, long or short; some only repeat a topic's words (spam). A query asks for a subtopic.
Nothing is downloaded: the same seed makes the same collection.
"""

from __future__ import annotations

import importlib.util
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from multiduel import rankers

TOPICS, SUBTOPICS, WORDS = 20, 4, 8
RETURNED = 20  # documents that a ranker returns at most

Search = Callable[[list[str]], "np.ndarray[Any, np.dtype[np.float64]]"]  # words to one score per document


class Collection(NamedTuple):
    names: list[str]
    titles: list[list[str]]
    texts: list[list[str]]
    queries: dict[str, list[str]]
    grades: dict[str, dict[int, int]]  # of a query, by document; 0 if not named


def make_collection(*, documents: int = 1200, queries: int = 150, seed: int = 0) -> Collection:
    rng = np.random.default_rng(seed)
    words = _words(rng, TOPICS * (SUBTOPICS + 1) * WORDS + 400)
    common, rest = words[:400], words[400:]
    topic = [rest[t * WORDS : (t + 1) * WORDS] for t in range(TOPICS)]
    rest = rest[TOPICS * WORDS :]
    subtopic = {(t, s): rest[(t * SUBTOPICS + s) * WORDS :][:WORDS] for t in range(TOPICS) for s in range(SUBTOPICS)}
    law = np.cumsum(1.0 / np.arange(1.0, len(common) + 1.0))  # Zipf's
    law /= law[-1]
    titles, texts, about = [], [], []
    for _ in range(documents):
        t, s, spam = int(rng.integers(TOPICS)), int(rng.integers(SUBTOPICS)), bool(rng.random() < 0.2)
        length, focus = int(rng.lognormal(4.0, 0.7)) + 10, float(rng.uniform(0.05, 0.4))
        own = topic[t] if spam else topic[t] + subtopic[t, s]
        on_topic, which = rng.random(length) < focus, rng.integers(len(own), size=length)
        other = np.minimum(np.searchsorted(law, rng.random(length)), len(common) - 1)
        text = [own[w] if on else common[o] for on, w, o in zip(on_topic, which, other, strict=True)]
        good = [topic[t][rng.integers(WORDS)], *(subtopic[t, s][w] for w in rng.integers(WORDS, size=2))]
        titles.append([topic[t][w] for w in rng.integers(WORDS, size=3)] if spam else good)
        texts.append(text)
        about.append((t, s, spam, focus))
    asked, grades = {}, {}
    for q in range(queries):
        t, s = int(rng.integers(TOPICS)), int(rng.integers(SUBTOPICS))
        name = f"q{q + 1}"
        asked[name] = [str(word) for word in (*rng.choice(topic[t], 1), *rng.choice(subtopic[t, s], 2, replace=False))]
        grades[name] = {
            d: (4 if focus > 0.2 else 3) if other == s else 1
            for d, (of, other, spam, focus) in enumerate(about)
            if of == t and not spam
        }
    return Collection([f"d{d + 1}" for d in range(documents)], titles, texts, asked, grades)


def _words(rng: np.random.Generator, count: int) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(rng.choice(list("bdfgklmnprstv")) + rng.choice(list("aeiou")) for _ in range(3))] = None
    return list(made)


# ---- rankers: each is made once for a collection, and then scores its documents for the words of a query ---------------------


def bm25(collection: Collection, k1: float = 1.2, b: float = 0.75, title: int = 1) -> Search:
    texts = [names * title + text for names, text in zip(collection.titles, collection.texts, strict=True)]
    counts = [Counter(text) for text in texts]
    holding: dict[str, list[int]] = {}
    for d, words in enumerate(counts):
        for word in words:
            holding.setdefault(word, []).append(d)
    length = np.array([len(text) for text in texts], float)
    norm = k1 * (1.0 - b + b * length / length.mean())

    def search(query: list[str]) -> Any:
        scores = np.zeros(len(texts))
        for word in query:
            there = holding.get(word, [])
            rarity = math.log(1.0 + (len(texts) - len(there) + 0.5) / (len(there) + 0.5))
            tf = np.array([counts[d][word] for d in there], float)
            scores[there] += rarity * tf * (k1 + 1.0) / (tf + norm[there])
        return scores

    return search


def counting(collection: Collection) -> Search:
    counts = [Counter(text) for text in collection.texts]
    return lambda query: np.array([sum(words[word] for word in query) for words in counts], float)


def title_only(collection: Collection) -> Search:
    return lambda query: np.array([len(set(query) & set(title)) for title in collection.titles], float)


def with_bm25s(collection: Collection) -> Search:
    import bm25s  # type: ignore[import-not-found]

    index = bm25s.BM25(k1=1.5, b=0.75)
    index.index([title + text for title, text in zip(collection.titles, collection.texts, strict=True)], show_progress=False)
    return lambda query: np.asarray(index.get_scores(query), float)


def with_rank_bm25(collection: Collection) -> Search:
    from rank_bm25 import BM25Plus  # type: ignore[import-not-found]

    index = BM25Plus([title + text for title, text in zip(collection.titles, collection.texts, strict=True)])
    nothing = np.asarray(index.get_scores(["no such word"]), float)
    return lambda query: np.asarray(index.get_scores(query), float) - nothing


def with_sklearn(collection: Collection) -> Search:
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-not-found]

    vectors = TfidfVectorizer(analyzer=list, sublinear_tf=True)
    table = vectors.fit_transform([title + text for title, text in zip(collection.titles, collection.texts, strict=True)])
    return lambda query: np.asarray((table @ vectors.transform([query]).T).todense(), float).ravel()


PLAIN: dict[str, Callable[[Collection], Search]] = {
    "bm25": bm25,
    "bm25, title twice": lambda collection: bm25(collection, title=2),
    "bm25, k1 = 0.6": lambda collection: bm25(collection, k1=0.6),
    "bm25, no lengths": lambda collection: bm25(collection, b=0.0),
    "bm25, text only": lambda collection: bm25(collection, title=0),
    "counts": counting,
    "titles": title_only,
    "bm25, k1 = 3": lambda collection: bm25(collection, k1=3.0),
}
LIBRARIES = {"bm25s": with_bm25s, "rank_bm25": with_rank_bm25, "sklearn": with_sklearn}


def searchers(collection: Collection, *, libraries: bool = True) -> dict[str, Search]:
    """The rankers by name; those of libraries where installed."""
    found = {name: make(collection) for name, make in PLAIN.items()}
    for package, make in LIBRARIES.items():
        if libraries and importlib.util.find_spec(package):
            found[package] = make(collection)
    return found


def ranked(collection: Collection, search: Search, query: list[str]) -> list[str]:
    """The names of the documents that a ranker returns, best first: those with a score above 0."""
    scores = search(query)
    best = np.argsort(-scores, kind="stable")[:RETURNED]
    return [collection.names[d] for d in best if scores[d] > 0.0]


def judged(collection: Collection) -> Iterator[rankers.Query]:
    """The collection as the click world reads it: all documents, with their grades."""
    for name in collection.queries:
        row = np.array([collection.grades[name].get(d, 0) for d in range(len(collection.names))])
        yield rankers.Query(name, row, np.zeros((len(row), 1)), tuple(collection.names))


def line_up(collection: Collection, found: dict[str, Search]) -> rankers.Lineup:
    def ranker(name: str, search: Search) -> rankers.Ranker:
        def score(query: rankers.Query) -> Any:
            scores = search(collection.queries[query.id])
            out = np.full(len(scores), -np.inf)
            best = [d for d in np.argsort(-scores, kind="stable")[:RETURNED] if scores[d] > 0.0]
            out[best] = scores[best]
            return out

        return rankers.Ranker(name, score)

    return rankers.line_up(judged(collection), [ranker(name, search) for name, search in found.items()])


if __name__ == "__main__":
    made = make_collection()
    lineup = line_up(made, searchers(made))
    print(lineup)
    for ndcg, name in sorted(zip(lineup.ndcg(), lineup.names, strict=True), reverse=True):
        print(f"{name:20} NDCG@10 {ndcg:.4f}")
