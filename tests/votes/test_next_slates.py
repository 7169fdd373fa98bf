"""The slates to compare next: what they are, that they read back, and that many at once are worth nearly as much."""

import json
import math

import numpy as np
import pytest

import multiduel as md
from multiduel.inference import Tally, Votes, verdict
from multiduel.votes import join, read
from multiduel.votes.next_slates import choose
from multiduel.votes.reader import with_options

NAMES = ["tea", "milk", "=1+1", "2", "a > b"]


def no_votes(names):
    nothing = np.zeros(0, np.int32)
    return Votes.of(names, first=nothing, second=nothing, outcome=nothing, ordered=True)


def answered(found, strengths, path, luck, by="position"):
    """Write the slates, fill the file in as a person would, and read it back."""
    found.write(path)
    rows = json.loads(f"[{','.join(path.read_text().splitlines())}]")
    for row in rows:
        shown = [row[f"option_{k + 1}"] for k in range(found.slate_size)]
        order = np.argsort([-strengths[name] - luck.gumbel() for name in shown])
        row["answer"] = ">".join(str(k + 1) for k in order) if by == "position" else shown[order[0]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return md.read_votes(path)


@pytest.mark.parametrize("by", ["position", "best"])
def test_the_loop_without_a_server_finds_the_best(by, tmp_path):
    luck, names = np.random.default_rng(1), [f"option {k}" for k in range(6)]
    strengths = {name: 1.5 * (name == "option 3") + 0.1 * k for k, name in enumerate(names)}
    votes = no_votes(names)
    for turn in range(60):
        found = md.next_slates(votes, slate_size=3, number=10, seed=turn)
        if found.verdict.settled:
            break
        assert len(found.slates) == 10 and all(len(set(slate.options)) == 3 for slate in found.slates)
        votes = join([votes, answered(found, strengths, tmp_path / f"{turn}.jsonl", luck, by)])
    assert found.verdict.winner is not None and names[found.verdict.winner] == "option 3" and not found.slates
    assert votes.answers == 10 * turn and votes.ordered


def test_a_filled_in_csv_reads_back_whatever_the_names_are(tmp_path):
    file = tmp_path / "slates.csv"
    found = md.next_slates(no_votes(NAMES), slate_size=5, number=4, seed=3)
    found.write(file)
    assert not any(line.split(",")[1].startswith("=") for line in file.read_text().splitlines()), "no spreadsheet runs it"
    waiting = read(file)
    assert waiting.votes.answers == 0 and set(waiting.votes.options) == set(NAMES)
    assert "4 slates without an answer yet" in waiting.note
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], *(f"{line}2>1" for line in lines[1:])]) + "\n")
    again = md.read_votes(file)
    for k, slate in enumerate(found.slates):
        rows = slice(again.starts[k], again.starts[k + 1])
        shown = [again.options[i] for i in (*again.first[rows], *again.second[rows])]
        named = {"2", "1"} <= set(slate.options)  # what is a name is taken for a name
        assert named or (shown == [slate.options[0], slate.options[1]] and again.outcome[rows].tolist() == [-1])


def test_slates_show_the_leader_with_rivals_it_has_not_beaten():
    names = [f"o{k}" for k in range(8)]
    above = np.zeros((8, 8))
    above[0, 1:], above[1:, 0] = 30.0, 12.0  # 0 leads
    above[0, 5:], above[5:, 0] = 60.0, 2.0  # and has beaten three for certain
    found = verdict(Tally.of(above), names=names)
    assert found.kind != "winner" and (found.evidence[0, 5:] >= found.needed).all()
    slates = choose(found, slate_size=3, number=40, rng=np.random.default_rng(0))
    assert sum(slate[0] == 0 for slate in slates) > 30
    rivals = [arm for slate in slates if slate[0] == 0 for arm in slate[1:]]
    assert sum(arm >= 5 for arm in rivals) < 0.1 * len(rivals)
    assert {1, 2, 3, 4} <= set(rivals), "a batch is spread over those that may yet beat it"


def test_options_that_are_out_lead_no_slate():
    above = np.zeros((4, 4))
    above[1, 0], above[0, 2], above[0, 3] = 40.0, 80.0, 80.0  # 0 beats the others, and 1 beats 0
    found = verdict(Tally.of(above))
    assert 0 in found.out
    assert all(slate[0] != 0 for slate in choose(found, slate_size=2, number=50, rng=np.random.default_rng(0)))


def test_a_batch_goes_on_where_expected_answers_would_settle_it():
    above = np.array([[0.0, 30.0], [12.0, 0.0]])
    slates = choose(verdict(Tally.of(above)), slate_size=2, number=500, rng=np.random.default_rng(0))
    assert len(slates) == 500 and all(set(slate) == {0, 1} for slate in slates)


def test_cases_are_used_evenly_and_those_seen_least_first():
    rows = [{"model_a": "a", "model_b": "b", "winner": "a", "case": "x"}] * 9 + [
        {"model_a": "a", "model_b": "b", "winner": "b", "case": case} for case in ("y", "z")
    ]
    found = md.next_slates(md.read_votes(rows), number=14)
    used = [slate.case for slate in found.slates]
    assert {used.count("y"), used.count("z")} == {7} and used.count("x") == 0
    more = md.next_slates(md.read_votes(rows), number=6, cases=["new", "newer"])
    assert sorted(slate.case for slate in more.slates) == ["new"] * 3 + ["newer"] * 3
    assert "case" in more.rows()[0]


def test_positions_are_random():
    found = md.next_slates(md.read_votes(["9: a > b", "8: b > a", "9: a > c", "9: a > d"]), number=200, seed=1)
    first = [slate.options[0] == "a" for slate in found.slates if "a" in slate.options]
    assert 0.35 < np.mean(first) < 0.65 and len(first) > 100


def test_the_same_votes_and_seed_give_the_same_slates():
    votes = md.read_votes(["a > b > c", "c > a"])
    assert md.next_slates(votes, seed=4).slates == md.next_slates(votes, seed=4).slates != md.next_slates(votes, seed=5).slates


def test_options_can_be_added_before_they_have_votes():
    votes = with_options(md.read_votes(["a > b"]), ["c", "a"])
    assert votes.options == ("a", "b", "c") and votes.answers == 1
    shown = {name for slate in md.next_slates(votes, number=20).slates for name in slate.options}
    assert "c" in shown


@pytest.mark.parametrize(
    "words", [{"slate_size": 1}, {"number": 0}, {"number": 1e9}, {"alpha": 0}, {"seed": -1}, {"by": "rater"}, {"by": "vote"}]
)
def test_bad_arguments_are_sentences(words):
    with pytest.raises(md.BadInput):
        md.next_slates(md.read_votes(["a > b"]), **words)


def test_what_is_no_votes_is_a_sentence():
    for votes in (None, [[0, 1], [1, 0]], Tally(3), no_votes(["one"])):
        with pytest.raises(md.BadInput):
            md.next_slates(votes)


def test_twenty_at_once_are_worth_nearly_twenty_one_by_one():
    """On 12 options; benchmarks/batches.py has the long version, on 59."""

    def answers(batch, seed):
        rng = np.random.default_rng([batch, seed])
        above = np.zeros((K, K))
        for count in range(0, 20_000, batch):
            found = verdict(Tally.of(above))
            if found.settled:
                return count, found.winner
            for arms in choose(found, slate_size=3, number=batch, rng=rng):
                order = np.array(arms)[np.argsort(-(u[list(arms)] + rng.gumbel(size=3)))]
                for k, i in enumerate(order):
                    above[i, order[k + 1 :]] += 1.0
        raise AssertionError("no verdict")

    K = 12
    u = np.linspace(0.0, 2.0, K) + 0.6 * (np.arange(K) == K - 1)
    played = {batch: [answers(batch, seed) for seed in range(25)] for batch in (1, 20)}
    assert all(winner == K - 1 for of in played.values() for _, winner in of)
    one, twenty = (np.mean([count for count, _ in played[batch]]) for batch in (1, 20))
    noise = math.sqrt(sum(np.var([count for count, _ in of]) / len(of) for of in played.values()))
    assert twenty < 1.25 * one + 2.0 * noise and one > 100, (one, twenty, noise)
