"""The board at 0, 3 and 100,000 votes, with a cycle, a margin on offer and votes set aside: readable, a table per chart."""

from __future__ import annotations

import re

import numpy as np
import pytest

from multiduel.arena.domain.settings import Settings
from multiduel.arena.service.board import Facts, board, forecast_of
from multiduel.arena.web.pages.render import fragment
from multiduel.arena.web.pages.routes_board import Filter, board_words
from multiduel.inference import Tally, verdict
from multiduel.inference.words import sentence

ALL = {"part": "all", "filter": Filter([], None), "whole": None}


def page_of(P, per_pair, *, votes, most=None, set_aside=0, quarantined=(), owner=True, **settings):
    """The board when each pair (i, j) met ``per_pair`` times and i was above in P[i, j] of them."""
    n = len(P)
    above = np.round(np.array(P) * per_pair)
    np.fill_diagonal(above, 0.0)
    tally = Tally.of(above, np.zeros((n, n)), answers=votes, showings=np.full(n, votes * 2 // n), unit="answer")
    names = tuple(f"option <{k}>" for k in range(n))
    judged = verdict(tally, alpha=0.05, margin=settings.get("margin", 0.0), names=names)
    known = Facts(
        "a",
        "taste",
        1,
        "open",
        Settings(votes=most, **settings),
        judged,
        tally,
        tuple(f"o{k + 1}" for k in range(n)),
        names,
        sentence(judged),
        set_aside,
        tuple(quarantined),
        5,
        votes,
    )
    times = [(1_767_225_600 + 3_600 * h, 1) for h in range(24)] if votes else []
    words = board_words(board(known, forecast_of(known)), times)
    return fragment("_board.html", words | {"owner": owner, "token": "t", "arena": "a", "demo": None} | ALL)


def strengths(n):
    u = np.linspace(1.0, -1.0, n)
    return 1.0 / (1.0 + np.exp(u[None, :] - u[:, None]))


@pytest.mark.parametrize("n", [2, 6, 200])
@pytest.mark.parametrize("votes", [0, 3, 100_000])
def test_readable_at_any_number_of_votes(n, votes):
    html = page_of(strengths(n), 2 * votes / (n * (n - 1)), votes=votes)
    assert "nan" not in html and "inf" not in html and "option &lt;0&gt;" in html and "option <" not in html
    assert f"<dd>{votes:,}</dd>" in html
    if votes == 0:
        assert "No votes yet." in html and "too early to say" in html and '<svg class="chart heat"' not in html
    else:
        assert html.count("As a table") == 2 and html.count('class="chart heat"') == 1, "each chart has its table"
    assert len(html) < 350_000
    if votes == 3:
        assert f">1–{n}</td>" in html, "all ranks are tied"


def test_a_winner_is_named_with_for_whom_and_how_sure():
    html = page_of(strengths(4), 5_000, votes=30_000, set_aside=7, quarantined=["Eve"])
    assert "Winner" in html and "is best for these raters (95 %)" in html
    assert "7 <span" in html and "1 rater excluded" in html
    assert "still possible" not in html.lower(), "who is best is settled"


def test_a_cycle_warns():
    html = page_of([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]], 1_000, votes=3_000)
    assert "No overall winner (cycle)" in html and "More votes will not make one of them the best" in html
    assert html.count("each step of this cycle is certain too") == 1, "the sentence names the cycle, once"
    assert "Still possible" not in html and "More votes needed" not in html


def test_the_margin_is_offered_to_the_owner_only():
    close = [[0.5, 0.51, 0.9], [0.49, 0.5, 0.9], [0.1, 0.1, 0.5]]
    assert "Accept this margin" not in page_of(close, 300, votes=900), "no limit was stated"
    html = page_of(close, 300, votes=900, most=2_000)
    assert "Accept this margin" in html and "need not be told apart" in html
    assert "Accept this margin" not in page_of(close, 300, votes=900, most=2_000, owner=False)


def test_nothing_is_said_of_an_option_that_was_never_compared():
    html = page_of([[0.5, 0.9, 0.9], [0.1, 0.5, 0.8], [0.1, 0.2, 0.5]], np.array([[0, 9, 0], [9, 0, 0], [0, 0, 0]]), votes=18)
    rows = re.findall(r"<tr class=.*?</tr>", html, re.DOTALL)
    (never,) = [row for row in rows if "option &lt;2&gt;" in row]
    assert "<svg" not in never and re.findall(r"[+−]\d", never) == [] and "too early" not in never
    assert all("<svg" in row for row in rows if row != never)
