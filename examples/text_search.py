"""Which of several rankers should this search engine use? From text to a page that says so, and since when it was certain.

    python examples/text_search.py --out page.html

A made-up text collection, real rankers (BM25 of bm25s and rank_bm25, scikit-learn's TF-IDF, where installed, and plain ones),
users who search, look at one mixed page and click by how relevant a document is. A policy chooses which rankers to mix, to be
certain soon; every page and click goes to a log, and the log is analysed by user.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import text_collection

import multiduel as md
from multiduel.rankers import Analysis, Log, analyse, click_model, multileave
from multiduel.rankers import report as pages

FIRST_DAY = 1767225600.0  # 1 January 2026; a user a minute
PLAIN = ("bm25", "bm25, no lengths", "counts", "titles")


def run(log: Log, *, users: int = 3000, slate_size: int = 4, margin: float = 0.05, seed: int = 0) -> tuple[Analysis, str]:
    """Let users search until it is settled who wins, or there are no more of them; also returns the ranker with the best NDCG."""
    collection = text_collection.make_collection(seed=seed)
    found = text_collection.searchers(collection)
    names = [name for name in found if name in PLAIN or name in text_collection.LIBRARIES]
    results = {
        query: [text_collection.ranked(collection, found[name], words) for name in names]
        for query, words in collection.queries.items()
    }
    number = {name: d for d, name in enumerate(collection.names)}
    policy = md.make("challengers", n_arms=len(names), slate_size=slate_size, seed=seed)
    rng = np.random.default_rng(seed)
    model = click_model("navigational", grades=5)
    for user in range(users):
        query, now = str(rng.choice(list(results))), FIRST_DAY + 60.0 * user
        slate = policy.ask()
        page = multileave(results[query], slate, policy=policy, names=names, ties="half", seed=int(rng.integers(2**32)))
        clicks = []
        for slot, document in enumerate(page["documents"]):
            grade = collection.grades[query].get(number[document], 0)
            if rng.random() < model.click[slot, grade]:
                clicks.append(document)
                if rng.random() < model.stop[slot, grade]:
                    break
        policy.tell(page, clicks)
        id = log.shown(page, user=f"u{user}", query=" ".join(collection.queries[query]), time=now)
        for document in clicks:
            log.clicked(id, document, time=now + 10.0)
        if user % 100 == 99 and policy.verdict(margin=margin).settled:
            break
    lineup = text_collection.line_up(collection, {name: found[name] for name in names})
    return analyse(log, margin=margin), names[int(np.argmax(lineup.ndcg()))]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("page.html"))
    parser.add_argument("--log", type=Path, help="keep the log here: a new file")
    parser.add_argument("--users", type=int, default=3000)
    parser.add_argument("--margin", type=float, default=0.05)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        analysis, best = run(Log(options.log or Path(folder) / "clicks.jsonl"), users=options.users, margin=options.margin)
    options.out.write_text(pages.page(analysis), encoding="utf-8")
    print(
        "\n".join([*pages.table(analysis), *pages.words(analysis), f"By NDCG@10 the best is '{best}'.", f"Wrote {options.out}"])
    )
