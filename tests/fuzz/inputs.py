"""Hostile input of every kind: accepted or refused with BadInput; a traceback, a crash or a hang is a failure.

    python tests/fuzz/inputs.py --tries 3000             every kind; ends with 1 if anything failed
    python tests/fuzz/inputs.py --kind toml --number 17  one of them again, in this process

Kinds: command lines, CSV matrices, LETOR files, TOML experiments, outcomes, votes. Trial k of a kind is the same in every run.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gzip
import io
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
import traceback
from pathlib import Path

if __package__ in (None, ""):  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import watching

WORKER = [str(Path(__file__).resolve())]
PATIENCE = 60.0
WARM_UP = 300.0

NUMBERS = ("0", "1", "2", "3", "7", "-1", "0.5", "1.5", "1e2", "1_0", "1,000", "inf", "-inf", "nan", "1e400", "5e-324", "1e308")
NUMBERS += (
    "2**64", "10**99", "18446744073709551616", "9" * 400, "9" * 5000, "0x10", "٣", "", " ", "x", "true", "1e-400", "+1",
    "--1",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "é", "\udcff", "[/foo]", "[bold]", "$x$", "$\\frac{", "%s", "{0}", "\x1b[2J", "a" * 3000, "'", '"', "\\",
    "#", ",", ":",
)  # fmt: skip
TEXTS += ("null", "[]", "{}", "-", "--", "=", "\r", "\u2028", "🙂", "None", "1:1", "qid:", "nan")

CSV = 'a,"b, too",c\n0.5,0.6,0.7\n0.4,0.5,0.8\n0.3,0.2,0.5\n'
LETOR = "2 qid:1 1:0.5 2:1 # docid = a\n0 qid:1 1:0.25 2:-3e2\n1 qid:x 1:1 7:2\n0 qid:x 2:2 # docid = b\n"
TOML = """title = "Two"
horizon = 1e3
runs = 4
seed = 11
checkpoints = [1, 10, 1000]
[problem]
kind = "bradley-terry"
arms = 5
scale = 1.5
seed = 4
[[contenders]]
policy = "multi-rucb"
id = "two"
label = "MultiRUCB [fast]"
slate_size = 2
params = { alpha = 0.51, priority = "always" }
[[contenders]]
policy = "doubler-bai"
runs = 2
rival = true
params = { machine = "kl-lucb" }
"""
COMMANDS = (
    "policies", "policies rucb", "problem --list", "--version", "--help", "run --list",
    "suggest --arms 5 --slate-size 3 --horizon 1e4 --assume utilities",
    "problem synthetic --arms 5 --link linear --horizon 1e4 --slate-size 3 --alpha 1.5",
    "problem P.csv --json -", "problem random --arms 4 --seed 3", "problem tournament --arms 5", "problem cyclic --arms 4",
    "simulate uniform --arms 3 --horizon 9 --runs 2 --seed 1 --threads 1 --slate-size 2 --benchmark borda",
    "simulate multi-rucb uniform --problem P.csv --horizon 20 --runs 1 --param multi-rucb.alpha=0.6 --json out.json",
    "simulate multi-rucb --arms 3 --horizon 5 --runs 1 --param priority=always --json -",
    "simulate uniform --arms 3 --horizon 9 --runs 1 --plot out.svg --scale linear",
    "rankers generate made.svm --queries 2 --documents 3 --features 2 --grades 2 --seed 1",
    "rankers submatrix P.csv --out sub.csv --size 2 --margin 0.01",
    "rankers matrix d.svm --out m.csv --clicks perfect --method team-draft --comparisons 9 --depth 3 --seed 1 --threads 1",
    "rankers live d.svm --matrix R.csv --policy uniform --horizon 9 --runs 1 --json live.json --seed 1 --clicks c.json",
    "run e.toml --out results --threads 1", "report results/e",
    "rank V.csv --by rater --alpha 0.1 --top 2 --json - --column rater=judge --outcome a=first",
    "rank V.csv --html out.html --latex out.tex --style c.csv --position --margin 0.1",
    "next V.csv --slate-size 3 --number 4 --option d --case x --seed 1 --out out.csv",
)  # fmt: skip


def mutated(text: str, rng: random.Random, pool: tuple[str, ...]) -> str:
    """A few small injuries: replaced, inserted, deleted, doubled and exchanged pieces."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        short = slice(i, min(j, i + rng.choice((0, 1, 1, 3, 20))))
        kind = rng.randrange(5)
        if kind == 0:  # a word or number by another
            words = [match.span() for match in re.finditer(r"[^\s,:=]+", text)]
            if words:
                start, end = rng.choice(words)
                text = text[:start] + rng.choice(pool) + text[end:]
        elif kind == 1:
            text = text[:i] + rng.choice(pool) + text[i:]
        elif kind == 2:
            text = text[: short.start] + text[short.stop :]
        elif kind == 3:
            text = text[:j] + text[short] * rng.choice((1, 2, 50)) + text[j:]
        else:
            text = (
                text[:i]
                + chr(rng.choice((0, 9, 10, 13, 34, 44, 58, 127, 160, 0xFEFF, 0x1F642, rng.randrange(1, 256))))
                + text[i:]
            )
    return text


def raw(text: str, rng: random.Random) -> bytes:
    """As the bytes of a file, now and then not of UTF-8."""
    data = bytearray(text.encode("utf-8", "surrogateescape"))
    if data and rng.random() < 0.2:
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.05:
        data = bytearray(text.encode("utf-16", "replace"))
    return bytes(data)


def csv_matrix(rng):
    from multiduel import problems, theory

    Path("x.csv").write_bytes(raw(mutated(CSV, rng, NUMBERS + TEXTS), rng))
    problem = problems.read_csv("x.csv")
    json.dumps(problem.to_json(), allow_nan=False)
    if problem.winner is not None:
        problem.bounds(1000)
        theory.komiyama_lower_bound(problem.matrix)
    problems.write_csv(problem, "y.csv")
    assert (problems.read_csv("y.csv").matrix == problem.matrix).all()


def letor_file(rng):
    from multiduel import rankers

    data = raw(mutated(LETOR, rng, NUMBERS + TEXTS), rng)
    if rng.random() < 0.2:
        packed = bytearray(gzip.compress(data, mtime=0))
        if rng.random() < 0.7:
            packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
        data = bytes(packed[: rng.randrange(len(packed))] if rng.random() < 0.2 else packed)
    Path("x.svm").write_bytes(data)
    queries = list(rankers.read_letor("x.svm"))
    lineup = rankers.line_up(queries, direction=rng.choice(("descending", "ascending", "both")))
    lineup.ndcg()


def toml_experiment(rng):
    from multiduel.lab import experiment as experiments
    from multiduel.lab import problem as problem_tables

    Path("x.toml").write_bytes(raw(mutated(TOML, rng, NUMBERS + TEXTS), rng))
    experiment = experiments.load("x.toml")
    json.dumps(experiment.to_json(), allow_nan=False)
    if experiment.problem.get("arms", 0) < 1000:
        problem_tables.resolve(experiment.problem, None)
    if isinstance(experiment.checkpoints, tuple) or experiment.checkpoints < 10_000:
        experiment.marks()
    experiments.quick(experiment)


VOTES = {
    "b.csv": "model_a,model_b,winner,judge,question_id,tstamp\na,b,model_a,x,1,5\nb,c,tie,y,2,6.5\nc,a,c,x,1,2026-01-01\n",
    "semicolons.csv": "left;right;winner;count\na;b;left;2\nb;c;right;1\nc;a;tie (bothbad);3\n",
    "b.jsonl": '{"model_a": "a", "model_b": "b", "winner": "a"}\n{"model_a": "b", "model_b": "c", "winner": "both_bad"}\n',
    "r.txt": "3: a > b = c\nb>a\n",
    "r.csv": "rater,shown,ranking,best\nx,a|b|c,a>b=c,\ny,a|b,,b\n",
    "p.tsv": "1st\t2nd\t3rd\na\tb=c\t\nc\tb\ta\n",
    "l.csv": "i,j,wins,losses,ties\na,b,5,2,0\nb,c,1,1,7\n",
    "q.csv": ",a,b,c\na,0,5,3\nb,2,0,4\nc,1,0,0\n",
    "s.csv": "id,case,option_1,option_2,option_3,rater,answer\n1,x,a,b,c,r,2>1=3\n2,y,c,a,,r,a\n3,y,c,a,b,r,\n",
    "x.toi": "# DATA TYPE: toi\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n# ALTERNATIVE NAME 3: c\n3: 1,{2,3}\n",
    "x.wmd": "# FILE NAME: x.wmd\n# DATA TYPE: wmd\n# ALTERNATIVE NAME 1: a\n# ALTERNATIVE NAME 2: b\n1, 2, 7.0\n2, 1, 3\n",
    "old.soc": "3\n1,a\n2,b\n3,c\n5,5,2\n3,1,2,3\n2,3,2,1\n",
}


def votes_file(rng):
    """Files of votes of every kind: refused, or taken; then standings and the next slates, which read back."""
    import multiduel as md

    name = rng.choice(list(VOTES))
    data = raw(
        mutated(VOTES[name], rng, (*NUMBERS, *TEXTS, "a", "b", "tie", "2", "a>b", ";", "{", "}", "option_9", "model_a")), rng
    )
    if rng.random() < 0.1:
        packed = bytearray(gzip.compress(data, mtime=0))
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
        data = bytes(packed)
    Path(name).write_bytes(data)
    try:
        votes = md.read_votes(name)
    except md.BadInput as refusal:
        assert len(str(refusal)) < 2000
        raise
    if len(votes.options) > 200:
        return
    votes.tables  # noqa: B018
    slates = md.next_slates(votes, slate_size=3, number=3)
    for ending in ("csv", "jsonl") if slates.slates else ():
        slates.write(f"out.{ending}")
        again = md.read_votes(f"out.{ending}")
        assert again.answers == 0 and set(again.options) == {one for slate in slates.slates for one in slate.options}


VALUES = (
    None, True, 0, 1, 2, 3, -1, 9, 0.0, 0.5, 1.0, -1.0, 1e9, 1.1e9, 1e308, float("inf"), float("nan"), 2**63, 2**64,
    10**400,
)  # fmt: skip
VALUES += (
    10**5000, "a", "", "0", b"x", (), (0,), (0, 1), [0, 1], [[0, 1], [1, 0]], {}, {0: 1}, {0, 1}, 1j, object, len, range(3),
)  # fmt: skip


def strange(rng, depth=2):
    """Any value, nested now and then."""
    if depth and rng.random() < 0.4:
        kind = rng.choice((list, tuple, list))
        return kind(strange(rng, depth - 1) for _ in range(rng.randrange(4)))
    return rng.choice(VALUES)


_policies: dict = {}


def outcome(rng):
    """Tells, observations and forgotten slates of any kind: refused, or taken and played on with."""
    import numpy as np

    import multiduel as md

    name = rng.choice(("multi-rucb", "rucb", "uniform", "ind-self-sparring"))
    saved = _policies.setdefault(name, md.make(name, n_arms=5, slate_size=3, seed=0).snapshot())
    policy = md.restore(saved)
    refused = 0
    for _ in range(4):
        slate = policy.ask()
        arms, n = slate.arms, len(slate.arms)
        made = rng.choice((md.ranking, md.best, md.worst, md.duels, md.tie, None, None, np.array))
        try:
            shuffled = rng.sample(arms, n)
            table = [[rng.choice(VALUES) for _ in range(n)] for _ in range(n)]
            wins = np.random.default_rng(rng.randrange(99)).random((n, n)) * (1 - np.eye(n)) * rng.choice((1, 1e9, 1e300))
            value = rng.choice((strange(rng), shuffled, shuffled[0], list(itertools.pairwise(shuffled)), table, wins))
            with contextlib.suppress(ValueError):  # NumPy refuses it itself
                if made is np.array and not isinstance(value, np.ndarray):
                    value = np.array(value)
            result = made(value) if made not in (None, np.array, md.tie) else md.tie(*shuffled) if made is md.tie else value
            where = slate if rng.random() < 0.8 else rng.choice((strange(rng), (slate.round, strange(rng)), (strange(rng), arms)))
            what = rng.randrange(8)
            if what < 5:
                policy.tell(where, result)
            elif what == 5:
                policy.observe(where if rng.random() < 0.3 else arms, result)
            elif what == 6:
                policy.forget(where)
            else:
                md.make(name, n_arms=5, slate_size=3, tally=value, round=strange(rng))
        except md.BadInput as refusal:
            refused += 1
            assert len(str(refusal)) < 1000
    policy.recommend()
    policy.standings()
    json.dumps(policy.snapshot(), allow_nan=False)
    if refused == 4:
        raise md.BadInput("all four")


def command_line(rng):
    """In this process; what it prints goes nowhere."""
    from typer.testing import CliRunner

    import multiduel as md
    from multiduel import cli

    words = rng.choice(COMMANDS).split()
    for _ in range(rng.choice((1, 1, 2, 3))):
        k = rng.randrange(len(words))
        kind = rng.randrange(6)
        if kind < 2:
            words[k] = rng.choice(NUMBERS)
        elif kind == 2:
            words[k] = rng.choice((*TEXTS, "/", ".", "/dev/full", "no/where.csv", "x" * 300, "results", "P.csv", "binary.csv"))
        elif kind == 3:
            words[k] = mutated(words[k], rng, TEXTS).replace("/", "")
        elif kind == 4:
            words.insert(k, rng.choice((*NUMBERS, *TEXTS, "--json", "--out", "--seed", "--help")))
        elif len(words) > 1:
            del words[k]
    words = [word.replace("\0", "") for word in words]
    if _too_long(words):
        return
    with contextlib.redirect_stderr(io.StringIO()):
        result = CliRunner().invoke(cli.app, words)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error
    said = result.output
    assert "Traceback" not in said, said
    if result.exit_code == 2:
        raise md.BadInput("refused")
    assert result.exit_code == 0, (words, said)


def _too_long(words):
    """Work that is allowed and takes its time: many rounds, arms or runs."""
    from multiduel.cli.terminal import whole_number

    for name, value in itertools.pairwise(words):
        if name in ("--horizon", "--runs", "--arms", "--comparisons", "--queries", "--documents", "--features", "--depth"):
            with contextlib.suppress(Exception):
                if 200 < whole_number("n", value) < 10**9:
                    return True
    # the default of a million rounds and fifty runs plays for long; so does an option whose value was lost
    if "simulate" in words or "live" in words:
        given = dict(itertools.pairwise(words))
        return not {"--horizon", "--runs"} <= set(given) or any(given[name].startswith("-") for name in ("--horizon", "--runs"))
    return "run" in words and "--list" not in words and "e.toml" not in words


KINDS = {
    "command lines": command_line,
    "CSV": csv_matrix,
    "LETOR": letor_file,
    "TOML": toml_experiment,
    "outcomes": outcome,
    "votes": votes_file,
}


def prepare():
    """The files that command lines name."""
    for name, text in {
        "P.csv": CSV,
        "d.svm": LETOR,
        "c.json": '{"click": [0.1, 0.5, 0.9]}',
        "V.csv": VOTES["b.csv"],
        "c.csv": "option,content\na,# long\nb,short\nc,- middle\n",
        "R.csv": "f1,f2\n.5,.6\n.4,.5\n",
    }.items():
        Path(name).write_text(text)
    Path("binary.csv").write_bytes(bytes(range(256)))
    Path("e.toml").write_text(
        "horizon = 20\nruns = 2\nproblem = {kind = 'synthetic', arms = 3}\n[[contenders]]\npolicy = 'uniform'\n"
    )


def one(kind, k):
    """ "refused" or "played"."""
    import multiduel as md

    try:
        KINDS[kind](random.Random(f"{kind} {k}"))
    except md.BadInput:
        return "refused"
    return "played"


def work(kinds, tries, first):
    sys.set_int_max_str_digits(4300)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        out = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever is printed: the parent reads our words alone

        def say(*words):
            os.write(out, json.dumps(words).encode() + b"\n")

        for kind in kinds:
            begin = first.get(kind, 0)
            if begin < tries:
                say(kind, -1, "begin")
                prepare()
            for k in range(begin, tries):
                say(kind, k, "begin")
                try:
                    end = one(kind, k)
                except Exception:
                    end = traceback.format_exc(limit=-4)
                say(kind, k, end)


def watch(kinds, tries):
    kinds = kinds or list(KINDS)
    return watching.watch(WORKER, kinds, kinds, tries, patience=PATIENCE, warm_up=WARM_UP)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=3000)
    parser.add_argument("--kind", action="append", choices=list(KINDS), default=[])
    parser.add_argument("--number", type=int)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        faulthandler.enable()
        work(*json.loads(given.worker))
        return 0
    if given.number is not None:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            prepare()
            for kind in given.kind or KINDS:
                print(kind, one(kind, given.number))
        return 0
    start = time.perf_counter()
    counts, failures = watch(given.kind, given.tries)
    watching.show(counts, time.perf_counter() - start)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
