"""The policies as a table that can be asked: ``md.policies(slate="any")``."""

from __future__ import annotations

from typing import Any

from multiduel.engine.frames import frame, html_table, text_table
from multiduel.engine.registry import known_policies
from multiduel.inputs import BadInput, choice
from multiduel.kernels.contract import PolicySpec

HEAD = ("policy", "paper", "slate", "anytime", "features", "observes", "assumes", "regret", "use")


class Catalogue(list[PolicySpec]):
    """Cards of policies: a list of them, that shows as a table."""

    @property
    def names(self) -> list[str]:
        return [spec.name for spec in self]

    def rows(self) -> list[tuple[Any, ...]]:
        """A line per policy, as HEAD says."""
        return [(s.name, s.cite, s.slate, s.anytime, s.features, s.observes, s.assumes, s.regret, s.use) for s in self]

    def to_frame(self, library: str | None = None) -> Any:
        """A DataFrame of pandas or polars."""
        return frame({head: [row[k] for row in self.rows()] for k, head in enumerate(HEAD)}, library)

    def __repr__(self) -> str:
        shown = (0, 2, 3, 8)
        return text_table([HEAD[k] for k in shown], [[row[k] for k in shown] for row in self.rows()])

    def _repr_html_(self) -> str:
        return html_table(HEAD, self.rows())


def policies(
    name: str | None = None,
    *,
    slate: str | None = None,
    anytime: bool | None = None,
    features: bool | None = None,
    observes: bool | None = None,
    assumes: str | None = None,
) -> Catalogue:
    """The policies there are, those of installed packages included; all that are given must hold.

    ``name`` and ``assumes`` are words to be found in a name and among the assumptions.

    >>> import multiduel as md
    >>> md.policies("rucb").names
    ['multi-rucb', 'rucb', 'merge-rucb']
    >>> md.policies(slate="any", anytime=False).names
    []
    >>> print(md.policies("uniform"))
    policy   slate  anytime  use
    uniform  any    True     Only as a yardstick, or when every option must be measured equally well.
    """
    if slate is not None:
        choice("slate", slate, ("two", "any"))
    wanted = {"slate": slate, "anytime": anytime, "features": features, "observes": observes}
    for key in ("anytime", "features", "observes"):
        if not isinstance(wanted[key], bool | None):
            raise BadInput(f"'{key}' of 'policies' must be True or False. Got {wanted[key]!r}.")
    return Catalogue(
        spec
        for spec in known_policies().values()
        if (name is None or name.lower() in spec.name)
        and (assumes is None or assumes.lower() in spec.assumes.lower())
        and all(value is None or getattr(spec, key) == value for key, value in wanted.items())
    )
