"""A policy shared by processes: workers, restarts, kill -9, late and repeated clicks; nothing lost, doubled or mistaken."""

import json
import multiprocessing
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

from multiduel import rankers
from multiduel.inputs import BadInput
from tests.arena.a_postgres import a_postgres, why_not

LISTS = [[f"d{k}" for k in order] for order in (range(8), [1, 0, 3, 2, 5, 4, 7, 6], range(7, -1, -1), [4, 5, 6, 7, 0, 1, 2, 3])]
OPTIONS = {"n_arms": 4, "slate_size": 3, "seed": 5}


@pytest.fixture(scope="module")
def server():
    if why_not():
        pytest.skip(why_not())
    with a_postgres() as one:
        yield one


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "policy.db")
    import psycopg

    url = request.getfixturevalue("server").url
    with psycopg.connect(url, autocommit=True) as connection:
        for table in ("policies", "events", "open_pages"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    return url


def page_of(shared, slate, **options):
    return rankers.multileave(LISTS, slate, policy=shared, length=5, **options)


def worker(where, number, rounds, results):
    shared = rankers.SharedPolicy(where, "due-duel", **OPTIONS)
    rng, told, waiting = np.random.default_rng(number), [], []
    for _ in range(rounds):
        waiting.append(page_of(shared, shared.ask()))
        if len(waiting) > 3:
            page = waiting.pop(int(rng.integers(len(waiting))))  # late, and in another order
            clicks = [document for document in page["documents"] if rng.random() < 0.5 ** (1 + int(document[1:]))]
            told.append((page["round"], shared.tell(page, clicks)))
    results.put((number, [page["round"] for page in waiting], told))


def test_processes_share_one_policy(where):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = [context.Process(target=worker, args=(where, number, 60, results)) for number in range(3)]
    for one in workers:
        one.start()
    found = [results.get(timeout=300) for _ in workers]
    for one in workers:
        one.join()
    asked = sorted(round for _, waiting, told in found for round in (*waiting, *(round for round, _ in told)))
    assert len(set(asked)) == len(asked)  # no two pages are the same round
    shared = rankers.SharedPolicy(where, "due-duel", **OPTIONS)
    policy = shared.policy()
    told = {round for _, _, rounds in found for round, counted in rounds if counted}
    assert shared.round == 180 and not told & {slate.round for slate in policy.open}
    assert policy.tally.answers <= len(told) and policy.tally.answers > 0


def test_what_was_told_is_told_once_by_whomever(where):
    one, two = (rankers.SharedPolicy(where, "uniform", **OPTIONS) for _ in range(2))
    page = page_of(one, one.ask())
    through_json = rankers.Impression(json.loads(json.dumps(page)))
    assert two.tell(through_json, page["documents"][:1]) is True
    assert one.tell(page, page["documents"][:1]) is False and two.tell(page, []) is False
    with pytest.raises(BadInput, match="Only documents that were shown"):
        one.tell(page_of(one, one.ask()), ["zebra"])
    with pytest.raises(BadInput, match="takes an impression"):
        one.tell(dict(page), [])
    with pytest.raises(BadInput, match="never asked"):
        one.tell(rankers.Impression({**page, "round": 99}), [])
    assert one.round == two.round == 2 and one.fingerprint == two.fingerprint


def test_a_restart_goes_on_and_pages_of_a_policy_made_anew_are_refused(tmp_path):
    first = rankers.SharedPolicy(tmp_path / "a.db", "due-duel", **OPTIONS)
    pages = [page_of(first, first.ask()) for _ in range(20)]
    for page in pages[:10]:
        first.tell(page, page["documents"][:1])
    first.close()
    again = rankers.SharedPolicy(tmp_path / "a.db", "due-duel", **OPTIONS)
    assert again.fingerprint == pages[0]["policy"] and again.round == 20 and again.tell(pages[10], []) is True
    assert again.tell(pages[3], []) is False
    anew = rankers.SharedPolicy(tmp_path / "b.db", "due-duel", **OPTIONS)  # the same seed, and so the same first slates
    slate = anew.ask()
    assert slate.arms == tuple(pages[0]["slate"])
    with pytest.raises(BadInput, match="made for another policy"):
        anew.tell(pages[0], [])
    with pytest.raises(BadInput, match="'rankers' is at work with"):
        rankers.SharedPolicy(tmp_path / "a.db", "uniform", **OPTIONS)
    other = rankers.SharedPolicy(tmp_path / "a.db", "uniform", experiment="second", **OPTIONS)
    assert other.ask().round == 1


def test_a_process_that_slept_through_snapshots_follows(tmp_path, monkeypatch):
    from multiduel.rankers import shared_policy

    monkeypatch.setattr(shared_policy, "SNAPSHOT_EVERY", 10)
    asleep, busy = (rankers.SharedPolicy(tmp_path / "p.db", "due-duel", **OPTIONS) for _ in range(2))
    asleep.ask()
    for _ in range(60):
        page = page_of(busy, busy.ask())
        busy.tell(page, page["documents"][:1])
    with sqlite3.connect(tmp_path / "p.db") as connection:
        assert connection.execute("SELECT COUNT(*) FROM events").fetchone()[0] < 40  # old ones are thrown away
    assert asleep.round == 61 and asleep.policy().snapshot() == busy.policy().snapshot()


def test_abandoned_pages_are_swept_and_a_key_gets_its_page_again(where):
    shared = rankers.SharedPolicy(where, "uniform", **OPTIONS)
    seed = rankers.page_seed("u17", "apple pie")
    first = page_of(shared, shared.ask(key="u17 apple pie"), seed=seed)
    assert page_of(shared, shared.ask(key="u17 apple pie"), seed=seed) == first
    assert shared.ask(key="u18 apple pie").round != first["round"]
    assert shared.sweep(3600.0) == 0 and shared.sweep(0.0) == 2 and shared.sweep(0.0) == 0
    assert shared.tell(first, first["documents"][:1]) is False and not shared.policy().open
    assert shared.ask(key="u17 apple pie").round == 3


def test_refused_input_costs_no_restart(tmp_path, monkeypatch):
    shared = rankers.SharedPolicy(tmp_path / "p.db", "uniform", **OPTIONS)
    page = page_of(shared, shared.ask())
    copy = shared._policy
    with pytest.raises(BadInput, match="another policy"):
        shared.tell(rankers.Impression({**page, "policy": "0" * 16}), [])
    assert shared._policy is copy
    with pytest.raises(BadInput, match="folder that exists"):
        rankers.SharedPolicy(tmp_path / "none" / "p.db", "uniform", **OPTIONS)
    (tmp_path / "rubbish.db").write_bytes(b"rubbish" * 1000)
    with pytest.raises(BadInput, match="cannot be used as a database"):
        rankers.SharedPolicy(tmp_path / "rubbish.db", "uniform", **OPTIONS)
    with pytest.raises(BadInput, match="'key' must be a text"):
        shared.ask(key="")


APPLICATION = """
import json, os, sys
from urllib.parse import parse_qs
from multiduel import rankers
LISTS, OPTIONS = json.loads(os.environ["SETTINGS"])
shared = rankers.SharedPolicy(os.environ["POLICY"], "due-duel", **OPTIONS)
log = rankers.Log(os.environ["LOG"])

def application(environ, start):
    asked = parse_qs(environ["QUERY_STRING"])
    if environ["PATH_INFO"] == "/search":
        page = rankers.multileave(LISTS, shared.ask(), policy=shared, names=list("abcd"), length=5)
        answer = {"id": log.shown(page, user=asked["user"][0]), "page": page, "process": os.getpid()}
    else:
        body = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
        counted = shared.tell(rankers.Impression(body["page"]), body["clicks"])
        if counted:
            for document in body["clicks"]:
                log.clicked(body["id"], document)
        answer = {"counted": counted, "process": os.getpid()}
    start("200 OK", [("Content-Type", "application/json")])
    return [json.dumps(answer).encode()]
"""


class Site:
    """Two workers of gunicorn."""

    def __init__(self, folder):
        (folder / "site_of_test.py").write_text(APPLICATION)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = {**os.environ, "POLICY": str(folder / "policy.db"), "LOG": str(folder / "log.jsonl")}
        environment["SETTINGS"] = json.dumps([LISTS, OPTIONS])
        command = [sys.executable, "-m", "gunicorn", "-w", "2", "-b", f"127.0.0.1:{self.port}", "site_of_test:application"]
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)

    def call(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data, timeout=60) as answer:
            return json.loads(answer.read())

    def patiently(self, path, body=None):
        """A worker that is killed drops its connection; the client tries again, as a browser's beacon would."""
        for _ in range(600):
            try:
                return self.call(path, body)
            except OSError:
                time.sleep(0.1)
        raise AssertionError("nobody answers")

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def play_site(folder, steps, kill_at, restart_at):
    """Searches and clicks, late, in any order and repeated, while workers are killed and the server is restarted."""
    site = Site(folder)
    rng, told, waiting, workers = np.random.default_rng(0), set(), [], set()
    try:
        for step in range(steps):
            answer = site.patiently(f"/search?user=u{step}")
            workers.add(answer["process"])
            waiting.append(answer)
            if step in kill_at:
                os.kill(answer["process"], signal.SIGKILL)
            if step in restart_at:
                site.stop()
                site = Site(folder)
            if len(waiting) > 5:
                page = waiting.pop(int(rng.integers(len(waiting))))
                report = {**page, "clicks": page["page"]["documents"][: int(rng.integers(3))]}
                first = site.patiently("/clicked", report)["counted"]
                assert first or len(page["page"]["slate"]) == 1
                assert not site.patiently("/clicked", report)["counted"]  # a repeated report changes nothing
                told.add(page["page"]["round"])
    finally:
        site.stop()
    shared = rankers.SharedPolicy(folder / "policy.db", "due-duel", **OPTIONS)
    rounds = [page.page["round"] for page in rankers.Log(folder / "log.jsonl").pages()]
    open_rounds = {slate.round for slate in shared.policy().open}
    alone = {page["page"]["round"] for page in waiting if len(page["page"]["slate"]) == 1}
    assert len(set(rounds)) == len(rounds) >= steps and max(rounds) <= shared.round  # no page twice, none lost
    assert told.isdisjoint(open_rounds) and {page["page"]["round"] for page in waiting} - alone <= open_rounds
    assert rankers.analyse(folder / "log.jsonl").pages == len(rounds)
    return len(rounds), len(told), len(workers)


def test_two_workers_a_restart_and_a_kill(tmp_path):
    pytest.importorskip("gunicorn")
    pages, _, workers = play_site(tmp_path, 90, kill_at={30}, restart_at={60})
    assert pages >= 90 and workers >= 3
