"""Standings for people: ``inference.standings`` as tables, figures, pages and files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import numpy as np

from multiduel.display import documents
from multiduel.display.documents import Block, Callout, Drawing, Heading, Text
from multiduel.display.standings_figures import pairs_plot, strengths_plot, strengths_svg
from multiduel.display.standings_tables import Adjusted, pairs_table, rank, standings_table
from multiduel.display.tables import Table, frame, html_table, latex_table, save, text_table
from multiduel.inference import standings as inferred
from multiduel.inference.standings import Standings as Inferred
from multiduel.inference.words import percent

MOST_PAIRS = 24  # options in a table of pairs; of more, the best


@dataclass(frozen=True, eq=False, repr=False)
class Standings(Inferred):
    """All options in order, with intervals and rank ranges. Print it to read sentences and a table; a notebook shows it.

    >>> found = standings([[0, 60, 70], [20, 0, 45], [10, 35, 0]], names=["tea", "coffee", "milk"])
    >>> [(line.name, line.rank_from, line.rank_to) for line in found.lines]
    [('tea', 1, 1), ('coffee', 2, 3), ('milk', 2, 3)]
    """

    def table(self) -> Table:
        """Return a table with a row per option, best first."""
        title = f"Standings after {self.answers:,} answers"
        if self.style is None:
            return standings_table(self.lines, self.by, title=title)
        s, order = self.style, list(self.order)
        ends = (s.strength[order].tolist(), s.strength_low[order].tolist(), s.strength_high[order].tolist())
        return standings_table(self.lines, self.by, [Adjusted(*one) for one in zip(*ends, strict=True)], title)

    def note(self) -> str:
        """Say what the columns mean, and when they hold."""
        sure = percent(1.0 - self.alpha)
        return (
            "Strength: 0 is the average option as shown, 0.69 more doubles the odds. The intervals of strengths hold together, "
            f"whenever one looks, with {sure} confidence, if strengths explain the votes; so do the rank ranges. Won: the share "
            f"of its comparisons that an option won, ties half; these intervals need no model. Unit of evidence: {self.by}."
        )

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), "", text_table(self.table())])

    def _repr_html_(self) -> str:
        from html import escape

        return "".join(f"<p>{escape(line)}</p>" for line in self.sentences()) + html_table(self.table())

    def blocks(self) -> list[Block]:
        """List the parts of a page: the verdict first, then sentences, the figure, the table, the pairs."""
        first, *rest = self.sentences()
        here = [k for k in self.order if k in set(self.present)]
        few = here[:MOST_PAIRS]
        made: list[Block] = [Callout(first, self.verdict.settled), *map(Text, rest)]
        made += [Drawing(self._svg(), "Strengths with their intervals, best first"), self.table(), Text(self.note())]
        if self.style is not None:
            s = self.style
            effects = zip(s.names, s.effect.tolist(), s.low.tolist(), s.high.tolist(), strict=True)
            rows = [
                (name, f"{e:+.3f}", f"{low:+.3f} to {high:+.3f}" if low == low else "too early") for name, e, low, high in effects
            ]
            made += [Heading("What style does"), Table(["covariate", "effect on strength", "interval"], rows, (1, 2))]
        square = np.ix_(few, few)
        best = f"The best {len(few)} of {len(here)}. " if len(few) < len(here) else ""
        made += [
            Heading("Each against each"),
            Text(f"{best}How often the row was placed above the column, ties half; below, the number of comparisons."),
            pairs_table([self.names[k] for k in few], self.above[square], self.ties[square]),
        ]
        return made

    def _drawn(self) -> tuple[list[str], list[str], Any, Any, Any]:
        here = [k for k in self.order if k in set(self.present)]
        ranks = [rank(int(self.rank_from[k]), int(self.rank_to[k])) for k in here]
        return [self.names[k] for k in here], ranks, self.strength[here], self.low[here], self.high[here]

    def _svg(self) -> str:
        return strengths_svg(*self._drawn(), None if self.verdict.winner is None else 0)

    def markdown(self) -> str:
        """Write sentences and tables as Markdown."""
        from pathlib import Path

        return documents.markdown([block for block in self.blocks() if not isinstance(block, Drawing)], Path())

    def html(self, title: str = "Standings") -> str:
        """Write one page that needs no other file.

        Parameters
        ----------
        title
            Its heading.

        Returns
        -------
        str
            The page.
        """
        return documents.page([Heading(title, 1), *self.blocks()], title)

    def latex(self) -> str:
        """Write the table in LaTeX, with the rules of booktabs."""
        return latex_table(self.table())

    def plot(self, file: Any = None, *, title: str | None = None) -> Any:
        """Draw strengths with their intervals, best on top.

        Parameters
        ----------
        file
            A .png, .svg or .pdf file, or Matplotlib Axes. Without it the Figure is returned.
        title
            The number of answers if not given.

        Returns
        -------
        Figure or None
            The figure, if there is no file.
        """
        best = None if self.verdict.winner is None else 0
        words = f"{self.answers:,} answers, {percent(1.0 - self.alpha)} at all times, by {self.by}" if title is None else title
        return strengths_plot(*self._drawn(), best=best, title=words, file=file)

    def heat_map(self, file: Any = None, *, title: str = "") -> Any:
        """Draw how often each option was placed above each other, and of how many comparisons.

        Parameters
        ----------
        file
            A .png, .svg or .pdf file. Without it the Figure is returned.
        title
            Of the figure.

        Returns
        -------
        Figure or None
            The figure, if there is no file.
        """
        here = [k for k in self.order if k in set(self.present)]
        square = np.ix_(here, here)
        return pairs_plot([self.names[k] for k in here], self.above[square], self.ties[square], title=title, file=file)

    def columns(self) -> dict[str, Any]:
        """List the numbers, a line per option, best first."""
        made: dict[str, Any] = {name: [getattr(line, name) for line in self.lines] for name in self.lines[0]._fields}
        if self.style is not None:
            order = list(self.order)
            s = self.style
            made |= {
                "style_strength": s.strength[order],
                "style_low": s.strength_low[order],
                "style_high": s.strength_high[order],
            }
        return made

    def to_frame(self, library: str | None = None) -> Any:
        """Make a DataFrame of the columns.

        Parameters
        ----------
        library
            "pandas" or "polars"; the first that is installed if not given.

        Returns
        -------
        DataFrame
            A row per option, best first.
        """
        return frame(self.columns(), library)

    def save(self, path: Any) -> None:
        """Write the columns (.csv, .parquet) or everything (.json) to a file.

        Parameters
        ----------
        path
            The file; its ending decides.
        """
        save(self.columns(), self.to_json(), path)


@wraps(inferred)
def standings(*args: Any, **options: Any) -> Standings:
    found = inferred(*args, **options)
    return Standings(**{one.name: getattr(found, one.name) for one in fields(found)})
