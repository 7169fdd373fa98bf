"""The report: one file that needs no other, with every number in it escaped and in its place."""

from __future__ import annotations

import html.parser
import json

import pytest

from multiduel.lab.paper import claims, document, report
from multiduel.lab.paper import reproduction as paper
from tests.lab.made_up import all_panels, synthetic_problems

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
    panels = all_panels(lambda label, policy: 50.0 + 10 * len(label))
    picture = out / "figures" / "any.svg"
    picture.parent.mkdir()
    picture.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    problems = synthetic_problems(panels)
    judged = claims.judge(panels, problems)
    path = report.write(out, panels, problems, judged, dict.fromkeys(report.CAPTIONS, picture), {}, seconds=12.0)
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
    assert all(f"| {claim.statement} | {claim.verdict} |" in text for claim in judged)
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
    assert len(json.loads(text)) == 10


def test_the_panels_are_the_papers():
    two = [e for e in paper.asked() if e.name.startswith(paper.TWO)]
    multi = [e for e in paper.asked() if e.name.startswith(paper.MULTI)]
    problems = [(e.problem["kind"], e.problem["arms"], e.problem.get("link")) for e in two]
    synthetic = [("synthetic", 48, link) for link in ("linear", "natural", "logit")]
    assert problems == [*synthetic, *(("synthetic", 72, link) for link in ("linear", "natural")), ("mslr", 24, None)]
    assert [(e.problem["kind"], e.slate_size) for e in multi] == [("synthetic", 8), ("synthetic", 16), ("mslr", 8), ("mslr", 16)]
    for experiment in (*two, *multi):
        assert experiment.horizon == 10**6 and experiment.runs == 50 and experiment.reset_horizon
        assert int(experiment.marks()[-1]) == 10**6
