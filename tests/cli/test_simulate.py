"""The command line: what it prints, writes and refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import multiduel as md
from multiduel import cli
from multiduel.cli import terminal
from multiduel.engine.registry.registry import MACHINES, POLICIES

SMALL = ["--arms", "5", "--horizon", "300", "--runs", "3"]
COMMAND = [sys.executable, "-m", "multiduel"]


def run(*args: str):
    return CliRunner().invoke(cli.app, list(args))


def good(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_version_and_help():
    assert good("--version").strip() == f"multiduel {md.__version__}"
    for command in ("policies", "problem", "simulate"):
        assert command in good("--help")
        assert "Usage" in good(command, "--help")


def test_policies_lists_every_policy():
    listed = good("policies")
    assert all(name in listed for name in POLICIES)


@pytest.mark.parametrize("name", ["multi-rucb", "doubler-bai", "lucb"])
def test_a_card_tells_every_parameter(name):
    spec = POLICIES.get(name) or MACHINES[name]
    card = good("policies", name)
    assert spec.title in card
    for field, parameter in spec.parameters.items():
        assert field in card
        assert all(word in card for word in parameter.choices)
    machines = [m for m in MACHINES.values() if any(p.machines == m.kind for p in spec.parameters.values())]
    assert all(machine.title in card for machine in machines)


def test_suggest_says_what_the_library_says():
    text = good("suggest", "--arms", "40", "--slate-size", "8", "--horizon", "1e6", "--assume", "utilities")
    choice = md.suggest(n_arms=40, slate_size=8, horizon=10**6, assume="utilities")
    assert text.startswith(f"{choice.policy}: ") and choice.others[0][0] in text


def test_problem_in_words_and_as_json(tmp_path):
    words = good("problem", "synthetic", "--arms", "6", "--slate-size", "3")
    assert "finite, 1" in words and "Theorem 3, MultiRUCB, m = 3" in words and "T = 1,000,000" in words
    assert "lower bound, m = 3" in words and "exact" in words
    assert "infinite" in good("problem", "cyclic", "--arms", "4")
    facts = json.loads(good("problem", "synthetic", "--arms", "6", "--json", "-", "--horizon", "1e5"))
    problem = md.synthetic(6)
    assert facts["winner"] == 0 and facts["horizon"] == 100_000
    assert facts["gaps"] == problem.gaps.tolist()
    assert facts["bounds"]["multi-rucb"]["value"] == problem.bounds(100_000)["multi-rucb"].value

    file = tmp_path / "cycle.csv"
    file.write_text("stone,paper,scissors\n.5,.1,.9\n.9,.5,.1\n.1,.9,.5\n")
    words = good("problem", str(file))
    assert "none: no arm beats every other" in words and "undefined" in words and "paper" in words
    assert json.loads(good("problem", str(file), "--json", "-"))["bounds"] == {}


def test_simulate_json_is_what_the_library_measures():
    args = ["simulate", "multi-rucb", "uniform", *SMALL, "--slate-size", "3", "--seed", "4"]
    params = ["--param", "multi-rucb.alpha=0.6", "--param", "multi-rucb.priority=always"]
    got = json.loads(good(*args, *params, "--json", "-"))
    assert [entry["policy"] for entry in got] == ["multi-rucb", "uniform"]
    options = {"horizon": 300, "runs": 3, "seed": 4, "slate_size": 3}
    expected = md.simulate("multi-rucb", md.synthetic(5), **options, alpha=0.6, priority="always")
    assert got[0]["params"] == {"slate_size": 3, "alpha": 0.6, "priority": "always"}
    assert got[0]["final"] == expected.final.tolist()
    assert got[0]["checkpoints"] == expected.checkpoints.tolist()
    assert got[1]["final"] == md.simulate("uniform", md.synthetic(5), **options).final.tolist()


def test_simulate_takes_a_delay():
    got = json.loads(good("simulate", "uniform", *SMALL, "--delay", "geometric:4", "--json", "-"))
    options = {"horizon": 300, "runs": 3, "seed": 0}
    assert got[0]["recommended"] == md.simulate("uniform", md.synthetic(5), **options, delay="geometric:4").recommended.tolist()
    assert got[0]["problem"]["delay"] == "geometric:4"
    assert "answers 4 rounds late" in good("simulate", "uniform", *SMALL, "--delay", "4")


def test_simulate_writes_whole_files_and_a_table(tmp_path):
    target, figure = tmp_path / "r.json", tmp_path / "r.svg"
    table = good("simulate", "uniform", *SMALL, "--json", str(target), "--plot", str(figure), "--scale", "linear")
    final = np.array(json.loads(target.read_text())[0]["final"])
    assert f"{final.mean():.4g}" in table
    assert figure.read_text().startswith("<?xml")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.json", "r.svg"]


def test_json_is_one_option_of_all_commands():
    """A file, or '-'. What is not the numbers goes to stderr, so that stdout can be read by a program."""
    found = {}

    def look(command, path):
        for parameter in command.params:
            if "--json" in parameter.opts:
                found[path] = (parameter.metavar, parameter.help)
        for name, one in getattr(command, "commands", {}).items():
            look(one, f"{path} {name}".strip())

    look(typer.main.get_command(cli.app), "")
    assert {"problem", "simulate", "rank", "rankers analyse", "rankers live", "arena board", "judge report"} == set(found)
    assert len(set(found.values())) == 1, found


def test_plots_are_the_same_file_each_time(tmp_path):
    results = [md.simulate("uniform", md.synthetic(4), horizon=100, runs=runs) for runs in (1, 3)]
    md.Results(results).plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    md.Results(results).plot(tmp_path / "a.svg")
    md.Results(results).plot(tmp_path / "b.svg")
    md.Results(results).plot(tmp_path / "bound.svg", lower_bound=2.0)
    assert len((tmp_path / "bound.svg").read_text()) > len((tmp_path / "b.svg").read_text())
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()  # no dates, no random names


@pytest.mark.parametrize(
    ("text", "rounds"),
    [("1e6", 10**6), ("10**6", 10**6), ("10^3", 1000), ("1_000_000", 10**6), ("1,000", 1000), ("7", 7), ("2.5e1", 25)],
)
def test_rounds_are_read_as_people_write_them(text, rounds):
    assert terminal.whole_number("horizon", text) == rounds


BAD = {
    "unknown policy": (["simulate", "multi-rucbb"], "Did you mean 'multi-rucb'"),
    "unknown card": (["policies", "lucbb"], "Did you mean 'lucb'"),
    "policy twice": (["simulate", "uniform", "uniform"], "'uniform' 2 times"),
    "horizon of words": (["simulate", "uniform", "--horizon", "long"], "Got 'long'"),
    "horizon of a half": (["simulate", "uniform", "--horizon", "1.5"], "Got '1.5'"),
    "horizon of nothing": (["simulate", "uniform", "--horizon", "0"], "Got '0'"),
    "endless horizon": (["simulate", "uniform", "--horizon", "inf"], "Got 'inf'"),
    "huge horizon": (["simulate", "uniform", "--horizon", "1e30"], "at most 4,611,686,018,427,387,904"),
    "horizon beyond arithmetic": (["simulate", "uniform", "--horizon", "1e999999999"], "Got '1e999999999'"),
    "no runs": (["simulate", "uniform", "--runs", "0"], "'runs' of 'simulate'"),
    "no threads": (["simulate", "uniform", "--threads", "0"], "'threads' of 'simulate'"),
    "delay of words": (
        ["simulate", "uniform", "--delay", "soon"],
        "must be a number of rounds, or 'geometric:MEAN'. Got 'soon'.",
    ),
    "negative seed": (["simulate", "uniform", "--seed", "-1"], "'seed'"),
    "slate of one": (
        ["simulate", "uniform", "--slate-size", "1"],
        "'slate_size' of 'uniform' must be a whole number of at least 2",
    ),
    "unknown problem": (["problem", "synthetik"], "Did you mean 'synthetic'"),
    "missing file": (["problem", "nowhere.csv"], "nowhere.csv"),
    "unused link": (["simulate", "uniform", "--problem", "cyclic", "--link", "linear"], "'link' must not be given"),
    "unknown link": (["simulate", "uniform", "--link", "cubic"], "cubic"),
    "no arms": (["simulate", "uniform", "--arms", "0"], "at least 1"),
    "unknown benchmark": (["simulate", "uniform", "--benchmark", "borde"], "borda"),
    "alpha out of limits": (["simulate", "multi-rucb", "--param", "alpha=0.2"], "must be above 0.5. Got '0.2'."),
    "alpha of words": (["simulate", "multi-rucb", "--param", "alpha=high"], "must be a number"),
    "unknown choice": (["simulate", "multi-rucb", "--param", "priority=never"], "coin, always"),
    "unknown parameter": (["simulate", "multi-rucb", "--param", "alfa=1"], "Did you mean 'alpha'"),
    "parameter without value": (["simulate", "multi-rucb", "--param", "alpha"], "multi-rucb.NAME=VALUE"),
    "parameter of whom": (["simulate", "multi-rucb", "uniform", "--param", "alpha=1"], "multi-rucb.NAME=VALUE"),
    "parameter of another": (["simulate", "multi-rucb", "--param", "mdb.alpha=1"], "of this call: multi-rucb"),
    "parameter twice": (["simulate", "multi-rucb", "--param", "alpha=1", "--param", "alpha=2"], "once"),
    "slate size as parameter": (["simulate", "multi-rucb", "--param", "slate_size=3"], "--slate-size"),
    "plot as gif": (["simulate", "uniform", "--plot", "a.gif"], ".png, .svg or .pdf"),
    "unknown scale": (["simulate", "uniform", "--plot", "a.png", "--scale", "cubic"], "log or linear"),
    "same file twice": (["simulate", "uniform", "--plot", "a.png", "--json", "./a.png"], "different files"),
    "no such folder": (["simulate", "uniform", "--json", "nowhere/a.json"], "'nowhere/a.json' cannot be written"),
    "a folder": (["simulate", "uniform", "--json", "."], "must be a file"),
    "the root": (["simulate", "uniform", "--json", "/"], "must be a file. Got a folder"),
    "a device": (["simulate", "uniform", "--json", "/dev/null"], "must be a file. Got a device"),
    "no name": (["simulate", "uniform", "--json", ""], "must be given by its name"),
    "no name for a plot": (["simulate", "uniform", "--plot", ""], ".png, .svg or .pdf"),
    "data to a device": (["rankers", "generate", "/dev/full"], "must be a file. Got a device"),
    "data to the root": (["rankers", "generate", "/"], "must be a file. Got a folder"),
    "data to nowhere": (["rankers", "generate", ""], "must be a file. Got a folder"),
    "arms without number": (["problem", "synthetic", "--arms", "9" * 400], "at most 100,000"),
    "rounds of a bound": (["problem", "synthetic", "--horizon", "1e30"], "at most 4,611,686,018,427,387,904"),
    "alpha of a bound": (["problem", "synthetic", "--alpha", "1e400"], "must be a finite number. Got inf."),
    "endless data": (["rankers", "generate", "a.svm", "--queries", "9" * 30], "at most 10,000,000"),
    "bound of one": (
        ["problem", "synthetic", "--slate-size", "1"],
        "'slate_size' of 'bounds' must be",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_in_one_sentence_before_anything_is_done(case, tmp_path, monkeypatch):
    args, expected = BAD[case]
    monkeypatch.chdir(tmp_path)
    result = run(*args)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1 and "Traceback" not in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_missing_matplotlib_is_said_before_simulating(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run("simulate", "uniform", *SMALL, "--plot", str(tmp_path / "a.png"))
    assert result.exit_code == 2 and "'.[lab]'" in result.stderr


def test_memory_that_is_not_there_is_a_sentence(monkeypatch):
    def parse(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr("multiduel.problems.parse", parse)
    result = run("problem", "synthetic")
    assert result.exit_code == 2 and "memory" in result.stderr


def test_a_failed_run_leaves_the_old_file_alone(tmp_path, monkeypatch):
    target = tmp_path / "r.json"
    target.write_text("old")

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("multiduel.engine.simulation.simulate.simulate", stop)
    result = run("simulate", "uniform", *SMALL, "--json", str(target))
    assert result.exit_code == 130
    assert target.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_ctrl_c_stops_a_real_run(tmp_path):
    target = tmp_path / "r.json"
    long = ["simulate", "uniform", "--arms", "5", "--horizon", "1e12", "--runs", "2", "--json", str(target)]
    cache = tmp_path / "compiled"
    env = environment() | {"NUMBA_CACHE_DIR": str(cache)}
    process = subprocess.Popen([*COMMAND, *long], stderr=subprocess.PIPE, env=env, start_new_session=True)
    try:
        until = time.monotonic() + 60
        while not list(cache.rglob("*play_*.nbi")) and time.monotonic() < until:  # it plays once that is compiled
            time.sleep(0.05)
        assert list(cache.rglob("*play_*.nbi"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130 and said == b"Stopped.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["compiled"]


def test_module_and_command_are_the_same():
    shown = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, env=environment(), check=True)
    assert shown.stdout.strip() == f"multiduel {md.__version__}"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("args", ["policies", "problem synthetic --json -", "simulate uniform --arms 3 --horizon 9 --json -"])
def test_an_output_that_is_full_closed_or_not_read_is_a_sentence_at_most(args):
    command = f"'{sys.executable}' -m multiduel {args}"
    for redirection, said in ((">/dev/full", "No space left on device"), (">&-", "closed"), ("| exec true", "")):
        done = subprocess.run(["bash", "-c", f"{command} {redirection}"], capture_output=True, text=True, env=environment())
        assert said in done.stderr and len(done.stderr.splitlines()) == (said != ""), done.stderr
        assert done.returncode == (2 if said else 0)
    done = subprocess.run(["bash", "-c", f"{command} 2>&-"], capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and done.stdout


def test_names_that_look_like_markup_are_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("[bold red]x[] :smile:.csv").write_text("[/foo],b [fast]\n.5,.9\n.1,.5\n")
    words = good("problem", "[bold red]x[] :smile:.csv")
    assert "[bold red]x[] :smile:" in words and "[/foo]" in words
    assert run("simulate", "uniform", *SMALL, "--json", "[bold].json").stderr == "Wrote [bold].json\n"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(md.__file__).parents[1])}


def test_simulate_until_a_verdict(tmp_path):
    figure = tmp_path / "verdicts.svg"
    problem = ["--problem", "bradley-terry", "--arms", "4", "--horizon", "1e5", "--runs", "5", "--slate-size", "3"]
    args = ["simulate", "challengers", "uniform", *problem, "--until", "verdict", "--answers", "rankings"]
    table = good(*args, "--plot", str(figure))
    assert "Answers to a verdict" in table and "5 of 5" in table and "share of runs with a verdict" in figure.read_text()
    (result, _) = json.loads(good(*args, "--json", "-"))
    library = md.simulate("challengers", md.Rankings(md.bradley_terry(4)), slate_size=3, horizon=10**5, runs=5, until="verdict")
    assert result["settlement"] == library.settlement.to_json()
    assert "must be 'verdict'" in run("simulate", "uniform", *SMALL, "--until", "noon").stderr
    assert "'answers' must be one of" in run("simulate", "uniform", *SMALL, "--answers", "shouts").stderr


def test_names_cannot_speak_to_the_terminal(tmp_path):
    """An escape code in a name, a label or a refused word is spelt out, in tables and in errors."""
    file = tmp_path / "\x1b[31mred.csv"
    file.write_text("\x1b]0;owned\x07,tea\n0.5,0.7\n0.3,0.5\n")
    for command in (["problem", str(file)], ["policies", "\x1b[2J"], ["simulate", "uniform", "--problem", f"{file}x"]):
        done = run(*command)
        said = done.stdout + done.stderr
        assert "\\x1b[" in said and "\x1b" not in said and "\x07" not in said, said
