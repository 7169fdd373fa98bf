"""The policies as a table that can be filtered: ``md.catalogue(slate="any")``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from multiduel.display.tables import Table, frame, html_table, text_table
from multiduel.engine.registry.registry import known_policies
from multiduel.inputs import BadInput, choice, text
from multiduel.kernels.contract import PolicySpec

HEAD = ("policy", "paper", "slate", "anytime", "features", "observes", "assumes", "regret", "use")


class Catalogue(list[PolicySpec]):
    """Hold descriptions of policies: a list that shows as a table."""

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
        return text_table(self._table((0, 2, 3, 8)))

    def _repr_html_(self) -> str:
        return html_table(self._table(range(len(HEAD))))

    def _table(self, shown: Sequence[int]) -> Table:
        return Table([HEAD[k] for k in shown], [[str(row[k]) for k in shown] for row in self.rows()])


def catalogue(
    name: str | None = None,
    *,
    slate: str | None = None,
    anytime: bool | None = None,
    features: bool | None = None,
    observes: bool | None = None,
    assumes: str | None = None,
) -> Catalogue:
    """List the policies that are known, those of installed packages included.

    Parameters
    ----------
    name, assumes
        Words to be found in a policy's name, and among its assumptions.
    slate
        "two" or "any": how many arms it can compare at once.
    anytime, features, observes
        Whether it works without a horizon, uses features of the arms, and learns from comparisons that it did not ask for.

    Returns
    -------
    Catalogue
        A list of ``PolicySpec``, of those for which all that is given holds.

    Examples
    --------
    >>> import multiduel as md
    >>> md.catalogue("rucb").names
    ['multi-rucb', 'rucb', 'merge-rucb']
    >>> md.catalogue(slate="any", anytime=False).names
    []
    >>> print(md.catalogue("uniform"))
    policy   slate  anytime  use
    uniform  any    True     Only as a yardstick, or when every option must be measured equally well.
    """
    if slate is not None:
        choice("slate", slate, ("two", "any"))
    wanted = {"slate": slate, "anytime": anytime, "features": features, "observes": observes}
    for key in ("anytime", "features", "observes"):
        if not isinstance(wanted[key], bool | None):
            raise BadInput(f"'{key}' of 'catalogue' must be True or False. Got {wanted[key]!r}.")
    for key, words in (("name", name), ("assumes", assumes)):
        if words is not None:
            text(key, words)
    return Catalogue(
        spec
        for spec in known_policies().values()
        if (name is None or name.lower() in spec.name)
        and (assumes is None or assumes.lower() in spec.assumes.lower())
        and all(value is None or getattr(spec, key) == value for key, value in wanted.items())
    )
