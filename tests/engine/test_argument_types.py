"""Arguments of any wrong type or value: each public function refuses them in a sentence; none fails inside."""

import inspect

import numpy as np
import pytest

import multiduel as md
from multiduel import inference

STRANGE = (
    None, True, -1, 0, 1.5, 1e308, float("nan"), float("inf"), 10**400, 2**64, "x", "", "\ud800", b"x", [], [1], ["a"],
    [[0, 1], [1, 0]], [[0]], [["a", "b"], ["c", "d"]], {}, {"a": 1}, {1, 2}, 1j, object(), np.zeros((2, 2)), np.zeros(3),
    np.array("x"), [None], (0, 1), md.Tally(2), [[0, 1], [2]], [10**400], [[0, 10**400], [1, 0]], [1.5], [-1], range(2),
)  # fmt: skip
ABOVE, LEVEL = np.array([[0.0, 60.0, 3.0], [20.0, 0.0, 3.0], [1.0, 2.0, 0.0]]), np.zeros((3, 3))
TALLY = md.Tally.of(ABOVE.tolist(), showings=[200, 200, 200])
HALF = [[0.5, 0.6], [0.4, 0.5]]
WINS = [[0, 1], [0, 0]]


VOTES = md.Votes.of(["a", "b", "c"], first=[0, 1, 2], second=[1, 2, 0], outcome=[1, 0, -1], ordered=True)


def raters() -> md.Tally:
    return md.Tally(3, unit="rater")


LATER = ("best", "worst", "tie")  # what they name is checked when a policy is told
FUNCTIONS = {  # function, arguments by position, options
    "estimate": (md.estimate, (TALLY,), {}),
    "forecast": (md.forecast, (TALLY,), {}),
    "verdict of counts": (md.verdict, (ABOVE.tolist(),), {}),
    "verdict of a tally": (md.verdict, (TALLY,), {"room": 5, "retired": (1,)}),
    "standings of counts": (md.standings, (ABOVE.tolist(),), {}),
    "standings of votes": (inference.standings, (VOTES,), {"position": True, "covariates": {"length": [1.0, -1.0, 0.5]}}),
    "stand": (inference.stand, (inference.verdict(ABOVE.tolist()), 1), {}),
    "evidence": (inference.evidence, (ABOVE, LEVEL), {}),
    "pair_intervals": (inference.pair_intervals, (ABOVE, LEVEL), {"error": 0.05}),
    "Weighed.of": (inference.Weighed.of, (ABOVE, LEVEL), {}),
    "Weighed.update": (inference.Weighed.of(ABOVE, LEVEL).update, (ABOVE, LEVEL, (0, 1)), {}),
    "Tally": (md.Tally, (3,), {}),
    "Tally.of": (md.Tally.of, (ABOVE.tolist(),), {}),
    "Tally.add": (md.Tally(3).add, ((0, 1), WINS), {}),
    "Tally.add by rater": (raters().add, ((0, 1), WINS), {"rater": "ada"}),
    "Tally.undo": (md.Tally(3).undo, (1,), {}),
    "Tally.grow": (lambda n_arms: md.Tally(3).grow(n_arms), (4,), {}),
    "Tally.has_judged": (raters().has_judged, ("ada", 0, 1), {}),
    "make": (md.make, ("uniform",), {"n_arms": 3, "slate_size": 2, "seed": 1}),
    "restore": (md.restore, (md.make("uniform", n_arms=3).snapshot(),), {}),
    "best": (md.best, (1,), {}),
    "worst": (md.worst, (1,), {}),
    "ranking": (md.ranking, ([1, 2],), {}),
    "tie": (md.tie, (1, 2), {}),
    "duels": (md.duels, ([(1, 2)],), {}),
    "simulate": (md.simulate, ("uniform", md.synthetic(3)), {"horizon": 5, "runs": 1, "slate_size": 2, "threads": 1}),
    "catalogue": (md.catalogue, (), {}),
    "suggest": (md.suggest, (), {"n_arms": 3}),
    "register": (md.register, (1,), {}),
    "Rankings": (md.Rankings, (md.bradley_terry(3),), {}),
    "Problem": (md.Problem, (HALF,), {}),
    "EstimatedProblem": (md.EstimatedProblem, (HALF,), {"low": HALF, "high": HALF, "judgements": HALF}),
    "bradley_terry": (md.bradley_terry, (3,), {}),
    "cyclic": (md.cyclic, (3,), {}),
    "from_matrix": (md.from_matrix, (HALF,), {}),
    "from_utilities": (md.from_utilities, ([1, 2],), {}),
    "random_tournament": (md.random_tournament, (3,), {}),
    "instance": (md.instance, ("swirl",), {}),
    "random_utilities": (md.random_utilities, (3,), {}),
    "read_csv": (md.read_csv, ("nowhere.csv",), {}),
    "synthetic": (md.synthetic, (5,), {}),
    "read_votes": (md.read_votes, ([("a", "b"), ("b", "c")],), {}),
    "next_slates": (md.next_slates, (VOTES,), {"slate_size": 2, "number": 2}),
    "judge": (md.judge, ({"a": "one", "b": "two"},), {"judge": lambda question: 0, "budget": 2, "concurrency": 1, "seed": 1}),
    "read_results": (md.read_results, ("nowhere",), {}),
    "contexts": (md.contexts, ([[1.0, 2.0], [0.0, 1.0]],), {"n_arms": 3, "theta": [1.0, 0.5]}),
    "context_arms": (md.context_arms, ([[1.0, 2.0], [0.0, 1.0]],), {"n_arms": 2, "utilities": [[1.0, 0.5], [0.0, 2.0]]}),
    "random_contexts": (md.random_contexts, (3,), {"dimension": 2, "items": 20}),
}


def calls(function, arguments, options):
    """Every call with one argument replaced by something strange."""
    names = list(inspect.signature(function).parameters)
    for strange in STRANGE:
        for at in range(len(arguments)):
            yield (*arguments[:at], strange, *arguments[at + 1 :]), options
        for name in {*names[len(arguments) :], *options} - {"options", "params", "progress", "more"}:
            yield arguments, {**options, name: strange}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_arguments_of_wrong_types_are_refused_in_a_sentence(name, tmp_path, monkeypatch):
    function, arguments, options = FUNCTIONS[name]
    refused = 0
    monkeypatch.chdir(tmp_path)  # a name such as "x" may become a file
    for given, named in calls(function, arguments, options):
        try:
            result = function(*given, **named)
            str(result)
            if isinstance(result, inference.Verdict):
                assert result.to_json() and result.borda and result.copeland
        except md.BadInput as refusal:
            refused += 1
            assert len(str(refusal)) < 1500
    assert refused > 10 or name in LATER


def test_every_public_function_is_tried():
    covered = {function for function, _, _ in FUNCTIONS.values()}
    public = {name for name in md.__all__ if inspect.isfunction(getattr(md, name))}
    assert {name for name in public if getattr(md, name) not in covered} == set()
    functions = {name for name in inference.__all__ if inspect.isfunction(getattr(inference, name))}
    assert {name for name in functions if getattr(inference, name) not in covered} == set()


def test_an_alpha_near_zero_needs_endless_evidence():
    found = md.verdict([[0, 90], [2, 0]], alpha=5e-324)
    assert found.winner is None and found.borda[0].high == 1.0
    assert md.estimate(TALLY, alpha=5e-324).high[0, 1] == 1.0
