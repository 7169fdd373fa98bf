"""Files of benchmark results: what is written is read, and what is damaged is refused."""

import io
import json

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import benchmark_results as files
from multiduel.engine.registry.benchmark_results import PolicyResults, Row
from multiduel.lab.bench import suite


def row(family="cyclic", slate_size=2, horizon=10_000, runs=3, note="", seed=0):
    rng = np.random.default_rng(seed)
    return Row(family, slate_size, horizon, rng.random((20, runs), np.float32), rng.random((20, runs)) < 0.2, 0.25, note)


def some():
    rows = [row(), row(slate_size=8, runs=0, note="left out: slow"), row("ties", runs=7, seed=1)]
    return PolicyResults("rucb", suite.digest(), {"version": "1"}, {each.key: each for each in rows})


def test_results_come_back_as_they_were_written(tmp_path):
    files.write(some(), tmp_path / "rucb.npz")
    back, before = files.read(tmp_path / "rucb.npz"), some()
    assert (back.policy, back.suite, back.facts) == (before.policy, before.suite, before.facts)
    assert back.rows.keys() == before.rows.keys()
    for key, each in before.rows.items():
        assert np.array_equal(back.rows[key].regret, each.regret) and np.array_equal(back.rows[key].wrong, each.wrong)
        assert (back.rows[key].seconds, back.rows[key].note) == (each.seconds, each.note)
    assert back.cpu_seconds == 0.25 * 200


def archive(header, regret=b"", wrong=b"", **more):
    file = io.BytesIO()
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    planes = np.frombuffer(regret, np.uint8).reshape(-1, 4).T
    np.savez(file, header=np.frombuffer(header, np.uint8), regret=planes, wrong=np.frombuffer(wrong, np.uint8), **more)
    return file.getvalue()


HEAD = {"format": files.FORMAT, "policy": "x", "suite": "y", "facts": {}}
ONE = np.array([1.0], "<f4").tobytes()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no archive",
        archive(b"{"),
        archive([]),
        archive({**HEAD, "rows": 3}),
        archive({**HEAD, "format": "other", "rows": []}),
        archive({**HEAD, "policy": 3, "rows": []}),
        archive({**HEAD, "rows": [["a", 2, 10, 1, 2, 0.1, ""]]}, ONE, b"\0"),
        archive({**HEAD, "rows": [["a", 2, 10, 1, -1, 0.1, ""]]}, ONE, b"\0"),
        archive({**HEAD, "rows": [["a", 2, 10, 1, 1, float("nan"), ""]]}, ONE, b"\0"),
        archive({**HEAD, "rows": [["a", 2, 10, 1, 1, 0.1, ""]]}, np.array([np.nan], "<f4").tobytes(), b"\0"),
        archive({**HEAD, "rows": [["a", 2, 10, 1, 1, 0.1, ""]]}, np.array([-1.0], "<f4").tobytes(), b"\0"),
        archive({**HEAD, "rows": [["a", 2, 10, 1, 1, 0.1, ""]]}, ONE, b""),
        archive({**HEAD, "rows": [["a", 2, 10, 1 << 61, 1 << 61, 0.1, ""]]}, ONE, b"\0"),
        archive({**HEAD, "rows": []}, more=np.zeros(1)),
    ],
)
def test_what_is_no_file_of_results_is_refused(tmp_path, data):
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(md.BadInput, match=r"x\.npz"):
        files.read(tmp_path / "x.npz")


def test_every_cut_of_a_file_is_refused(tmp_path):
    files.write(some(), tmp_path / "rucb.npz")
    whole = (tmp_path / "rucb.npz").read_bytes()
    for end in range(0, len(whole) - 1, 97):
        (tmp_path / "cut.npz").write_bytes(whole[:end])
        with pytest.raises(md.BadInput):
            files.read(tmp_path / "cut.npz")


def test_a_file_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    files.write(some(), tmp_path / "rucb.npz")
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    monkeypatch.setattr(np, "load", lambda *a, **k: pytest.fail("unpacked"))
    with pytest.raises(md.BadInput, match="too large"):
        files.read(tmp_path / "rucb.npz")


def test_a_pickle_in_a_file_is_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a file ran code",)

    file = io.BytesIO()
    np.savez(file, header=np.array([Trap()], object), regret=np.zeros(0), wrong=np.zeros(0))
    (tmp_path / "x.npz").write_bytes(file.getvalue())
    with pytest.raises(md.BadInput):
        files.read(tmp_path / "x.npz")
