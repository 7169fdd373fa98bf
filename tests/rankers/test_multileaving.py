"""Multileaving: equal to the plain oracle, and fair: equal rankers, or clicks at random, never make a winner."""

import itertools
import math

import numpy as np
import pytest

from multiduel import rankers
from multiduel.inputs import BadInput
from multiduel.kernels.compiler.dispatch import entry
from multiduel.kernels.random import place, reseed
from multiduel.rankers.corpus import Query
from multiduel.rankers.matrix import SUMS, count_wins
from tests.naive import pairwise_published as published
from tests.naive import rankers as naive

SLOW = ("optimised", "greedy")
FAIR_TO_RANDOM_CLICKS = [name for name in rankers.METHODS if name not in ("balanced", "pairwise", "greedy")]


def click_problem(lineup, **options):
    """Ties half, so that every outcome shows."""
    return rankers.click_problem(lineup, ties="half", **options)


def lineup_of(rankings, grades=None, D=None):
    """One query whose documents the rankers put in these orders (documents 0 .. D-1, best first). Shorter lists end there."""
    D = len(rankings[0]) if D is None else D
    scores = np.full((len(rankings), D), -np.inf)
    for i, ranking in enumerate(rankings):
        scores[i, list(ranking)] = np.arange(len(ranking), 0, -1)
    grades = np.zeros(D, np.int64) if grades is None else np.array(grades)
    query = Query("q", grades, np.zeros((D, 1)), tuple(map(str, range(D))))
    return rankers.line_up([query], [rankers.Ranker(str(i), lambda _, s=s: s) for i, s in enumerate(scores)])


def preferences(problem, slate, count, key=1):
    """Means and standard errors of wins[a, b] over many users."""
    n = len(slate)
    world = problem.world(np.arange(problem.n_arms), n)
    run = entry(count_wins, world, "comparisons", type(world.method))
    wins, sums = np.zeros((n, n)), np.zeros((SUMS, n, n))
    args = (world, np.uint64(key), 1, count, np.array(slate), wins, sums)
    run.prepare(*args)
    run.call(*args)
    total, squares = sums[:2]
    mean = total / count
    return mean, np.sqrt(np.maximum(squares / count - mean**2, 1e-12) / count)


def worst_z(mean, error):
    off = ~np.eye(len(mean), dtype=bool)
    return np.abs((mean - 0.5) / error)[off].max()


def random_rankings(n, D, seed):
    rng = np.random.default_rng(seed)
    return [rng.permutation(D).tolist() for _ in range(n)]


SHORT = (1, 0, 2, 4)  # of four documents so many are returned for the query "short"


def ranker(i, of_four):
    def score(query):
        hidden = (query.id == "short") & (np.arange(len(query.grades)) % 4 >= of_four)
        return np.where(hidden, -np.inf, query.features[:, i])

    return rankers.Ranker(str(i), score)


def plain(lineup):
    """Per query its grades, and what each ranker returned."""
    pairs = itertools.pairwise(lineup.offset.tolist())
    return [
        (lineup.grade[lo:hi].tolist(), [row[:own].tolist() for row, own in zip(lineup.order[:, lo:hi], owns, strict=True)])
        for (lo, hi), owns in zip(pairs, lineup.returned.T.tolist(), strict=True)
    ]


@pytest.mark.parametrize(("method", "n"), [(m, n) for m in rankers.METHODS for n in (2, 3) if (m, n) != ("balanced", 3)])
def test_equals_the_plain_oracle(method, n):
    queries = list(rankers.generate(queries=5, documents=7, features=4, grades=5, seed=3))
    one = queries[0]._replace(id="one", grades=queries[0].grades[:1], features=queries[0].features[:1], documents=("1",))
    lineup = rankers.line_up(
        [*queries, one, queries[1]._replace(id="short")], [ranker(i, of_four) for i, of_four in enumerate(SHORT)]
    )
    problem = click_problem(lineup, method=method, depth=5)
    collection = plain(lineup)
    labels = np.array([2, 0, 3, 1])
    world = problem.world(labels, n)
    run = entry(count_wins, world, "comparisons", type(world.method))
    slate = np.array([3, 0, 1][:n])
    for round_key in range(40):
        wins, sums = np.zeros((n, n)), np.zeros((SUMS, n, n))
        run.call(world, np.uint64(round_key), 1, 1, slate, wins, sums)
        words = np.zeros(4, np.uint64)
        reseed(place(np.uint64(round_key), 1), 0, words)
        tables = problem.clicks.click.tolist(), problem.clicks.stop.tolist()
        expected = naive.compare(method, collection, *tables, labels[slate].tolist(), words)
        np.testing.assert_allclose(sums[0], expected, atol=1e-9)


@pytest.mark.parametrize("method", FAIR_TO_RANDOM_CLICKS)
@pytest.mark.parametrize(
    "rankings",
    [
        [[0, 1, 2], [2, 0, 1]],
        [[0, 1, 2, 3], [1, 2, 3, 0]],
        random_rankings(2, 12, 1),
        random_rankings(5, 9, 2),
        [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]],
    ],
)
def test_clicks_at_random_prefer_nobody(method, rankings):
    lineup = lineup_of(rankings)
    slate = range(len(rankings))
    count = 2_000 if method in SLOW else 30_000
    for table in (0.5, [[0.9], [0.5], [0.1]]):  # everywhere alike, and falling with the position
        clicks = rankers.click_table(table, 0.3, grades=1)
        mean, error = preferences(click_problem(lineup, clicks=clicks, method=method), slate, count)
        assert worst_z(mean, error) < 4.5
        np.testing.assert_allclose(mean + mean.T + np.eye(len(slate)), 1.0, atol=1e-9)


@pytest.mark.parametrize("method", rankers.METHODS)
def test_equal_rankers_are_not_preferred_whatever_users_do(method):
    ranking = list(range(8))
    lineup = lineup_of([ranking, ranking], grades=[4, 0, 3, 0, 0, 1, 2, 0])
    for clicks in ("perfect", "navigational", "informational", "position-based"):
        count = 2_000 if method in SLOW else 20_000
        mean, error = preferences(click_problem(lineup, clicks=clicks, method=method), (0, 1), count)
        assert worst_z(mean, error) < 4.5


@pytest.mark.parametrize("method", rankers.METHODS)
def test_the_better_ranker_wins(method):
    grades = [4, 3, 2, 1] + [0] * 16
    lineup = lineup_of([list(range(20)), list(range(19, -1, -1))], grades)
    mean, error = preferences(click_problem(lineup, clicks="navigational", method=method), (0, 1), 2_000)
    assert mean[0, 1] - 0.5 > 8 * error[0, 1]


def test_balanced_interleaving_is_known_to_prefer_one_for_clicks_at_random():
    lineup = lineup_of([[0, 1, 2, 3], [1, 2, 3, 0]])  # the example of Radlinski et al. 2008
    clicks = rankers.click_table([[0.2]], 1.0, grades=1)
    mean, error = preferences(click_problem(lineup, clicks=clicks, method="balanced"), (0, 1), 30_000)
    assert mean[1, 0] - 0.5 > 8 * error[1, 0]


def test_the_sign_of_expected_credit_would_be_biased():
    """Why probabilistic multileaving marginalises the outcome, not the credit."""
    rankings = [[0, 1, 2], [2, 0, 1]]
    laws = [naive.softmax(ranking, []) for ranking in rankings]
    for_first = sum((laws[0][d] + laws[1][d]) / 2 for d in range(3) if laws[0][d] > laws[1][d])
    assert for_first > 0.55
    lineup = lineup_of(rankings)
    clicks = rankers.click_table([[1.0]], 1.0, grades=1)
    mean, error = preferences(click_problem(lineup, clicks=clicks, method="probabilistic"), (0, 1), 30_000)
    assert worst_z(mean, error) < 4.5


def test_marginalised_and_drawn_credit_agree_and_marginalised_is_less_noisy():
    lineup = rankers.line_up(rankers.generate(queries=20, documents=15, features=3, seed=5))
    (soft, soft_error), (hard, hard_error) = (
        preferences(click_problem(lineup, method=method), (0, 1, 2), 40_000)
        for method in ("probabilistic", "probabilistic-drawn")
    )
    off = ~np.eye(3, dtype=bool)
    assert (np.abs(soft - hard)[off] < 4.5 * np.hypot(soft_error, hard_error)[off]).all()
    assert (soft_error < 0.9 * hard_error)[off].all()


def test_no_clicks_make_ties():
    lineup = lineup_of(random_rankings(2, 6, 3))
    clicks = rankers.click_table(0.0, grades=1)
    for method in rankers.METHODS:
        mean, _ = preferences(click_problem(lineup, clicks=clicks, method=method), (0, 1), 10)
        assert mean[0, 1] == mean[1, 0] == 0.5


def test_first_slot_follows_the_softmax():
    lineup = lineup_of([[0, 1, 2, 3], [0, 1, 2, 3]], grades=[1, 0, 0, 0])
    rng = naive.NaiveStream([1, 2, 3, 4])
    tops = [naive.probabilistic(lineup.order.tolist(), 1, rng)[0][0] for _ in range(4000)]
    for document, chance in naive.softmax([0, 1, 2, 3], []).items():
        share = tops.count(document) / 4000
        assert abs(share - chance) < 4.5 * math.sqrt(chance * (1 - chance) / 4000)


@pytest.mark.parametrize("method", rankers.METHODS)
@pytest.mark.parametrize("m", [2, 4])
def test_a_ranker_that_returns_nothing_never_wins(method, m):
    """Padding earns no credit, whatever is clicked: an empty list loses to a full one, and ties where nothing was clicked."""
    if method == "balanced" and m > 2:
        pytest.skip("compares two")
    rng = np.random.default_rng(3)
    lists = [[], *([f"d{d}" for d in rng.permutation(12)] for _ in range(m - 1))]
    wins = np.zeros((m, m))
    for seed in range(60):
        page = rankers.multileave(lists, method=method, ties="half", length=8, seed=seed)
        clicks = [document for document in page["documents"] if rng.random() < 0.4]
        wins += rankers.credit(page, clicks)
        if clicks:
            assert (rankers.credit(page, clicks)[0, 1:] <= 0.5 + 1e-9).all()
    assert (wins[0, 1:] < 20.0).all()
    assert len(page["documents"]) == 8


def test_a_page_holds_only_what_somebody_returned_and_passes_go_on():
    """One document each, and then nobody has any left; with one long list, the rest of the page is its."""
    for method in rankers.METHODS:
        page = rankers.multileave([["a"], ["b"]], method=method, length=5, seed=1)
        assert sorted(page["documents"]) == ["a", "b"]
        page = rankers.multileave([["x"], list("abcdef")], method=method, length=5, seed=2)
        rest = [document for document in page["documents"] if document != "x"]
        assert len(page["documents"]) == 5 and set(rest) <= set("abcdef")


def test_rankers_that_return_the_page_are_alike_to_clicks_at_random_beside_a_short_one():
    """A third ranker that soon passes leaves the other two fair to each other."""
    lineup = lineup_of([[3], [0, 1, 2, 3, 4, 5, 6, 7], [7, 0, 6, 1, 5, 2, 4, 3]], D=8)
    clicks = rankers.click_table([[0.9], [0.5], [0.2]], 0.3, grades=1)
    for method in FAIR_TO_RANDOM_CLICKS:
        count = 2_000 if method in SLOW else 30_000
        mean, error = preferences(click_problem(lineup, clicks=clicks, method=method, depth=6), (0, 1, 2), count)
        assert abs(mean[1, 2] - 0.5) < 4.5 * error[1, 2]


class Tree:
    """Stands for the generator: goes through all that it could draw. ``below`` of n is n branches, each as likely."""

    def __init__(self):
        self.path = []  # [drawn, of how many]

    def walk(self, run):
        """(chance, what run(rng) returned) for every sequence of draws."""
        while True:
            self.at, chance = 0, 1.0
            found = run(self)
            for _, n in self.path:
                chance /= n
            yield chance, found
            while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
                self.path.pop()
            if not self.path:
                return
            self.path[-1][0] += 1

    def below(self, n):
        if self.at == len(self.path):
            self.path.append([0, n])
        self.at += 1
        return self.path[self.at - 1][0]


def chances(method, lists, depth):
    """For every set of clicked slots, wins[a][b] in the mean over all pages; and the mean credit of pairwise."""
    lay_out, judge = naive.METHODS[method]
    n, length = len(lists), naive.slots(depth, lists)
    law = list(Tree().walk(lambda rng: lay_out(lists, depth, rng)[1]))
    assert sum(chance for chance, _ in law) == pytest.approx(1.0)
    for size in range(length + 1):
        for clicked in itertools.combinations(range(length), size):
            yield sum(chance * np.array(judge(evidence, list(clicked), n)) for chance, evidence in law)


@pytest.mark.parametrize("method", ["team-draft", "neutral-team-draft", "pair-draft"])
@pytest.mark.parametrize(
    ("lists", "depth"),
    [
        (random_rankings(2, 6, 1), 5),
        ([[0, 1, 2, 3, 4], [0, 1, 2, 4, 3]], 5),  # close rankers
        ([[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3]], 4),
        ([[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 3, 2], [3, 0, 1, 2]], 4),  # a party of three against one
        ([[0, 1, 2, 3], [0, 1, 2, 3], [1, 0, 2, 3]], 3),  # the page ends within a round
        (random_rankings(4, 5, 2), 4),
        (random_rankings(4, 8, 6), 4),  # all of the first round, or most
        ([[0, 1, 2], [0, 3, 4], [5, 1, 3], [0, 2, 6]], 3),  # a page each, but others' documents are not in all lists
    ],
)
def test_whichever_slots_are_clicked_nobody_is_preferred(method, lists, depth):
    """Exactly, by going through all pages and all sets of clicks."""
    for wins in chances(method, lists, depth):
        np.testing.assert_allclose(wins, wins.T, atol=1e-12)


def test_the_largest_party_must_not_have_the_upper_slots():
    """Why a round's documents come in an order that does not hang on who wants them: with captains in a random order, each
    placing what it wants unless it is there, a click on the first slot would prefer the party of three."""
    lists = [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [3, 2, 1, 0]]
    first = [lists[order[0]][0] for order in itertools.permutations(range(4))]
    assert first.count(0) == 3 * first.count(3)
    wins = next(itertools.islice(chances("neutral-team-draft", lists, 4), 1, 2))  # a click on the first slot
    assert wins[0, 3] == wins[3, 0]


def test_neutral_leaves_out_what_all_agree_on():
    """Two rankers that differ in the last two documents: only clicks there tell them apart."""
    lists = [[0, 1, 2, 3], [0, 1, 3, 2]]
    for _, (shown, parties) in Tree().walk(lambda rng: naive.neutral_team_draft(lists, 4, rng)):
        assert shown[:2] == [0, 1] and parties[:2] == [[0, 1], [0, 1]]
        assert sorted(map(tuple, parties[2:])) == [(0,), (1,)]


def test_pair_draft_judges_two_by_what_others_named_too():
    """Two that agree on the first document and differ on those of others, of which neutral team draft tells nothing."""
    lists = [[0, 1, 2, 3], [0, 2, 1, 3], [1, 0, 2, 3], [2, 0, 1, 3]]
    for _, (shown, evidence) in Tree().walk(lambda rng: naive.pair_draft(lists, 3, rng)):
        assert sorted(shown) == [0, 1, 2]
        for document, won in ((0, 0.5), (1, 1.0), (2, 0.0)):
            assert naive.draft_by_two(evidence, [shown.index(document)], 4)[0][1] == won


def test_pair_draft_of_two_is_neutral_team_draft():
    lists = [[f"d{d}" for d in ranking] for ranking in random_rankings(2, 12, 4)]
    rng = np.random.default_rng(0)
    for seed in range(30):
        pages = [rankers.multileave(lists, method=method, length=7, seed=seed) for method in ("pair-draft", "neutral-team-draft")]
        assert pages[0]["documents"] == pages[1]["documents"]
        clicks = [document for document in pages[0]["documents"] if rng.random() < 0.4]
        np.testing.assert_array_equal(*(rankers.credit(page, clicks) for page in pages))


def test_pairwise_credit_is_fair_in_the_mean_though_its_sign_is_not():
    lists = random_rankings(2, 5, 5)
    table = list(Tree().walk(lambda rng: naive.pairwise(lists, 4, rng)[1]))
    worst = max(abs(wins[0, 1] - wins[1, 0]) for wins in chances("pairwise", lists, 4))
    assert 0.02 < worst < 0.5  # by the sign
    for size in range(5):
        for clicked in itertools.combinations(range(4), size):
            credit = sum(chance * np.array(naive.agreement(evidence, list(clicked), 2)) for chance, evidence in table)
            assert credit[0] == pytest.approx(credit[1])


def test_words_for_wrong_methods():
    lineup = lineup_of(random_rankings(4, 6, 3))
    with pytest.raises(BadInput, match=r"Got 'team-drat'\. Did you mean 'team-draft'"):
        click_problem(lineup, method="team-drat")
    with pytest.raises(BadInput, match="'balanced' compares two rankers at a time"):
        click_problem(lineup, method="balanced").world(np.arange(4), 3)


def test_optimised_chances_lower_the_bias_and_keep_sensitive_lists():
    before, after, dull, sharp = 0.0, 0.0, 0.0, 0.0
    for seed in range(20):
        lineup = lineup_of(random_rankings(3, 10, seed))
        world = click_problem(lineup, method="optimised").world(np.arange(3), 3)
        run = entry(count_wins, world, "comparisons", type(world.method))
        run.call(world, np.uint64(seed), 1, 1, np.arange(3), np.zeros((3, 3)), np.zeros((SUMS, 3, 3)))
        p, credit, sensitivity = world.method.p, world.method.credit, world.method.sensitivity
        assert p.sum() == pytest.approx(1.0)
        before += (credit.mean(axis=0) ** 2).sum()
        after += ((p @ credit) ** 2).sum()
        dull += sensitivity.mean()
        sharp += p @ sensitivity
    assert after < 0.5 * before
    assert sharp > dull


@pytest.mark.parametrize(("n", "D"), [(2, 12), (4, 12), (3, 30)])
def test_pairwise_agrees_with_an_implementation_from_the_paper(n, D):
    """Every sign, on pages and clicks at random; rankings that hold other documents too. Before, one in eight differed."""
    rng = np.random.default_rng(n)
    told = 0
    for seed in range(150):
        lists = [[f"d{d}" for d in rng.permutation(D)[: rng.integers(6, D + 1)]] for _ in range(n)]
        page = rankers.multileave(lists, method="pairwise", ties="half", length=8, seed=seed)
        shown = page["documents"]
        clicked = [k for k in range(len(shown)) if rng.random() < 0.3]
        expected = published.credits(lists, shown, clicked)
        wins = rankers.credit(page, [shown[k] for k in clicked])
        for a, b in itertools.permutations(range(n), 2):
            close = abs(expected[a] - expected[b]) < 1e-9 * max(1, expected[a])
            assert wins[a, b] == (0.5 if close else float(expected[a] > expected[b]))
            told += wins[a, b] == 1.0
    assert told > 50


@pytest.mark.parametrize("method", ["optimised", "pairwise"])
def test_an_empty_list_loses_whenever_a_document_of_the_other_is_clicked(method):
    for seed in range(20):
        page = rankers.multileave([[], list("abcdef")], method=method, ties="half", length=4, seed=seed)
        assert rankers.credit(page, page["documents"][1:2]).tolist() == [[0.0, 0.0], [1.0, 0.0]]
        assert rankers.credit(page, []).tolist() == [[0.0, 0.5], [0.5, 0.0]]


@pytest.mark.parametrize(
    ("alias", "name"), [("TDM", "team-draft"), ("PPM", "pairwise"), ("optimized", "optimised"), ("pm", "probabilistic")]
)
def test_methods_have_the_names_that_people_know(alias, name):
    assert rankers.multileave([["a"], ["b"]], method=alias)["method"] == name
    assert click_problem(lineup_of(random_rankings(2, 6, 3)), method=alias).method == name
