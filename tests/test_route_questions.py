"""The example of routing on real votes, and what the tutorial says of it."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def test_the_tutorial_has_the_numbers_of_the_example(data_dir):
    example = runpy.run_path(str(ROOT / "examples" / "route_questions.py"))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        example["main"](data_dir / "llmfao")
    page = (ROOT / "docs" / "tutorials" / "route-questions.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\d\.\d{3}", said.getvalue())
    assert len(numbers) == 15 and set(numbers) <= set(re.findall(r"\d\.\d{3}", page))
    better, worse = re.search(r"better on (\d+) questions, worse on (\d+)", said.getvalue()).groups()
    assert f"worse on {worse} questions, better on {better}." in page


def test_utilities_are_fitted_to_the_votes():
    fit = runpy.run_path(str(ROOT / "examples" / "route_questions.py"))["fit"]
    u = fit([(0, 1, 1.0)] * 30 + [(0, 1, 0.0)] * 10, np.zeros(3), 1e-6)
    assert abs((u[0] - u[1]) - np.log(3.0)) < 1e-4 and abs(u[2]) < 1e-9
