"""A log that grew is read on: the same as reading all of it, whatever came, and whatever is in the state's file."""

import json

import numpy as np
import pytest

from multiduel import rankers
from multiduel.rankers import log_state
from multiduel.rankers.judgements import _Reader

LISTS = [[f"d{k}" for k in order] for order in (range(8), [1, 0, 3, 2, 5, 4, 7, 6], range(7, -1, -1))]
NAMES = ["good", "fair", "poor"]
METHODS = ("pair-draft", "team-draft", "probabilistic", "optimised")


class Traffic:
    """Pages, clicks now and later, continued pages, fields, and metrics that come up on the way."""

    def __init__(self, path):
        self.log, self.rng, self.pages = rankers.Log(path), np.random.default_rng(0), []

    def more(self, count, *, metric=None):
        rng = self.rng
        for _ in range(count):
            k = len(self.pages)
            method = METHODS[k % 4]
            slate = rng.permutation(3)[: rng.integers(2, 4)].tolist()
            page = rankers.multileave(LISTS, slate, names=NAMES, method=method, length=3, seed=k)
            fields = {"device": ["mobile", "desktop"][k % 2]} if k > 10 else None
            user = f"u{rng.integers(20)}" if k % 5 else None
            id = self.log.shown(page, user=user, fields=fields, time=1000.0 + k, id=f"page\n{k}\\" if k % 7 == 0 else None)
            self.pages.append((id, page, k))
            for id, page, at in [self.pages[int(rng.integers(len(self.pages)))] for _ in range(2)]:
                what = {"metric": metric} if metric and rng.random() < 0.5 else {}
                self.log.clicked(id, page["documents"][int(rng.integers(3))], time=1001.0 + max(k, at), **what)
        id, page, k = next(entry for entry in self.pages[::-1] if entry[1]["method"] == "team-draft")
        longer = rankers.more(page, LISTS, length=2)
        self.log.continued(id, longer, time=3000.0)
        self.log.clicked(id, longer["documents"][3], time=3001.0)
        self.pages[k] = id, longer, k


def same(one, two):
    assert one.rankers.names == two.rankers.names and one.users.names == two.users.names
    for name in ("time", "user", "session", "method", "drop", "clicks", "offset", "arm_start", "arms"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.won.keys() == two.won.keys() and one.faults == two.faults and one.fields.keys() == two.fields.keys()
    for metric in one.won:
        np.testing.assert_array_equal(one.won[metric], two.won[metric])
    for name, (codes, texts) in one.fields.items():
        np.testing.assert_array_equal(codes, two.fields[name][0])
        assert texts.names == two.fields[name][1].names


def test_reading_on_is_reading_all(tmp_path, monkeypatch):
    traffic, state = Traffic(tmp_path / "log.jsonl"), tmp_path / "log.state"
    starts, real = [], _Reader.read
    monkeypatch.setattr(_Reader, "read", lambda self, found, start: starts.append(start) or real(self, found, start))
    for step in range(5):
        traffic.more(40, metric="purchase" if step > 1 else None)
        same(rankers.read_judgements(traffic.log, state=state), rankers.read_judgements(traffic.log))
    assert sum(start > 0 for start in starts) == 4  # all but the first, and those without a state
    found = rankers.analyse(traffic.log, state=state)
    assert found.to_json() == rankers.analyse(traffic.log).to_json()


@pytest.mark.parametrize("harm", ["rewritten", "shorter", "rubbish", "arms", "clicks", "head", "other timeout", "empty"])
def test_a_state_that_does_not_fit_is_ignored(tmp_path, harm):
    traffic, state = Traffic(tmp_path / "log.jsonl"), tmp_path / "log.state"
    traffic.more(30)
    rankers.read_judgements(traffic.log, state=state)
    options = {}
    if harm == "rewritten":
        lines = traffic.log.path.read_text().splitlines(True)
        traffic.log.path.write_text("".join([*lines[1:-1], lines[0], lines[-1]]))
    elif harm == "shorter":
        lines = traffic.log.path.read_text().splitlines(True)
        traffic.log.path.write_text("".join(lines[:20]))
        options = {"bad": "skip"}
    elif harm in ("arms", "clicks", "head"):
        with np.load(state) as arrays:
            content = dict(arrays)
        if harm == "arms":
            content["arms"] = content["arms"] + 1000
        elif harm == "clicks":
            content["kept"]["metric"] = 7  # the log has one metric
        else:
            head = json.loads(content["head"].tobytes()) | {"rankers": ["x"], "users": 7}
            content["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
        with open(state, "wb") as file:
            np.savez(file, **content)
    elif harm == "other timeout":
        options = {"timeout": 0.5}
    else:
        state.write_bytes(b"rubbish" if harm == "rubbish" else b"")
    log = traffic.log
    assert log_state.load_state(state, log, {"skip": "bad" in options, "timeout": options.get("timeout", np.inf)}) is None
    same(rankers.read_judgements(log, state=state, **options), rankers.read_judgements(log, **options))


def test_a_click_of_a_state_on_a_slot_that_the_page_lacks_is_read_anew(tmp_path):
    """How many slots a page has is known only once its line is read again."""
    traffic, state = Traffic(tmp_path / "log.jsonl"), tmp_path / "log.state"
    traffic.more(30)
    rankers.read_judgements(traffic.log, state=state)
    with np.load(state) as arrays:
        content = dict(arrays)
    content["kept"]["slot"] = 99
    with open(state, "wb") as file:
        np.savez(file, **content)
    traffic.more(30)  # with clicks on the old pages
    assert log_state.load_state(state, traffic.log, {"skip": False, "timeout": np.inf}) is not None
    same(rankers.read_judgements(traffic.log, state=state), rankers.read_judgements(traffic.log))


def test_clicks_on_old_pages_count_when_nothing_was_continued(tmp_path):
    log = rankers.Log(tmp_path / "log.jsonl")
    pages = [rankers.multileave([["x", "y", "z"], ["z", "x", "y"]], names=["old", "new"], seed=k) for k in range(30)]
    ids = [log.shown(page, user=f"u{k}", time=1000.0) for k, page in enumerate(pages)]
    assert rankers.analyse(log, state=tmp_path / "state").clicks == 0
    for id, page in zip(ids, pages, strict=True):
        log.clicked(id, page["documents"][0], time=1001.0)
    found, anew = rankers.analyse(log, state=tmp_path / "state"), rankers.analyse(log)
    assert found.clicks == anew.clicks == 30 and (found.above == anew.above).all()
