"""Damaged snapshots: restored, they are refused with BadInput or play on; a crash, a hang or another exception is a failure.

    python tests/fuzz/snapshots.py --mutations 3000              every policy and machine; ends with 1 if anything failed
    python tests/fuzz/snapshots.py --policy dts --mutation 17    one of them again, in this process

A child process does the work and says which mutation it is about to try, so that the parent sees a crash or a hang, notes
it, and starts another child at the next one. Mutation k of a policy is the same in every run.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import json
import random
import sys
import time
import traceback
from pathlib import Path

if __package__ in (None, ""):  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import watching

WORKER = [str(Path(__file__).resolve())]
PATIENCE = 60.0  # seconds for one mutation, on a busy machine too
WARM_UP = 600.0  # seconds to compile a policy and play the snapshots that are then damaged
MACHINES = {
    "multi-sbm": ({}, {"machine": "kl-ucb"}, {"machine": "thompson", "draws": "lazy"}),
    "sparring": ({}, {"machine": "thompson", "draws": "direct"}),
    "doubler-bai": ({}, {"machine": "kl-lucb"}),
}
SIZES = ((1, 2), (2, 2), (5, 3), (7, 4))  # arms, seats
INTS = (-1, -2, 0, 1, 2, 3, 5, 7, 8, 64, 1000, 2**31, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63))
FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 1e-300, 5e-324, 1e9, 1e15, 1e18, 1e19, 1e300, -1e300)
FLOATS += (float("nan"), float("inf"), float("-inf"))
WORDS = ("", "x", "nan", "inf", None, [], {}, True, 0, -1, 1, 0.5, 1e-300, 1e308, 1e400, float("nan"), 2**63, 2**64, 10**400)


def subjects(names):
    """(label, policy, parameters): every policy, and those that take machines with each of them."""
    from multiduel.policies import ALL

    for spec in ALL:
        if not names or spec.name in names:
            for params in MACHINES.get(spec.name, ({},)):
                yield " ".join([spec.name, *map(str, params.values())]), spec.name, params


def intact(name, params):
    """Snapshots on the way, all of which must be accepted."""
    import multiduel as md

    for n_arms, slate_size in SIZES:
        policy = md.make(name, n_arms=n_arms, slate_size=slate_size, seed=n_arms, horizon=300, **params)
        rng = random.Random(n_arms)
        for rounds in (0, 1, 2, 9, 30, 150, 400):
            while policy.round < rounds:
                play(policy, rng, 1, gently=True)
            saved = policy.snapshot()
            md.restore(saved)
            yield saved


def play(policy, rng, rounds, *, gently=False):
    """Ask, tell, observe, recommend: whatever users do."""
    import multiduel as md

    for _ in range(rounds):
        slate = policy.ask()
        inner = policy._slate[: len(slate.arms)].tolist()
        if len(set(inner)) < len(inner) or not all(0 <= k < policy.n_arms for k in inner):
            raise AssertionError(f"a slate of {inner} among {policy.n_arms} arms")
        if len(slate.arms) > 1 and rng.random() < 0.8:
            arms = sorted(slate.arms) if rng.random() < 0.8 else rng.sample(slate.arms, len(slate.arms))
            kind = 0.0 if gently else rng.random()
            weight = rng.choice((1e9, 1e-9, 3.0, 0.25, 1e-300))
            wins = [[weight if a < b else 0.0 for b in range(len(arms))] for a in range(len(arms))]
            policy.tell(slate, md.ranking(arms) if kind < 0.7 else md.tie(*arms) if kind < 0.8 else wins)
        if policy.spec.observes and policy.n_arms > 1 and rng.random() < 0.2:
            policy.observe(rng.sample(range(policy.n_arms), 2), [[0.0, 1.0], [0.0, 0.0]])
    if not 0 <= policy._inner[policy.recommend()] < policy.n_arms:
        raise AssertionError("'recommend' names no arm")
    if not gently:
        policy.standings()
        for slate in policy.open[:3]:
            policy.tell(slate, md.best(slate.arms[-1]))


def damaged(saved, rng):
    """One to three changes of a copy."""
    saved = copy.deepcopy(saved)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = rng.random()
        if place < 0.8:
            damage_array(saved, rng.choice(("state",) * 15 + ("tally",)), rng)
        elif place < 0.9:
            damage_part(saved, rng)
        else:
            damage_number(saved, rng)
    return saved


def damage_array(holder, key, rng):
    """Values changed, exchanged, repeated; or the packing itself."""
    import numpy as np

    import multiduel as md
    from multiduel.engine.session.snapshots import pack, unpack

    packed = holder[key] if isinstance(holder, list) else holder.get(key)
    if not isinstance(packed, list) or not packed:
        return  # damaged before
    if packed[0] is None or isinstance(packed[0], list):  # a list of arrays, with nothing in place of scratch
        stored = [place for place, each in enumerate(packed) if each is not None]
        if stored:
            damage_array(packed, rng.choice(stored), rng)
        return
    if len(packed) != 3:
        return
    kind, shape, text = packed
    how = rng.random()
    try:
        array = np.zeros(shape, f"<{kind}")
        unpack(packed, array, "state")
    except (md.BadInput, TypeError):
        return  # damaged before
    if how < 0.05:
        holder[key] = rng.choice(
            (
                [kind, [*shape, 1], text],
                [kind, shape, text[:-5]],
                ["f4", shape, text],
                [kind, shape],
                None,
                [kind, shape, "A" * 40],
            )
        )
        return
    if array.size == 0:
        return
    flat = array.reshape(-1)
    k = rng.randrange(flat.size)
    with np.errstate(all="ignore"):
        if how < 0.15:
            other = rng.randrange(flat.size)
            flat[k], flat[other] = flat[other], flat[k]
        elif how < 0.2:
            flat[:] = flat[k]
        elif how < 0.25:
            flat[:] = flat[::-1].copy()
        elif kind == "i8":
            near = [int(flat[k]) + d for d in (-1, 1, 2)] + [-int(flat[k])]
            flat[k] = np.array(rng.choice([*near, *INTS]) % 2**64, np.uint64).astype(np.int64)
        else:
            near = [flat[k] + 1.0, flat[k] - 1.0, flat[k] * 2.0, flat[k] * (1 + 1e-6), -flat[k], 1.0 - flat[k]]
            flat[k] = rng.choice([*near, *FLOATS])
    holder[key] = pack(array)


def damage_part(saved, rng):
    """A part taken away or replaced."""
    key = rng.choice(list(saved))
    how = rng.random()
    if how < 0.2:
        del saved[key]
        saved.setdefault("format", None)
    elif how < 0.5:
        saved[key] = rng.choice(WORDS)
    elif isinstance(saved[key], list) and saved[key]:
        k = rng.randrange(len(saved[key]))
        saved[key] = rng.choice((saved[key][:-1], saved[key] + saved[key][:1], saved[key][::-1], [*saved[key][:k], None]))


def damage_number(saved, rng):
    """Rounds, arms, words of the stream, parameters."""
    if not all(
        isinstance(saved.get(key), kind) for key, kind in (("params", dict), ("open", list), ("rng", list), ("labels", list))
    ):
        return
    where = rng.randrange(6)
    if where == 0:
        saved["round"] = rng.choice((*INTS, 10**15, 10**15 + 1))
    elif where == 1:
        saved["n_arms"] = rng.choice(INTS)
    elif where == 2 and saved["rng"]:
        saved["rng"] = rng.choice(([0, 0, 0, 0], [2**64 - 1] * 4, [*saved["rng"][:3], rng.choice(INTS)]))
    elif where == 3 and saved["labels"]:
        saved["labels"][rng.randrange(len(saved["labels"]))] = rng.choice((*INTS, 0.0, True))
    elif where == 4:
        arms = [rng.choice((0, 1, 2, -1, 99)) for _ in range(rng.randrange(4))]
        saved["open"].append([rng.choice((saved.get("round"), 1, *INTS)), arms])
    elif saved["params"]:
        saved["params"][rng.choice([*saved["params"], "no_such"])] = rng.choice(WORDS)


def attempt(saved, rng):
    """ "refused" or "played"."""
    import multiduel as md

    try:
        policy = md.restore(saved)
    except md.BadInput:
        return "refused"
    play(policy, rng, 30)
    with contextlib.suppress(md.BadInput):  # sums at their limit may have passed it
        md.restore(json.loads(json.dumps(policy.snapshot())))
    return "played"


def one(name, params, bases, k):
    rng = random.Random(f"{name} {params} {k}")
    return attempt(damaged(rng.choice(bases), rng), rng)


def work(names, mutations, first):
    """The child: "label k" before each mutation, "label k refused|played|Error: ..." after it."""
    for label, name, params in subjects(names):
        begin = first.get(label, 0)
        if begin >= mutations:
            continue
        print(json.dumps([label, -1, "begin"]), flush=True)
        bases = list(intact(name, params))
        for k in range(begin, mutations):
            print(json.dumps([label, k, "begin"]), flush=True)
            try:
                end = one(name, params, bases, k)
            except Exception:
                end = traceback.format_exc(limit=-3)
            print(json.dumps([label, k, end]), flush=True)


def watch(names, mutations):
    """The parent: counts per label and the failures."""
    labels = [label for label, _, _ in subjects(names)]
    return watching.watch(WORKER, names, labels, mutations, patience=PATIENCE, warm_up=WARM_UP)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=3000)
    parser.add_argument("--policy", action="append", default=[])
    parser.add_argument("--mutation", type=int)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        faulthandler.enable()
        work(*json.loads(given.worker))
        return 0
    if given.mutation is not None:
        for label, name, params in subjects(given.policy):
            print(label, one(name, params, list(intact(name, params)), given.mutation))
        return 0
    start = time.perf_counter()
    counts, failures = watch(given.policy, given.mutations)
    watching.show(counts, time.perf_counter() - start)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
