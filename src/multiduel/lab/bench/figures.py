"""Performance profiles: on what share of the instances a policy is within a factor of the best one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from multiduel.display.line_styles import DASHED, line_style
from multiduel.display.regret_figures import LINE, SIZES, THICK, UNDATED, check, figure_style
from multiduel.display.tables import power_of_ten
from multiduel.files import write_whole
from multiduel.lab.bench.ranking import Overall

NAMED = 6  # policies that have a colour and a name, beside the one that it is about
MOST = 64.0  # times the best: where the axis ends
LEGEND = 0.4  # inches below the axes
FAINT = "#C8C8C8"
PATTERNS: Any = ("-", DASHED, (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))  # of lines that share a colour
OWN = "#D50000"  # of the policy that it is about: nobody else has it


def profile(found: Overall, file: Path, *, own: str | None = None, size: str = "double") -> Path:
    """Draw the profiles of all policies into a .png, .svg or .pdf file: the best few by name, and the policy that it is about."""
    check(str(file))
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    times = np.geomspace(1.0, MOST, 400)
    order = found.order()
    named = [name for name in order if name != own][: NAMED if own is None else NAMED - 1]
    named += [own] if own in order else []
    wide, high = SIZES[size]
    kind = file.suffix[1:]
    with figure_style(**({"font.size": 8} if size == "single" else {})):
        figure = Figure(figsize=(wide, high + LEGEND), layout="constrained")
        axes: Any = figure.subplots()
        for name in order:
            if name not in named:
                axes.plot(times, 100.0 * found.profile(name, times), color=FAINT, linewidth=0.6, zorder=1)
        shown = sorted(named, key=order.index)
        colours = [OWN if name == own else line_style(name).colour for name in shown]
        for place, name in enumerate(shown):
            style, mine = line_style(name), name == own
            share = 100.0 * found.profile(name, times)
            axes.plot(
                *(times, share),
                color=colours[place],
                linestyle=PATTERNS[colours[:place].count(colours[place]) % len(PATTERNS)],
                marker=style.marker,
                markevery=(20, 80),
                markersize=4,
                linewidth=THICK if mine else LINE,
                label=f"{name} (this one)" if mine else name,
                zorder=3 if mine else 2,
            )
        axes.set_xscale("log")
        axes.set_xlim(1.0, MOST)
        axes.set_ylim(0.0, 100.0)
        axes.xaxis.set_major_locator(FixedLocator([1, 2, 4, 8, 16, 32, 64]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("mean regret, times that of the instance's best policy")
        axes.set_ylabel("share of instances, %")
        rounds = power_of_ten(found.horizon).replace("10^", "10^{")
        rounds = f"${rounds}}}$" if "{" in rounds else rounds
        count = len(found.families) * found.values.shape[2]
        axes.set_title(f"m = {found.slate_size}, T = {rounds}, {count} instances, {len(order)} policies")
        figure.legend(loc="outside lower center", ncols=2 if size == "single" else 4, frameon=False, fontsize=7, handlelength=3.5)
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind, dpi=160, metadata=UNDATED[kind])
    write_whole(file, drawn.getvalue())
    return file
