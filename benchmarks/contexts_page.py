"""docs/contexts.md: contexts.template.md, filled with what contexts.py measured."""

from __future__ import annotations

import json
import math

import rcdp_public  # beside this file

NAMES = {"linear-self-sparring": "LinearSelfSparring", "colstim": "CoLSTIM", "max-pair-ucb": "MaxPairUCB", "max-in-p": "MaxInP"}


def write(store, template, path):
    text = template
    for name, make in {"grid": grid, "numpy": numpy, "estimators": estimators, "slates": slates}.items():
        text = text.replace(f"@@{name}@@", make(store[name]["rows"]))
    text = text.replace("@@lies@@", lies(store["lies"]["rows"])).replace("@@late@@", late(store["late"]["rows"]))
    played = json.loads(rcdp_public.STORE.read_text(encoding="utf-8"))
    text = text.replace("@@public_answer@@", answer(rcdp_public.claims(played)))
    path.write_text(text, encoding="utf-8")


def table(heading, rows, words=1):
    """Markdown; all but the first columns to the right."""
    aligned = "|".join("---" if k < words else "--:" for k in range(len(heading)))
    return "\n".join([f"| {' | '.join(heading)} |", f"|{aligned}|", *(f"| {' | '.join(row)} |" for row in rows)])


def found(row, what="mean"):
    mean, error = (row["mean"][-1], row["error"][-1]) if what == "mean" else (row["weak"], row["weak_error"])
    return f"{mean:,.0f} ±{1.96 * error:,.0f}"


def settings(rows):
    return list(dict.fromkeys((row["dimension"], row["n_arms"]) for row in rows))


def columns(rows):
    return list(dict.fromkeys((row["policy"], row["slate_size"]) for row in rows))


def title(policy, m):
    return f"{NAMES.get(policy, policy)}{f', m = {m}' if policy == 'linear-self-sparring' else ''}"


def cells(rows, show):
    at = {(row["dimension"], row["n_arms"], row["policy"], row["slate_size"]): row for row in rows}
    return [[f"{d}, {K}", *(show(at[d, K, *column]) for column in columns(rows))] for d, K in settings(rows)]


def grid(rows):
    """Mean regret with few and with many arms, and in the last line the CPU time of a round."""
    times = {column: [] for column in columns(rows)}
    for row in rows:
        times[row["policy"], row["slate_size"]].append(row["nanoseconds"] / 1000)
    shown = [f"{min(each):.1f} to {max(each):.1f} us" for each in times.values()]
    ends = [row for row in rows if row["n_arms"] in (10, 100)]
    return table(["d, K", *(title(*column) for column in columns(rows))], [*cells(ends, found), ["CPU time a round", *shown]])


def z(one, other):
    return (one["mean"][-1] - other["mean"][-1]) / math.hypot(one["error"][-1], other["error"][-1])


def numpy(rows):
    """How far apart the means are, and how much faster ours is, in a sentence."""
    apart = max(abs(z(row["ours"], row["numpy"])) for row in rows)
    faster = sorted(row["numpy"]["nanoseconds"] / row["ours"]["nanoseconds"] for row in rows)
    played = f"{rows[0]['ours']['runs']} runs of {rows[0]['marks'][-1]:,} rounds"
    return (
        f"in {len(rows)} settings, {played} each, mean regrets are at most {apart:.1f} standard errors apart, "
        f"and multiduel is {faster[0]:.0f} to {faster[-1]:.0f} times faster"
    )


def estimators(rows):
    """What the online step and that of public code cost, against the exact estimate, in a sentence."""
    steps, errors, short, times = [], [], [], []
    for first in range(0, len(rows), 3):
        online, exact, gram = rows[first : first + 3]
        steps.append(online["mean"][-1] / exact["mean"][-1] - 1.0)
        errors.append(1.96 * math.hypot(*(row["error"][-1] / row["mean"][-1] for row in (online, exact))))
        short.append(gram["mean"][-1] / exact["mean"][-1] - 1.0)
        times.append(exact["nanoseconds"] / online["nanoseconds"])
    return (
        f"In {len(steps)} settings of CoLSTIM and MaxPairUCB, {rows[0]['runs']} runs each, the online step has "
        f"{100 * min(steps):.0f} % to {100 * max(steps):.0f} % more regret than the exact estimate "
        f"(each ±{100 * min(errors):.0f} % to ±{100 * max(errors):.0f} %), which takes "
        f"{min(times):.0f} to {max(times):.0f} times the time; the step of public code has {100 * min(short):.0f} % to "
        f"{100 * max(short):.0f} % more"
    )


def slates(rows):
    lines = []
    for first in range(0, len(rows), 2):
        pl, pairs = rows[first : first + 2]
        if pl["slate_size"] > 2:
            world = [pl["world"], str(pl["slate_size"])]
            lines.append([*world, found(pl), found(pairs), found(pl, "weak"), found(pairs, "weak")])
    two = next(row for row in rows if row["slate_size"] == 2 and row["world"] == "rankings")
    lines.insert(0, ["either", "2", *[found(two)] * 2, *[found(two, "weak")] * 2])
    heading = ["judges give", "m", "average, read as a ranking", "average, as pairs", "weak, read as a ranking", "weak, as pairs"]
    return table(heading, lines)


def answer(judged):
    """What the reader came for, in a line a claim."""
    lines = []
    for number, each in enumerate(judged, 1):
        further = "".join(f" {words[0].upper()}{words[1:]}: {it.line}." for words, it in each.further.items())
        lines.append(f"{number}. {each.statement} **{each.line[0].upper()}{each.line[1:]}.**{further}")
    return "\n".join(lines)


def lies(rows):
    kinds = list(dict.fromkeys((row["policy"], row["prepared"]) for row in rows))
    names = [f"RCDB, C = {C:.0f}" if C else "MaxPairUCB" for _, C in kinds]
    lines = []
    for false in dict.fromkeys(row["false"] for row in rows):
        at = {(row["policy"], row["prepared"]): row for row in rows if row["false"] == false}
        lines.append([f"{false:,}", *(found(at[kind]) for kind in kinds)])
    return table(["false answers", *names], lines)


def late(rows):
    names = list(dict.fromkeys(row["policy"] for row in rows))
    lines = []
    for delay in dict.fromkeys(row["delay"] for row in rows):
        at = {row["policy"]: row for row in rows if row["delay"] == delay}
        lines.append([f"{delay:,}", *(found(at[name]) for name in names)])
    return table(["mean delay", *(NAMES[name] for name in names)], lines)
