"""``md.judge``: verdicts, resuming, both orders, juries, budgets, what a judge is worth."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

import multiduel as md
from multiduel.arena.domain.options import make_content
from multiduel.arena.judges.agreement import cohens_kappa, krippendorffs_alpha
from multiduel.arena.judges.budgets import Budget
from multiduel.arena.judges.calls import Calls
from multiduel.arena.judges.kinds import FunctionJudge, JudgeFailed
from multiduel.arena.judges.loop import Progress, Run
from multiduel.arena.judges.questions import Question, Unreadable, ballot_of, joined, read_text, turned
from multiduel.arena.judges.seats import Look, Shown
from multiduel.inputs import BadInput

CASES = [f"question {k}" for k in range(30)]


def contents(n: int, cases: int = len(CASES)) -> dict[str, list[str]]:
    return {f"option {k}": [f"{k}" for _ in range(cases)] for k in range(n)}


def larger(question: Question) -> int:
    return 0 if int(str(question.contents[0])) > int(str(question.contents[1])) else 1


async def larger_soon(question: Question) -> Any:
    return sorted(range(len(question.contents)), key=lambda k: -int(str(question.contents[k])))


def first(question: Question) -> int:
    return 0


def test_a_function_finds_its_best() -> None:
    found = md.judge(contents(4), cases=CASES, judge=larger, seed=1)
    assert found.winner == "option 3" and found.stop == "settled"
    assert found.board.sentence.startswith("'option 3' is best for judge 'larger', on questions like these 30 (95 %)")
    assert found.worth.judges[0].first.is_even and not found.worth.warnings


def test_an_async_function_ranks_more_than_two() -> None:
    found = md.judge(contents(4), cases=CASES, judge=larger_soon, slate_size=3, seed=1)
    assert found.winner == "option 3"


def test_names_never_reach_the_judge() -> None:
    seen: list[str] = []

    def look(question: Question) -> int:
        seen.append(repr(question))
        return larger(question)

    md.judge({"secret-a": ["1"] * 9, "secret-b": ["2"] * 9}, cases=CASES[:9], judge=look, instructions="Be kind.")
    assert seen and not any("secret" in one for one in seen) and all("Be kind." in one for one in seen)


def test_a_judge_of_positions_is_found_out() -> None:
    found = md.judge(contents(3), cases=CASES, judge=first, budget="40 calls", seed=1)
    assert found.stop == "budget" and found.winner is None
    assert str(found).startswith("'first' decides by position, not by content: it prefers what is shown first in 100 % of its")


def test_swap_makes_contradictions_ties() -> None:
    found = md.judge(contents(3, 4), cases=CASES[:4], judge=first, swap=True, seed=1)
    assert found.stop == "judged" and found.board.above.sum() == 0 and found.board.ties.sum() == 2 * 3 * 4
    worth = found.worth.judges[0]
    assert worth.consistent is not None and worth.consistent.value == 0.0 and worth.calls == 24 and "first" in worth.position
    assert md.judge(contents(3), cases=CASES, judge=larger, swap=True, seed=1).worth.judges[0].consistent.value == 1.0  # type: ignore[union-attr]


def test_run_again_pays_nothing_twice(tmp_path: Path) -> None:
    calls: list[Question] = []

    def judge(question: Question) -> int:
        calls.append(question)
        return larger(question)

    words: dict[str, Any] = {"cases": CASES, "judge": judge, "file": tmp_path / "a.db", "seed": 1}
    some = md.judge(contents(4), budget=10, **words)
    assert some.stop == "budget" and len(calls) == 10
    done = md.judge(contents(4), **words)
    assert done.winner == "option 3" and done.arena == some.arena
    n = len(calls)
    again = md.judge(contents(4), **words)
    assert len(calls) == n and again.board.sentence == done.board.sentence
    assert len({(question.case, frozenset(map(str, question.contents))) for question in calls}) == n, "a pair once per question"


def test_ctrl_c_keeps_what_was_paid(tmp_path: Path) -> None:
    calls: list[str] = []

    def judge(question: Question) -> int:
        calls.append(repr(question))
        return larger(question)

    def stop(now: Progress) -> None:
        if now.votes == 3:
            raise KeyboardInterrupt

    words: dict[str, Any] = {"cases": CASES, "judge": judge, "file": tmp_path / "a.db", "concurrency": 4, "seed": 1}
    some = md.judge(contents(4), progress=stop, **words)
    assert some.stop == "interrupted" and "Run it again to go on" in str(some) and some.board.answers < len(CASES)
    done = md.judge(contents(4), **words)
    assert done.winner == "option 3" and len(calls) == len(set(calls)) == done.board.answers


def test_one_question_is_settled_exactly() -> None:
    found = md.judge({"a": "1", "b": "2", "c": "3"}, judge=larger, seed=1)
    assert found.stop in ("exact", "judged") and found.board.answers <= 3
    assert found.board.exactly == "On exactly this question, 'c' was placed above each other option more often than below."


def test_answers_counted_again_and_again_are_warned_of() -> None:
    found = md.judge(contents(2, 2), cases=CASES[:2], judge=larger, unit="answer", seed=1)
    assert found.stop == "settled" and "repeat a judgement of the same options on the same question" in str(found)


def test_a_jury_votes_with_its_majority() -> None:
    def smaller(question: Question) -> int:
        return 1 - larger(question)

    found = md.judge(contents(3), cases=CASES, judge=[larger, smaller, larger_soon], seed=1)
    assert found.winner == "option 2" and "'larger + smaller + larger_soon'" in found.board.sentence
    apart = {one.judge: one.verdict for one in found.worth.judges}
    assert "'option 2' is best for judge 'larger'" in apart["larger"] and "'option 0'" in apart["smaller"]
    jury = found.worth.jury
    assert jury is not None and jury.alpha < 0.0 and jury.split == jury.pairs and "The judges disagree on" in str(jury)
    with pytest.raises(BadInput, match="different names"):
        md.judge(contents(3), cases=CASES, judge=[larger, larger])


def test_a_judge_of_lengths_is_found_out() -> None:
    texts = {f"option {k}": ["x" * (1 + (7 * k + 3 * case) % 11) for case in range(30)] for k in range(3)}
    found = md.judge(texts, cases=CASES, judge=lambda question: max((0, 1), key=lambda k: len(question.contents[k])), seed=1)
    rows = dict(found.worth.judges[0].rows())
    assert found.worth.judges[0].longer.low > 0.5 and "Prefers the longer one in 100 %" in rows["length"]
    assert rows["style: twice the length"] == "These answers do not tell its effect at equal strength.", (
        "it predicts every answer"
    )


def test_a_verdict_that_answers_under_way_take_back_does_not_end_the_run() -> None:
    class Fickle:
        """Settled after five votes, and again from the twelfth on."""

        arena, rater, votes = "a", "r", 0

        def ask(self, request: str) -> Shown:
            return Shown(f"t{request}", "rank", None, (make_content("text", "1"), make_content("text", "2")))

        def vote(self, ticket: str, ballot: dict[str, Any]) -> None:
            self.votes += 1

        def look(self) -> Look:
            return Look(self.votes == 5 or self.votes >= 12, False, self.votes, 2)

        def forecast(self) -> str:
            return ""

    seat, calls = Fickle(), Calls(":memory:")
    done = Run(seat, [FunctionJudge(larger)], calls, concurrency=4).go()
    calls.close()
    assert done.stop == "settled" and 12 <= seat.votes < 12 + 4


def test_a_wrong_answer_of_a_function_is_an_error_and_a_skip_is_none(tmp_path: Path) -> None:
    with pytest.raises(JudgeFailed, match="gave an answer that is none"):
        md.judge(contents(3), cases=CASES, judge=lambda question: 7)
    found = md.judge(contents(2, 5), cases=CASES[:5], judge=lambda question: None)
    assert found.board.answers == 0 and found.worth.judges[0].skips == 5 and found.stop == "judged"


def test_an_error_of_the_judge_ends_the_run_and_keeps_what_was_paid(tmp_path: Path) -> None:
    made: list[int] = []

    def breaks(question: Question) -> int:
        made.append(1)
        if len(made) == 5:
            raise RuntimeError("the judge is ill")
        return larger(question)

    words: dict[str, Any] = {"cases": CASES, "judge": breaks, "file": tmp_path / "a.db", "concurrency": 1, "seed": 1}
    with pytest.raises(RuntimeError, match="ill"):
        md.judge(contents(3), **words)
    assert md.judge(contents(3), **words).winner == "option 2"
    with sqlite3.connect(tmp_path / "a.db.calls") as db:
        assert db.execute("SELECT count(*) FROM calls").fetchone()[0] == len(made) - 1


KILLED = """
import os, sys, time, threading
import multiduel as md
folder = sys.argv[1]
lock = threading.Lock()
def slow(question):
    with lock, open(folder + "/paid", "a") as paid:
        paid.write(f"{question.case} {'-'.join(sorted(question.contents))}\\n")
    while os.path.exists(folder + "/hold"):
        time.sleep(0.01)
    return 0 if question.contents[0] > question.contents[1] else 1
print("go", flush=True)
found = md.judge({str(k): [str(k)] * 200 for k in range(6)}, cases=[f"q{k}" for k in range(200)], judge=slow,
                 file=folder + "/a.db", concurrency=8, margin=0.0, seed=1, budget="300 calls")
print(found.winner, found.board.answers)
"""


def test_kill_pays_only_calls_in_flight_again_and_loses_no_vote(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(KILLED))
    paid, hold, kills = tmp_path / "paid", tmp_path / "hold", 2

    def begun() -> int:
        return len(paid.read_text().splitlines()) if paid.exists() else 0

    def kept() -> int:
        with sqlite3.connect(tmp_path / "a.db.calls") as db:
            return int(db.execute("SELECT count(*) FROM calls").fetchone()[0])

    for _ in range(kills):
        before = begun()
        process = subprocess.Popen([sys.executable, str(script), str(tmp_path)], stdout=subprocess.PIPE, text=True)
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            if begun() >= before + 20:
                hold.touch()  # from now on calls do not return
            if hold.exists() and len(set(paid.read_text().splitlines())) - kept() == 8:
                break
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert len(set(paid.read_text().splitlines())) - kept() == 8, "eight calls were in flight"
        hold.unlink()
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = paid.read_text().splitlines()
    assert len(lines) - len(set(lines)) == 8 * kills, "the calls in flight, and no others, are paid for again"
    with sqlite3.connect(tmp_path / "a.db") as db:
        votes = [row[0] for row in db.execute("SELECT body FROM events WHERE kind = 'vote'")]
        tickets = db.execute("SELECT count(*) FROM events WHERE kind = 'ticket'").fetchone()[0]
    assert len(votes) == len(set(lines)) == tickets, "every call that was paid for became one vote"
    assert done.stdout.splitlines()[-1] == f"5 {len(votes)}"


def test_calls_are_found_by_what_was_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    def judge(question: Question) -> int:
        asked.append(str(question.contents))
        return larger(question)

    words: dict[str, Any] = {"cases": CASES[:5], "judge": judge, "file": tmp_path / "a.db", "seed": 1}
    md.judge(contents(2, 5), **words)
    n = len(asked)
    other = md.judge(contents(2, 5), margin=0.1, **words)  # another arena in the same file: the same questions
    assert len(asked) < 2 * n and other.board.answers > 0


@pytest.mark.parametrize(
    ("said", "shown", "ballot"),
    [
        ({"best": "A"}, 2, {"rank": [[0], [1]]}),
        ({"worst": "a"}, 2, {"rank": [[1], [0]]}),
        ({"best": "tie", "why": "equal"}, 2, {"rank": [[0, 1]]}),
        ({"ranking": ["C", ["A", "B"]]}, 3, {"rank": [[2], [0, 1]]}),
        ({"ranking": "B > A > C"}, 3, {"rank": [[1], [0], [2]]}),
        (1, 2, {"rank": [[1], [0]]}),
        (None, 3, {"skip": True}),
    ],
)
def test_answers_are_read(said: Any, shown: int, ballot: Any) -> None:
    assert ballot_of(said, "rank", shown) == ballot
    if "skip" not in ballot:
        assert turned(turned(ballot, shown), shown) == ballot


@pytest.mark.parametrize(
    "said", [{"best": "C"}, {"best": 2}, {"best": True}, {"ranking": ["A"]}, {"ranking": ["A", "A"]}, "A or B", {}, 0.5]
)
def test_answers_that_say_nothing_are_unreadable(said: Any) -> None:
    with pytest.raises(Unreadable):
        ballot_of(said, "rank", 2)
    for text in ("", "A", "{", '["A"]', '{"best": ', "best: A", '{"best": "A", "worst": "A"}'):
        with pytest.raises(Unreadable):
            read_text(text, "rank", 2)
    assert read_text('Sure! ```json\n{"best": "B"}\n```', "rank", 2) == {"rank": [[1], [0]]}


def test_joined_ballots_of_more_than_two_are_pairwise_majorities() -> None:
    ballot = joined([{"rank": [[0], [1], [2]]}, {"rank": [[1], [0], [2]]}], "rank", 3)
    assert ballot == {"wins": [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [0.0, 0.0, 0.0]]}
    assert joined([{"best": 1}, {"best": 0}], "best", 3) == {"skip": True} and joined(
        [{"best": 1}, {"skip": True}], "best", 3
    ) == {"best": 1}


def test_budgets() -> None:
    assert Budget("1,000 tokens").unit == "tokens" and Budget(500).limit == 500
    for wrong in ("many", "-5", "5 USD"):
        with pytest.raises(BadInput):
            Budget(wrong)


def test_agreement_equals_that_of_a_library() -> None:
    krippendorff = pytest.importorskip("krippendorff")
    import numpy as np

    rng = np.random.default_rng(1)
    for _ in range(20):
        table = rng.integers(-1, 2, (4, 15)).astype(float)
        table[rng.random((4, 15)) < 0.3] = np.nan
        units = [column[~np.isnan(column)].tolist() for column in table.T]
        assert krippendorffs_alpha(units) == pytest.approx(krippendorff.alpha(table, level_of_measurement="nominal"))
    a, b = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    agree = sum(((a == k) & (b == k)).mean() for k in range(3))  # Cohen 1960, equation 1
    chance = sum((a == k).mean() * (b == k).mean() for k in range(3))
    assert cohens_kappa(zip(a.tolist(), b.tolist(), strict=True)) == pytest.approx((agree - chance) / (1 - chance))


def test_a_file_of_calls_is_checked(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("this is no database, but long enough to look at" * 30)
    with pytest.raises(BadInput, match="cannot be used as a file of calls"):
        Calls(tmp_path / "no.db")
