"""``multiduel arena demo``: a page while kernels are loaded, then a question, then raters who can be switched on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0  # seconds, on a busy machine with kernels to be compiled


@pytest.fixture
def demo():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "multiduel", "arena", "demo", "--no-browser"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield running, re.search(r"(http://\S+)/demo", running.stdout.readline())[1]
    finally:
        running.kill()
        running.wait()


def until(visit, address, words):
    """The page, as soon as it holds these words."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        page = visit.open(address, timeout=PATIENCE).read().decode()
        if re.search(words, page):
            return page
        time.sleep(0.2)
    raise AssertionError(f"{words} did not come")


def test_from_the_command_to_a_moving_board(demo):
    running, address = demo
    visit = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    first = visit.open(f"{address}/demo", timeout=PATIENCE)
    assert first.status == 200 and "default-src 'none'" in first.headers["content-security-policy"]
    page = until(visit, f"{address}/demo", "data-ticket")
    assert "A customer writes" in page
    board = f"{address}{re.search(r'/own/[0-9a-f]+/board', page)[0]}"
    assert "No votes yet" in until(visit, board, "No votes yet")
    form = {"token": re.search(r'action="/demo/raters">\s*<input type="hidden" name="token" value="(\w+)"', page)[1], "on": "1"}
    with pytest.raises(urllib.error.HTTPError, match="403"):
        visit.open(f"{address}/demo/raters", urllib.parse.urlencode(form | {"token": "0"}).encode())
    visit.open(f"{address}/demo/raters", urllib.parse.urlencode(form).encode())
    until(visit, board, r"Votes that count</dt><dd>(?:[5-9]|\d\d+)</dd>")
    running.send_signal(signal.SIGINT)
    assert running.wait(60) in (0, 130)


def test_a_port_that_is_taken_is_a_sentence():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "multiduel", "arena", "demo", "--no-browser", "--port", port]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
        answer = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert answer.returncode != 0 and "must be one that is free" in answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
