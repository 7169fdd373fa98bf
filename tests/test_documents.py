"""README and documentation: every code block runs, and the site is whole, leads nowhere wrong, and needs no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock
from urllib.parse import unquote, urlsplit

import pytest

import multiduel as md
from docs.scripts import blocks
from multiduel.engine.registry.registry import MACHINES, POLICIES
from multiduel.policies import ALL
from tests.page_preludes import BEFORE

ROOT = Path(__file__).resolve().parents[1]
PAGES = [page.relative_to(ROOT).as_posix() for page in blocks.pages() if blocks.blocks(page)]
counted: Counter[str] = Counter()


@pytest.mark.parametrize("page", PAGES)
def test_every_code_block_runs(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MULTIDUEL_DATA", "")
    with mock.patch.dict(POLICIES), mock.patch.dict(MACHINES):  # what a page registers is not there for other tests
        counted.update(blocks.run_page(ROOT / page, tmp_path, BEFORE.get(page, "")))


def test_every_block_says_what_it_is():
    found = [block for page in PAGES for block in blocks.blocks(ROOT / page)]
    fences = sum(len(re.findall(r"^ *```", (ROOT / page).read_text(), re.M)) for page in PAGES)
    assert fences == 2 * len(found), "A fence is not closed, or nested."
    assert [block.place for block in found if block.kind not in blocks.KINDS] == []
    idle = [block for block in found if not block.is_run and block.kind not in blocks.NO_CODE]
    assert len(idle) <= len(found) // 5, "Too many blocks are not run."
    assert all(len(block.title) > 20 for block in idle)  # with a reason


def test_readme_is_a_front_door():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) < 140 and "| policy | paper |" not in text
    assert text.index("`make paper`") < text.index("`make test`") < text.index("## ")  # the two commands, before all else
    for first in ("a regret plot", "among your own options", "a file of votes", "a team vote", "a model judge"):
        assert re.search(rf"^## .*{first}$", text, re.M), first


@pytest.mark.parametrize(
    ("script", "command", "page"),
    [
        ("verdicts", "page", "verdicts-numbers"),
        ("rankers_quality", "page", "rankers-numbers"),
        ("due_duel", "tables", "due-duel"),
        ("arena", "page", "arena-numbers"),
        ("judges", "page", "judges-numbers"),
        ("batches", "page", "votes"),
        ("votes", "page", "votes"),
        ("papers", "page", "other-papers"),
        ("llmfao", "page", "guides/leaderboard"),
    ],
)
def test_tables_are_those_of_the_result_files(script, command, page):
    file = ROOT / "docs" / f"{page}.md"
    before = file.read_text()
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, f"benchmarks/{script}.py", command], cwd=ROOT, env=env, capture_output=True, text=True)
    after = file.read_text()
    file.write_text(before)
    assert done.returncode == 0, done.stderr
    assert after == before, f"'make figures' makes docs/{page}.md anew: its tables are not those of the result file."


def test_numbers_behind_the_figures_are_those_of_this_code():
    """Of one that is quick to play; 'make figures' plays them all."""
    known = json.loads((ROOT / "docs" / "figures" / "results.json").read_text())["policy-rucb"]
    for line in known["lines"].values():
        result = md.simulate(
            line["policy"], md.synthetic(known["arms"]), slate_size=line["slate_size"], horizon=known["horizon"],
            runs=known["runs"], seed=known["seed"], checkpoints=60,
        )  # fmt: skip
        assert round(float(result.mean[-1]), 1) == line["mean"]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


class Links(HTMLParser):
    """What a page links to, loads, and can be linked to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attributes}
        self.anchors |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag != "a":
            self.loads += [found[key] for key in ("href", "src") if key in found]


def test_no_link_is_dead(site):
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 70
    dead = []
    for page, found in pages.items():
        if page.name == "404.html":
            continue  # made for a server's root
        for link in (*found.links, *found.loads):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto", "data") and link in found.links:
                continue
            target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            anchors = pages[target].anchors if target in pages else None
            if not target.is_file() or (anchors is not None and unquote(parts.fragment) not in anchors):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        outside = [link for link in Links(page).loads if urlsplit(link).scheme in ("http", "https") or link.startswith("//")]
        assert outside == [] or page.name == "404.html", page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//", sheet.read_text()), sheet


def test_policies_have_pages_with_figures(site):
    listed = (site / "policies" / "index.html").read_text()
    for spec in ALL:
        page = spec.name.replace("+", "-plus")
        assert f'href="{page}.html"' in listed
        assert f"policy-{page}.svg" in (site / "policies" / f"{page}.html").read_text()


def test_every_policy_has_a_figure():
    played = json.loads((ROOT / "docs" / "figures" / "results.json").read_text())
    for spec in ALL:
        assert f"policy-{spec.name}" in played, f"Run docs/scripts/figures.py policy-{spec.name}."
        assert (ROOT / "docs" / "figures" / f"policy-{spec.name.replace('+', '-plus')}.svg").is_file()


def test_changelog_names_every_policy():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert [spec.name for spec in ALL if spec.title.partition(" (")[0] not in text and f"`{spec.name}`" not in text] == []


def test_search_works_from_a_disk(site):
    """Without a server and without a network."""
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(offline=True).new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((site / "index.html").as_uri())
        page.locator("input[name=query]").fill("interleaved filter")
        first = page.locator("a.md-search-result__link").first
        first.wait_for(timeout=20_000)
        assert "if1" in page.locator(".md-search-result__list").inner_html() and wrong == []
        browser.close()


def test_leaderboard_is_sorted_by_a_click_on_a_head(site):
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(offline=True).new_page()
        page.goto((site / "benchmark" / "leaderboard.html").as_uri())
        table = page.locator(".sortable table").first
        column = table.locator("th").all_inner_texts().index("ends wrong")

        def shares() -> list[float]:
            return [float(row.rstrip("%")) for row in table.locator(f"tbody td:nth-child({column + 1})").all_inner_texts()]

        before = shares()
        head = table.locator("th").nth(column)
        head.click()
        assert shares() == sorted(before) and head.get_attribute("aria-sort") == "ascending"
        head.press("Enter")
        assert shares() == sorted(before, reverse=True) and len(before) > 10
        browser.close()


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_pages_fit_their_screen(site, width):
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs chromium")
    with sync_api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme="dark", offline=True).new_page()
        for name in ("index", "verdicts", "policies/index", "reference/cli", "benchmark/ties", "guides/which-ranker"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        browser.close()
