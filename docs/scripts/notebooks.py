"""Run the notebooks of examples/notebooks: ``python docs/scripts/notebooks.py`` stores what they print and draw."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
PATIENCE = 300  # seconds, of a cell


def run(path: Path) -> Any:
    """The notebook with fresh outputs, run as it lies, beside the votes. An error in a cell is an error here."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "votes.csv").symlink_to(ROOT / "examples" / "votes.csv")
        own = Path(folder) / "notebooks"
        own.mkdir()
        NotebookClient(notebook, timeout=PATIENCE, resources={"metadata": {"path": str(own)}}).execute()
    for cell in notebook.cells:
        cell.metadata.clear()  # times of execution
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def printed(notebook: Any) -> list[str]:
    """What the cells print, without pictures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output["text"] for output in outputs if output["output_type"] == "stream" and output["name"] == "stdout"]


def pictures(notebook: Any) -> int:
    """How many pictures the cells show."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return sum("image/png" in output.get("data", {}) for output in outputs)


if __name__ == "__main__":
    for path in [Path(name) for name in sys.argv[1:]] or NOTEBOOKS:
        nbformat.write(run(path), path)  # type: ignore[no-untyped-call]
        print(path.name)
