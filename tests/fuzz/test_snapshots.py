"""Damaged snapshots of every policy, in a process of their own; ``make torture`` tries thousands of each."""

import random

import pytest

from tests.fuzz import snapshots

MUTATIONS = 60


@pytest.mark.xdist_group("fuzz")
def test_a_damaged_snapshot_is_refused_or_plays_on():
    counts, failures = snapshots.watch([], MUTATIONS)
    assert not failures, "\n".join(failures)
    assert all(numbers["tried"] == MUTATIONS and numbers["refused"] and numbers["played"] for numbers in counts.values()), counts


def test_the_watch_sees_crashes_hangs_and_errors(monkeypatch):
    """With a worker that does all of these, each is counted and the rest still tried."""
    script = (
        "import json, os, sys, time\n"
        "names, mutations, first = json.loads(sys.argv[2])\n"
        "def say(k, what): print(json.dumps(['uniform', k, what]), flush=True)\n"
        "for k in range(first['uniform'], mutations):\n"
        "    say(k, 'begin')\n"
        "    if k == 1: os.abort()\n"
        "    if k == 3: time.sleep(60)\n"
        "    say(k, 'IndexError' if k == 4 else 'played')\n"
    )
    monkeypatch.setattr(snapshots, "PATIENCE", 1.5)
    monkeypatch.setattr(snapshots, "WORKER", ["-c", script])
    counts, failures = snapshots.watch(["uniform"], 6)
    assert counts["uniform"] == {"tried": 6, "refused": 0, "played": 3, "crashed": 1, "hung": 1, "errors": 1}
    assert len(failures) == 3


def test_mutations_repeat():
    bases = list(snapshots.intact("uniform", {}))
    one, two = (snapshots.damaged(bases[-1], random.Random(3)) for _ in range(2))
    assert repr(one) == repr(two) != repr(bases[-1])
