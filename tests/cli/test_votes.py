"""``multiduel rank`` and ``multiduel next``: the answer first, one page that does not contradict itself, the loop by files."""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import multiduel as md
from multiduel.cli import app

HEADER = "model_a,model_b,winner,judge,question_id"


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def good(*words):
    done = run(*words)
    assert done.exit_code == 0, done.stderr
    return done


def battles(path, strengths, answers, seed=0):
    luck = np.random.default_rng(seed)
    names = list(strengths)
    lines = [HEADER]
    for k in range(answers):
        a, b = luck.choice(names, 2, replace=False)
        won = luck.random() < 1.0 / (1.0 + np.exp(strengths[b] - strengths[a]))
        lines.append(f"{a},{b},{'model_a' if won else 'model_b'},judge {k % 40},q{k % 5}")
    path.write_text("\n".join(lines) + "\n")
    return path


WORLDS = {
    "a winner": ({"tea": 2.0, "milk": 0.0, "water": -0.5, "gin": 0.3}, 900),
    "some are out": ({"tea": 1.2, "milk": 1.0, "water": -1.5, "gin": 1.1}, 300),
    "open": ({"tea": 0.1, "milk": 0.0, "water": 0.0, "gin": 0.0}, 60),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("by", ["answer", "rater", "case"])
def test_verdict_and_standings_agree_on_one_page(world, by, tmp_path):
    file = battles(tmp_path / "v.csv", *WORLDS[world])
    done = good(
        "rank", file, "--by", by, "--html", tmp_path / "p.html", "--json", tmp_path / "p.json", "--latex", tmp_path / "p.tex"
    )
    page, numbers = (tmp_path / "p.html").read_text(), json.loads((tmp_path / "p.json").read_text())
    answer = done.stdout.splitlines()[0]
    assert numbers["answer"] == answer and answer in page
    ranks = {line["name"]: (line["rank_from"], line["rank_to"]) for line in numbers["options"]}
    possible = {line["name"] for line in numbers["options"] if line["status"] in ("best", "still in")}
    if match := re.fullmatch(r"(\w+) is best \(95 %\)\.", answer):
        assert ranks.pop(match[1]) == (1, 1) and min(low for low, _ in ranks.values()) >= 2
        assert possible == {match[1]} or all(ranks[name][0] >= 2 for name in possible - {match[1]})
        assert numbers["verdict"]["winner"] == match[1] == numbers["options"][0]["name"]
    else:
        found = re.fullmatch(r"No winner yet: (\d+) of 4 (?:is|are) still possible\.", answer)
        assert found and int(found[1]) == len(possible) == len(numbers["verdict"]["still_in"])
        assert all(ranks[name][0] >= 2 for name in set(ranks) - possible)
    table = done.stdout[done.stdout.index("rank ") :]
    for name, (first, last) in {line["name"]: (line["rank_from"], line["rank_to"]) for line in numbers["options"]}.items():
        shown = str(first) if first == last else f"{first}–{last}"
        assert re.search(rf"^{shown} +{name} ", table, re.M), (shown, name)
    assert world != "a winner" or by == "case" or answer.startswith("tea is best")


def test_what_was_recognised_goes_to_stderr_and_numbers_alone_to_stdout(tmp_path):
    file = battles(tmp_path / "v.csv", *WORLDS["open"])
    done = good("rank", file, "--json", "-")
    assert json.loads(done.stdout)["votes"] == done.stderr.strip()
    assert done.stderr.startswith("battles: first = 'model_a', second = 'model_b', winner = 'winner', rater = 'judge'")


def test_top_prints_so_many_lines(tmp_path):
    done = good("rank", battles(tmp_path / "v.csv", *WORLDS["open"]), "--top", "2")
    assert "and 2 more" in done.stdout


def test_columns_and_outcomes_are_named_on_the_command_line(tmp_path):
    file = tmp_path / "v.csv"
    file.write_text("one;two;got;a=b\n" + "tea;milk;0;x\nmilk;tea;1;y\n" * 30)
    words = ("--column", "first=one", "--column", "second=two", "--column", "winner=got", "--column", "rater=a=b")
    done = good("rank", file, *words, "--outcome", "0=first", "--outcome", "1=second")
    assert done.stdout.startswith("tea is best (95 %).") and "2 raters" in done.stderr
    assert run("rank", file, *words).exit_code == 2
    assert run("rank", file, "--column", "nonsense").exit_code == 2
    same = tmp_path / "s.csv"
    same.write_text("first,second,winner\nB,A,A\nA,B,A\n")
    assert run("rank", same).exit_code == 2 and "2 options" in good("rank", same, "--winner-is-name").stderr


def test_a_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    good("rank", battles(tmp_path / "v.csv", *WORLDS["open"]), "--plot", tmp_path / "p.svg")
    assert "tea" in (tmp_path / "p.svg").read_text()


def test_style_is_held_equal(tmp_path):
    """Two options alike but for their length, where raters prefer the longer one: no strength of its own remains."""
    luck = np.random.default_rng(0)
    cases = [f"q{k}" for k in range(30)]
    length = {
        (option, case): int(10 ** luck.uniform(1, 3)) * (3 if option == "long" else 1)
        for option in ("long", "short", "mid")
        for case in cases
    }
    lines, contents = [HEADER], []
    for option, case in length:
        contents.append({"option": option, "prompt": case, "response": "x" * length[option, case]})
    for k in range(3000):
        a, b = luck.choice(["long", "short", "mid"], 2, replace=False)
        case = cases[k % 30]
        apart = np.log(length[a, case] / length[b, case])
        lines.append(f"{a},{b},{'model_a' if luck.random() < 1 / (1 + np.exp(-apart)) else 'model_b'},j,{case}")
    (tmp_path / "v.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in contents))
    good("rank", tmp_path / "v.csv", "--style", tmp_path / "c.jsonl", "--position", "--json", tmp_path / "n.json")
    numbers = json.loads((tmp_path / "n.json").read_text())
    raw = {line["name"]: line["strength"] for line in numbers["options"]}
    equal = {line["name"]: line["strength"] for line in numbers["style"]["at_equal_style"]}
    assert raw["long"] - raw["short"] > 0.6 > 0.3 > abs(equal["long"] - equal["short"])
    effect = {line["name"]: line for line in numbers["style"]["effects"]}
    assert list(effect) == ["shown first", "log length"], "there are no headings and no lists"
    assert effect["log length"]["low"] < 1.0 < effect["log length"]["high"] and effect["log length"]["low"] > 0.5
    assert "Effect of log length on strength: +" in good("rank", tmp_path / "v.csv", "--style", tmp_path / "c.jsonl").stdout
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in contents[1:]))
    refused = run("rank", tmp_path / "v.csv", "--style", tmp_path / "c.jsonl")
    assert refused.exit_code == 2 and "There is none of 'long' on 'q0'" in refused.stderr


def test_next_is_filled_in_and_run_again_until_there_is_a_winner(tmp_path):
    luck, strengths = np.random.default_rng(5), {"tea": 2.0, "milk": 0.0, "=water": 0.2, "gin": 0.4}
    start = tmp_path / "votes.csv"
    start.write_text(f"{HEADER}\ntea,milk,model_a,j,x\ngin,milk,tie,j,y\n")
    files = [start]
    for turn in range(30):
        out = tmp_path / f"slates{turn}.csv"
        done = good("next", *files, "--slate-size", "3", "--number", "12", "--option", "=water", "--out", out, "--seed", turn)
        if not out.exists():
            break
        assert done.stderr.splitlines()[-2].startswith("No winner yet: ")
        with out.open(newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == ["id", "case", "option_1", "option_2", "option_3", "rater", "answer"] and len(rows) == 13
        assert {row[1] for row in rows[1:]} == {"x", "y"} and not any(cell.startswith("=") for row in rows for cell in row)
        for row in rows[1:]:
            order = np.argsort([-strengths[name.lstrip("'")] - luck.gumbel() for name in row[2:5]])
            row[-2:] = ["j", ">".join(str(k + 1) for k in order)]
        with out.open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(rows)  # as a spreadsheet may save it
        files.append(out)
    assert "tea is best (95 %)." in done.stderr and "nothing more to compare" in done.stderr and turn > 2
    assert good("rank", *files).stdout.startswith("tea is best (95 %).")
    assert set(md.read_votes(*files).options) == set(strengths)


def test_next_prints_csv_where_no_file_is_given(tmp_path):
    file = battles(tmp_path / "v.csv", *WORLDS["open"])
    done = good("next", file, "--number", "2", "--case", "new")
    rows = list(csv.reader(done.stdout.splitlines()))
    assert rows[0][:3] == ["id", "case", "option_1"] and [row[1] for row in rows[1:]] == ["new", "new"]
    assert run("next", file, "--out", tmp_path / "x.txt").exit_code == 2
    assert run("next", file, "--number", "0").exit_code == 2
