"""docs/verdicts.md and its figure: verdicts.template.md, filled with what verdicts.py measured."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from multiduel.inference.forecast import is_wide

MOST = 20000  # answers after which a forecast is no longer waited for
TEMPLATE = Path(__file__).with_name("verdicts.template.md")


def write(store, folder):
    draw(store["width"], folder / "verdicts-width.svg")
    tables = {"errors": errors, "tastes": tastes, "answers": answers, "forecast": forecasts, "width": widths}
    fillings = {name: make(store[name]) if store.get(name) else "Not measured yet." for name, make in tables.items()}
    speed = store["speed"]
    fillings |= {
        "duels": f"{speed['duels']:,}",
        "ms": f"{speed['verdict_ms']:.1f}",
        "margin_ms": f"{speed['with_margin_ms']:.1f}",
    }
    fillings |= {"observe": observing(speed["observe_ms"])}
    text = TEMPLATE.read_text()
    for name, filling in fillings.items():
        text = text.replace(f"@@{name}@@", filling)
    (folder / "verdicts.md").write_text(text)


def table(heading, rows):
    """Markdown; numbers to the right."""
    columns = heading.split(" | ")
    aligned = "|".join("---" if name in ("world", "policy", "unit") else "--:" for name in columns)
    return "\n".join([f"| {heading} |", f"|{aligned}|", *(f"| {' | '.join(row)} |" for row in rows)])


def percent(row, name):
    low, high = row[f"{name}_interval"]
    return f"{row[name] / row['trials']:.1%} ({low:.1%} to {high:.1%})"


def errors(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[row["world"], row["K"]].append(row)
    lines = []
    for (world, K), group in groups.items():
        claims = [row["claims"] / row["trials"] for row in group]
        best_out = worst(group, "out_wrong") if world == "a winner" else "-"
        cells = [world, str(K), str(len(group)), worst(group, "wrong"), best_out, worst(group, "missed")]
        lines.append([*cells, f"{min(claims):.0%} to {max(claims):.0%}"])
    highest = max(max(row["wrong"], row["out_wrong"], row["missed"]) for row in rows) / rows[0]["trials"]
    head = "world | K | settings | wrong | best out | missed | a winner named in time"
    return f"{table(head, lines)}\n\nOver all {len(rows)} settings the highest rate of any kind is {highest:.1%}."


def tastes(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[row["world"].split()[0], row["K"], row["unit"]].append(row)
    lines = []
    for (raters, K, unit), group in groups.items():
        these, population = ([row for row in group if row["about"] == about] for about in ("these raters", "the population"))
        cells = [raters, str(K), unit, str(len(these))]
        cells.append(worst(these, "wrong") if unit == "answer" else "(not promised)")
        claims = [row["claims"] / row["trials"] for row in these]
        lines.append([*cells, worst(population, "wrong"), f"{min(claims):.0%} to {max(claims):.0%}"])
    return table(
        "raters | K | unit | settings | wrong about these raters | wrong about the population | a winner named in time", lines
    )


def worst(rows, name):
    return percent(max(rows, key=lambda row: row[name]), name)


def answers(rows):
    lines = []
    for row in sorted(rows, key=lambda row: (row["K"], row["m"], row["answers_50"] or 1e18)):
        low, middle, high = (f"{row[f'answers_{q}']:,.0f}" if row[f"answers_{q}"] else "open" for q in (10, 50, 90))
        name = row["policy"] + (", closing" if row["closing"] else "")
        cells = [str(row["K"]), name, str(row["m"]), str(row["runs"]), middle, f"{low} to {high}", str(row["wrong"])]
        lines.append([*cells, f"{row['regret']:,.0f}"])
    return table("K | policy | m | runs | answers | 10 % to 90 % | wrong | regret by then", lines)


def forecasts(rows):
    """How often the range held, where it was said; a range that is too wide is "too early to say"."""
    lines = []
    for world, K, m in dict.fromkeys((row["world"], row["K"], row["m"]) for row in rows):
        for name, least, most in (("40 to 80", 40, 80), ("80 to 160", 80, 160), ("160 and more", 160, np.inf)):
            here = [row for row in rows if (row["world"], row["K"], row["m"]) == (world, K, m)]
            looks = [row for row in here if least <= row["at"] * m / K < most]
            here = [row for row in looks if not is_wide(row["low"], row["high"])]
            known = [row for row in here if row["end"] or row["at"] + row["high"] < MOST]
            if not known:
                continue
            left = np.array([row["end"] - row["at"] if row["end"] else np.inf for row in known])
            low, likely, high = (np.array([row[column] for row in known]) for column in ("low", "likely", "high"))
            ratio = np.quantile(left / np.maximum(likely, 1.0), (0.1, 0.5, 0.9), method="higher")
            shares = (((low <= left) & (left <= high)).mean(), (left < low).mean(), (left > high).mean())
            cells = [
                world,
                str(K),
                str(m),
                name,
                f"{1 - len(here) / len(looks):.0%}",
                str(len(known)),
                str(len(here) - len(known)),
                *(f"{share:.0%}" for share in shares),
            ]
            lines.append([*cells, f"{ratio[1]:.2f}", f"{ratio[0]:.2f} to {ratio[2]:.2f}"])
    said = "forecasts | not known | within | sooner | later | ratio, median | 10 % to 90 %"
    return table(f"world | K | m | showings per option | too early | {said}", lines)


def widths(rows):
    known = {(row["n"], row["share"]): row for row in rows}
    lines = []
    for n in (100, 1000, 10000):
        for share in (0.5, 0.7, 0.9):
            anytime, fixed = known[n, share]["anytime"], known[n, share]["fixed"]
            lines.append([f"{n:,}", f"{share:.0%}", f"{anytime:.3f}", f"{fixed:.3f}", f"{anytime / fixed:.2f}"])
    return table("n | share of wins | at any time | at a fixed n | ratio", lines)


def observing(times):
    rows = sorted(times.items(), key=lambda row: row[1])
    return table("policy | ms", [[name, f"{ms:.1f}"] for name, ms in rows])


def draw(rows, path):
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from multiduel.display.line_styles import COLOURS
    from multiduel.display.regret_figures import STYLE

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for number, share in enumerate(sorted({row["share"] for row in rows})):
            line = [row for row in rows if row["share"] == share]
            n = [row["n"] for row in line]
            axes.plot(n, [row["anytime"] for row in line], color=COLOURS[number], label=f"at any time, {share:.0%} wins")
            axes.plot(
                n, [row["fixed"] for row in line], color=COLOURS[number], linestyle=":", label=f"at a fixed n, {share:.0%} wins"
            )
        axes.set(xscale="log", yscale="log", xlabel="answers n", ylabel="width of the 95 % interval of one pair")
        axes.grid(which="major", color="0.9", linewidth=0.6)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(path, format="svg", metadata={"Date": None})
