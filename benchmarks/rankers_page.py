"""docs/rankers.md: rankers.template.md, filled with what rankers_quality.py measured."""

from __future__ import annotations

import math

from multiduel.rankers import METHODS
from multiduel.rankers.multileaving import METHOD

NOT_YET = "Not measured yet."


def write(store, template, path):
    text = template
    makers = {"play": play, "ties": ties, "flips": flips, "speed": speed, "log": log}
    for name, make in (makers | {"statements": statements, "contradictions": contradictions}).items():
        of = {"ties": "play", "speed": "sensitivity"}.get(name, name)
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
    words = sum(name in ("method", "data", "clicks", "policy", "what", "setting", "slates") for name in columns)
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
    """Which fair method needs the fewest users in each setting, and how many times as many each needs over all."""
    if not rows:
        return NOT_YET
    best, behind = [], {name: [] for name in FAIR}
    for data, m in dict.fromkeys((row["data"], row["m"]) for row in rows):
        fair = {row["method"]: row for row in rows if (row["data"], row["m"]) == (data, m) and row["method"] in FAIR}
        first = max(fair, key=lambda name: fair[name]["z"])  # the first of equals: with two rankers two methods are the same
        best.append(f"`{first}` ({data}, m = {m})")
        for name, row in fair.items():
            behind[name].append((fair[first]["z"] / max(row["z"], 1e-9)) ** 2)
    over_all = {name: math.exp(sum(map(math.log, ratios)) / len(ratios)) for name, ratios in behind.items()}
    order = sorted(over_all, key=over_all.get)
    assert order[0] == METHOD, f"{order[0]} should be the default"
    told = "; ".join(f"`{name}` {over_all[name]:.2f}, at worst {max(behind[name]):.1f}" for name in order)
    return (
        f"Of the methods that are fair, the fewest users are needed by {', '.join(best)}. How many times as many as the best one "
        f"each needs, the geometric mean of the six: {told}."
    )


PLAYED = (("team-draft", "half"), ("team-draft", "drop"), ("pair-draft", "half"), ("pair-draft", "drop"))


def play(rows):
    lines = []
    for policy, m in dict.fromkeys((row["policy"], row["m"]) for row in rows):
        found = [one(rows, policy=policy, m=m, method=method, ties=how) for method, how in PLAYED]
        lines.append([policy, str(m), *("" if row is None else f"{row['regret']:,.0f} ± {row['error']:,.0f}" for row in found)])
    head = " | ".join(["policy", "m", *(f"`{method}`, {how}" for method, how in PLAYED)])
    return f"{table(head, lines)}\n\n{rows[0]['horizon']:,} users, {rows[0]['runs']} runs, {rows[0]['arms']} rankers."


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
        told.append(f"with m = {m} dropping ties is better in {better} of {cells} cells, {against}")
    return f"By more than three standard errors: {'; '.join(told)}."


def one(rows, **what):
    return next((row for row in rows if all(row[name] == value for name, value in what.items())), None)


def flips(rows):
    lines = [[row["data"], row["clicks"], f"`{row['method']}`", str(row["flipped"]), str(row["certain"])] for row in rows]
    return table("data | clicks | method | flipped | pairs certain both ways, of 28", lines)


def speed(rows):
    """From what sensitivity took; with m = 2 that has compiling in it."""
    lines = []
    for name in dict.fromkeys(row["method"] for row in rows if row["m"] > 2):
        of = [one(rows, method=name, m=m, data="MQ2008") for m in (4, 8)]
        lines.append([f"`{name}`", *(f"{row['users'] / row['seconds']:,.0f}" for row in of)])
    return table("method | m = 4 | m = 8", lines)


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


def contradictions(rows):
    head = f"Of {rows[0]['logs']} logs of four close rankers, {rows[0]['pages']:,} users each, looked at after every page:"
    lines = [
        [f"{row['margin']:g}", *(str(row[name]) for name in ("once", "lost", "halves", "either", "several"))] for row in rows
    ]
    columns = (
        "margin | once certain | of these, not at the end | certain, beside an interval that doubts it | either of these, now"
    )
    columns += " | several within the margin"
    return f"{head}\n\n{table(columns, lines)}"


def log(rows):
    said = {
        "write": "written by the library, each page and click by itself",
        "analyse": "`analyse`",
        "state": "`analyse --state`, the first time",
        "again": "`analyse --state` after 1,000 more pages, and clicks on 100 old ones",
        "replay": "`replay --policy uniform --slate-size 4`, all pages followed",
    }
    lines = []
    for row in sorted(rows, key=lambda row: list(said).index(row["what"])):
        parts = (f"{row['verdict_seconds']:,.0f} s", f"{row['verdict_mb']:,.0f} MB") if "verdict_mb" in row else ("", "")
        lines.append([said[row["what"]], f"{row['pages']:,}", *parts, f"{row['seconds']:,.0f} s", memory(row)])
    most = max(row["pages"] for row in rows)
    size = f"{most:,} pages, 1.7 clicks each, {rows[0]['megabytes']:,.0f} MB"
    head = f"Four rankers, 200,000 users, {size}. CPU seconds on a busy machine; memory beyond that for a short log:"
    return f"{head}\n\n{table('what | pages | verdict | memory | whole report | memory', lines)}"


def memory(row):
    return "" if row["what"] == "write" else f"{row['peak_mb'] - row['before_mb']:,.0f} MB"
