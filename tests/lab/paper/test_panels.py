"""What is shipped: readable, complete, and known by ids."""

from __future__ import annotations

import tomllib

from multiduel.lab import experiment as experiments
from multiduel.lab.paper import panels


def test_what_is_shipped_can_be_read_and_names_itself():
    for name, path in panels.shipped().items():
        assert experiments.load(path).name == tomllib.loads(path.read_text())["name"] == name


def test_the_panels_are_the_papers():
    every = panels.load_all()
    two, multi = ([e for e in every if e.name in names] for names in (panels.TWO, panels.MULTI))
    assert [e.name for e in every] == [*panels.TWO, *panels.MULTI, *panels.FURTHER]
    assert {e.name for e in every} == set(panels.shipped())
    problems = [(e.problem["kind"], e.problem["arms"], e.problem.get("link")) for e in two]
    synthetic = [("synthetic", 48, link) for link in ("linear", "natural", "logit")]
    assert problems == [*synthetic, *(("synthetic", 72, link) for link in ("linear", "natural")), ("data", 24, None)]
    assert [(e.problem["kind"], e.slate_size) for e in multi] == [("synthetic", 8), ("synthetic", 16), ("data", 8), ("data", 16)]
    for experiment in (*two, *multi):
        assert experiment.horizon == 10**6 and experiment.runs == 50 and experiment.reset_horizon
        assert int(experiment.marks()[-1]) == 10**6
        assert len(experiment.marks()) >= 200 and all(contender.runs is None for contender in experiment.contenders)
        told = [c for c in experiment.contenders if experiment.plays_again(c)]
        assert [c.policy for c in told] == (["if2", "if1", "btm", "savage"] if experiment in two else [])
        assert all(len(experiment.marks_of(c)) >= 20 for c in told)
        policies = [contender.policy for contender in experiment.contenders]
        assert [contender.id for contender in experiment.contenders] == policies


def test_further_experiments_have_enough_runs_for_an_outcome():
    assert all(e.runs >= 20 and all(c.runs is None for c in e.contenders) for e in panels.load_all())


def test_the_two_dueling_panels_stand_on_one_base():
    for name in panels.TWO:
        own = tomllib.loads(panels.shipped()[name].read_text())
        assert set(own) == {"base", "name", "title", "short", "problem"} and own["base"] == "base/two-dueling.toml"
    first, *others = (experiments.load(panels.shipped()[name]) for name in panels.TWO)
    assert len(first.contenders) == 11 and all(other.contenders == first.contenders for other in others)
