"""Machines alone: against their naive twins, against adversarial outcomes, and in the reductions they plug into."""

import copy
import math

import numpy as np
import pytest

from multiduel import machines
from multiduel.engine.registry.registry import resolve
from multiduel.inputs import BadInput
from multiduel.kernels.contract import ask, init, recommend, tell
from multiduel.machines import contract
from multiduel.policies import ALL
from tests.naive.machines import MACHINES as NAIVE
from tests.naive.stream import NaiveStream

SPECS = {spec.name: spec for spec in machines.ALL}
BANDITS = [name for name, spec in SPECS.items() if spec.kind == "bandit"]
IDENTIFIERS = [name for name, spec in SPECS.items() if spec.kind == "identifier"]
HOSTS = [
    (policy.name, machine)
    for policy in ALL
    for parameter in policy.parameters.values()
    if parameter.machines
    for machine in SPECS
    if SPECS[machine].kind == parameter.machines
]


def words(seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def of_card(name, given):
    """Params of a machine from the words of its card."""
    card = SPECS[name]
    numbers = {key: card.parameters[key].choices.get(value, value) for key, value in given.items()}
    return card.params(**{key: type(card.params._field_defaults[key])(value) for key, value in numbers.items()})


def test_every_machine_has_a_naive_twin_and_a_meaning_for_every_parameter():
    assert set(NAIVE) == set(SPECS)
    for spec in SPECS.values():
        assert set(spec.parameters) == set(spec.params._fields)


VARIANTS = [
    *(("ucb", {"timer": timer, "alpha": alpha}) for timer in ("own", "round", "pulls") for alpha in (3.0, -1.0, -1.9)),
    *(("ucb", {"timer": timer, "alpha": -1.5, "unobserved": 1.0}) for timer in ("own", "round", "pulls")),
    ("ucb", {"unobserved": 0.0}),
    ("kl-ucb", {}),
    ("kl-ucb", {"c": 3.0}),
    ("thompson", {}),
    ("thompson", {"prior": 3.0}),
]
SIZED = [*((*variant, 7) for variant in VARIANTS), ("ucb", {"alpha": -1.0}, 40)]


@pytest.mark.parametrize("late", [False, True], ids=["prompt", "late"])
@pytest.mark.parametrize(
    ("name", "given", "K"), [*((*variant, 7) for variant in VARIANTS), ("ucb", {"alpha": -1.0}, 40)], ids=str
)
def test_bandits_choose_what_a_full_scan_chooses(name, given, K, late):
    """Two rows, ties of 1/2, additional feedback and, if late, outcomes that come in any order or never. Of 40 arms
    UCB lists some, and does not look at the others; many are alike, and tie."""
    rows, steps = 2, {"thompson": 400, "kl-ucb": 1000}.get(name, 3000)
    params, rng, naive_rng = of_card(name, given), words(5), NaiveStream(words(5))
    state = contract.allocate(params, rows, K)
    naive = [NAIVE[name](K, naive_rng, **given) for _ in range(rows)]
    world = np.random.default_rng(6)
    chance = np.resize([0.2, 0.5, 0.45, 0.8, 0.7, 0.1, 0.6], K)
    waiting = []
    for step in range(1, steps + 1):
        row = int(world.random() < 0.2)
        arm = contract.advance(params, state, row, step, rng)
        assert arm == naive[row].advance(step), step
        assert [int(word) for word in rng] == naive_rng.s, step
        won = 0.5 if world.random() < 0.05 else float(world.random() < chance[arm])
        waiting.append((row, int(arm), won))
        while waiting and (not late or world.random() < 0.5):
            row, arm, won = waiting.pop(int(world.integers(len(waiting))))
            if late and world.random() < 0.1:
                continue  # lost
            contract.feedback(params, state, row, arm, won, 1.0 - won, rng)
            naive[row].feedback(arm, won, 1.0 - won)
        if world.random() < 0.3:
            row, arm = int(world.integers(rows)), int(world.integers(K))
            won = float(world.random() < chance[arm])
            contract.additional_feedback(params, state, row, arm, won, 1.0 - won, rng)
            naive[row].additional_feedback(arm, won, 1.0 - won)
    contract.reset(params, state, 0, 0.5, rng)
    naive[0].reset()
    for step in range(steps + 1, steps + 100):  # after Reset as new, and row 1 untouched by it
        arm = contract.advance(params, state, 0, step, rng)
        assert arm == naive[0].advance(step)
        contract.feedback(params, state, 0, arm, 1.0, 0.0, rng)
        naive[0].feedback(arm, 1.0, 0.0)
    assert contract.advance(params, state, 1, step, rng) == naive[1].advance(step)


@pytest.mark.parametrize(("name", "given", "K"), SIZED, ids=str)
def test_all_rows_at_once_choose_what_each_would_alone(name, given, K):
    """In the order of the rows, with the same draws; those that are held stay, and their clocks stand still."""
    rows, steps = 5, {"thompson": 60, "kl-ucb": 100}.get(name, 400)
    params, together, alone = of_card(name, given), words(5), words(5)
    states = [contract.allocate(params, rows, K) for _ in range(2)]
    world, arms, held = np.random.default_rng(6), np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    for step in range(1, steps + 1):
        before = arms.copy()
        held[:] = world.random(rows) < 0.2
        contract.advance_all(params, states[0], held, step, together, arms)
        for row in range(rows):
            assert arms[row] == (before[row] if held[row] else contract.advance(params, states[1], row, step, alone)), step
            won = float(world.random() < 0.2 + 0.6 * arms[row] / K)
            for state in states:
                contract.feedback(params, state, row, arms[row], won, 1.0 - won, together if state is states[0] else alone)
        assert together.tolist() == alone.tolist(), step


@pytest.mark.parametrize("timer", ["own", "round", "pulls"])
@pytest.mark.parametrize("alpha", [3.0, -1.0, -1.9])
def test_hold_never_commits_to_what_stepping_would_not_choose(timer, alpha):
    """Whatever the outcomes of the arm held, a full scan would have chosen it each time, and goes on alike."""
    K, given = 4, {"timer": timer, "alpha": alpha}
    params, rng, naive_rng = of_card("ucb", given), words(8), NaiveStream(words(8))
    state, naive = contract.allocate(params, 1, K), NAIVE["ucb"](K, naive_rng, **given)
    world = np.random.default_rng(9)
    chance = [0.9, 0.3, 0.2, 0.4]
    step, held = 1, 0
    for _ in range(700):
        arm = contract.advance(params, state, 0, step, rng)
        assert arm == naive.advance(step)
        limit = int(world.choice([1, 3, 1000]))
        rounds = contract.hold(params, state, 0, arm, limit)
        assert 1 <= rounds <= limit
        held += rounds > 1
        for bad in ([0.0], [1.0], [0.0, 1.0]) if rounds > 1 else ():  # lost, won, or now this, now that
            other = copy.deepcopy(naive)
            for later in range(1, rounds):
                other.feedback(arm, bad[later % len(bad)], 1.0 - bad[later % len(bad)])
                index = other.indices(step + later)
                assert all(index[arm] > index[k] for k in range(K) if k != arm)
                assert other.advance(step + later) == arm
        won = float(world.binomial(rounds, chance[arm]))
        contract.feedback(params, state, 0, arm, won, rounds - won, rng)
        naive.feedback(arm, won, rounds - won)
        naive.tau += rounds - 1
        step += rounds
    if timer != "round":  # the global round is not the machine's to skip
        assert held > 10


@pytest.mark.parametrize("name", [name for name in BANDITS if name != "ucb"])
def test_others_hold_one_round(name):
    params = SPECS[name].params()
    assert contract.hold(params, contract.allocate(params, 1, 3), 0, 0, 1000) == 1
    assert not contract.stopped(params, contract.allocate(params, 1, 3), 0)


IDENTIFIER_VARIANTS = [
    (name, {"radius": radius, "test": test, "epsilon": epsilon})
    for name in IDENTIFIERS
    for radius, test, epsilon in (
        ("t4", "round", 0.0),
        ("t2", "sample", 0.0),
        ("delta", "round", 0.2),
        ("delta", "sample", 0.1),
    )
]


@pytest.mark.parametrize(("name", "given"), IDENTIFIER_VARIANTS, ids=str)
@pytest.mark.parametrize("K", [2, 5])
def test_identifiers_sample_and_stop_as_the_listing_does(name, given, K):
    params, rng, naive_rng = of_card(name, given), words(3), NaiveStream(words(3))
    state, naive = contract.allocate(params, 2, K), NAIVE[name](K, naive_rng, **given)
    world = np.random.default_rng(4)
    stops = 0
    for _ in range(3):
        contract.reset(params, state, 1, 0.1, rng)
        naive.reset(0.1)
        for step in range(1, 1500):
            assert contract.stopped(params, state, 1) == (naive.found is not None), step
            if naive.found is not None:
                assert contract.answer(params, state, 1) == naive.found
                stops += 1
                break
            arm = contract.advance(params, state, 1, step, rng)
            assert arm == naive.advance(step), step
            won = 0.5 if world.random() < 0.02 else float(world.random() < (0.9 if arm == K - 1 else 0.2))
            contract.feedback(params, state, 1, arm, won, 1.0 - won, rng)
            naive.feedback(arm, won, 1.0 - won)
            assert [int(word) for word in rng] == naive_rng.s, step
    assert stops >= 1


def pull(name, given, chance, seed, steps, delta=0.1):
    """One machine on Bernoulli arms, until it stops or the steps are over. Returns (params, state, steps taken)."""
    params, rng, world = of_card(name, given), words(seed), np.random.default_rng(seed)
    state = contract.allocate(params, 1, len(chance))
    contract.reset(params, state, 0, delta, rng)
    for step in range(1, steps + 1):
        if contract.stopped(params, state, 0):
            return params, state, step - 1
        arm = contract.advance(params, state, 0, step, rng)
        won = float(world.random() < chance[arm])
        contract.feedback(params, state, 0, arm, won, 1.0 - won, rng)
    return params, state, steps


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("best", [0, 3])
def test_every_machine_finds_the_best_of_five(name, best):
    chance = [0.2, 0.3, 0.25, 0.15, 0.3]
    chance[best] = 0.9
    params, state, _ = pull(name, {}, chance, 20 + best, 2500)
    assert contract.answer(params, state, 0) == best
    assert contract.stopped(params, state, 0) == (SPECS[name].kind == "identifier")


@pytest.mark.parametrize("name", IDENTIFIERS)
@pytest.mark.parametrize("test", ["round", "sample"])
def test_identifiers_err_no_more_than_allowed(name, test):
    delta, runs, wrong = 0.2, 25, 0
    for seed in range(runs):
        params, state, steps = pull(name, {"radius": "t2", "test": test}, [0.4, 0.85, 0.4, 0.3], seed, 6000, delta)
        assert steps < 6000
        wrong += contract.answer(params, state, 0) != 1
    assert wrong <= delta * runs + 2 * math.sqrt(runs * delta * (1 - delta))


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_equal_arms_stop_only_with_a_tolerance(name):
    *_, steps = pull(name, {"radius": "t2"}, [0.95, 0.95], 1, 1500)
    assert steps == 1500
    *_, steps = pull(name, {"radius": "t2", "epsilon": 0.3}, [0.95, 0.95], 1, 1500)
    assert steps < 1500


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_a_smaller_delta_takes_longer(name):
    taken = [pull(name, {}, [0.2, 0.8], 2, 6000, delta)[2] for delta in (0.5, 1e-6, 1e-12)]
    assert taken[0] < taken[1] < taken[2] < 6000


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_renew_clears_the_stop_and_keeps_the_counts(name):
    params, state, _ = pull(name, {}, [0.1, 0.9, 0.2], 3, 6000, 0.5)
    counts, rng = state.N.copy(), words(0)
    contract.renew(params, state, 0, 1e-9, rng)
    assert not contract.stopped(params, state, 0)
    assert (counts == state.N).all()
    for step in range(3000):
        if contract.stopped(params, state, 0):
            break
        arm = contract.advance(params, state, 0, step, rng)
        contract.feedback(params, state, 0, arm, float(arm == 1), float(arm != 1), rng)
    assert contract.stopped(params, state, 0) and contract.answer(params, state, 0) == 1


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("K", [1, 2, 5])
def test_without_feedback_machines_go_on(name, K):
    params, rng = SPECS[name].params(), words(0)
    state = contract.allocate(params, 1, K)
    contract.reset(params, state, 0, 0.1, rng)
    arms = {int(contract.advance(params, state, 0, step, rng)) for step in range(1, 60)}
    assert arms == set(range(K))
    assert 0 <= contract.answer(params, state, 0) < K


@pytest.mark.parametrize(("policy", "machine"), HOSTS)
@pytest.mark.parametrize("K", [1, 4])
def test_every_machine_of_the_kind_fits_the_reduction(policy, machine, K):
    spec = next(spec for spec in ALL if spec.name == policy)
    params = resolve(spec, n_arms=K, horizon=300, words={"machine": machine})
    assert type(params.machine) is SPECS[machine].params
    rng, slate, world = words(1), np.zeros(max(K, 2), np.int64), np.random.default_rng(2)
    state = init(params, K, rng)
    seen = set()
    for t in range(1, 301):
        n, rounds = ask(params, state, rng, t, 1, slate)
        arms = slate[:n].tolist()
        assert rounds == 1 and len(set(arms)) == n <= 2 and all(0 <= arm < K for arm in arms)
        seen |= set(arms)
        if n == 2:
            first = float(world.random() < 0.5 + 0.12 * (arms[1] - arms[0]))  # arm 0 is the best
            tell(params, state, rng, t, slate[:n].copy(), np.array([[0.0, first], [1.0 - first, 0.0]]))
    assert seen == set(range(K))
    assert 0 <= recommend(params, state) < K


def test_a_machine_of_the_wrong_kind_is_refused():
    for policy in ALL:
        kinds = {parameter.machines for parameter in policy.parameters.values() if parameter.machines}
        for machine, card in SPECS.items():
            if kinds and card.kind not in kinds:
                with pytest.raises(BadInput, match=f"'machine' of '{policy.name}' must be one of .* Got '{machine}'"):
                    resolve(policy, n_arms=3, horizon=100, words={"machine": machine})
