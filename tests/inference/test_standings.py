"""Standings: against a plain second implementation, against the verdict beside them, and at their edges."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import multiduel as md
from multiduel.inference import Tally, Votes, evidence
from multiduel.inference.standings import rows_by
from multiduel.inference.strengths import Scratch, Seen, at_all_times, cluster_sums, fill_sums
from tests.naive import standings as naive


def some_votes(seed, K=5, answers=150, size=3, raters=12, partial=False, ordered=False):
    rng = np.random.default_rng(seed)
    theta, tastes = np.linspace(1.0, -1.0, K), rng.normal(0, 0.5, (raters, K))
    first, second, outcome, starts, who = [], [], [], [0], []
    for _ in range(answers):
        rater = int(rng.integers(raters))
        arms = rng.permutation(K)[:size]
        score = theta[arms] + tastes[rater][arms] + rng.gumbel(size=size)
        for a in range(size):
            for b in range(a + 1, size):
                if partial and rng.random() < 0.3 and starts[-1] < len(first):
                    continue
                first.append(int(arms[a]))
                second.append(int(arms[b]))
                outcome.append(0 if abs(score[a] - score[b]) < 0.2 else 1 if score[a] > score[b] else -1)
        starts.append(len(first))
        who.append(rater)
    return Votes.of(
        [f"o{k}" for k in range(K)],
        first=first,
        second=second,
        outcome=outcome,
        starts=None if size == 2 else starts,
        rater=who,
        raters=[f"r{k}" for k in range(raters)],
        ordered=ordered,
    )


def clusters_of(votes, by):
    of, count = votes.clusters(by)
    made = [[] for _ in range(count)]
    for row, answer in enumerate(votes.answer_of_row):
        made[of[answer]].append((int(votes.first[row]), int(votes.second[row]), 0.5 * (1 + int(votes.outcome[row]))))
    return [cluster for cluster in made if cluster]


@pytest.mark.parametrize("by", ["answer", "rater"])
@pytest.mark.parametrize(("size", "partial"), [(2, False), (3, False), (3, True)])
def test_numbers_are_those_of_the_naive_oracle(size, partial, by):
    votes = some_votes(size, size=size, partial=partial, raters=40)
    found = md.standings(votes, by=by)
    theta, error, wide, differences, units = naive.intervals(5, clusters_of(votes, by), votes.answers)
    assert np.allclose(found.strength, theta, atol=1e-6) and np.allclose(found.error, error, rtol=1e-5)
    assert np.allclose(found.high - found.strength, wide, rtol=1e-5, equal_nan=True) and np.array_equal(found.shown, units)
    assert not np.isnan(found.low).any()
    L, _ = evidence(*found.verdict.tally)
    rank_from, rank_to = naive.ranks(theta, differences, units, L, 5)
    if found.verdict.kind == "open":
        assert (found.rank_from == rank_from).all() and (found.rank_to == rank_to).all()
    else:  # the verdict may only narrow them
        assert (found.rank_from >= rank_from).all() and (found.rank_to <= np.maximum(rank_to, found.rank_from)).all()


def test_compiled_and_plain_are_the_same_numbers():
    votes = some_votes(4, answers=40, partial=True)
    rng = np.random.default_rng(0)
    rows = rows_by(votes, votes.clusters("rater")[0])._replace(x=rng.normal(size=(len(votes.first), 2)))
    theta, beta = rng.normal(size=5), rng.normal(size=2)
    M, seen = cluster_sums(rows, theta, beta)
    plain, counted = np.zeros((7, 7)), Seen(*np.zeros((3, 5)))
    scratch = Scratch(np.zeros(5, np.int64), np.zeros(5, np.int64), np.zeros(7), np.zeros(5))
    fill_sums(rows, theta, beta, scratch, plain, counted)  # called from Python it is plain Python
    assert np.allclose(plain, M, rtol=1e-12) and all(np.array_equal(a, b) for a, b in zip(seen, counted, strict=True))


def test_duels_by_counts_equal_duels_one_by_one():
    votes = some_votes(1, size=2, answers=300)
    table = md.standings(votes.above, votes.ties, names=votes.options)
    apart = Votes(votes.options, votes.first, votes.second, votes.outcome, starts=np.arange(len(votes.first) + 1))
    for other in (md.standings(votes), md.standings(apart)):
        for name in ("strength", "error", "low", "won_low", "rank_from", "shown"):
            assert np.allclose(getattr(table, name), getattr(other, name)), name


def test_counted_answers_equal_repeated_ones():
    votes = some_votes(2, answers=60)
    times = np.arange(votes.answers) % 3 + 1
    counted = Votes.of(
        votes.options, first=votes.first, second=votes.second, outcome=votes.outcome, starts=votes.starts, counts=times
    )
    repeated = votes.take(np.repeat(np.arange(votes.answers), times))
    one, other = md.standings(counted), md.standings(repeated)
    assert one.answers == other.answers == times.sum()
    for name in ("strength", "error", "low", "won_low", "won_high", "shown"):
        assert np.allclose(getattr(one, name), getattr(other, name)), name


def test_a_tally_keeps_what_its_answers_said_through_undo():
    rng, tally, kept = np.random.default_rng(0), Tally(4), []
    for k in range(90):
        arms = rng.permutation(4)[:3].tolist()
        place = rng.permutation(3)
        wins = (place[:, None] < place).astype(float)
        answer = tally.add(arms, wins, f"r{k % 7}")
        if k % 5 == 0:
            tally.undo(answer)
        else:
            kept.append((arms, wins, f"r{k % 7}"))
    fresh = Tally(4)
    for arms, wins, rater in kept:
        fresh.add(arms, wins, rater)
    for by in ("answer", "rater"):
        one, two = md.standings(fresh, by=by), md.standings(tally, by=by)
        assert np.array_equal(one.strength, two.strength) and np.array_equal(one.error, two.error)
    assert "<Tally of 72 answers by answer: 216 judgements of 6 pairs of 4 arms" in repr(tally)


def test_covariates_recover_a_bonus_for_the_first_shown():
    rng, K, n = np.random.default_rng(5), 4, 6000
    theta = np.array([0.6, 0.2, -0.2, -0.6])
    first = rng.integers(0, K, n)
    second = (first + rng.integers(1, K, n)) % K
    length = rng.normal(0, 1, n)
    p = 1 / (1 + np.exp(-(theta[first] - theta[second] + 0.5 + 0.3 * length)))
    votes = Votes.of(list("abcd"), first=first, second=second, outcome=np.where(rng.random(n) < p, 1, -1), ordered=True)
    found = md.standings(votes, position=True, covariates={"length": length})
    style = found.style
    assert style.names == ("shown first", "length")
    assert (style.low < [0.5, 0.3]).all() and (style.high > [0.5, 0.3]).all() and (style.low > 0).all()
    weights = found.comparisons / found.comparisons.sum()
    assert np.abs(style.strength - (theta - weights @ theta)).max() < 0.15
    assert ((style.strength_low < theta - weights @ theta) & (theta - weights @ theta < style.strength_high)).all()
    # by hand: the same with a penalised logistic regression
    from scipy.optimize import minimize

    X = np.zeros((n, K + 2))
    X[np.arange(n), first], X[np.arange(n), second] = 1.0, -1.0
    X[:, K], X[:, K + 1] = 1.0, length
    y = votes.outcome == 1

    def loss(at):
        eta = X @ at
        penalty = 0.5 * at[:K]
        return np.logaddexp(0, eta).sum() - eta[y].sum() + 0.5 * penalty @ at[:K], X.T @ (1 / (1 + np.exp(-eta)) - y) + np.append(
            penalty, [0.0, 0.0]
        )

    at = minimize(loss, np.zeros(K + 2), jac=True, method="BFGS", options={"gtol": 1e-7}).x
    assert np.allclose(style.effect, at[K:], atol=1e-5)


def test_groups_never_compared_are_not_ranked_against_each_other():
    table = np.zeros((5, 5))
    table[0, 1], table[1, 0], table[2, 3], table[3, 2] = 90, 10, 60, 40
    found = md.standings(table)
    assert found.group.tolist() == [0, 0, 1, 1, 2] and not found.ahead[:2, 2:].any() and not found.ahead[2:, :2].any()
    assert any("2 groups that were never compared" in line for line in found.sentences())
    assert found.order[-1] == 4 and math.isnan(found.low[4]) and math.isnan(found.won[4])


def test_an_option_that_won_everything_stays_finite():
    found = md.standings([[0, 1000, 1000], [0, 0, 500], [0, 500, 0]])
    assert np.isfinite(found.strength).all() and np.isfinite(found.low).all() and found.lines[0].rank_to == 1


def test_a_contradiction_is_named():
    """0 beats 1 for certain, and yet 1 is stronger against everybody else."""
    table = np.zeros((4, 4))
    table[0, 1], table[1, 0] = 150, 50
    for j in (2, 3):
        table[1, j], table[j, 1] = 900, 100
        table[0, j], table[j, 0] = 450, 550
    table[2, 3] = table[3, 2] = 10
    found = md.standings(table, names=["a", "b", "c", "d"])
    assert found.contradictions == ((0, 1),) and found.ahead[0, 1] and not found.ahead[1, 0]
    assert any("Strengths do not explain that 'a' beats 'b'" in line for line in found.sentences())


def test_with_a_margin_a_winner_is_never_behind():
    found = md.standings([[0, 4900], [5100, 0]], margin=0.05)
    assert found.verdict.winner is not None
    winner = found.verdict.winner
    assert found.rank_from[winner] == 1 and found.order[0] == winner and not found.ahead[:, winner].any()


def test_names_are_text_wherever_they_are_written(tmp_path):
    names = ["<script>alert(1)</script>", "50 % & more_", "=1+1", "a|b $x$"]
    table = np.full((4, 4), 30.0)
    np.fill_diagonal(table, 0.0)
    table[0] += [0, 40, 40, 40]
    found = md.standings(table, names=names)
    for written in (found.html(), found._repr_html_()):
        assert "<script>" not in written and "&lt;script&gt;" in written
    assert r"50 \% \& more\_" in found.latex() and "−" not in found.latex() and r"a|b \$x\$" in found.latex()
    assert "| a/b $x$ |" in found.markdown()
    found.save(tmp_path / "s.csv")
    assert "\n2,'=1+1" in (tmp_path / "s.csv").read_text().replace('"', "")
    found.save(tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["options"][0]["name"] == names[0]
    assert found.to_frame("pandas")["name"].tolist() == [names[k] for k in found.order]
    found.plot(tmp_path / "s.svg")
    found.heat_map(tmp_path / "p.png")
    assert (tmp_path / "s.svg").stat().st_size > 1000 and (tmp_path / "p.png").stat().st_size > 1000


counts = st.integers(0, 400)


@st.composite
def tables(draw):
    K = draw(st.integers(2, 6))
    above = np.array(draw(st.lists(st.lists(counts, min_size=K, max_size=K), min_size=K, max_size=K)), float)
    half = np.array(draw(st.lists(st.lists(st.integers(0, 30), min_size=K, max_size=K), min_size=K, max_size=K)), float)
    for table in (above, half):
        np.fill_diagonal(table, 0.0)
    return above, half + half.T


@settings(max_examples=120, deadline=None)
@given(tables(), st.sampled_from([0.0, 0.05]), st.sampled_from([0.05, 0.2]))
def test_table_sentence_and_figure_never_contradict(given_tables, margin, alpha):
    above, ties = given_tables
    found = md.standings(above, ties, margin=margin, alpha=alpha)
    K, verdict = len(above), found.verdict
    assert sorted(found.order) == list(range(K)) and (found.rank_from <= found.rank_to).all()
    assert (found.rank_from >= 1).all() and (found.rank_to <= K).all() and not (found.ahead & found.ahead.T).any()
    low, _ = verdict.intervals
    assert not (found.ahead & (low.T > 0.5)).any() or verdict.winner is not None
    if verdict.winner is not None:
        best = found.lines[0]
        assert best.option == verdict.winner and best.status == "best" and best.rank_from == 1
        assert f"'{best.name}' is best" in found.sentences()[0]
        if margin == 0.0:
            assert best.rank_to == 1 and all(line.rank_from >= 2 for line in found.lines[1:])
    if verdict.kind != "cycle":
        assert all(found.rank_from[k] >= 2 for k in verdict.out)
    for line in found.lines:
        assert line.too_early or line.low <= line.strength <= line.high
        assert math.isnan(line.won) or 0.0 <= line.won_low <= line.won <= line.won_high <= 1.0
        assert (line.status == "out") == (line.option in verdict.out)
    for k in range(1, K + 1):
        top = found.top(k)
        assert set(top.certain) <= set(top.possible) and len(top.certain) <= k
        assert len(top.possible) >= k or (k == 1 and verdict.winner is None)
    table = found.table()
    assert [row[1] for row in table.rows] == [line.name for line in found.lines]
    svg = found._svg()
    places = [svg.index(f">{line.name}  ") for line in found.lines]
    assert places == sorted(places)
    for row, line in zip(table.rows, found.lines, strict=True):
        assert f">{line.name}  <tspan fill='#57606a'>{row[0]}</tspan>" in svg
    json.dumps(found.to_json(pairs=True), allow_nan=False)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from(["answer", "rater"]))
def test_a_tally_of_rankings_never_contradicts_itself(seed, size, by):
    votes = some_votes(seed, K=4, answers=60, size=size, partial=True)
    found = md.standings(votes, by=by)
    if found.verdict.winner is not None:
        assert found.lines[0].option == found.verdict.winner and (found.rank_from > 1).sum() == 3
    assert (found.rank_from <= found.rank_to).all() and not (found.ahead & found.ahead.T).any()


def test_at_all_times_tends_to_the_form_with_a_known_spread():
    a = 0.005
    rho2 = (math.log(-2 * math.log(a)) - 2 * math.log(a) + 1) / 100
    for n, close in ((20, 1.4), (100, 1.05), (10**6, 1.0001)):
        known = math.sqrt(2 * (n * rho2 + 1) / (n * rho2) * math.log(math.sqrt(n * rho2 + 1) / a))
        assert 1.0 < float(at_all_times(n, a)) / known < close
        assert float(at_all_times(n, a)) == pytest.approx(naive.times(n, a), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda v: md.standings(v, alpha=0), "'alpha' of 'standings' must lie between 0 and 1"),
        (lambda v: md.standings(v, by="person"), "'by' must be one of answer, rater, case"),
        (lambda v: md.standings(v, by="case"), "do not say which case"),
        (lambda v: md.standings(v.above, by="rater"), "Counts do not say which judgements are of one rater"),
        (lambda v: md.standings(v, ties=v.ties), "'ties' of 'standings' go with a table of wins"),
        (lambda v: md.standings(v, position=True), "needs votes that say which option was shown first"),
        (lambda v: md.standings(v, covariates={"length": [1.0]}), "Covariate 'length' must be"),
        (lambda v: md.standings(v.above, covariates={"length": [1.0]}), "Covariates need the votes themselves"),
        (lambda v: md.standings(v.above, names=["one"]), "'names' of 'standings' must be one text per option"),
        (lambda v: md.standings([[0, -1], [1, 0]]), "must hold finite counts"),
        (lambda v: md.standings(v, verdict="yes"), "'verdict' of 'standings' must be that of these 5 options"),
        (lambda v: md.standings(v).top(9), "'k' of 'top' must be at most 5"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, says):
    with pytest.raises(md.BadInput, match=says):
        call(some_votes(0))


@pytest.mark.parametrize("seed", range(20))
def test_counts_as_different_as_they_may_be_have_standings(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 9))
    above = rng.choice([0.0, 0.0, 1.0, 2.0, 1e3, 1e9, 1e12], (K, K))
    np.fill_diagonal(above, 0.0)
    strengths = md.standings(Tally.of(above)).strength
    assert np.isfinite(strengths).all()


def test_an_answer_of_almost_no_weight_compares_nothing():
    above = np.zeros((5, 5))
    above[0, 2], above[1, 4], above[4, 1] = 1e-300, 22.0, 2.0
    found = md.standings(Tally.of(above))
    assert len(set(found.group.tolist())) == 4 and np.isfinite(found.strength).all()


def test_counts_above_the_limit_are_refused():
    with pytest.raises(md.BadInput, match=r"none above 1e\+12"):
        Tally.of([[0.0, 1.1e12], [0.0, 0.0]])
