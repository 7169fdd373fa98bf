"""docs/verdicts-numbers.md and its figure: verdicts.template.md, filled with what verdicts.py measured."""

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
    fillings |= {"observe": observing(speed["observe_ms"]), "runs": " or ".join(known_runs(store["answers"]))}
    text = TEMPLATE.read_text()
    for name, filling in fillings.items():
        text = text.replace(f"@@{name}@@", filling)
    (folder / "verdicts-numbers.md").write_text(text)


def table(heading, rows):
    """Markdown; numbers to the right."""
    columns = heading.split(" | ")
    aligned = "|".join("---" if name in ("world", "policy", "unit") else "--:" for name in columns)
    return "\n".join([f"| {heading} |", f"|{aligned}|", *(f"| {' | '.join(row)} |" for row in rows)])


def percent(row, name):
    low, high = row[f"{name}_interval"]
    return f"{100 * (row[name] / row['trials']):.1f} % ({100 * low:.1f} % to {100 * high:.1f} %)"


def errors(rows):
    """The worst setting of each world."""
    lines = []
    for world in dict.fromkeys(row["world"] for row in rows):
        group = [row for row in rows if row["world"] == world]
        best_out = worst(group, "out_wrong") if world == "a winner" else "-"
        lines.append([world, str(len(group)), worst(group, "wrong"), best_out, worst(group, "missed")])
    named = []
    for K in sorted({row["K"] for row in rows}):
        claims = [row["claims"] / row["trials"] for row in rows if (row["world"], row["K"]) == ("a winner", K)]
        least, most = f"{100 * min(claims):.0f} %", f"{100 * max(claims):.0f} %"
        named.append(f"{least if least == most else f'{least} to {most}'} with K = {K}")
    told = f"Where there is a winner, the share of the experiments that named it in time was {', '.join(named)}."
    return f"{table('world | settings | wrong | best out | missed', lines)}\n\n{told}"


def tastes(rows):
    """How often the verdict is wrong about the population, by answer and by rater: the worst setting of each number of raters."""
    groups = defaultdict(list)
    for row in rows:
        if row["about"] == "the population":
            groups[row["world"].split()[0], row["K"], row["unit"]].append(row)
    lines = []
    for raters, K in dict.fromkeys((raters, K) for raters, K, _ in groups):
        units = [groups[raters, K, unit] for unit in ("answer", "rater")]
        lines.append([raters, str(K), str(len(units[0])), *(worst(group, "wrong") for group in units)])
    return table("raters | K | settings | wrong, by answer | wrong, by rater", lines)


def worst(rows, name):
    return percent(max(rows, key=lambda row: row[name]), name)


def known_runs(rows):
    return sorted({str(row["runs"]) for row in rows}, key=int)


def answers(rows):
    """Medians, a row per policy; the quickest over all first."""
    known = {(row["policy"], row["closing"], row["K"], row["m"]): row for row in rows}
    cells = sorted({(row["K"], row["m"]) for row in rows})
    first, last = cells[0], cells[-1]
    policies = dict.fromkeys((row["policy"], row["closing"]) for row in rows)

    def number(policy, cell):
        row = known.get((*policy, *cell))
        return "" if row is None else f"{row['answers_50']:,.0f}"

    order = sorted(policies, key=lambda policy: known[(*policy, last[0], first[1])]["answers_50"])
    lines = [
        [name + (", closing" if closing else ""), *(number((name, closing), cell) for cell in cells)] for name, closing in order
    ]
    low = min(row["answers_10"] / row["answers_50"] for row in rows)
    high = max(row["answers_90"] / row["answers_50"] for row in rows)
    wrong, runs = (sum(row[name] for row in rows) for name in ("wrong", "runs"))
    head = " | ".join(["policy", *(f"K = {K}, m = {m}" for K, m in cells)])
    spread = f"In every cell, 80 % of the runs lie between {low:.1f} and {high:.1f} times the median."
    return f"{table(head, lines)}\n\n{spread} {wrong} of {runs:,} runs named a wrong winner."


def forecasts(rows):
    """How often the range held, where it was given."""
    lines, unknown = [], 0
    for world, K in dict.fromkeys((row["world"], row["K"]) for row in rows):
        looks = [row for row in rows if (row["world"], row["K"]) == (world, K) and row["at"] * row["m"] / K >= 40]
        here = [row for row in looks if not is_wide(row["low"], row["high"])]
        known = [row for row in here if row["end"] or row["at"] + row["high"] < MOST]
        unknown += len(here) - len(known)
        left = np.array([row["end"] - row["at"] if row["end"] else np.inf for row in known])
        low, likely, high = (np.array([row[column] for row in known]) for column in ("low", "likely", "high"))
        ratio = np.quantile(left / np.maximum(likely, 1.0), (0.1, 0.5, 0.9), method="higher")
        shares = (((low <= left) & (left <= high)).mean(), (left < low).mean(), (left > high).mean())
        early = f"{100 * (1 - len(here) / len(looks)):.0f} %"
        cells = [world, str(K), str(len(known)), early, *(f"{100 * share:.0f} %" for share in shares)]
        lines.append([*cells, f"{ratio[1]:.2f} ({ratio[0]:.2f} to {ratio[2]:.2f})"])
    head = "world | K | forecasts | too early | within | sooner | later | ratio, median (10 % to 90 %)"
    told = f"Not counted: {unknown} forecasts whose range was not over after {MOST:,} answers."
    return f"{table(head, lines)}\n\n{told}"


def widths(rows):
    ratios = [row["anytime"] / row["fixed"] for row in rows if 100 <= row["n"] <= 10_000]
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


def observing(times):
    (quick, least), (slow, most) = (pick(times.items(), key=lambda row: row[1]) for pick in (min, max))
    return f"{least:.1f} ms (`{quick}`) to {most:.1f} ms (`{slow}`)"


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
            axes.plot(n, [row["anytime"] for row in line], color=COLOURS[number], label=f"at any time, {100 * share:.0f} % wins")
            axes.plot(
                n,
                [row["fixed"] for row in line],
                color=COLOURS[number],
                linestyle=":",
                label=f"at a fixed n, {100 * share:.0f} % wins",
            )
        axes.set(xscale="log", yscale="log", xlabel="answers n", ylabel="width of the 95 % interval of one pair")
        axes.grid(which="major", color="0.9", linewidth=0.6)
        axes.legend(frameon=False, fontsize=8)
        figure.savefig(path, format="svg", metadata={"Date": None})
