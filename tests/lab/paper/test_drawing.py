"""Figures drawn by another process are those drawn here."""

from __future__ import annotations

from multiduel.lab.paper import drawing
from tests.lab.made_up import all_panels


def slate_sizes():
    panels = all_panels(lambda contender: 50.0 + 10 * len(contender.label))
    return {name: panels[name] for name in drawing.SLATE_SIZES if name in panels}


def drawn(folder, cores):
    with drawing.Drawing(folder, cores) as artist:
        artist.begin(slate_sizes(), rest=True)
        pictures = artist.pictures()
    assert (artist.helper is not None) == (cores > 1)
    assert set(pictures) == {"slate-sizes", "slate-sizes-narrow"}
    return {name: path.read_bytes() for name, path in pictures.items()}


def test_there_as_here(tmp_path):
    assert drawn(tmp_path / "there", 2) == drawn(tmp_path / "here", 1)


def test_if_the_helper_dies_all_is_drawn_here(tmp_path):
    with drawing.Drawing(tmp_path, 2) as artist:
        artist.helper.kill()
        artist.begin(slate_sizes(), rest=True)
        assert all(path.exists() for path in artist.pictures().values())
        assert artist.helper is None
