"""What became of other papers' claims, for the page about them.

multiduel paper rmed2015                    for each paper; the data folder has what some panels need
python benchmarks/papers.py results         reads their folders there, and writes papers.json
python benchmarks/papers.py page            writes the tables of docs/other-papers.md
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from multiduel.lab.paper.verdicts import DOES_NOT, INCONCLUSIVE, REPRODUCES
from multiduel.lab.papers.claims_file import load, shipped

HERE = Path(__file__).parent
STORE = HERE / "papers.json"
PAGE = HERE.parent / "docs" / "other-papers.md"


def collect(folder: Path) -> None:
    """The outcomes in the folders of results, as far as they are there."""
    known = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in shipped():
        judged = folder / name / "claims.json"
        if not judged.exists():
            print(f"{name}: not played in '{folder}', its outcomes stay as they are")
            continue
        known[name] = [
            {
                "statement": each["statement"],
                "verdict": each["verdict"],
                "why": each["why"],
                "panels": len({c["panel"] for c in each["comparisons"]}),
                "runs": min((c["runs"] for c in each["comparisons"]), default=0),
            }
            for each in json.loads(judged.read_text())
        ]
    STORE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def tables() -> str:
    known = json.loads(STORE.read_text())
    lines = ["| paper | claims | reproduce | do not reproduce | inconclusive |", "|---|--:|--:|--:|--:|"]
    for name, claims in known.items():
        verdicts = [claim["verdict"] for claim in claims]
        counts = (str(verdicts.count(each)) for each in (REPRODUCES, DOES_NOT, INCONCLUSIVE))
        lines.append(f"| [{name}](#{name}) | {len(claims)} | {' | '.join(counts)} |")
    lines.append("")
    for name, claims in known.items():
        paper = load(name)
        wanted = {each.statement: len(each.panels) for each in paper.claims}
        part = next((c for c in claims if c["panels"] < wanted[c["statement"]]), None)
        played = "all panels were"
        if part is not None:
            played = f"{part['panels']} of {wanted[part['statement']]} panels {'was' if part['panels'] == 1 else 'were'}"
        lines += [f"## {name}", "", f"{paper.title}. Here {played} played, with {min(c['runs'] for c in claims)} runs.", ""]
        lines += ["| claim | outcome | what was measured |", "|---|---|---|"]
        lines += [f"| {c['statement']} | {c['verdict']} | {c['why']} |" for c in claims]
        lines += ["", paper.source, "", "Not here:", "", *(f"- {each}" for each in paper.missing), ""]
    return "\n".join(lines).rstrip() + "\n"


def page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- papers -->\n", "<!-- end of papers -->"
    made = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}{tables()}{end}", text, flags=re.S)
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["page"]:
        page()
    elif len(sys.argv) == 2:
        collect(Path(sys.argv[1]))
        page()
    else:
        sys.exit(__doc__)
