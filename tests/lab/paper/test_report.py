"""The report: one file that needs no other, with every number in it escaped and in its place."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import shutil

import pytest

from multiduel.lab.paper import claims, panels, report, settings, verdicts
from tests.lab.made_up import all_panels

VOID = {"meta", "img", "br"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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


def write(out, measured):
    picture = out / "figures" / "any.svg"
    picture.parent.mkdir()
    picture.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    judged = claims.judge(measured)
    return report.write(out, measured, judged, dict.fromkeys(report.CAPTIONS, picture), {}, total=12.0), judged


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write(tmp_path_factory.mktemp("paper"), all_panels(lambda contender: 50.0 + 10 * len(contender.label)))


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
    assert all(f"| {claim.statement} | {claim.verdict} | {claim.why} |" in text for claim in judged)
    assert "(figures/any.svg)" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: apt-get install chromium")
@pytest.mark.parametrize("width", [400, 1400])
def test_no_sentence_is_cut_and_the_page_does_not_scroll_sideways(written, width):
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    with sync_api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.goto(written[0].as_uri())
        tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        boxes = tab.evaluate("[...document.querySelectorAll('.words')].map(each => [each.scrollWidth, each.clientWidth])")
        scrolls = tab.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert len(boxes) >= 3  # the claims, what turns them, and all interpretations
    assert all(text <= room for text, room in boxes)
    assert scrolls == width


def test_the_report_answers_before_any_figure(written):
    """A title that promises nothing, one sentence, one paragraph, a row per claim: then the first figure."""
    path, judged = written
    text = path.with_suffix(".md").read_text("utf-8")
    title, answer, *_ = text.split("\n\n")
    assert "reproduced" not in title and title.endswith("reproduce?")
    counts = {word: sum(claim.verdict == word for claim in judged) for word in verdicts.OUTCOMES}
    assert f"{counts[verdicts.REPRODUCES]} reproduce" in answer and f"{counts[verdicts.DOES_NOT]} do not reproduce" in answer
    first = text.index("![")
    assert all(text.index(f"| {claim.statement} | {claim.verdict} |") < first for claim in judged)


@pytest.mark.parametrize(
    ("outcomes", "answer"),
    [
        ("++++", "Yes, as far as it can be tested"),
        ("+++-", "For the most part"),
        ("++--", "For the most part not"),
        ("----", "No"),
        ("????", "This run cannot say"),
    ],
)
def test_the_first_words_follow_from_the_outcomes(outcomes, answer):
    words = {"+": verdicts.REPRODUCES, "-": verdicts.DOES_NOT, "?": verdicts.INCONCLUSIVE}
    made = [verdicts.Claim(str(k), f"S{k}.", "t", [], words[sign]) for k, sign in enumerate(outcomes)]
    shown = [all_panels(experiments=[panels.load_all()[0]])["two-dueling-a"]]
    first = report._answer(made, shown, [])[0]
    assert first.text.startswith(f"**{answer}.**") and first.certain is (answer.startswith("Yes"))


def test_the_papers_values_and_ours_are_different_columns():
    table = settings.table()
    paper, ours = table.head.index("at the paper's value"), table.head.index("at our default")
    assert all((row[paper] == "-") != (row[ours] == "-") for row in table.rows), "each is stated, or chosen by us"
    alpha = next(row for row in table.rows if row[0] == "MultiSBM-Feedback")
    assert alpha[paper].endswith("3 here")
    text = " ".join(" ".join(row) for row in table.rows)
    assert "0.51" in text and "eta" in text


def test_a_theorem_whose_last_term_is_left_out_says_so_in_its_row(written):
    by_name = {claim.name: claim for claim in written[1]}
    assert "has no constants and is left out" in by_name["theorem-2"].why


def test_generated_rankers_are_named_only_where_there_are_some(written, tmp_path):
    said = "Generated rankers have no published variance."
    assert said not in written[0].read_text("utf-8")
    plans = [dataclasses.replace(e, problem=panels.STAND_IN) if panels.on_rankers(e) else e for e in panels.load_all()]
    path, _ = write(tmp_path, all_panels(experiments=plans))
    assert said in path.read_text("utf-8")


def test_verdicts_are_plain_json(written):
    text = json.dumps([dataclasses.asdict(claim) for claim in written[1]], allow_nan=False)
    assert len(json.loads(text)) == 12
