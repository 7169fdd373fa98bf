"""The container's image has no SciPy: no command of the arena may need it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

COMMANDS = """
arena create greetings --options options.csv --slate-size 3 --db arena.db
arena votes votes.csv --db arena.db
arena board --db arena.db
arena raters --db arena.db
arena report --html report.html --db arena.db
arena export log.jsonl --db arena.db
arena export table.csv --votes --db arena.db
arena verify --db arena.db
arena replay --policy multi-rucb --db arena.db
arena problem problem.json --db arena.db
arena backup copy.db --db arena.db
"""
PROGRAM = """
import sys
sys.modules["scipy"] = None  # importing it fails
from multiduel.cli import main
for line in sys.stdin.read().split("\\n"):
    sys.argv = ["multiduel", *line.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            sys.exit(f"{line}: {end.code}")
"""


def test_every_command_of_an_arena_works_without_scipy(tmp_path: Path) -> None:
    (tmp_path / "options.csv").write_text("name,content\nmild,Good morning.\nsharp,Morning!\nbitter,What?\n")
    votes = "".join(f"{k},mild>sharp>bitter,Ada\n" for k in range(40))
    (tmp_path / "votes.csv").write_text(f"id,rank,rater\n{votes}")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=COMMANDS.strip(), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "mild" in (tmp_path / "report.html").read_text()
