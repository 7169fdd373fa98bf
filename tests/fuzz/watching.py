"""A child tries, the parent watches: crashes and hangs are seen, noted and passed over, and the rest is still tried.

The child prints [label, number, "begin"] before each trial and [label, number, "refused" or "played" or a traceback] after it;
number -1 is its preparation. It is started as ``python WORKER --worker [names, tries, {label: first number}]``.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOOD = ("refused", "played")


def watch(worker, names, labels, tries, *, patience, warm_up):
    """Counts per label and the failures."""
    counts = {label: {"tried": 0, "refused": 0, "played": 0, "crashed": 0, "hung": 0, "errors": 0} for label in labels}
    first, failures = dict.fromkeys(labels, 0), []
    while any(done < tries for done in first.values()):
        command = [sys.executable, *worker, "--worker", json.dumps([names, tries, first])]
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        lines = queue.Queue()
        threading.Thread(target=lambda out=child.stdout, lines=lines: [*map(lines.put, out), lines.put("")], daemon=True).start()
        label, k, state = labels[0], -1, "begin"
        while True:
            try:
                line = lines.get(timeout=warm_up if k < 0 else patience)
            except queue.Empty:
                child.kill()
                line, state = "", "hung"
            if not line:
                break
            label, k, state = json.loads(line)
            if k >= 0 and state != "begin":
                counts[label]["tried"] += 1
                first[label] = k + 1
                counts[label][state if state in GOOD else "errors"] += 1
                if state not in GOOD:
                    failures.append(f"{label}, {k}: {state}")
        if child.wait() != 0 or state == "hung":
            if k < 0 or state not in ("begin", "hung"):
                failures.append(f"{label}: the worker could not prepare, or failed between two trials")
                break
            counts[label]["tried"] += 1
            counts[label]["hung" if state == "hung" else "crashed"] += 1
            failures.append(f"{label}, {k}: {'hung' if state == 'hung' else 'crashed'}")
            first[label] = k + 1
    return counts, failures


def show(counts, seconds):
    """The figures, a line per label and one for all."""
    for label, numbers in counts.items():
        print(f"{label:28}", "  ".join(f"{what} {n:5}" for what, n in numbers.items()))
    total = {what: sum(numbers[what] for numbers in counts.values()) for what in next(iter(counts.values()))}
    print(f"{'all':28}", "  ".join(f"{what} {n:5}" for what, n in total.items()), f" in {seconds:.0f} s")
