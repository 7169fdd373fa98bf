"""From a Parquet file of battles to standings: seconds, memory, and other libraries on the same votes.

    python benchmarks/votes.py measure [--battles 1e6] [--options 200] [--large 1e7]     writes benchmarks/votes.json
    python benchmarks/votes.py page                                                      puts its table into docs/votes.md

Each way is timed in a process of its own, after a run on few votes that loads and compiles what it needs. CPU seconds and seconds
on the clock are both given, because machines are shared. Ours reads the file and has strengths with intervals, rank ranges and a
verdict. The others get the votes in memory, in the form that they take, and give strengths alone; reading is not counted there.
``choix`` is timed twice: with the pairs, as its documentation does, and with a table of counts, which is made in its time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
WAYS = ("multiduel", "multiduel, in memory", "multiduel, strengths", "evalica", "choix, pairs", "choix, counts")


def write_battles(path: Path, battles: int, options: int) -> None:
    """Battles of options whose strengths spread over 3 nats; one in ten is a tie. Columns as Chatbot Arena has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    u = np.linspace(0.0, 3.0, options)
    a = rng.integers(options, size=battles)
    b = (a + rng.integers(1, options, size=battles)) % options
    won = rng.random(battles) < 1.0 / (1.0 + np.exp(u[b] - u[a]))
    outcome = np.where(rng.random(battles) < 0.1, 2, np.where(won, 0, 1)).astype(np.int8)
    names = pa.array([f"model-{k:03d}" for k in range(options)])
    said = pa.array(["model_a", "model_b", "tie"])
    columns = {
        "model_a": pa.DictionaryArray.from_arrays(pa.array(a.astype(np.int32)), names).dictionary_decode(),
        "model_b": pa.DictionaryArray.from_arrays(pa.array(b.astype(np.int32)), names).dictionary_decode(),
        "winner": pa.DictionaryArray.from_arrays(pa.array(outcome), said).dictionary_decode(),
    }
    pq.write_table(pa.table(columns), path)


def strengths(way: str, path: Path) -> tuple[float, float, list[float]]:
    """CPU seconds, seconds, and the strengths in the order of the names, from the mean."""
    import pandas

    frame = pandas.read_parquet(path) if way != "multiduel" else None
    if way == "multiduel, strengths":
        import multiduel as md
        from multiduel.inference.strengths import fit

        votes = md.read_votes(frame)
        cpu, clock = time.process_time(), time.perf_counter()
        above, ties = votes.tables
        found = fit(above + 0.5 * ties)[0]
        took = time.process_time() - cpu, time.perf_counter() - clock
        by_name = dict(zip(votes.options, found.tolist(), strict=True))
    elif way.startswith("multiduel"):
        import multiduel as md

        cpu, clock = time.process_time(), time.perf_counter()
        found = md.standings(md.read_votes(path if frame is None else frame))
        took = time.process_time() - cpu, time.perf_counter() - clock
        assert np.isfinite(found.low).all()
        by_name = dict(zip(found.names, found.strength.tolist(), strict=True))
    elif way == "evalica":
        import evalica

        meaning = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
        xs, ys, winners = frame["model_a"].tolist(), frame["model_b"].tolist(), [meaning[one] for one in frame["winner"].tolist()]
        cpu, clock = time.process_time(), time.perf_counter()
        scores = evalica.bradley_terry(xs, ys, winners).scores
        took = time.process_time() - cpu, time.perf_counter() - clock
        by_name = {str(name): float(np.log(score)) for name, score in scores.items()}
    else:
        import choix

        names = sorted(set(frame["model_a"]) | set(frame["model_b"]))
        number = {name: k for k, name in enumerate(names)}
        a, b = (frame[side].map(number).to_numpy() for side in ("model_a", "model_b"))
        outcome = frame["winner"].to_numpy()
        decided = outcome != "tie"  # choix has no ties: they are left out, which is less work
        first = np.where(outcome == "model_a", a, b)[decided]
        second = np.where(outcome == "model_a", b, a)[decided]
        pairs = list(zip(first.tolist(), second.tolist(), strict=True)) if way == "choix, pairs" else None
        cpu, clock = time.process_time(), time.perf_counter()
        if pairs is not None:
            found = choix.ilsr_pairwise(len(names), pairs, alpha=1e-9)
        else:
            table = np.zeros((len(names), len(names)))
            np.add.at(table, (first, second), 1.0)
            found = choix.ilsr_pairwise_dense(table, alpha=1e-9)
        took = time.process_time() - cpu, time.perf_counter() - clock
        by_name = dict(zip(names, found.tolist(), strict=True))
    theta = np.array([by_name[name] for name in sorted(by_name)])
    return *took, (theta - theta.mean()).round(4).tolist()


def alone(way: str, path: Path, few: Path) -> None:
    """One way, in this process: first on few votes."""
    strengths(way, few)
    cpu, clock, found = strengths(way, path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"cpu_seconds": round(cpu, 3), "seconds": round(clock, 3), "peak_mb": round(peak), "strengths": found}))


def measured(way: str, path: Path, few: Path) -> dict:
    done = subprocess.run([sys.executable, __file__, "--alone", way, str(path), str(few)], capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:200]}
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=("measure", "page"), default="measure")
    parser.add_argument("--battles", type=float, default=1e6)
    parser.add_argument("--options", type=int, default=200)
    parser.add_argument("--large", type=float, default=1e7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        way, path, few = given.alone
        alone(way, Path(path), Path(few))
        return
    if given.command == "page":
        page()
        return
    with tempfile.TemporaryDirectory() as folder:
        few, many, large = (Path(folder) / f"{name}.parquet" for name in ("few", "many", "large"))
        write_battles(few, 20_000, given.options)
        write_battles(many, int(given.battles), given.options)
        rows = {}
        for way in WAYS:
            runs = [measured(way, many, few) for _ in range(given.repeats if "pairs" not in way else 1)]
            rows[way] = min(runs, key=lambda run: run.get("cpu_seconds", np.inf))
            print(way, {name: value for name, value in rows[way].items() if name != "strengths"}, flush=True)
        ours = rows["multiduel"]
        reference = ours["strengths"]
        report = {"battles": int(given.battles), "options": given.options, "best_of": given.repeats, "ways": {}}
        for way, row in rows.items():
            found = row.pop("strengths", None)
            if found is not None and way != "multiduel":
                row["times_ours"] = round(row["cpu_seconds"] / ours["cpu_seconds"], 2)
                row["correlation"] = round(float(np.corrcoef(found, reference)[0, 1]), 6)
            report["ways"][way] = row
        if given.large:
            write_battles(large, int(given.large), given.options)
            row = measured("multiduel", large, few)
            row.pop("strengths", None)
            report["large"] = {"battles": int(given.large), **row}
            print("large", report["large"], flush=True)
    (HERE / "votes.json").write_text(json.dumps(report, indent=1) + "\n")


def table() -> str:
    """As Markdown."""
    found = json.loads((HERE / "votes.json").read_text())
    lines = ["| what | CPU seconds | of ours | peak memory |", "|---|---|---|---|"]
    what = {
        "multiduel": "multiduel, from Parquet to standings with intervals",
        "multiduel, in memory": "multiduel, from a pandas frame",
        "multiduel, strengths": "multiduel, from arrays by way of counts to strengths",
        "evalica": "evalica, from lists to strengths",
        "choix, pairs": "choix, from pairs to strengths (ties left out)",
        "choix, counts": "choix, from arrays by way of counts to strengths (ties left out)",
    }
    for way, row in found["ways"].items():
        if "failed" not in row:
            of = f"{row['times_ours']:.2f}" if "times_ours" in row else "1"
            lines.append(f"| {what[way]} | {row['cpu_seconds']:.2f} | {of} | {row['peak_mb']:,} MB |")
    large = found["large"]
    size = f"multiduel, {large['battles']:,} battles from Parquet"
    lines.append(f"| {size} | {large['cpu_seconds']:.2f} | | {large['peak_mb']:,} MB |")
    votes = f"{found['battles']:,} battles of {found['options']} options, one in ten a tie"
    head = f"{votes} (`benchmarks/votes.py`; the best of {found['best_of']} runs, and one of choix with pairs):"
    return "\n".join([head, "", *lines])


def page() -> None:
    """Put the table between its marks."""
    file = HERE.parent / "docs" / "votes.md"
    before, _, rest = file.read_text().partition("<!-- speed -->\n")
    _, _, after = rest.partition("<!-- end of speed -->\n")
    file.write_text(f"{before}<!-- speed -->\n{table()}\n<!-- end of speed -->\n{after}")


if __name__ == "__main__":
    main()
