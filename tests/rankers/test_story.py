"""The example from a text collection to a page that says who wins; libraries where they are installed."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import rankers_page  # of benchmarks/

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import text_collection

    return text_collection


def test_one_command_makes_the_page(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    options = ["--users", "300", "--out", tmp_path / "page.html", "--log", tmp_path / "log.jsonl"]
    command = [sys.executable, EXAMPLES / "text_search.py", *options]
    said = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    assert "300 pages for 300 users" in said.stdout, said.stderr
    page = (tmp_path / "page.html").read_text()
    assert "Which ranker wins?" in page and "bm25" in page and "<svg" in page


def test_the_collection_is_the_same_everywhere_and_its_rankers_differ(texts):
    one, two = (texts.make_collection(documents=300, queries=30, seed=1) for _ in range(2))
    assert one == two
    lineup = texts.line_up(one, texts.searchers(one, libraries=False))
    ndcg = dict(zip(lineup.names, lineup.ndcg(), strict=True))
    assert ndcg["bm25"] > ndcg["counts"] > 0.1
    assert (lineup.returned < 300).all() and 0 < lineup.returned.max() <= texts.RETURNED
    first = next(iter(one.queries))
    shown = texts.ranked(one, texts.bm25(one), one.queries[first])
    assert shown and len(shown) <= texts.RETURNED


@pytest.mark.parametrize("package", ["bm25s", "rank_bm25", "sklearn"])
def test_libraries(texts, package):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    made = texts.make_collection(documents=300, queries=30, seed=1)
    theirs, ours = (texts.line_up(made, {"x": search}).ndcg()[0] for search in (texts.LIBRARIES[package](made), texts.bm25(made)))
    assert theirs > 0.9 * ours and np.isfinite(theirs)


def test_the_page_of_the_docs_is_what_was_measured(tmp_path):
    """Its tables come from benchmarks/rankers.json, and its default is the method that needs the fewest users there."""
    root = EXAMPLES.parent
    store = json.loads((root / "benchmarks" / "rankers.json").read_text())
    rankers_page.write(store, (root / "benchmarks" / "rankers.template.md").read_text(), tmp_path / "page.md")
    made = (tmp_path / "page.md").read_text()
    assert made == (root / "docs" / "rankers-numbers.md").read_text() and "@@" not in made and rankers_page.NOT_YET not in made
