"""The notebooks run from top to bottom, print what they show, and have pictures."""

from __future__ import annotations

import pytest

pytest.importorskip("nbclient", reason="nbclient is not installed: notebooks are not run")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: notebooks are not run")

import nbformat

from docs.scripts import notebooks


def test_there_are_notebooks():
    assert len(notebooks.NOTEBOOKS) == 4


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path):
    shown = nbformat.read(path, as_version=4)
    fresh = notebooks.run(path)
    assert notebooks.printed(fresh) == notebooks.printed(shown) != [], (
        "Run docs/scripts/notebooks.py, which stores what they print."
    )
    assert notebooks.pictures(fresh) == notebooks.pictures(shown)


def test_most_notebooks_have_a_picture():
    pictures = [notebooks.pictures(nbformat.read(path, as_version=4)) for path in notebooks.NOTEBOOKS]
    assert sum(count > 0 for count in pictures) >= 3
