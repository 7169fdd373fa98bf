"""docs/rankers-numbers.md: rankers.template.md, filled with what rankers_quality.py measured."""

from __future__ import annotations

import math

from multiduel.rankers import METHODS
from multiduel.rankers.multileaving import METHOD

NOT_YET = "Not measured yet."


def write(store, template, path):
    text = template
    makers = {"ties": ties, "flips": flips, "log": log, "statements": statements, "verdict_error": verdict_error}
    for name, make in makers.items():
        of = {"ties": "play", "verdict_error": "statements"}.get(name, name)
        text = text.replace(f"@@{name}@@", make(store[of]["rows"]) if of in store else NOT_YET)
    rows = store["sensitivity"]["rows"] if "sensitivity" in store else []
    known = "fairness" in store and bool(rows)
    text = text.replace("@@quality@@", quality(store["fairness"]["rows"], rows) if known else NOT_YET)
    for data in ("MQ2008", "text"):
        first = next((row for row in rows if row["data"] == data), None)
        words = (
            f"{' and '.join(first['pair'])}, which agree on {100 * first['agreement']:.0f} % of the first ten slots"
            if first
            else "two that were not measured yet"
        )
        text = text.replace(f"@@pair_{data}@@", words)
    path.write_text(text)


def table(heading, rows):
    """Markdown; all but the first column to the right."""
    columns = heading.split(" | ")
    words = sum(name in ("method", "data", "clicks", "policy", "what", "setting", "slates") for name in columns)
    aligned = "|".join("---" if k < words else "--:" for k in range(len(columns)))
    return "\n".join([f"| {heading} |", f"|{aligned}|", *(f"| {' | '.join(row)} |" for row in rows)])


def off(found):
    z, points = found
    text = f"{100 * points:.2f} ({z:.1f})"
    return f"**{text}**" if z > 4.5 else text


def quality(fairness, sensitivity):
    """A row per method: how far it is from fair at worst, and how many users it needs by the size of the slate."""
    beyond = behind(sensitivity)
    lines = []
    for name in ALL:
        mine = sorted((row for row in fairness if row["method"] == name), key=lambda row: row["m"])
        cells = [off(max((row[what] for row in mine), key=lambda found: found[0])) for what in ("random", "shifted", "equal")]
        for data in ("MQ2008", "text"):
            found = [one(sensitivity, data=data, m=row["m"], method=name) for row in mine]
            cells.append(" / ".join(needed(row) for row in found if row is not None))
        lines.append([f"`{name}`", *cells, f"{beyond[name]:.1f}" if name in beyond else "not fair"])
    head = (
        "method | random, MQ2008 | random, shifted | equal rankers | users needed, MQ2008 | users needed, text | times the best"
    )
    return f"{table(head, lines)}\n\n{fairness[0]['users']:,} users for fairness, {sensitivity[0]['users']:,} for users needed."


def needed(row):
    """Users, if the difference was seen at all."""
    return "not seen" if row["z"] < 2 else f"{row['needed']:,.0f}"


ALL = tuple(METHODS)
FAIR = ("pair-draft", "neutral-team-draft", "team-draft", "probabilistic", "probabilistic-drawn", "optimised")


def behind(rows):
    """How many times the users of the best fair method each fair method needs: the geometric mean over all cells."""
    ratios = {name: [] for name in FAIR}
    for data, m in dict.fromkeys((row["data"], row["m"]) for row in rows):
        fair = {row["method"]: row["z"] for row in rows if (row["data"], row["m"]) == (data, m) and row["method"] in FAIR}
        for name, z in fair.items():
            ratios[name].append((max(fair.values()) / max(z, 1e-9)) ** 2)
    over_all = {name: math.exp(sum(map(math.log, found)) / len(found)) for name, found in ratios.items()}
    first = min(over_all, key=over_all.get)
    assert first == METHOD, f"{first} should be the default"
    return over_all


def ties(rows):
    """Where dropping ties is better than half, and where it is worse, by more than three standard errors of the difference."""
    told = []
    for m in (8, 2):
        better, worse, cells = 0, [], 0
        for row in rows:
            if row["ties"] == "drop" and row["m"] == m:
                half = one(rows, policy=row["policy"], m=m, method=row["method"], ties="half")
                z = (half["regret"] - row["regret"]) / (half["error"] ** 2 + row["error"] ** 2) ** 0.5
                cells += 1
                better += z > 3.0
                worse += [f"{row['policy']} under `{row['method']}`"] if z < -3.0 else []
        against = f"worse for {', '.join(worse)}" if worse else "worse in none"
        told.append(f"better in {better} of {cells} cells with m = {m}, {against}")
    return f"{'; '.join(told)}."


def one(rows, **what):
    return next((row for row in rows if all(row[name] == value for name, value in what.items())), None)


def flips(rows):
    found = [
        f"{row['flipped']} of {row['certain']} pairs on {row['data']} with `{row['method']}`" for row in rows if row["flipped"]
    ]
    none = dict.fromkeys(row["data"] for row in rows if not row["flipped"])
    return f"{' and '.join(found)}; none on {' and '.join(none)}"


def verdict_error(rows):
    """The highest share of logs of equal rankers in which the verdict named one."""
    return f"{max(100 * row['named']['verdict'][0] / row['logs'] for row in rows if row['setting'] == 'equal'):.1f} %"


def statements(rows):
    """A row per setting: in how many per cent of the logs each statement names a winner."""
    lines = []
    for row in rows:
        cells = []
        for what in ("verdict", "means", "standings", "t-test"):
            named, right = row["named"][what]
            share = f"{100 * named / row['logs']:.1f}"
            wrong = f" ({100 * (named - right) / row['logs']:.1f} wrong)" if row["setting"] != "equal" and named > right else ""
            cells.append("" if what == "t-test" and row["rankers"] > 2 else share + wrong)
        who = f"{row['users']:,} x {row['pages']}"
        lines.append([row["setting"], row["slates"], str(row["rankers"]), who, f"{row['taste']:g}", *cells])
    return table("setting | slates | rankers | users x pages | taste | verdict | means | standings | t-test", lines)


def log(rows):
    known = {row["what"]: row for row in rows}

    def took(what):
        row = known[what]
        return f"{row['seconds']:,.0f} s and {row['peak_mb'] - row['before_mb']:,.0f} MB"

    log, more = known["analyse"], known["again"]["pages"]
    size = f"{log['pages']:,} pages ({log['megabytes']:,.0f} MB, four rankers, 200,000 users)"
    return (
        f"`analyse` takes {took('analyse')} for a log of {size}; with `--state`, {took('again')} for {more:,} pages more. "
        f"`replay` takes {took('replay')}. CPU seconds on a busy machine; memory beyond that for a short log."
    )
