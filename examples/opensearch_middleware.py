"""Rankers of an OpenSearch index compared on live traffic: several queries in one msearch, one page, UBI, a nightly report.

    python examples/opensearch_middleware.py --selftest           # made-up index, users and clicks; needs no OpenSearch
    python examples/opensearch_middleware.py --report FOLDER      # what cron runs: from the UBI files of FOLDER to page.html

A ranker is a query template. ``Middleware.search`` asks the policy which rankers to mix, sends their queries as one ``msearch``,
mixes the answers into a page, and stores it as UBI does: a record of ``ubi_queries`` with the impression in
``query_attributes.multileaving``. The browser's UBI client stores clicks and purchases in ``ubi_events`` as always. The policy
learns from pages of some minutes ago (``learn``), when their clicks are there; whichever process calls it, each page counts once.

``client`` is an ``opensearchpy.OpenSearch``, or anything with its ``msearch`` and ``index``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.rankers import Impression, Log, SharedPolicy, analyse, import_ubi, multileave, page_seed
from multiduel.rankers import report as pages

LENGTH = 6
RANKERS: dict[str, Any] = {  # name: body of the search
    "title": lambda text: {"query": {"match": {"title": text}}},
    "title and text": lambda text: {"query": {"multi_match": {"query": text, "fields": ["title^3", "text"]}}},
    "newest": lambda text: {"query": {"match": {"text": text}}, "sort": [{"date": "desc"}]},
}


class Middleware:
    """Stands between the site and OpenSearch."""

    def __init__(self, client: Any, policy: Path | str, index: str = "documents") -> None:
        self.client, self.index = client, index
        self.shared = SharedPolicy(policy, "due-duel", n_arms=len(RANKERS), slate_size=2)

    def search(self, text: str, client_id: str, **fields: Any) -> tuple[str, list[str | int]]:
        """The id of the query, which clicks must name, and the documents to show."""
        slate = self.shared.ask(key=f"{client_id} {text}")
        names = list(RANKERS)
        body: list[Any] = []
        for arm in slate.arms:
            body += [{"index": self.index}, {**RANKERS[names[arm]](text), "size": LENGTH, "_source": False}]
        answers = self.client.msearch(body=body)["responses"]
        rankings = {arm: [hit["_id"] for hit in answer["hits"]["hits"]] for arm, answer in zip(slate.arms, answers, strict=True)}
        seed = page_seed(client_id, text)
        page = multileave(rankings, slate, policy=self.shared, names=names, length=LENGTH, seed=seed)
        query_id = str(uuid.uuid4())
        record = {
            "query_id": query_id,
            "client_id": client_id,
            "user_query": text,
            "timestamp": int(1000 * time.time()),
            "query_response_hit_ids": page["documents"],
            "query_attributes": {"multileaving": json.dumps(page), **fields},  # text: UBI's mapping must not index its inside
        }
        self.client.index(index="ubi_queries", body=record)
        return query_id, page["documents"]

    def learn(self, queries: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]], *, after: float = 600.0) -> int:
        """Tell the policy the clicks on pages of ``after`` seconds ago and before; returns how many pages counted."""
        clicked: dict[str, set[str]] = {}
        for event in events:
            if event["action_name"] == "click":
                clicked.setdefault(event["query_id"], set()).add(event["event_attributes"]["object"]["object_id"])
        counted = 0
        for query in queries:
            if query["timestamp"] > 1000 * (time.time() - after):
                continue  # more clicks may come
            page = Impression(json.loads(query["query_attributes"]["multileaving"]))
            counted += self.shared.tell(page, [one for one in page["documents"] if one in clicked.get(query["query_id"], ())])
        return counted


def nightly(folder: Path) -> str:
    """From the exported UBI files to a log, and from the log to a page. Returns the sentence at its top."""
    log = Log(folder / "log.jsonl")
    log.path.unlink(missing_ok=True)
    import_ubi(folder / "ubi_queries.jsonl", folder / "ubi_events.jsonl", log, metrics=["purchase"])
    found = analyse(log)
    (folder / "page.html").write_text(pages.page(found), encoding="utf-8")
    return pages.headline(found)


# ---- without OpenSearch ---------------------------------------------------------------------------------------------


class MadeUp:
    """An index whose document k is the better, the lower k is; the second ranker knows that, the others mix it up."""

    def __init__(self) -> None:
        self.stored: dict[str, list[dict[str, Any]]] = {"ubi_queries": [], "ubi_events": []}

    def msearch(self, body: list[Any]) -> dict[str, Any]:
        responses = []
        for query in body[1::2]:
            noise = 0.5 if "multi_match" in query["query"] else 20.0
            text = json.dumps(query["query"])
            rng = np.random.default_rng(page_seed(text))
            order = np.argsort(np.arange(20) + noise * rng.standard_normal(20))[: query["size"]]
            responses.append({"hits": {"hits": [{"_id": f"doc-{k}"} for k in order]}})
        return {"responses": responses}

    def index(self, index: str, body: dict[str, Any]) -> None:
        self.stored[index].append(body)


def selftest(folder: Path, users: int = 400) -> str:
    client = MadeUp()
    site = Middleware(client, folder / "policy.db")
    rng = np.random.default_rng(0)
    for user in range(users):
        query_id, documents = site.search(f"query {user % 50}", f"client {user}", device=["mobile", "desktop"][user % 2])
        for document in documents:
            if rng.random() < 0.7 ** (1 + int(str(document)[4:])):
                event: dict[str, Any] = {"action_name": "click", "query_id": query_id, "client_id": f"client {user}"}
                event |= {"timestamp": int(1000 * time.time()), "event_attributes": {"object": {"object_id": document}}}
                client.index("ubi_events", event)
        if user % 50 == 49:
            site.learn(client.stored["ubi_queries"], client.stored["ubi_events"], after=-1.0)
            site.shared.sweep(1800)
    for name, records in client.stored.items():
        lines = [json.dumps({"_index": name, "_source": record}) for record in records]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    sentence = nightly(folder)
    recommended = list(RANKERS)[site.shared.policy().recommend()]
    if recommended != "title and text":
        raise SystemExit(f"The policy should bet on 'title and text', not on '{recommended}'.")
    return sentence


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("--report", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.report:
        print(nightly(options.report))
    elif options.selftest:
        with tempfile.TemporaryDirectory() as folder:
            print(selftest(Path(folder)))
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
