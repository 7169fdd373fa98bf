"""The report: one file that needs no other, with every number in it escaped and in its place."""

from __future__ import annotations

import html.parser
import json

import pytest

from multiduel.lab import document
from multiduel.lab.paper import claims, report
from tests.lab.made_up import all_panels

VOID = {"meta", "img", "br"}


class Reader(html.parser.HTMLParser):
    """Checks that tags are closed and collects what would be loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("paper")
    measured = all_panels(lambda contender: 50.0 + 10 * len(contender.label))
    picture = out / "figures" / "any.svg"
    picture.parent.mkdir()
    picture.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    judged = claims.judge(measured)
    path = report.write(out, measured, judged, dict.fromkeys(report.CAPTIONS, picture), {}, total=12.0)
    return path, judged


def test_the_html_is_whole_and_loads_nothing(written):
    path, judged = written
    reader = Reader()
    reader.feed(path.read_text("utf-8"))
    assert reader.open == []
    assert all(link.startswith(("data:image/svg+xml;base64,", "#")) for link in reader.loaded)
    assert "<script" not in path.read_text("utf-8")
    text = " ".join(reader.text)
    for claim in judged:
        assert claim.statement.rstrip(".") in text
    for published in ("1,648", "1,042", "678", "232", "2,201", "393"):
        assert published in text


def test_the_markdown_says_the_same(written):
    path, judged = written
    text = path.with_suffix(".md").read_text("utf-8")
    assert all(f"| {claim.statement} | {claim.line} |" in text for claim in judged)
    assert "(figures/any.svg)" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


def test_cells_cannot_break_out():
    table = document.Table(("a|b",), [("<b>x</b> | `y<z`",)])
    assert document.markdown([table], None).splitlines()[2].count("|") == 2
    assert "&lt;b&gt;x&lt;/b&gt;" in document.page([table], "<t>") and "<title>&lt;t&gt;" in document.page([table], "<t>")


def test_verdicts_are_plain_json(written):
    import dataclasses

    text = json.dumps([dataclasses.asdict(claim) for claim in written[1]], allow_nan=False)
    assert len(json.loads(text)) == 12
