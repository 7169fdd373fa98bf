"""Matrices from clicks: right, the same for any number of threads, resumable; submatrices; live play."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import spearmanr

from multiduel import rankers, read_csv, simulate, theory, verdict
from multiduel.inputs import BadInput
from multiduel.rankers import matrix as matrix_module
from multiduel.rankers.corpus import Query


@pytest.fixture(scope="module")
def lineup():
    return rankers.line_up(rankers.generate(queries=30, documents=12, features=9, seed=2))


@pytest.fixture(scope="module")
def clicks(lineup):
    return rankers.click_problem(lineup, clicks="navigational", method="team-draft")


@pytest.fixture(scope="module")
def estimate(clicks):
    return rankers.estimate_matrix(clicks, comparisons=3000, seed=5)


def test_threads_do_not_matter(clicks, estimate):
    one = rankers.estimate_matrix(clicks, comparisons=3000, seed=5, threads=1)
    np.testing.assert_array_equal(one.problem.matrix, estimate.problem.matrix)
    np.testing.assert_array_equal(one.errors, estimate.errors)
    other = rankers.estimate_matrix(clicks, comparisons=3000, seed=6, threads=1)
    z = (other.problem.matrix - one.problem.matrix)[np.triu_indices(9, 1)] / (np.sqrt(2) * one.errors[np.triu_indices(9, 1)])
    assert 0.5 < z.std() < 1.5  # the standard errors are what they say: 36 differences
    assert np.abs(z).max() < 4.5


def test_better_rankers_win(lineup, estimate):
    assert estimate.problem.winner == 0
    assert spearmanr(theory.borda_scores(estimate.problem.matrix), lineup.ndcg()).statistic > 0.8


def test_a_stopped_run_goes_on_where_it_was(clicks, estimate, tmp_path, monkeypatch):
    monkeypatch.setattr(matrix_module, "BATCH", 4)

    def stop_half_way(share):
        if share >= 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for _ in range(50):  # the bar may be looked at too late to stop a run this short
            rankers.estimate_matrix(clicks, comparisons=3000, seed=5, threads=1, parts=tmp_path / "p", progress=stop_half_way)
    parts = sorted(tmp_path.glob("p/*.part"))
    assert parts
    kept = parts[0].read_bytes()
    for path in parts[1:]:  # as if stopped early
        path.unlink()
    if len(parts) > 1:
        parts[1].write_bytes(kept[:-1] + b"?")  # damaged: counted again
    again = rankers.estimate_matrix(clicks, comparisons=3000, seed=5, parts=tmp_path / "p")
    assert parts[0].read_bytes() == kept
    np.testing.assert_array_equal(again.problem.matrix, estimate.problem.matrix)
    np.testing.assert_array_equal(again.errors, estimate.errors)


def test_finished_parts_are_used(clicks, tmp_path, monkeypatch):
    rankers.estimate_matrix(clicks, comparisons=50, parts=tmp_path / "p")
    part = tmp_path / "p" / "0.part"
    store = matrix_module._Parts.__new__(matrix_module._Parts)
    store.folder = tmp_path / "p"
    sums = store.load(0, 32)
    sums[0] = (50.0, 50.0, 50.0, 50.0)  # ranker 0 beats ranker 1 always: only a run that reads the part can say so
    store.save(0, sums)
    assert part.exists()
    assert rankers.estimate_matrix(clicks, comparisons=50, parts=tmp_path / "p").problem.matrix[0, 1] == 1.0


def test_parts_of_another_matrix_are_refused(clicks, tmp_path):
    rankers.estimate_matrix(clicks, comparisons=50, parts=tmp_path / "p")
    with pytest.raises(BadInput, match="It holds those of another"):
        rankers.estimate_matrix(clicks, comparisons=51, parts=tmp_path / "p")


def test_written_files(estimate, tmp_path):
    out, errors, about = estimate.write(tmp_path / "P.csv")
    np.testing.assert_array_equal(read_csv(out).matrix, estimate.problem.matrix)
    np.testing.assert_array_equal(np.loadtxt(errors, delimiter=",", skiprows=1), estimate.errors)
    note = json.loads(about.read_text())
    assert (note["comparisons"], note["method"], note["result"]["winner"]) == (3000, "team-draft", 0)


def test_one_document_constant_features_no_clicks():
    one = [Query(str(k), np.array([1]), np.array([[1.0, 2.0, 2.0]]), ("d",)) for k in range(3)]
    for method in rankers.METHODS:  # a list of one document: whoever is credited, it is by chance
        found = rankers.estimate_matrix(rankers.click_problem(rankers.line_up(one), method=method), comparisons=2000)
        z = (found.problem.matrix - 0.5) / np.maximum(found.errors, 1e-9)
        assert np.abs(z).max() < 4.5
    flat = [Query(str(k), np.array([0, 1, 2]), np.ones((3, 2)), ("a", "b", "c")) for k in range(3)]
    found = rankers.estimate_matrix(rankers.click_problem(rankers.line_up(flat), method="probabilistic"), comparisons=2000)
    assert found.problem.matrix[0, 1] == pytest.approx(0.5, abs=1e-12)  # equal rankings: every share is 1/2
    none = rankers.click_table(0.0, grades=3)
    found = rankers.estimate_matrix(rankers.click_problem(rankers.line_up(flat), clicks=none), comparisons=100)
    assert (found.problem.matrix == 0.5).all()
    assert not found.errors.any()
    found = rankers.estimate_matrix(rankers.click_problem(rankers.line_up(flat), clicks=none, ties="drop"), comparisons=100)
    assert (found.problem.matrix == 0.5).all() and found.errors[0, 1] == 0.5  # no page told them apart: nothing is known


def test_one_ranker_is_refused(lineup):
    with pytest.raises(BadInput, match="at least 2 rankers"):
        rankers.estimate_matrix(rankers.click_problem(lineup.take([0])))


@pytest.mark.parametrize(("file", "margin"), [("total_order", 0.0), ("total_order_margin", None)], ids=["strongest", "margin"])
@pytest.mark.parametrize("matrix", ["mslr_informational_135", "mslr_perfect_136"])
def test_the_rule_gives_the_published_submatrices(data_dir, matrix, file, margin):
    expected = read_csv(data_dir / f"{matrix.rpartition('_')[0]}_24_{file}.csv")
    whole = read_csv(data_dir / f"{matrix}.csv")
    kept = rankers.take(whole, rankers.total_order(whole, 24, margin=margin))
    assert kept.names == expected.names
    np.testing.assert_allclose(kept.matrix, expected.matrix, rtol=0, atol=1e-15)
    assert kept.total_order


def test_too_few_in_order(estimate):
    with pytest.raises(BadInput, match="in a total order by this rule"):
        rankers.total_order(estimate.problem, 10)


@pytest.mark.parametrize("name", ["mq2008", "mslr_web_fold1_sample"])
def test_real_rankers_come_out_in_the_order_of_their_ndcg(data_dir, name):
    whole = rankers.line_up(rankers.read_letor(data_dir / f"{name}.svm.gz"))
    some = whole.take(np.argsort(whole.ndcg())[:: max(1, whole.n_arms // 20)])
    found = rankers.estimate_matrix(rankers.click_problem(some, method="probabilistic"), comparisons=1500)
    assert spearmanr(theory.borda_scores(found.problem.matrix), some.ndcg()).statistic > 0.85


def test_live_play_finds_the_best_ranker(lineup, estimate):
    problem = rankers.click_problem(lineup, clicks="navigational", method="team-draft", reference=estimate.problem)
    result = simulate("multi-rucb", problem, slate_size=4, horizon=20_000, runs=4, seed=1)
    uniform = simulate("uniform", problem, slate_size=4, horizon=20_000, runs=4, seed=1)
    assert (result.recommended == 0).sum() >= 3
    assert result.final.mean() < 0.3 * uniform.final.mean()
    assert result.to_json()["problem"]["method"] == "team-draft"


def test_live_play_does_not_depend_on_threads_or_commitments(lineup, estimate):
    problem = rankers.click_problem(lineup, clicks="navigational", method="team-draft", reference=estimate.problem)
    options = {"slate_size": 4, "horizon": 2000, "runs": 3, "seed": 1}
    first = simulate("multi-rucb", problem, threads=1, **options)
    for other in (
        simulate("multi-rucb", problem, threads=2, **options),
        simulate("multi-rucb", problem, commit=False, **options),
    ):
        np.testing.assert_array_equal(first.regret, other.regret)


def test_regret_needs_a_matrix(clicks):
    with pytest.raises(BadInput, match="Give one as 'reference'"):
        simulate("uniform", clicks, horizon=10)


PLAIN = """
import numpy as np
from multiduel import rankers
lineup = rankers.line_up(rankers.generate(queries=5, documents=6, features=2, seed=2))
for method in rankers.METHODS:
    print(rankers.estimate_matrix(rankers.click_problem(lineup, method=method), comparisons=8).problem.matrix.tolist())
"""


def test_compiled_equals_plain():
    compiled, plain = (
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAIN],
            env={**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for off in ("0", "1")
    )
    assert compiled == plain
    assert len(plain.splitlines()) == len(rankers.METHODS)


def test_ties_left_out_are_wins_among_decided_comparisons():
    """The same users, counted both ways: P half = P decided (1 - tied) + tied / 2."""
    lineup = rankers.line_up(rankers.generate(queries=30, documents=10, features=4, seed=1))
    clicks = rankers.click_problem(lineup, clicks="navigational", method="team-draft", ties="half")
    dropping = rankers.click_problem(lineup, clicks="navigational", method="team-draft", ties="drop")
    half, decided = (rankers.estimate_matrix(problem, comparisons=2000, seed=3) for problem in (clicks, dropping))
    i, j = np.triu_indices(4, 1)
    a, b = half.problem.matrix[i, j] - 0.5, decided.problem.matrix[i, j] - 0.5
    tied = 1.0 - a / b
    assert ((tied > 0.2) & (tied < 1.0)).all()  # navigational users often click on nothing that decides
    assert np.allclose((tied * 2000).round(), tied * 2000, atol=1e-6)
    error = np.sqrt((0.25 - b**2) / (2000 * (1 - tied) - 1))
    assert np.allclose(decided.errors[i, j], error)
    assert decided.about["ties"] == "drop" and "decided" in decided.problem.label
    np.testing.assert_array_equal(half.tally.above, decided.tally.above)  # and the verdict is the same: ties say nothing there
    assert half.verdict().kind == decided.verdict().kind
    assert not decided.tally.ties.any() and np.allclose(half.tally.ties[i, j], tied * 2000)


def test_a_verdict_counts_fractions_in_parts_and_is_right_about_equal_rankers():
    """Clicks at random on rankings for which the sign of the marginalised outcome is biased (see test_multileaving)."""
    D = 3
    features = np.array([[3.0, 2.0], [2.0, 1.0], [1.0, 3.0]])  # 0 1 2 against 2 0 1
    lineup = rankers.line_up([Query("q", np.zeros(D, np.int64), features, tuple("abc"))])
    problem = rankers.click_problem(lineup, clicks=rankers.click_table([[1.0]], 1.0, grades=1), method="probabilistic")
    estimate = rankers.estimate_matrix(problem, comparisons=20_000)
    above, level = estimate.tally.above, estimate.tally.ties
    assert estimate.verdict().kind == "open"
    np.testing.assert_allclose(above[0, 1] + above[1, 0] + level[0, 1], 20_000)
    np.testing.assert_allclose(above[0, 1] + level[0, 1] / 2, 20_000 * estimate.problem.matrix[0, 1], atol=1e-6)
    ahead, behind = 20_000 * 0.55, 20_000 * 0.45  # counted by who is ahead, the first ranker would have won for certain
    assert verdict([[0, ahead], [behind, 0]]).kind == "winner"
