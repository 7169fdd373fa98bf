"""Around the loop: what a policy is given, what of it is refused, ends that are told, times, threads and their end."""

import threading
import time

import numpy as np
import pytest

import multiduel as md
from multiduel.engine.registry import registry
from multiduel.engine.simulation import runs
from multiduel.engine.simulation.play import KINDS
from multiduel.engine.simulation.worlds import BlockMatrix, Matrix, sides
from tests.engine.plain_policy import NAME, plain_policy, round_robin

PROBLEM = md.synthetic(5)
TWO = md.from_matrix([[0.5, 0.9], [0.1, 0.5]])  # a round with both arms costs 0.2 on average
SMALL = {"horizon": 20, "runs": 2, "threads": 1}


@pytest.fixture(autouse=True)
def forgotten():
    yield
    registry.POLICIES.pop(NAME, None)


def most_worth(params, state, round, limit, slate):
    slate[0] = state.worth.argmax()
    return 1, limit


@pytest.mark.parametrize("until", [None, "verdict"])
def test_features_are_told_of_the_arms_as_the_policy_numbers_them(until):
    table = [[-gap, 7.0] for gap in PROBLEM.gaps]
    result = md.simulate(plain_policy(most_worth, features=True), PROBLEM, features=table, until=until, **SMALL | {"runs": 9})
    assert (result.regret == 0.0).all() and result.params["features"] == table
    blind = md.simulate(plain_policy(most_worth, features=True), PROBLEM, until=until, **SMALL | {"runs": 9})
    assert (blind.final > 0.0).any() and "features" not in blind.params


def after_four(n, rounds):
    """Round robin, and then this."""

    def choose(params, state, round, limit, slate):
        usual = round_robin(params, state, round, limit, slate)
        slate[2] = (round + 2) % 5
        return usual if round < 5 else (n, rounds)

    return choose


@pytest.mark.parametrize(
    ("card", "options", "said"),
    [
        ({"choose": after_four(2, 17)}, {}, "1 to 'limit' rounds, here 16. It returned 17 in round 5 "),
        ({"choose": after_four(2, 2)}, {"commit": False}, "1 to 'limit' rounds, here 1. It returned 2 in round 5 "),
        ({"choose": after_four(3, 1)}, {"slate_size": 4}, "must show 1 to 2 arms. It returned 3 in round 5 "),
        (
            {"choose": after_four(6, 1), "slate": "any"},
            {"slate_size": 9},
            "must show 1 to 5 arms. It returned 6 in round 5 ",
        ),
        (
            {"choose": after_four(4, 1), "slate": "any"},
            {"slate_size": 3},
            "must show 1 to 3 arms. It returned 4 in round 5 ",
        ),
        ({"bet": lambda state: 17}, {}, "'recommend' of 'plain' must name an arm from 0 to 4. It returned 17 "),
        ({"bet": lambda state: 5, "trusted": True}, {}, "must name an arm from 0 to 4. It returned 5 "),
        ({"bet": lambda state: -1, "trusted": True}, {}, "must name an arm from 0 to 4. It returned -1 "),
    ],
)
def test_what_cannot_be_shown_or_bet_on_is_refused_in_its_round(card, options, said):
    with pytest.raises(md.BadInput, match=said):
        md.simulate(plain_policy(**card), PROBLEM, **SMALL, **options)


def test_a_single_arm_may_be_shown_alone_and_is_all_there_is():
    alone = md.from_matrix([[0.5]])
    assert md.simulate(plain_policy(most_worth), alone, **SMALL).final.tolist() == [0.0, 0.0]
    with pytest.raises(md.BadInput, match=r"must show 1 to 1 arms\. It returned 2 in round 1 "):
        md.simulate(plain_policy(lambda params, state, round, limit, slate: (2, 1)), alone, **SMALL)


def half_then_the_best(params, state, round, limit, slate):
    """Both arms in the first half of the time that there is, then the better one."""
    slate[:2] = state.worth.argsort()[::-1]
    return (2, 1) if round <= params.horizon // 2 else (1, limit)


MARKS = [1, 7, 50, 51, 100]


def test_each_checkpoint_is_a_run_that_is_told_its_end():
    told = []
    spec = plain_policy(half_then_the_best, begins=lambda params: told.append(params.horizon), anytime=False, features=True)
    options = SMALL | {"horizon": 100, "checkpoints": MARKS, "features": [[2.0], [1.0]]}
    result = md.simulate(spec, TWO, reset_horizon=True, **options)
    assert told[1:] == MARKS * 2  # the first only prepares the code
    for kind, cost in zip(KINDS, (0.2, 0.4, 0.0, 0.2), strict=True):
        assert result.regrets[kind].tolist() == [pytest.approx([cost * (mark // 2) for mark in MARKS])] * 2
    once = md.simulate(spec, TWO, **options)
    assert once.regret[0].tolist() == pytest.approx([0.2 * min(mark, 50) for mark in MARKS])


def test_the_end_is_told_to_the_policy_inside_another():
    told = []
    spec = plain_policy(begins=lambda params: told.append(params.horizon), anytime=False)
    options = SMALL | {"horizon": 100, "runs": 1, "checkpoints": MARKS}
    md.simulate(spec, PROBLEM, reset_horizon=True, closing=True, **options)
    assert told[1:] == MARKS


def test_who_goes_on_from_the_run_before_plays_what_it_would_have_played_afresh():
    began, asked = [], []

    def goes_on(params, state):
        asked.append((params.horizon, int(state.W.sum())))
        return params.horizon != 51

    options = SMALL | {"horizon": 100, "runs": 3, "checkpoints": MARKS, "reset_horizon": True}
    afresh = md.simulate(plain_policy(anytime=False), PROBLEM, **options)
    going = md.simulate(
        plain_policy(begins=lambda params: began.append(params.horizon), goes_on=goes_on, anytime=False), PROBLEM, **options
    )
    assert began[1:] == [1, 51] * 3 and asked == [(7, 1), (50, 7), (51, 50), (100, 51)] * 3
    assert all((going.regrets[kind] == afresh.regrets[kind]).all() for kind in KINDS)
    assert (going.events == 50 + 100).all() and (afresh.events == sum(MARKS)).all()
    assert (going.recommended == afresh.recommended).all()


class Relabelled:
    """A problem that brings its own world."""

    n_arms = 5
    asked: list

    def __init__(self):
        self.asked = []

    def benchmark_gaps(self, kind):
        return PROBLEM.benchmark_gaps(kind)

    def to_json(self):
        return PROBLEM.to_json()

    def world(self, labels, seats):
        self.asked.append((sorted(labels.tolist()), seats))
        return Matrix(sides(PROBLEM.matrix[np.ix_(labels, labels)]))


def test_a_problem_may_bring_its_own_world():
    problem = Relabelled()
    result = md.simulate(plain_policy(slate="any"), problem, slate_size=3, **SMALL)
    assert set(map(str, problem.asked)) == {str(([0, 1, 2, 3, 4], 3))}
    assert (result.recommended == md.simulate(plain_policy(slate="any"), PROBLEM, slate_size=3, **SMALL).recommended).all()


@pytest.mark.parametrize(("blocks", "kind"), [(False, Matrix), (True, BlockMatrix)])
def test_who_commits_in_blocks_meets_a_world_that_draws_them_at_once(monkeypatch, blocks, kind):
    real, met = runs._world, []
    monkeypatch.setattr(runs, "_world", lambda plan, labels: met.append(real(plan, labels)) or met[-1])
    md.simulate(plain_policy(blocks=blocks), PROBLEM, **SMALL)
    assert {type(world) for world in met} == {kind}


def test_nothing_is_played_before_it_is_compiled_and_both_take_the_time_they_take(monkeypatch):
    real, ready = runs._loop, []

    def loop(plan):
        inside = real(plan)

        class Slow:
            @staticmethod
            def prepare(*args):
                inside.prepare(*args)
                ready.append([type(arg) for arg in args])
                time.sleep(0.03)

            @staticmethod
            def call(*args):
                assert ready == [[type(arg) for arg in args]]
                time.sleep(0.01)
                return inside.call(*args)

        return Slow

    monkeypatch.setattr(runs, "_loop", loop)
    start = time.perf_counter()
    result = md.simulate(plain_policy(), PROBLEM, **SMALL | {"horizon": 2})
    most = time.perf_counter() - start
    assert result.compile_seconds >= 0.03 and result.seconds >= 0.02
    assert result.compile_seconds + result.seconds <= most


def test_progress_begins_at_nothing_and_counts_runs_that_have_not_begun():
    shown, shares = threading.Event(), []

    def choose(*args):
        assert shown.wait(30)
        return round_robin(*args)

    def progress(share):
        shares.append(share)
        shown.set()

    md.simulate(plain_policy(choose), PROBLEM, **SMALL, progress=progress)
    assert shares[0] == 0.0 and shares[-1] == 1.0


def test_a_bar_moves_ten_times_a_second_and_without_one_the_caller_sleeps(monkeypatch):
    real, patience = runs.wait, []
    monkeypatch.setattr(runs, "wait", lambda futures, timeout: patience.append(timeout) or real(futures, timeout))
    md.simulate(plain_policy(), PROBLEM, **SMALL, progress=lambda share: None)
    assert max(patience) <= 0.1
    patience.clear()
    md.simulate(plain_policy(), PROBLEM, **SMALL)
    assert set(patience) == {1.0}


def test_a_simulation_that_is_over_has_no_threads(monkeypatch):
    pools = []

    class Kept(runs.ThreadPoolExecutor):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            pools.append(self)  # so that it does not end for want of anyone who knows it

    monkeypatch.setattr(runs, "ThreadPoolExecutor", Kept)
    md.simulate(plain_policy(), PROBLEM, **SMALL)
    (pool,) = pools
    assert pool._threads and not any(thread.is_alive() for thread in pool._threads)


def wait_for_our_threads():
    for thread in threading.enumerate():
        if thread.name.startswith("multiduel"):
            thread.join(30)


def test_who_is_stopped_while_a_run_is_prepared_prepares_no_other(no_thread_stays):
    prepared, preparing, end = [], threading.Event(), threading.Event()

    def begins(params):
        prepared.append(params.horizon)
        if len(prepared) > 1:  # the first only prepares the code
            preparing.set()
            assert end.wait(30)

    def progress(share):
        assert preparing.wait(30)
        raise KeyboardInterrupt

    spec = plain_policy(begins=begins, anytime=False)
    with pytest.raises(KeyboardInterrupt):
        md.simulate(spec, PROBLEM, **SMALL, checkpoints=[5, 10, 20], reset_horizon=True, progress=progress)
    end.set()
    wait_for_our_threads()
    assert prepared == [20, 5]


def test_runs_that_wait_are_dropped_when_it_stops(no_thread_stays):
    begun, both, end = [], threading.Barrier(3), threading.Event()

    def one(run):
        begun.append(run)
        both.wait(30)
        end.wait(30)

    def stop(share):
        both.wait(30)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs._on_threads(one, 9, 2, threading.Event(), lambda: 0.0, stop)
    end.set()
    wait_for_our_threads()
    assert sorted(begun) == [0, 1]
