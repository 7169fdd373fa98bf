"""Ctrl-C: the loop looks up by time, whatever an event costs, and what is stopped stops."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import multiduel as md
from multiduel.cli import terminal
from multiduel.engine.simulation import runs
from multiduel.lab import threads
from multiduel.lab.experiment import parse
from multiduel.lab.task import task

MOST = 0.5  # seconds between Ctrl-C and the end


@pytest.mark.parametrize("cost", [1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.4])
def test_the_loop_looks_up_every_moment_whatever_an_event_costs(cost):
    """By the events that it is given: no clock and no machine is asked."""
    budget, spent = runs.FIRST_BUDGET, []
    for _ in range(40):
        spent.append(budget * cost)
        budget = runs.next_budget(budget, budget * cost)
    assert max(spent) <= max(cost, 1.01 * runs.MOMENT) < MOST
    assert spent[-1] >= min(0.5 * runs.MOMENT, (1 << 30) * cost), "and not much more often"


@pytest.mark.parametrize("times", [2, 5, 10])
def test_events_that_become_dearer_do_not_make_it_deaf(times):
    budget = runs.FIRST_BUDGET
    for _ in range(40):
        budget = runs.next_budget(budget, budget * 1e-6)
    assert budget * times * 1e-6 <= MOST + 1e-9


def test_a_clock_that_stands_still_is_not_believed_at_once():
    """Eight times what was timed, and never so many that one look takes long."""
    assert runs.next_budget(3, 0.0) == runs.next_budget(3, 1e-6) == 24
    assert runs.next_budget(1 << 30, 0.0) == runs.next_budget(1 << 28, 0.0) == 1 << 30


def test_the_budget_is_what_is_played(monkeypatch):
    budgets, events = [], []

    def next_budget(budget, seconds):
        budgets.append(budget)
        return 7

    real = runs._loop

    def loop(plan):
        ready = real(plan)

        class Counted:
            prepare = staticmethod(ready.prepare)

            @staticmethod
            def call(*args):
                record = args[-1]
                before = int(record.clock[runs.EVENTS])
                arm = ready.call(*args)
                events.append(int(record.clock[runs.EVENTS]) - before)
                return arm

        return Counted

    monkeypatch.setattr(runs, "next_budget", next_budget)
    monkeypatch.setattr(runs, "_loop", loop)
    md.simulate("uniform", md.synthetic(4), horizon=50, runs=1, commit=False)
    assert budgets[0] == runs.FIRST_BUDGET == 1 and set(budgets[1:]) == {7}
    assert events[:-1] == budgets[:-1] and 0 < events[-1] <= 7


def test_runs_that_have_not_begun_never_do(monkeypatch):
    begun = []
    real = runs.init

    def init(*args):
        begun.append(threading.current_thread().name)
        return real(*args)

    def stop(share):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "init", init)
    with pytest.raises(KeyboardInterrupt):
        md.simulate("uniform", md.synthetic(4), horizon=10**15, runs=50, threads=2, progress=stop, commit=False)
    assert len(begun) <= 3  # one to prepare the code, one for each thread


def test_whoever_plays_is_told_to_stop():
    stopped, told = threading.Event(), []

    def stop(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs._on_threads(lambda run: told.append(stopped.wait(20)), 1, 1, stopped, lambda: 0.0, stop)
    assert told == [True]


def test_who_stops_does_not_wait_for_an_event_that_takes_minutes():
    going, end = threading.Event(), threading.Event()

    def stop(share):
        raise KeyboardInterrupt

    def endless(run):
        going.set()
        end.wait(60)

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        runs._on_threads(endless, 9, 2, threading.Event(), lambda: 0.0, stop)
    assert going.is_set() and not end.is_set() and time.monotonic() - start < 30
    end.set()


def test_the_command_ends_although_a_thread_goes_on():
    script = (
        "import threading, time\n"
        "from multiduel import cli\n"
        "def endless(**options):\n"
        "    threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "    raise KeyboardInterrupt\n"
        "import multiduel.engine.registry.suggest as module\n"
        "module.suggest = endless\n"
        "import sys; sys.argv = ['multiduel', 'suggest', '--arms', '5']\n"
        "cli.main()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(md.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, timeout=120)
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


def test_whoever_plays_a_block_of_the_lab_is_told_to_stop(monkeypatch):
    experiment = parse("horizon = 9\nruns = 2\nproblem = {kind = 'synthetic', arms = 3}\n[[contenders]]\npolicy = 'uniform'", "a")
    told = []

    def play(task, watch):
        until = time.monotonic() + 20
        try:
            while time.monotonic() < until:
                watch(0.0)
                time.sleep(0.01)
        except InterruptedError:
            told.append(task)
            raise

    monkeypatch.setattr(threads, "play", play)
    tasks = [task(experiment, md.synthetic(3), threads.Block("uniform", first, 1)) for first in range(2)]
    played = threads.on_threads(tasks, 2, {each.block: 0.0 for each in tasks})
    next(played)
    played.close()
    assert len(told) == 2


@pytest.fixture
def handler():
    old = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, old)
    terminal._interrupted.clear()


def command(function) -> typer.Typer:
    app = typer.Typer(cls=terminal.Sentences)
    app.command()(function)
    app.command("other")(lambda: None)
    return app


def test_a_second_ctrl_c_is_heard_after_the_first_was_swallowed(handler):
    def stubborn():
        for _ in range(2):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                print("swallowed")
        signal.raise_signal(signal.SIGINT)
        print("never")

    result = CliRunner().invoke(command(stubborn), ["stubborn"])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "swallowed\nswallowed\n", "Stopped.\n")


def test_a_ctrl_c_that_was_swallowed_is_seen_by_whoever_waits(handler):
    def compiling():
        with terminal.progress("x") as update:
            update(0.0)
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                print("swallowed")
            update(0.5)
            print("never")

    result = CliRunner().invoke(command(compiling), ["compiling"])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "swallowed\n", "Stopped.\n")
