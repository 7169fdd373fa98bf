"""docs/rankers.md: rankers.template.md, filled with what rankers_quality.py measured."""

from __future__ import annotations

from multiduel.rankers import METHODS
from multiduel.rankers.multileaving import METHOD

NOT_YET = "Not measured yet."


def write(store, template, path):
    text = template
    for name, make in {"play": play, "ties": ties, "flips": flips, "speed": speed, "log": log}.items():
        of = "play" if name == "ties" else name
        text = text.replace(f"@@{name}@@", make(store[of]["rows"]) if of in store else NOT_YET)
    rows = store["sensitivity"]["rows"] if "sensitivity" in store else []
    known = "fairness" in store and bool(rows)
    text = text.replace("@@quality@@", quality(store["fairness"]["rows"], rows) if known else NOT_YET)
    for data in ("MQ2008", "text"):
        first = next((row for row in rows if row["data"] == data), None)
        words = (
            f"{' and '.join(first['pair'])}, which agree on {first['agreement']:.0%} of the first ten slots"
            if first
            else "two that were not measured yet"
        )
        text = text.replace(f"@@pair_{data}@@", words)
    path.write_text(text.replace("@@default@@", default(rows)))


def table(heading, rows):
    """Markdown; all but the first column to the right."""
    columns = heading.split(" | ")
    words = sum(name in ("method", "data", "clicks", "policy", "what") for name in columns)
    aligned = "|".join("---" if k < words else "--:" for k in range(len(columns)))
    return "\n".join([f"| {heading} |", f"|{aligned}|", *(f"| {' | '.join(row)} |" for row in rows)])


def off(found):
    z, points = found
    text = f"{100 * points:.2f} ({z:.1f})"
    return f"**{text}**" if z > 4.5 else text


def quality(fairness, sensitivity):
    """Fairness and sensitivity of every method, a row per size of the slate."""
    lines = []
    for row in sorted(fairness, key=lambda row: (ALL.index(row["method"]), row["m"])):
        cells = [off(row[what]) for what in ("random", "shifted", "equal")]
        for data in ("MQ2008", "text"):
            key = (data, row["m"], row["method"])
            found = next((other for other in sensitivity if (other["data"], other["m"], other["method"]) == key), None)
            cells.append("" if found is None else needed(found))
        lines.append([f"`{row['method']}`" if row["m"] == 2 else "", str(row["m"]), *cells])
    head = "method | m | random, MQ2008 | random, shifted | equal rankers | users needed, MQ2008 | users needed, text"
    return f"{table(head, lines)}\n\n{fairness[0]['users']:,} users for fairness, {sensitivity[0]['users']:,} for sensitivity."


def needed(row):
    """Users, if the difference was seen at all."""
    if row["z"] < 2:
        return f"not seen ({row['z_per_1000']:.1f})"
    return f"{row['needed']:,.0f} ({row['z_per_1000']:.1f})"


ALL = tuple(METHODS)
FAIR = ("pair-draft", "neutral-team-draft", "team-draft", "probabilistic", "probabilistic-drawn", "optimised")


def default(rows):
    """Which fair method needs the fewest users in each setting, and how far each is behind at worst: it chose the default."""
    if not rows:
        return NOT_YET
    best, behind = [], dict.fromkeys(FAIR, 1.0)
    for data, m in dict.fromkeys((row["data"], row["m"]) for row in rows):
        fair = {row["method"]: row for row in rows if (row["data"], row["m"]) == (data, m) and row["method"] in FAIR}
        first = max(fair, key=lambda name: fair[name]["z"])  # the first of equals: with two rankers two methods are the same
        best.append(f"`{first}` ({data}, m = {m})")
        for name, row in fair.items():
            behind[name] = max(behind[name], (fair[first]["z"] / max(row["z"], 1e-9)) ** 2)
    order = sorted(behind, key=behind.get)
    error = 2.0 * 2.0**0.5 / min(max(row["z"] for row in rows if row["m"] == m and row["method"] in FAIR) for m in (2, 4, 8))
    ratios = ", ".join(f"`{name}` {behind[name]:.2f}" if behind[name] < 10 else f"`{name}` over 10" for name in order)
    assert order[0] == METHOD, f"{order[0]} should be the default"
    return (
        f"Of the methods that are fair, the fewest users are needed by {', '.join(best)}. How many times as many as the best one "
        f"each needs at worst, in these six settings (give or take {error:.0%}): {ratios}. So `{METHOD}` is the default."
    )


def play(rows):
    lines = []
    sizes = list(dict.fromkeys((row["policy"], row["m"]) for row in rows))
    for policy, m in sizes:
        cells = []
        for method in METHODS_PLAYED:
            for how in ("half", "drop"):
                row = one(rows, policy=policy, m=m, method=method, ties=how)
                cells.append(f"{row['regret']:,.0f} ± {row['error']:,.0f}")
        lines.append([policy, str(m), *cells])
    head = " | ".join(["policy", "m", *(f"`{method}`, {how}" for method in METHODS_PLAYED for how in ("half", "drop"))])
    return f"{table(head, lines)}\n\n{rows[0]['horizon']:,} users, {rows[0]['runs']} runs, {rows[0]['arms']} rankers."


METHODS_PLAYED = ("team-draft", "pair-draft")


def ties(rows):
    """Where dropping ties is better, and where not, by more than three standard errors of the difference."""
    better, worse, cells = 0, [], 0
    for row in rows:
        if row["ties"] == "drop":
            half = one(rows, policy=row["policy"], m=row["m"], method=row["method"], ties="half")
            z = (half["regret"] - row["regret"]) / (half["error"] ** 2 + row["error"] ** 2) ** 0.5
            cells += 1
            better += z > 3.0
            worse += [f"{row['policy']} with m = {row['m']} under `{row['method']}`"] if z < -3.0 else []
    against = f"; half is better for {', '.join(worse)}" if worse else "; in none is half better"
    return f"Dropping ties is better by more than three standard errors in {better} of {cells} cells{against}."


def one(rows, **what):
    return next(row for row in rows if all(row[name] == value for name, value in what.items()))


def flips(rows):
    lines = [[row["data"], row["clicks"], f"`{row['method']}`", str(row["flipped"]), str(row["certain"])] for row in rows]
    return table("data | clicks | method | flipped | pairs certain both ways, of 28", lines)


def speed(rows):
    lines = []
    for name in dict.fromkeys(row["method"] for row in rows):
        of = {row["m"]: row for row in rows if row["method"] == name}
        cells = [f"{of[m][what]:,.0f}" if m in of else "" for what in ("compiled", "plain") for m in (2, 8)]
        lines.append([f"`{name}`", *cells])
    return table("method | m = 2 | m = 8 | plain Python, m = 2 | plain Python, m = 8", lines)


def log(rows):
    said = {"write": "writing it, each page and click by itself", "analyse": "`analyse`", "replay": "`replay`"}
    lines = [[said[row["what"]], f"{row['seconds']:,.0f} s", f"{row['peak_mb'] - row['before_mb']:,.0f} MB"] for row in rows]
    head = f"{rows[0]['pages']:,} pages, four rankers, 200,000 users, {rows[0]['megabytes']:,.0f} MB; one core:"
    return f"{head}\n\n{table('what | time | memory', lines)}"
