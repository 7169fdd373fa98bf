"""docs/rankers.md: rankers.template.md, filled with what rankers_quality.py measured."""

from __future__ import annotations

NOT_YET = "Not measured yet."


def write(store, template, path):
    text = template
    for name, make in {"fairness": fairness, "sensitivity": sensitivity, "play": play, "flips": flips, "log": log}.items():
        text = text.replace(f"@@{name}@@", make(store[name]["rows"]) if name in store else NOT_YET)
    rows = store["sensitivity"]["rows"] if "sensitivity" in store else []
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
    words = sum(name in ("method", "data", "clicks", "ties", "policy") for name in columns)
    aligned = "|".join("---" if k < words else "--:" for k in range(len(columns)))
    return "\n".join([f"| {heading} |", f"|{aligned}|", *(f"| {' | '.join(row)} |" for row in rows)])


def off(found):
    z, points = found
    text = f"{100 * points:.2f} ({z:.1f})"
    return f"**{text}**" if z > 4.5 else text


def fairness(rows):
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = []
    for name in names:
        of = {row["m"]: row for row in rows if row["method"] == name}
        cells = [off(of[m][what]) if m in of else "" for what in ("random", "shifted", "equal") for m in (2, 4, 8)]
        lines.append([f"`{name}`", *cells])
    sizes = [f"{what}, m = {m}" for what in ("random, MQ2008", "random, shifted", "equal rankers") for m in (2, 4, 8)]
    users = {name: next(row["users"] for row in rows if row["method"] == name) for name in names}
    note = ", ".join(f"`{name}` {count:,}" for name, count in users.items())
    return f"{table(' | '.join(['method', *sizes]), lines)}\n\nUsers: {note}. {missing(names)}"


def sensitivity(rows):
    names = list(dict.fromkeys(row["method"] for row in rows))
    lines = []
    for name in names:
        cells = []
        for data in ("MQ2008", "text"):
            for m in (2, 4, 8):
                row = next((row for row in rows if (row["data"], row["m"], row["method"]) == (data, m, name)), None)
                cells.append("" if row is None else needed(row))
        lines.append([f"`{name}`", *cells])
    head = " | ".join(["method", *(f"{data}, m = {m}" for data in ("MQ2008", "text") for m in (2, 4, 8))])
    return f"{table(head, lines)}\n\n{missing(names)}"


def missing(names):
    left = [f"`{name}`" for name in ALL if name not in names]
    return f"Not measured yet: {', '.join(left)}." if left else ""


def needed(row):
    """Users, if the difference was seen at all."""
    if row["z"] < 2:
        return f"not seen ({row['z_per_1000']:.1f})"
    return f"{row['needed']:,.0f} ({row['z_per_1000']:.1f})"


ALL = (
    "neutral-team-draft",
    "team-draft",
    "probabilistic",
    "probabilistic-drawn",
    "optimised",
    "pairwise",
    "greedy",
    "balanced",
)
FAIR = ("neutral-team-draft", "team-draft", "probabilistic", "probabilistic-drawn", "optimised")


def default(rows):
    """Which fair method needs the fewest users, where any fair one told the two apart (three standard errors)."""
    if not rows:
        return NOT_YET
    best, unseen = [], []
    for data, m in dict.fromkeys((row["data"], row["m"]) for row in rows):
        fair = [row for row in rows if (row["data"], row["m"]) == (data, m) and row["method"] in FAIR]
        if max(row["z"] for row in fair) < 3.0:
            unseen.append(f"{data}, m = {m}")
            continue
        first = max(fair, key=lambda row: row["z_per_1000"])
        best.append(f"`{first['method']}` ({data}, m = {m})")
    left = f" None told the two apart here: {'; '.join(unseen)}." if unseen else ""
    return f"Of the methods that are fair, the fewest users are needed by {', '.join(best)}.{left}"


def play(rows):
    lines = []
    sizes = [(policy, m) for policy in dict.fromkeys(row["policy"] for row in rows) for m in (2, 8)]
    sizes = [size for size in sizes if any((row["policy"], row["m"]) == size for row in rows)]
    for method in dict.fromkeys(row["method"] for row in rows):
        for ties in ("half", "drop"):
            cells = []
            for policy, m in sizes:
                key = (method, ties, policy, m)
                row = next((row for row in rows if (row["method"], row["ties"], row["policy"], row["m"]) == key), None)
                cells.append("" if row is None else f"{row['regret']:,.0f} ± {row['std']:,.0f}")
            lines.append([f"`{method}`", ties, *cells])
    head = table(" | ".join(["method", "ties", *(f"{policy}, m = {m}" for policy, m in sizes)]), lines)
    return f"{head}\n\n{rows[0]['horizon']:,} users, {rows[0]['runs']} runs."


def flips(rows):
    lines = [[row["data"], row["clicks"], f"`{row['method']}`", str(row["flipped"]), str(row["certain"])] for row in rows]
    return table("data | clicks | method | flipped | pairs certain both ways, of 28", lines)


def log(rows):
    row = rows[0]
    return (
        f"Analysing {row['pages']:,} pages of {row['users']:,} users ({row['megabytes']:,.0f} MB) takes "
        f"{row['seconds']:,.0f} s of one core and {row['peak_mb']:,.0f} MB of memory, of which {row['before_mb']:,.0f} MB were "
        "in use before."
    )
