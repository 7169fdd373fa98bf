"""Documents: the same blocks as Markdown and as one page, and text stays text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from multiduel.display import documents
from multiduel.display.documents import Callout, Drawing, Fold, Heading, Picture, Text
from multiduel.display.tables import Table

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def test_tables_with_numbers_or_many_columns_are_not_stacked():
    row = ('a"', 'b"', "c", "d")
    kinds = [(row[:3], (), "words"), (row, (), "wide"), (row[:2], (1,), "wide")]
    for head, numeric, kind in kinds:
        page = documents.page([Table(head, [("holds: here",) * len(head)], numeric)], "t")
        assert f'<div class="{kind}"' in page
        assert ('<td data-head="b&quot;: ">' in page) == (kind == "words")
        assert 'data-head="a' not in page


def test_cells_cannot_break_out():
    table = Table(("a|b",), [("<b>x</b> | `y<z`",)])
    assert documents.markdown([table], None).splitlines()[2].count("|") == 2
    assert "&lt;b&gt;x&lt;/b&gt;" in documents.page([table], "<t>") and "<title>&lt;t&gt;" in documents.page([table], "<t>")


def test_a_cell_is_coloured_by_its_first_word_and_has_small_print_below_a_line_break():
    table = Table(["a", "b"], [["good: so", "**0.7**\n0.6 to 0.8"], ["goods", "x"]], marks={"good": "bad"})
    page = documents.page([table], "t")
    assert '<span class="mark bad">good</span> so</td>' in page and "<td>goods</td>" in page
    assert "<b>0.7</b><br><small>0.6 to 0.8</small></td>" in page
    assert "| good: so | **0.7**<br>0.6 to 0.8 |" in documents.markdown([table], Path())


def test_every_block_is_in_both_forms(tmp_path):
    (tmp_path / "a.svg").write_text("<svg/>")
    blocks = [
        Heading("Tea & more", 1), Callout("Tea wins.", certain=True), Callout("Perhaps.", certain=False), Text("It is `hot`."),
        Drawing("<svg><title>x</title></svg>", "Leaves"), Picture(tmp_path / "a.svg", "A cup"), Fold("More", [Text("Inside.")]),
    ]  # fmt: skip
    page, text = documents.page(blocks, "Tea"), documents.markdown(blocks, tmp_path)
    for part in (
        '<h1 id="tea-more">Tea &amp; more</h1>', '<p class="callout good">Tea wins.</p>', '<p class="callout middling">Perhaps.',
        "<p>It is <code>hot</code>.</p>", '<div class="drawing" tabindex="0" role="group" aria-label="Leaves"><svg><title>x',
        "<figcaption>A cup</figcaption>", "<details><summary>More</summary>\n<p>Inside.</p>",
    ):  # fmt: skip
        assert part in page
    for part in ("# Tea & more", "> Tea wins.", "It is `hot`.", "*Leaves*", "![A cup](a.svg)", "**More**\n\nInside."):
        assert part in text


def test_a_page_of_several_parts_has_links_to_them():
    assert "<nav>" not in documents.page([Heading("One")], "t")
    assert '<nav><a href="#one">One</a><a href="#two">Two</a></nav>' in documents.page([Heading("One"), Heading("Two")], "t")


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [400, 1400])
def test_wide_blocks_scroll_in_their_own_boxes_and_the_page_does_not(width, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    wide = Table([f"a long head {k}" for k in range(20)], [["0.517\n0.45 to 0.58; 300"] * 20], range(20))
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 260"><path d="M0,0H720"/></svg>'
    blocks = [Heading("Tea", 1), Callout("Tea wins. " * 20, certain=True), Drawing(svg, "Leaves"), wide]
    (tmp_path / "page.html").write_text(documents.page(blocks, "Tea"))
    with sync_api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.goto((tmp_path / "page.html").as_uri())
        whole, drawing, table = tab.evaluate(
            "[document.documentElement, ...document.querySelectorAll('.wide, .drawing')].map(e => [e.scrollWidth, e.clientWidth])"
        )
        browser.close()
    assert whole == [width, width] and table[0] > table[1]
    assert (drawing[0] > drawing[1]) == (width == 400)
