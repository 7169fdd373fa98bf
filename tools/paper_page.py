"""A paper's page made with nothing but multiduel's commands: a figure, a table and a bibliography, compiled with LaTeX.

    python tools/paper_page.py FOLDER        # writes FOLDER/page.pdf and what it is made of

Runs a small study, then ``multiduel report --pdf``, ``--latex`` and ``multiduel cite``. Needs pdflatex and bibtex (Debian:
texlive-latex-base, texlive-latex-recommended) and, to list the fonts of the figure, pdffonts (poppler-utils).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

STUDY = """
title = "How many at once"
horizon = 3000
runs = 20
slate_size = [2, 4]
checkpoints = 30

[problem]
kind = "synthetic"
arms = 8
link = ["linear", "natural"]

[[contenders]]
policy = "multi-rucb"
label = "MultiRUCB"

[[contenders]]
policy = "ind-self-sparring"
label = "IndSelfSparring"
"""
PAGE = r"""
\documentclass{article}
\usepackage{booktabs,graphicx}
\usepackage[margin=2.5cm]{geometry}
\renewcommand{\topfraction}{0.95}\renewcommand{\textfraction}{0.05}  % figure and table on one page
\begin{document}
\noindent MultiRUCB~\cite{du2020} and IndSelfSparring~\cite{sui2017}, compared on eight arms.
\begin{figure}[t]\centering\includegraphics[width=0.85\textwidth]{study/regret.pdf}
\caption{Mean regret over rounds; bands are 95\% intervals of the mean.}\end{figure}
\input{table}
\bibliographystyle{plain}\bibliography{papers}
\end{document}
"""


def missing() -> list[str]:
    """The programs that are needed and not installed."""
    return [name for name in ("pdflatex", "bibtex") if shutil.which(name) is None]


def make(folder: Path) -> Path:
    """Make the page in a folder; returns the PDF."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(STUDY)
    _multiduel(folder, "run", "study.toml", "--out", ".")
    _multiduel(folder, "report", "study", "--pdf", "--size", "double", "--columns", "2")
    (folder / "table.tex").write_text(_multiduel(folder, "report", "study", "--latex"))
    (folder / "papers.bib").write_text(_multiduel(folder, "cite", "study"))
    (folder / "page.tex").write_text(PAGE)
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        options = [] if command == "bibtex" else ["-interaction=nonstopmode", "-halt-on-error"]
        _run(folder, command, *options, "page")
    return folder / "page.pdf"


def _multiduel(folder: Path, *words: str) -> str:
    return _run(folder, sys.executable, "-m", "multiduel", *words)


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    if missing():
        raise SystemExit(f"Not installed: {', '.join(missing())}. On Debian: apt-get install texlive-latex-recommended")
    made = make(Path(sys.argv[1] if len(sys.argv) > 1 else "paper-page"))
    print(f"Wrote {made}")
    if shutil.which("pdffonts"):
        print(_run(made.parent, "pdffonts", "study/regret.pdf"))
