"""``multiduel rankers matrix``, ``submatrix``, ``live``, ``generate``: rankers and simulated clicks. Heavy imports wait."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multiduel.cli.terminal import POLICY, JsonFile, console, give_json, progress, refuse_json
from multiduel.files import refuse_unwritable, write_whole
from multiduel.inputs import BadInput

if TYPE_CHECKING:
    from multiduel.arrays import Floats
    from multiduel.problems import Problem
    from multiduel.rankers.lineup import Lineup

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Files = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE...", help="LETOR (svmlight) files, plain or gzip; none with --qrels."),
]
Qrels = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File of TREC judgements, in place of LETOR files; the rankers are the --run files."),
]
Clicks = Annotated[
    str,
    typer.Option(
        help="Kind of simulated users: perfect, navigational, informational, position-based, random, or a JSON file of tables."
    ),
]
Method = Annotated[str | None, typer.Option(help="Method that mixes lists and credits clicks; docs/rankers.md lists all.")]
Ties = Annotated[
    str | None,
    typer.Option(
        help="How ties count: half (half a win each), drop (not at all), or auto (half with two rankers on a page, else drop)."
    ),
]
Depth = Annotated[int, typer.Option(min=1, help="Number of documents on a result page.")]
Direction = Annotated[str, typer.Option(help="Order in which a feature ranks documents: descending, ascending or both.")]
Runs = Annotated[
    list[Path] | None, typer.Option("--run", metavar="FILE", help="TREC run file, whose ranker is added. May be repeated.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed; the same seed gives the same numbers.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="Number of threads; all cores by default. The results do not depend on it.")
]


@app.callback()
def rankers() -> None:
    """Find the best of several rankers from clicks. The clicks are in a log, or of simulated users."""


@app.command()
def matrix(
    *,
    files: Files = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE.csv", help="Write the matrix here, and FILE.errors.csv and FILE.json beside it.")
    ],
    clicks: Clicks = "informational",
    method: Method = None,
    comparisons: Annotated[int, typer.Option(min=2, help="Number of simulated users per pair of rankers.")] = 10_000,
    ties: Ties = None,
    depth: Depth = 10,
    direction: Direction = "descending",
    run: Runs = None,
    qrels: Qrels = None,
    seed: Seed = 0,
    threads: Threads = None,
) -> None:
    """Estimate from simulated users which ranker beats which. Ctrl-C stops it; the same command continues."""
    import numpy as np

    from multiduel.rankers.matrix import estimate_matrix, remove_parts, written_beside
    from multiduel.rankers.world import click_problem

    if out.suffix != ".csv":
        raise BadInput(f"'--out' must name a .csv file. Got '{out}'.")
    for path in written_beside(out):
        refuse_unwritable(path)
    lineup = _lineup(files or [], direction, run or [], qrels)
    problem = click_problem(lineup, clicks=clicks, depth=depth, **_given(method=method, ties=ties))
    parts = out.with_suffix(".parts")
    with progress(f"{lineup.n_arms * (lineup.n_arms - 1) // 2} pairs") as update:
        estimate = estimate_matrix(problem, comparisons=comparisons, seed=seed, threads=threads, parts=parts, progress=update)
    written = estimate.write(out)
    remove_parts(parts)
    preferences, ndcg = estimate.problem, lineup.ndcg()
    print(f"{preferences.label}; {len(lineup.queries)} queries, {len(lineup.grade)} documents")
    for what, arms in (
        ("Condorcet winner", () if preferences.winner is None else (preferences.winner,)),
        ("Copeland winners", preferences.copeland_winners),
        ("Borda winners", preferences.borda_winners),
    ):
        print(f"{what} by these numbers: {', '.join(preferences.names[arm] for arm in arms) or 'none'}")
    print(f"verdict on {comparisons:,} simulated users a pair: {estimate.verdict()}")
    off = estimate.errors[~np.eye(lineup.n_arms, dtype=bool)]
    print(f"standard errors: {off.mean():.5f} on average, {off.max():.5f} at most")
    print(f"rank correlation of Borda scores with NDCG@10: {_correlation(preferences, ndcg)}")
    print(f"Wrote {', '.join(map(str, written))}")


@app.command()
def submatrix(
    file: Annotated[Path, typer.Argument(metavar="P.csv", help="A preference matrix.")],
    out: Annotated[Path, typer.Option(metavar="FILE.csv", help="Write the submatrix here.")],
    size: Annotated[int, typer.Option(min=1, help="Number of rankers to keep.")] = 24,
    margin: Annotated[
        str,
        typer.Option(
            help="Margin: a ranker must beat those after it with at least 1/2 + this; auto: the largest margin possible."
        ),
    ] = "0",
) -> None:
    """Choose rankers of a matrix that form a total order.

    The command goes through the rankers by Copeland score, then Borda score, then number. It keeps a ranker if all rankers
    kept before beat it.
    """
    from multiduel.problems import read_csv, write_csv
    from multiduel.rankers.matrix import read_about
    from multiduel.rankers.submatrix import take, total_order

    problem = read_csv(file)
    try:
        least = None if margin == "auto" else float(margin)
    except ValueError:
        raise BadInput(f"'--margin' must be a number or 'auto'. Got '{margin}'.") from None
    arms = total_order(problem, size, margin=least)
    kept = take(problem, arms)
    write_csv(kept, out)
    made = read_about(file)
    if made:
        write_whole(out.with_suffix(".json"), json.dumps(made | {"submatrix": list(kept.names)}, indent=1) + "\n")
    smallest = min((kept.matrix[i, i + 1 :].min() for i in range(size - 1)), default=math.nan) - 0.5
    print(f"indices: {' '.join(map(str, arms))}")
    print(f"names: {' '.join(kept.names)}")
    print(f"smallest gap {smallest:.6g}, hardness {kept.hardness:.6g}, gamma {kept.gamma}")
    print(f"Wrote {out}")


@app.command()
def live(
    *,
    files: Files = None,
    matrix: Annotated[
        Path, typer.Option(metavar="P.csv", help="Matrix that regret is measured by; its names choose the rankers.")
    ],
    policy: Annotated[list[str], typer.Option(metavar="POLICY", help=f"{POLICY} May be repeated.")],
    slate_size: Annotated[int, typer.Option(min=2, help="Largest number of rankers on a page.")] = 2,
    horizon: Annotated[int, typer.Option(min=1, help="Number of rounds; a round is one simulated user.")] = 100_000,
    runs: Annotated[int, typer.Option(min=1, help="Number of independent runs.")] = 10,
    benchmark: Annotated[
        str, typer.Option(help="Winner that regret is measured against: condorcet, copeland, borda or utility.")
    ] = "condorcet",
    clicks: Annotated[str | None, typer.Option(help="Kind of simulated users; by default that of the matrix.")] = None,
    method: Method = None,
    ties: Ties = None,
    depth: Annotated[
        int | None, typer.Option(min=1, help="Number of documents on a page; by default that of the matrix.")
    ] = None,
    direction: Direction = "descending",
    run: Runs = None,
    qrels: Qrels = None,
    seed: Seed = 0,
    threads: Threads = None,
    json_file: JsonFile = None,
) -> None:
    """Simulate policies against clicking users instead of a matrix.

    Each round takes one query, mixes one page and simulates its clicks. Users, method and depth must be those of the matrix;
    P.json beside it names them. Ties may differ, because they do not change which ranker wins.
    """
    from multiduel.display.regret_tables import regret_table
    from multiduel.display.tables import rich_table
    from multiduel.engine.registry.registry import find
    from multiduel.engine.simulation.simulate import simulate
    from multiduel.lab.report import table_title
    from multiduel.problems import read_csv
    from multiduel.rankers.matrix import click_problem_of

    refuse_json(json_file)
    reference = read_csv(matrix)
    specs = [find(name, "typed") for name in policy]
    lineup = _lineup(files or [], direction, run or [], qrels)
    problem = click_problem_of(matrix, lineup, reference, **_given(clicks=clicks, method=method, ties=ties, depth=depth))
    best = {"condorcet": () if reference.winner is None else (reference.winner,), "borda": reference.borda_winners}
    winners = best.get(benchmark, reference.copeland_winners)
    results = []
    for spec in specs:
        with progress(spec.name) as update:
            result = simulate(
                spec.name,
                problem,
                slate_size=slate_size,
                horizon=horizon,
                runs=runs,
                benchmark=benchmark,
                seed=seed,
                threads=threads,
                progress=update,
            )
        results.append(result)
    if give_json(json_file, lambda: [result.to_json() for result in results]):
        return
    print(f"{problem.clicks.name} clicks, {problem.method}, ties {problem.ties}, {problem.clicks.depth} slots")
    summaries = [result.summary(winners=winners) for result in results]
    columns = ("name", "m", "mean", "interval", "std", "winner", "seconds")
    console().print(rich_table(regret_table(summaries, columns, title=table_title(results[0]))))


@app.command()
def generate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Write this .svm or .svm.gz file.")],
    queries: Annotated[int, typer.Option(min=1, help="Number of queries.")] = 100,
    documents: Annotated[int, typer.Option(min=1, help="Mean number of documents per query.")] = 30,
    features: Annotated[
        int, typer.Option(min=1, help="Number of features; the first is the best ranker, the last the worst.")
    ] = 12,
    grades: Annotated[int, typer.Option(min=2, help="Number of grades of relevance.")] = 5,
    seed: Seed = 0,
) -> None:
    """Generate learning-to-rank data. With it you can try the other commands without a download."""
    from multiduel.rankers.corpus import generate as make
    from multiduel.rankers.corpus import write_letor

    corpus = make(queries=queries, documents=documents, features=features, grades=grades, seed=seed)
    print(f"Wrote {out}: {queries} queries, {write_letor(corpus, out)} documents")


def _lineup(files: list[Path], direction: str, runs: list[Path], qrels: Path | None) -> Lineup:
    # Ties within a ranker are ordered by a fixed seed, so that 'matrix' and 'live' always mean the same rankers.
    from multiduel.rankers.letor import read_letor
    from multiduel.rankers.lineup import line_up, run_file
    from multiduel.rankers.trec import judged_queries

    if qrels is not None and (files or not runs):
        raise BadInput("'--qrels' goes with '--run', one or more, and without files of features.")
    if qrels is None and not files:
        raise BadInput("The rankers come from files of features, or from '--qrels' with '--run'. Got neither.")
    if qrels is None and not runs:
        return line_up(read_letor(*files), direction=direction)
    queries = read_letor(*files) if qrels is None else judged_queries(qrels, runs)
    retrieved = line_up(queries, [run_file(path) for path in runs])
    for name, count in zip(retrieved.names, retrieved.answered, strict=True):
        print(f"{name}: documents for {count} of {len(retrieved.queries)} queries")
    return retrieved if qrels is not None else line_up(read_letor(*files), direction=direction).join(retrieved)


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given; the others keep their defaults."""
    return {name: value for name, value in options.items() if value is not None}


def _correlation(problem: Problem, ndcg: Floats) -> str:
    from scipy.stats import spearmanr

    from multiduel import theory

    borda = theory.borda_scores(problem.matrix)
    if math.isnan(ndcg[0]) or len(set(ndcg)) < 2 or len(set(borda)) < 2:
        return "undefined"
    return f"{spearmanr(borda, ndcg).statistic:.3f}"
