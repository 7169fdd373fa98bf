"""Rankers through the same door: slates of rankers, and clicks as votes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_clicks_find_the_best_ranker():
    script = Path(__file__).resolve().parents[2] / "examples" / "rankers_in_an_arena.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert "'by-words' is best" in said.stdout, said.stderr
