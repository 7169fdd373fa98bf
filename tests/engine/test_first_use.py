"""First use from many threads at once, in a fresh process with nothing compiled: no race in the compiler or the parser."""

import os
import subprocess
import sys
from pathlib import Path

import multiduel as md

SCRIPT = """
import threading
import multiduel as md

NAMES = ["rucb", "rucb", "rucb", "uniform", "uniform", "uniform", "mdb", "mdb"]
barrier = threading.Barrier(len(NAMES))
said, failures = [None] * len(NAMES), []

def first_use(k, name):
    try:
        barrier.wait()
        policy = md.make(name, n_arms=5, seed=3)
        slates = []
        for _ in range(20):
            slate = policy.ask()
            slates.append(slate.arms)
            if len(slate.arms) > 1:
                policy.tell(slate, md.best(slate.arms[0]))
        if k == 0:
            md.simulate("uniform", md.synthetic(4), horizon=20, runs=2)
        said[k] = (name, slates, policy.recommend())
    except BaseException as error:
        failures.append(f"{name}: {type(error).__name__}: {error}")

threads = [threading.Thread(target=first_use, args=each) for each in enumerate(NAMES)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failures, failures
for name in set(NAMES):
    assert len({str(each) for each in said if each[0] == name}) == 1, name
print("good")
"""


def test_eight_threads_make_and_ask_at_once(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(Path(md.__file__).parents[1]), "NUMBA_CACHE_DIR": str(tmp_path)}
    for attempt in ("compiling", "loading"):
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env, timeout=500)
        assert (done.returncode, done.stdout, done.stderr) == (0, "good\n", ""), (attempt, done.stderr)
