"""The two calls a search engine makes, and the commands."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import multiduel as md
from multiduel import rankers
from multiduel.cli.rankers import app
from multiduel.inputs import BadInput
from multiduel.kernels.contract import compare

RANKINGS = {0: ["a", "b", "c", "d"], 1: ["d", "c", "b", "a"], 7: ["b", "x"]}


@pytest.mark.parametrize("method", [name for name in rankers.METHODS if name != "balanced"])
def test_a_page_and_its_clicks(method):
    impression = rankers.multileave(RANKINGS, (7, 0, 1), method=method, ties="half", length=3, seed=1)
    again = json.loads(json.dumps(impression))
    assert again == impression == rankers.multileave(RANKINGS, (7, 0, 1), method=method, ties="half", length=3, seed=1)
    assert len(impression["documents"]) == len(set(impression["documents"])) == 3
    assert set(impression["documents"]) <= {"a", "b", "c", "d", "x"}
    for clicks in ([], impression["documents"][:1], impression["documents"], impression["documents"][:1] * 2):
        wins = rankers.credit(again, clicks)
        np.testing.assert_allclose(wins + wins.T, 1.0 - np.eye(3), atol=1e-9)
    assert (rankers.credit(again, [])[~np.eye(3, dtype=bool)] == 0.5).all()


def test_team_draft_credits_who_picked():
    impression = rankers.multileave([["a", "b"], ["c", "d"]], method="team-draft", ties="half", length=2, seed=3)
    assert sorted(impression["documents"]) == ["a", "c"]  # one pick each
    np.testing.assert_array_equal(rankers.credit(impression, ["a"]), [[0, 1], [0, 0]])
    np.testing.assert_array_equal(rankers.credit(impression, ["c"]), [[0, 0], [1, 0]])
    np.testing.assert_array_equal(rankers.credit(impression, ["c", "a"]), [[0, 0.5], [0.5, 0]])


def test_pages_differ_without_a_seed():
    pages = {tuple(rankers.multileave([list("abcdefgh"), list("hgfedcba")])["documents"]) for _ in range(20)}
    assert len(pages) > 1


def test_numbers_as_documents_one_arm_and_empty_results():
    impression = rankers.multileave([[10, 11, 12]], ties="half", length=2)
    assert impression["documents"] == [10, 11]
    assert rankers.credit(impression, [11]).tolist() == [[0.0]]
    nothing = rankers.multileave([[], []], ties="half")
    assert nothing["documents"] == []
    assert rankers.credit(nothing, []).tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_a_policy_learns_from_pages():
    """Documents 0 .. 9, of which the lower are better; ranker 2 knows, the others are shuffled."""
    rng = np.random.default_rng(0)
    rankings = [
        rng.permutation(10).tolist(),
        rng.permutation(10).tolist(),
        list(range(10)),
        rng.permutation(10).tolist(),
    ]
    policy = md.make("multi-rucb", n_arms=4, slate_size=4, seed=3)
    for _ in range(400):
        impression = rankers.multileave(rankings, policy.ask(), policy=policy, length=5)
        clicks = [d for d in impression["documents"] if rng.random() < 0.5**d]
        policy.tell(rankers.Impression(json.loads(json.dumps(impression))), clicks)
    assert policy.recommend() == 2


def test_an_impression_is_told_to_its_own_policy_round_and_rankers_only():
    policy = md.make("multi-rucb", n_arms=4, slate_size=3, seed=3)
    slate = policy.ask()
    rankings = [list("abcdef"), list("bcdefa"), list("cdefab"), list("fedcba")]
    impression = rankers.multileave(rankings, slate, policy=policy, names=["w", "x", "y", "z"], length=4, seed=1)
    assert (impression["round"], impression["policy"], tuple(impression["slate"])) == (1, policy.fingerprint, slate.arms)
    assert impression["rankers"] == ["wxyz"[arm] for arm in slate.arms]
    clicks = impression["documents"][:2]
    turned = {**impression, "slate": impression["slate"][::-1], "rankers": impression["rankers"][::-1]}
    for other, words in (
        (md.make("multi-rucb", n_arms=4, slate_size=3, seed=4), "shown for another policy"),
        (md.make("mdb", n_arms=4, slate_size=3, seed=3), "shown for another policy"),
    ):
        other.ask()
        with pytest.raises(BadInput, match=words):
            other.tell(impression, clicks)
    for page, words in (
        (rankers.Impression(turned), "Round 1 showed"),
        (rankers.Impression({**impression, "round": 2}), "Round 2 was never asked"),
        (dict(impression), r"rankers\.Impression"),
        (rankers.multileave(rankings, slate, length=4), "belongs to no policy"),
        (rankers.multileave(rankings, slate.arms, length=4), "belongs to no policy"),
    ):
        with pytest.raises(BadInput, match=words):
            policy.tell(page, clicks)
    with pytest.raises(BadInput, match="goes with the Slate"):
        rankers.multileave(rankings, slate.arms, policy=policy)
    saved = json.loads(json.dumps(policy.snapshot()))
    page = rankers.Impression(json.loads(json.dumps(impression)))
    for told in (policy, md.restore(saved), pickle.loads(pickle.dumps(policy))):
        if told is not policy:
            assert told.fingerprint == policy.fingerprint and told.open
            told.tell(page, clicks)
        else:
            expected = md.restore(saved)
            expected.tell(list(slate), rankers.credit(page, clicks))  # a slate that went through JSON is one still
            told.tell(page, clicks)
            assert told.snapshot() == expected.snapshot()
        with pytest.raises(BadInput, match="told already"):
            told.tell(page, clicks)


def test_numpy_ids_and_click_weights():
    impression = rankers.multileave([np.array([10, 11, 12]), np.array([12, 13, 14])], length=4, seed=2)
    assert all(type(document) is int for document in impression["documents"])
    json.dumps(impression)
    shown = np.array(impression["documents"])
    np.testing.assert_array_equal(rankers.credit(impression, shown[:1]), rankers.credit(impression, [int(shown[0])]))
    words = rankers.multileave([np.array(["a", "b"]), ["c", "a"]], length=3)
    json.dumps(words)
    first, second = rankers.multileave([["a", "b"], ["c", "d"]], method="team-draft", length=2, seed=3)["documents"]
    page = rankers.multileave([["a", "b"], ["c", "d"]], method="team-draft", ties="half", length=2, seed=3)
    assert rankers.credit(page, {first: 1.0, second: 1.0})[0, 1] == 0.5
    for heavy in (first, second):  # the heavier click decides
        light = first if heavy == second else second
        arm = 0 if heavy in "ab" else 1
        assert rankers.credit(page, {heavy: 2.0, light: 0.5})[arm, 1 - arm] == 1.0
    for weights, method, words in (
        ({first: 0.0}, "team-draft", "finite number above 0"),
        ({first: float("nan")}, "team-draft", "finite number above 0"),
        ({first: "x"}, "team-draft", "finite number above 0"),
        ({first: 2.0}, "probabilistic", "cannot weigh them"),
        ("a", "team-draft", "must be a list of documents"),
    ):
        page = rankers.multileave([["a", "b"], ["c", "d"]], method=method, length=4, seed=3)
        with pytest.raises(BadInput, match=words):
            rankers.credit(page, weights)


def test_ties_may_be_dropped():
    page = rankers.multileave([["a", "b"], ["c", "d"]], method="team-draft", ties="drop", length=2, seed=3)
    assert not rankers.credit(page, []).any() and not rankers.credit(page, page["documents"]).any()
    assert rankers.credit(page, page["documents"][:1]).max() == 1.0
    with pytest.raises(BadInput, match="'ties' must be one of auto, half, drop"):
        rankers.multileave([["a"]], ties="none")


def test_bad_input_is_named():
    good = rankers.multileave(RANKINGS, (0, 1), seed=1)
    for call, words in (
        (lambda: rankers.multileave(RANKINGS, (0, 3)), "Got none for arm 3"),
        (lambda: rankers.multileave(RANKINGS, (0, 0)), "each once"),
        (lambda: rankers.multileave(RANKINGS, [1, [0, 1]]), "must be the Slate that 'ask' returned, or arms"),
        (lambda: rankers.multileave(RANKINGS, ()), "at least one arm"),
        (lambda: rankers.multileave([["a", "a"]]), "Arm 0 returned 'a' twice"),
        (lambda: rankers.multileave([[1.5]]), "a string or a whole number"),
        (lambda: rankers.multileave(RANKINGS, method="balanced"), "two rankers at a time. Got 3"),
        (lambda: rankers.multileave(RANKINGS, length=0), "'length' of 'multileave'"),
        (lambda: rankers.credit(good, ["zebra"]), "Only documents that were shown"),
        (lambda: rankers.credit({}, []), "must be what 'multileave' returned"),
        (lambda: rankers.credit({**good, "evidence": [[1.0]]}, []), "must be what 'multileave' returned"),
        (lambda: rankers.credit({**good, "method": "x"}, []), "must be what 'multileave' returned"),
        (lambda: rankers.credit([], []), "must be what 'multileave' returned"),
    ):
        with pytest.raises(BadInput, match=words):
            call()


def test_commands(tmp_path):
    data, P, P3 = (str(tmp_path / name) for name in ("d.svm.gz", "P.csv", "P3.csv"))
    run = CliRunner().invoke

    def ok(*arguments):
        result = run(app, list(arguments), catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    ok("generate", data, "--queries", "20", "--documents", "10", "--features", "5")
    said = ok("matrix", data, "--clicks", "navigational", "--method", "team-draft", "--comparisons", "2000", "--out", P)
    assert "Condorcet winner by these numbers: f1" in said and "verdict on 2,000 simulated users a pair: " in said
    assert not (tmp_path / "P.parts").exists()
    assert "indices: 0 " in ok("submatrix", P, "--size", "3", "--out", P3)
    said = ok(
        "live", data, "--matrix", P3, "--policy", "multi-rucb", "--slate-size", "3", "--horizon", "3000", "--runs", "2",
        "--clicks", "navigational", "--method", "team-draft", "--json", str(tmp_path / "r.json"),
    )  # fmt: skip
    assert "multi-rucb" in said and "navigational clicks, team-draft" in said
    said = ok("live", data, "--matrix", P3, "--policy", "uniform", "--horizon", "100", "--runs", "1", "--benchmark", "borda")
    assert (
        "navigational clicks, team-draft" in said and "against the best by borda" in said
    )  # as the matrix was made, without being told
    assert json.loads((tmp_path / "r.json").read_text())[0]["problem"]["n_arms"] == 3
    alien, known = tmp_path / "alien.run", tmp_path / "known.run"
    alien.write_text("q1 Q0 1 1 2.5 x\n")
    known.write_text("1 Q0 1 1 2.5 x\n2 Q0 2 1 2.5 x\n2 Q0 no-such 2 2.0 x\n")
    said = ok("matrix", data, "--out", str(tmp_path / "Q.csv"), "--comparisons", "50", "--run", str(known))
    assert "known.run: documents for 2 of 20 queries" in said
    for arguments, words in (
        (["matrix", data, "--out", "P.txt"], "must name a .csv file"),
        (["matrix", data, "--out", P, "--clicks", "nobody"], "'clicks' must be one of"),
        (["submatrix", P, "--out", P3, "--margin", "wide"], "must be a number or 'auto'"),
        (["live", data, "--matrix", P3, "--policy", "multi-rcub"], "multi-rucb"),
        (["live", data, "--matrix", P3, "--policy", "uniform", "--clicks", "perfect"], "was made with navigational clicks"),
        (["live", data, "--matrix", P3, "--policy", "uniform", "--depth", "3"], "was made with navigational clicks on 10 slots"),
        (["live", data, "--matrix", P3, "--policy", "uniform", "--method", "balanced"], "was made with the method team-draft"),
        (["live", data, "--matrix", P3, "--policy", "uniform", "--direction", "both"], "was made of other files"),
        (
            ["matrix", data, "--out", P, "--run", str(alien)],
            "'alien.run' must return a document of at least one of the 20 queries",
        ),
    ):
        result = run(app, arguments)
        assert isinstance(result.exception, BadInput)
        assert words in str(result.exception)


def test_help_loads_nothing_heavy():
    code = "import sys, multiduel.cli; print([m for m in ('numba', 'numpy', 'scipy', 'sklearn') if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True)
    assert said.stdout == "[]\n", said.stderr


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), min_size=1, max_size=5),
    st.integers(1, 8),
    st.data(),
)
def test_any_rankings_make_a_page_that_can_be_judged(rankings, length, data):
    method = data.draw(st.sampled_from(["team-draft", "probabilistic"]))
    impression = rankers.multileave(rankings, method=method, ties="half", length=length)
    union = set().union(*rankings)
    shown = impression["documents"]
    assert len(shown) == len(set(shown)) == min(length, len(union))
    assert set(shown) <= union
    clicks = [document for document in shown if data.draw(st.booleans())]
    wins = rankers.credit(json.loads(json.dumps(impression)), clicks)
    np.testing.assert_allclose(wins + wins.T, 1.0 - np.eye(len(rankings)), atol=1e-9)
    assert ((wins >= 0.0) & (wins <= 1.0)).all()


def test_the_toy_search_server_finds_its_best_ranker():
    script = Path(__file__).resolve().parents[2] / "examples" / "search_server.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, str(script), "--selftest"], env=environment, capture_output=True, text=True)
    assert "as it should" in said.stdout, said.stderr


def test_ties_are_half_with_two_rankers_and_dropped_with_more():
    """With two, a tie that is dropped tells the policy nothing at all; one that waits for an answer would wait for ever."""
    two = rankers.multileave([["a", "b"], ["b", "a"]], length=2, seed=1)
    three = rankers.multileave([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], length=2, seed=1)
    assert two["method"] == three["method"] == "pair-draft" and (two["ties"], three["ties"]) == ("half", "drop")
    for clicks in ([], ["a", "b"]):
        assert rankers.credit(two, clicks).tolist() == [[0.0, 0.5], [0.5, 0.0]]
        assert (rankers.credit(three, []) == 0.0).all()


def test_the_click_world_counts_ties_by_the_slate_too():
    lineup = rankers.line_up(rankers.generate(queries=5, documents=6, features=3, seed=1))
    nobody = rankers.click_table(0.0, grades=5)
    for ties, two, three in (("auto", 1.0, 0.0), ("half", 1.0, 1.0), ("drop", 0.0, 0.0)):
        problem = rankers.click_problem(lineup, clicks=nobody, ties=ties)
        for slate, told in (((0, 1), two), ((0, 1, 2), three)):
            world, wins = problem.world(np.arange(3), 3), np.zeros((len(slate), len(slate)))
            compare(world, np.uint64(1), 1, 1, np.array(slate), wins)
            assert wins[0, 1] + wins[1, 0] == told


# Made when neutral team draft with ties half was the default: what is in logs and browsers stays readable.
EARLIER = {
    **{"format": "multiduel-impression-2", "method": "neutral-team-draft", "ties": "half", "seed": 7, "round": None},
    **{"policy": None, "slate": [0, 1, 2], "rankers": ["x", "y", "z"], "documents": ["b", "d", "a", "c"]},
    "evidence": [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]],
}


def test_a_page_of_an_earlier_default_is_read_by_the_method_it_names():
    wins = rankers.credit(rankers.Impression(EARLIER), ["d", "c"])
    assert wins.tolist() == [[0.0, 0.5, 0.0], [0.5, 0.0, 0.0], [1.0, 1.0, 0.0]]
    for rows in (EARLIER["evidence"][:3], [*EARLIER["evidence"], [0.0, 0.0, 0.0, 0.0]]):  # fewer or more than there are slots
        with pytest.raises(BadInput, match="must be what 'multileave' returned"):
            rankers.Impression({**EARLIER, "evidence": rows})


def test_forged_evidence_of_pair_draft_is_read_without_harm():
    """A round of more documents than there are rankers cannot be; compiled code has no bounds checks of its own."""
    page = rankers.multileave([list("abcdef"), list("fedcba")], length=6, seed=1)
    forged = rankers.Impression({**page, "evidence": [[row[0], row[1], 1.0] for row in page["evidence"]]})
    assert rankers.credit(forged, page["documents"][:1]).shape == (2, 2)
