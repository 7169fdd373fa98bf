"""Sweeps: a list where a value stands, several problems; what is ahead, small multiples, and the best on each problem."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel import cli
from multiduel.display import regret_figures
from multiduel.display.tables import number
from multiduel.lab import comparison, report, results, runner, sweeps, workload
from multiduel.lab import experiment as experiments
from multiduel.lab.folder_lock import occupied
from tests.lab import made_up

DOCS = Path(__file__).parents[2] / "docs"
SWEEP = """
title = "Sizes"
slate_size = [2, 3]
horizon = 60
runs = 2
checkpoints = 3
[[problems]]
kind = "synthetic"
arms = [4, 5]
[[problems]]
kind = "cyclic"
arms = 4
[[contenders]]
policy = "uniform"
[[contenders]]
policy = "rucb"
"""


def parsed(text, name="sizes.toml"):
    return experiments.parse_all(text, name)


def test_problems_and_slate_sizes_make_experiments_named_by_what_varies():
    sweep = parsed(SWEEP)
    assert (sweep.name, sweep.title, sweep.several) == ("sizes", "Sizes", True)
    found = [(each.short, each.name, each.title, each.slate_size, each.problem["arms"]) for each in sweep.experiments]
    problems = [("synthetic, K = 4", 4), ("synthetic, K = 5", 5), ("cyclic, K = 4", 4)]
    assert found == [
        (f"{words}, m = {m}", f"{words.replace(', K = ', '-k-')}-m-{m}", f"Sizes: {words}, m = {m}", m, arms)
        for words, arms in problems
        for m in (2, 3)
    ]
    assert [each.problem for each in sweep.experiments][-1] == {"kind": "cyclic", "arms": 4}
    with pytest.raises(md.BadInput, match=r"must be one experiment\. Got a sweep of 6: 'load_all' takes it"):
        experiments.parse(SWEEP, "sizes.toml")
    small = experiments.quick_all(sweep)
    assert small.name == "sizes-quick" and [each.name for each in small.experiments] == [e.name for e in sweep.experiments]


ONE = SWEEP.replace("slate_size = [2, 3]\n", "")


@pytest.mark.parametrize(
    ("problems", "names"),
    [
        ('[problem]\nkind = "cyclic"\narms = [4, 5]', ["k-4", "k-5"]),
        ('[problem]\nkind = "synthetic"\nlink = ["linear", "logit"]', ["linear-link", "logit-link"]),
        ('[problem]\nkind = "random"\nseed = [0, 1]\narms = 4', ["seed-0", "seed-1"]),
        ('[[problems]]\nkind = "csv"\nfile = ["a.csv", "b.csv"]', ["a", "b"]),
        ('[[problems]]\nkind = "cyclic"\nlabel = "Hard"\n[[problems]]\nkind = "cyclic"\nlabel = "Soft"\ngap = [0.1, 0.2]',
         ["hard", "soft-gap-0-1", "soft-gap-0-2"]),
        ('[[problems]]\nkind = "cyclic"', ["sizes"]),
    ],
)  # fmt: skip
def test_what_is_swept(problems, names):
    text = re.sub(r"\[\[problems\]\].*(?=\[\[contenders\]\]\npolicy = \"uniform\")", problems + "\n", ONE, flags=re.DOTALL)
    assert [each.name for each in parsed(text).experiments] == names


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[2, 3]", "[]", "'slate_size' of an experiment must be a value, or a list of 1 to 1000"),
        ("[4, 5]", "[]", "'arms' of a problem must be a value, or a list"),
        ("[4, 5]", "[4, 4]", "must differ, or have a 'label' of their own. Got 'synthetic, m = 2' more than once"),
        ("[4, 5]", "[4, 0]", "'arms' of 'problem' must be a whole number of at least 1"),
        ("[[problems]]", "[problem]\nkind = 'cyclic'\n[[problems]]", "a [problem] or several [[problems]]. Got both"),
        ('title = "Sizes"', "problems = 3", "'problems' must be at least one"),
        ("[2, 3]", f"{list(range(2, 700))}", "a sweep must be of at most 1000 experiments. Got 2094"),
    ],
)
def test_refused(old, new, said):
    text = SWEEP.replace(old, new, 1)
    if new == "problems = 3":
        text = text[: text.index("[[problems]]")] + text[text.index("[[contenders]]") :]
    with pytest.raises(md.BadInput, match=re.escape(said)):
        parsed(text)


def test_a_base_may_have_the_problems_and_the_file_above_others(tmp_path):
    (tmp_path / "base.toml").write_text(SWEEP)
    (tmp_path / "above.toml").write_text('base = "base.toml"\nslate_size = 2\n[problem]\nkind = "cyclic"\n')
    assert [each.name for each in experiments.load_all(tmp_path / "above.toml").experiments] == ["above"]
    (tmp_path / "above.toml").write_text('base = "base.toml"\nslate_size = 2\n')
    assert len(experiments.load_all(tmp_path / "above.toml").experiments) == 3


TWO = SWEEP.replace("[4, 5]", "4").replace('[[problems]]\nkind = "cyclic"\narms = 4\n', "")


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of two that was run from the command line, and what it said."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "sizes.toml").write_text(TWO)
    said = CliRunner().invoke(cli.app, ["run", str(folder / "sizes.toml"), "--out", str(folder / "out"), "--threads", "1"])
    assert said.exit_code == 0, said.stderr
    return folder, said.stdout


def test_report_makes_it_anew(swept):
    folder, _ = swept
    out = folder / "out" / "sizes"
    names = ("regret.svg", "summary.md", "summary.html", "summary.json")
    before = {name: (out / name).read_bytes() for name in names}
    for name in names:
        (out / name).unlink()
    said = CliRunner().invoke(cli.app, ["report", str(out)])
    assert said.exit_code == 0 and "Sizes: best" in said.stdout
    assert {name: (out / name).read_bytes() for name in names} == before
    cited = CliRunner().invoke(cli.app, ["cite", str(out)]).stdout
    assert cited.count("@") == 1 and "Relative" in cited, "the paper of RUCB, once"
    tables = CliRunner().invoke(cli.app, ["report", str(out), "--latex"]).stdout
    assert tables.count(r"\begin{table}") == 1, "one for all"
    kept = (out / "sweep.json").read_text()
    (out / "sweep.json").write_text(kept.replace("multiduel-sweep-1", "x"))
    said = CliRunner().invoke(cli.app, ["report", str(out)])
    assert said.exit_code == 2 and "is damaged" in said.stderr
    (out / "sweep.json").write_text(kept)


def test_every_interval_of_a_mean_is_the_same(swept):
    """In the summary as JSON, Markdown and page, of the sweep and of each experiment, in LaTeX, at the terminal, in Results."""
    folder, _ = swept
    out = folder / "out" / "sizes"
    facts = json.loads((out / "summary.json").read_text())
    latex = CliRunner().invoke(cli.app, ["report", str(out), "--latex"]).stdout
    both = [(out / f"summary.{kind}").read_text() for kind in ("md", "html")]
    for each in facts["problems"]:
        panel = results.read(out / each["experiment"])
        alone = {line["id"]: line for line in json.loads((out / each["experiment"] / "summary.json").read_text())["contenders"]}
        own = [(out / each["experiment"] / f"summary.{kind}").read_text() for kind in ("md", "html")]
        terminal = [cell for column in report.panel_table(panel).columns for cell in column.cells]
        for contender in each["contenders"]:
            line = panel.line(contender["id"])
            low, high = (float(bound[-1]) for bound in line.result.interval())
            assert contender["interval_95"] == alone[contender["id"]]["interval_95"] == [low, high]
            said = f"{number(low)} to {number(high)}"
            assert all(said in text for text in (*both, *own, latex, repr(md.Results([line.result])))) and said in terminal
            curve = next(curve for curve in panel.curves() if curve.name == line.label)
            assert (curve.low[-1], curve.high[-1]) == (low, high), "the band of the figure"


def test_a_sweep_says_what_is_ahead_and_who_was_best(swept, monkeypatch):
    folder, said = swept
    assert said.startswith("sizes: 2 experiments, 4 contenders, 8 parts: all to be played.\nEstimated time: ")
    assert re.search(r"Estimated time: ([3-9]|[1-9]\d) s on 1 core, with drawing, from a short trial\.", said)
    assert "Sizes: best" in said and "m = 3" in said and "a verdict needs 20 runs" in " ".join(said.split())
    out = folder / "out" / "sizes"
    names = {"regret.png", "regret.svg", "regret-narrow.svg", "summary.md", "summary.html", "summary.json"}
    assert {path.name for path in out.iterdir() if path.is_file()} == names | {"sweep.json"}
    facts = json.loads((out / "summary.json").read_text())
    assert [each["experiment"] for each in facts["problems"]] == ["m-2", "m-3"]
    for each in facts["problems"]:
        panel = results.read(out / each["experiment"])
        means = {line.id: line.final.mean() for line in panel.lines}
        assert each["best"] == min(means, key=means.get) and each["contenders"][0]["mean"] == min(means.values())
        assert names <= {path.name for path in (out / each["experiment"]).iterdir()}
    page = (out / "summary.html").read_text()
    assert page.count('<div class="wide" tabindex="0"><table>') == 2 and '<source media="(max-width: 640px)"' in page
    drawn = []
    monkeypatch.setattr(regret_figures, "small_multiples", lambda *args, **options: drawn.append(len(args[0])))
    again = CliRunner().invoke(cli.app, ["run", str(folder / "sizes.toml"), "--out", str(folder / "out"), "--threads", "1"])
    assert "8 parts: all are there.\n" in again.stdout and "Estimated" not in again.stdout
    assert sorted(drawn) == [1] * 6 + [2] * 3


def test_numbers_are_those_of_each_experiment_alone_and_shared_runs_are_played_once(swept, tmp_path, monkeypatch):
    folder, _ = swept
    played = []
    real = runner.task
    monkeypatch.setattr(runner, "task", lambda *args: played.append((args[0].name, args[2].contender)) or real(*args))
    sweep = parsed(TWO)
    sweeps.run(sweep, tmp_path, threads=1)
    twos = {name for name, contender in played if contender == "rucb"}
    assert twos == {each.name for each in sweep.experiments if each.slate_size == 2}, "a two-dueling policy compares two anyway"
    for each in sweep.experiments:
        runner.run(each, tmp_path / "alone", threads=1)
        alone, among, other = (
            place / each.name / "results.parquet" for place in (tmp_path / "alone", tmp_path / "sizes", folder / "out" / "sizes")
        )
        assert alone.read_bytes() == among.read_bytes() == other.read_bytes()


def test_one_command_at_a_time_and_one_thing_per_folder(swept, tmp_path):
    folder, _ = swept
    with occupied(tmp_path / "sizes"), pytest.raises(md.BadInput, match="sizes' is at work already: process"):
        sweeps.run(parsed(SWEEP), tmp_path)
    plain = parsed(TWO.replace("[2, 3]", "2"))
    with pytest.raises(md.BadInput, match="holds files that are not results of an experiment"):
        sweeps.run(plain, folder / "out", threads=1)
    sweeps.run(plain, tmp_path, threads=1)
    with pytest.raises(md.BadInput, match="holds results of one experiment, and this is a sweep"):
        sweeps.run(parsed(SWEEP), tmp_path)


def test_the_guess_grows_with_what_is_to_be_played(tmp_path, monkeypatch):
    """With a clock that runs 1 ms per part and 1 microsecond per round it is exact."""
    clock = [0.0]

    def simulate(policy, problem, *, horizon, runs, **options):
        clock[0] += 1e-3 + 1e-6 * horizon * runs

    monkeypatch.setattr(workload, "simulate", simulate)
    monkeypatch.setattr(workload.time, "process_time", lambda: clock[0])
    text = SWEEP.replace("horizon = 60", "horizon = 1e6").replace("runs = 2", "runs = 30")
    sweep = parsed(text)
    pairs = [(each, runner.problem_of(each)) for each in sweep.experiments]
    ahead = workload.look_ahead(pairs, tmp_path)
    parts = 12 * 30 // results.runs_per_part(30)
    assert str(ahead) == f"6 experiments, 12 contenders, {parts} parts: all to be played."
    assert ahead.seconds() == pytest.approx(12 * 30 * 1.0 + parts * 1e-3, rel=0.01)
    assert clock[0] < 4.0, "a trial takes a moment"


def sample(means, runs, rng):
    """Regret that is far from normal: lognormal, the contenders' runs sharing their luck."""
    luck = rng.standard_normal(runs)
    return [mean * np.exp(0.5 * (0.6 * luck + 0.8 * rng.standard_normal(runs)) - 0.125) for mean in means]


def panel_of(samples, runs):
    text = "horizon = 100\ncheckpoints = [100]\n[problem]\nkind = 'synthetic'\narms = 4\n"
    text += "".join(f"[[contenders]]\npolicy = 'uniform'\nid = 'c{k}'\n" for k in range(len(samples)))
    panel = made_up.panel(experiments.parse(text, "made-up.toml"), runs=runs)
    for result, values in zip(panel.results, samples, strict=True):
        result.regrets["average"][:] = values[:, None]
    return panel


def test_the_true_best_is_rarely_told_apart_from_the_best_seen():
    rng, missed, times = np.random.default_rng(5), 0, 200
    for _ in range(times):  # all alike but one, a hair better: the hardest case
        compared = comparison.compare(panel_of(sample([0.999, 1.0, 1.0, 1.0], 20, rng), 20))
        missed += "c0" not in compared.may_be_best
    assert missed <= 0.05 * times + 2.0 * np.sqrt(0.05 * 0.95 * times)


def test_who_is_clearly_worse_is_told_apart_and_only_with_twenty_runs():
    rng = np.random.default_rng(1)
    compared = comparison.compare(panel_of(sample([1.0, 1.02, 3.0, 4.0], 40, rng), 40))
    assert sorted(compared.may_be_best) == ["c0", "c1"] and compared.verdict.startswith("not told apart from c")
    samples = sample([1.0, 3.0], 20, rng)
    assert comparison.compare(panel_of(samples, 20)).verdict == "told apart from all others"
    few = comparison.compare(panel_of([values[:19] for values in samples], 19))
    assert few.verdict == "not told apart from c1 (a verdict needs 20 runs)"
    assert comparison.compare(panel_of(samples[:1], 20)).verdict == "alone"
    wild = [np.array([0.0] * 19 + [100.0]), np.array([0.0] * 18 + [50.0, 100.0])]
    assert all(standing.summary.interval[0] == 0.0 for standing in comparison.compare(panel_of(wild, 20)).standings)


def test_every_documented_experiment_runs(tmp_path):
    """Those of docs/lab.md, each whole, shortened to a few rounds."""
    blocks = re.findall(r'^```toml title="(\w+\.toml)"\n(.*?)^```$', (DOCS / "lab.md").read_text(), re.M | re.S)
    assert len(blocks) == (DOCS / "lab.md").read_text().count("```toml") == 3
    for name, text in blocks:
        (tmp_path / name).write_text(
            re.sub(r"horizon = \S+", "horizon = 50\ncheckpoints = 2", text).replace("runs = 20", "runs = 1")
        )
    for name, _ in blocks:
        sweep = experiments.load_all(tmp_path / name)
        panels = sweeps.run(sweep, tmp_path / "out", threads=1)
        assert [panel.experiment.name for panel in panels] == [each.name for each in sweep.experiments]
    assert len(panels) == 9 and len(panels[0].lines) == 4, "as the page says of the last"
    whole = experiments.parse_all(blocks[-1][1], blocks[-1][0])
    parts = sum(-(-each.runs // results.runs_per_part(each.runs)) * len(each.contenders) for each in whole.experiments)
    assert f"how_many_at_once: 9 experiments, 36 contenders, {parts} parts: all to be played." in (DOCS / "lab.md").read_text()
