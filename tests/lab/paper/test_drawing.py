"""Figures drawn by another process are those drawn here."""

from __future__ import annotations

import threading

import pytest

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


class Asked(list):
    """Panels that tell who packs them."""

    by: list[threading.Thread] = []

    def __reduce__(self):
        self.by.append(threading.current_thread())
        return (list, (list(self),))


@pytest.mark.parametrize("cores", [1, 2])
def test_panels_are_packed_before_anyone_goes_on_with_them(tmp_path, cores):
    """A panel remembers what it was asked for: packed by another thread meanwhile, it would grow under the packer's
    hands, and the whole reproduction end in an error of Python's."""
    panels = slate_sizes()
    for panel in panels.values():
        panel.__dict__["asked"] = Asked()
    Asked.by.clear()
    with drawing.Drawing(tmp_path, cores) as artist:
        artist.begin(panels, rest=True)
        packed = len(Asked.by)
        for number, panel in enumerate(panels.values()):  # goes on at once, and is asked for more
            panel.__dict__[f"remembered-{number}"] = number
        assert all(path.exists() for path in artist.pictures().values())
    assert packed == len(Asked.by) == len(panels)  # once for both figures
    assert set(Asked.by) == {threading.current_thread()}
