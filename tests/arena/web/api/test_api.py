"""The HTTP API: the life of an arena, every request twice, and who may do what."""

from __future__ import annotations

import base64
import json

import pytest

from tests.arena.calling import THREE, Caller

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """One application for all tests, which have arenas of their own."""
    caller = Caller(tmp_path_factory.mktemp("api"))
    yield caller
    caller.close()


@pytest.fixture
def fresh(tmp_path):
    caller = Caller(tmp_path)
    yield caller
    caller.close()


def test_from_nothing_to_a_vote(call):
    arena, owner = call.arena(slate_size=3)
    rater = call.rater(arena, owner, "Ada")
    ticket = call.ask(arena, rater)
    assert set(ticket) == {"ticket", "question", "context", "group", "positions", "contents", "issued", "expires"}
    assert ticket["positions"] == 3 and ticket["question"] == "rank" and ticket["context"] is None
    texts = [call("GET", one["url"]).text for one in ticket["contents"]]
    assert sorted(texts) == sorted(option["content"] for option in THREE)
    receipt = call.good("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", {"rank": [2, [0, 1]]}, key=rater)
    assert receipt["counted"] == "counted" and receipt["next"]["ticket"] != ticket["ticket"]
    board = call.good("GET", f"/arenas/{arena}/board", key=owner)
    assert board["answers"] == 1 and board["kind"] == "open" and "for these raters" in board["sentence"]
    names = {line["option"]: line["name"] for line in board["lines"]}
    order = [names[option] for option in board["options"]]
    best = THREE[[option["content"] for option in THREE].index(texts[2])]["name"]
    assert sum(board["above"][order.index(best)]) == 2
    assert call.good("GET", f"/arenas/{arena}/verify", key=owner)["good"]


def test_the_same_vote_again_is_the_same_answer_and_another_is_a_conflict(call):
    arena, owner = call.arena(slate_size=3)
    rater = call.rater(arena, owner)
    path = f"/tickets/{call.ask(arena, rater)['ticket']}/vote?next=1"
    first = call.good("PUT", path, {"rank": [0, [2, 1]]}, key=rater)
    assert call.good("PUT", path, {"rank": [[0], [1, 2]]}, key=rater) == first, "the same, said otherwise"
    answer = call("PUT", path, {"rank": [1, 0]}, key=rater)
    assert answer.status_code == 409 and "another vote" in answer.json()["error"]
    assert call.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 1


def test_what_is_asked_again_is_answered_alike(call):
    before = len(call.good("GET", "/arenas", key=call.server_key)["arenas"])
    body = {"name": "taste", "options": THREE, "request": "create-1"}
    made = [call.good("POST", "/arenas", body, key=call.server_key) for _ in range(2)]
    arena, owner = made[0]["arena"], made[1]["owner_key"]
    assert made[1]["arena"] == arena and len(call.good("GET", "/arenas", key=call.server_key)["arenas"]) == before + 1
    for path in ("open", "open"):
        assert call.good("POST", f"/arenas/{arena}/{path}", key=owner)["status"] == "open"
    admitted = [call.good("POST", f"/arenas/{arena}/raters", {"label": "Ada", "request": "r"}, key=owner) for _ in range(2)]
    assert admitted[0]["rater"] == admitted[1]["rater"]
    rater = admitted[1]["key"]
    assert call("POST", f"/arenas/{arena}/tickets", {}, key=admitted[0]["key"]).status_code in (200, 401)
    asked = [call.ask(arena, rater, request="ask-1")["ticket"] for _ in range(2)]
    assert asked[0] == asked[1]
    call.good("PUT", f"/tickets/{asked[0]}/vote", {"skip": True}, key=rater)
    assert call.ask(arena, rater, request="ask-1")["ticket"] == asked[0], "also after it was voted on"
    assert call.ask(arena, rater, request="ask-2")["ticket"] != asked[0]
    undone = [call.good("POST", f"/arenas/{arena}/undo", {"request": "undo-1"}, key=rater) for _ in range(2)]
    assert undone[0] == undone[1] and undone[0]["counted"] == "undone"
    again = undone[0]["next"]["ticket"]
    assert call.good("PUT", f"/tickets/{again}/vote", {"rank": [0, 1]}, key=rater)["counted"] == "counted"


def test_questions_have_their_own_ballots(call):
    for question in ("best", "worst"):
        arena, owner = call.arena(question=question, slate_size=3)
        rater = call.rater(arena, owner)
        ticket = call.ask(arena, rater)
        assert ticket["question"] == question
        answer = call("PUT", f"/tickets/{ticket['ticket']}/vote", {"rank": [0, 1]}, key=rater)
        assert answer.status_code == 422 and f"asks '{question}'" in answer.json()["error"]
        assert call.good("PUT", f"/tickets/{ticket['ticket']}/vote", {question: 1}, key=rater)["counted"] == "counted"
        assert call("PUT", f"/tickets/{ticket['ticket']}/vote", {question: 7}, key=rater).status_code == 422


@pytest.mark.parametrize(
    "ballot",
    [
        {},
        [],
        None,
        {"rank": []},
        {"rank": [0]},
        {"rank": [0, 0]},
        {"rank": "01"},
        {"rank": [True, 1]},
        {"rank": [0, 9]},
        {"skip": False},
        {"rank": [0, 1], "skip": True},
        {"rank": [0.5, 1]},
        {"wins": [[0, 1]]},
        {"wins": [[0, "x"], [0, 0]]},
        {"rank": [[[0]], 1]},
    ],
)
def test_what_is_no_ballot_is_refused_and_changes_nothing(call, ballot):
    arena, owner = call.arena(slate_size=2)
    rater = call.rater(arena, owner)
    path = f"/tickets/{call.ask(arena, rater)['ticket']}/vote"
    answer = call("PUT", path, json.dumps(ballot), key=rater, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and set(answer.json()) == {"error"}, answer.text
    assert call.good("PUT", path, {"rank": [1, 0]}, key=rater)["counted"] == "counted"


@pytest.mark.parametrize(
    ("ballot", "said"),
    [
        ('{"best": 1.5}', "body.best: Input should be a valid integer"),
        ('{"rank": [0, -1]}', "body.rank.1: Input should be greater than or equal to 0"),
        ('{"wins": [[0, 1e999], [0, 0]]}', "body.wins.0.1: Input should be a finite number"),
        ('{"skip": 1}', "body.skip: Input should be a valid boolean"),
        ('{"skip": false}', 'A ballot that skips is {"skip": true}'),
        ("{", "The body must be JSON"),
    ],
)
def test_the_sentence_is_about_what_was_meant(call, ballot, said):
    arena, owner = call.arena(slate_size=2)
    rater = call.rater(arena, owner)
    ticket = call.ask(arena, rater)["ticket"]
    answer = call("PUT", f"/tickets/{ticket}/vote", ballot, key=rater, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and said in answer.json()["error"]
    plain = call("PUT", f"/tickets/{ticket}/vote", '{"rank": [0, 1]}', key=rater, headers={"Content-Type": "text/plain"})
    assert plain.status_code == 422 and "Content-Type application/json" in plain.json()["error"]


def test_contexts_images_and_groups(call):
    image = {"kind": "image", "base64": base64.b64encode(PNG).decode()}
    options = [
        {"name": "a", "contents": [{"content": "Because."}, image]},
        {"name": "b", "contents": [{"kind": "markdown", "content": "*So.*"}, image]},
    ]
    arena, owner = call.arena(options, contexts=["Why?", "How?"])
    rater = call.rater(arena, owner, group="north")
    seen = set()
    ticket = call.ask(arena, rater)
    for _ in range(6):
        seen.add(ticket["context"])
        assert ticket["group"] == "north"
        shown = [call("GET", one["url"]) for one in ticket["contents"]]
        kinds = [one["kind"] for one in ticket["contents"]]
        if ticket["context"] == "How?":
            assert kinds == ["image", "image"] and all(one.content == PNG for one in shown)
            assert {one.headers["content-type"] for one in shown} == {"image/png"}
        else:
            assert sorted(kinds) == ["markdown", "text"] and {one.text for one in shown} == {"Because.", "*So.*"}
            assert {one.headers["content-type"] for one in shown} == {"text/plain; charset=utf-8"}
        ticket = call.good("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", {"rank": [0, 1]}, key=rater)["next"]
    assert seen == {"Why?", "How?"}


def test_open_links_let_anyone_join_until_they_are_revoked(call):
    made = call.good("POST", "/arenas", {"name": "x", "options": THREE, "raters": "open"}, key=call.server_key)
    arena, owner, link = made["arena"], made["owner_key"], made["link_key"]
    call.good("POST", f"/arenas/{arena}/open", key=owner)
    request = {"label": "Ada", "request": "a-random-request-id"}
    first, again, second = (
        call.good("POST", f"/arenas/{arena}/join", body, key=link) for body in (request, request, {"label": "Ada"})
    )
    assert first["rater"] == again["rater"] != second["rater"]
    assert call.ask(arena, again["key"])["ticket"]
    owned = call.good("POST", f"/arenas/{arena}/raters", {"label": "Bo", "request": "sixteen-characters"}, key=owner)
    stolen = call.good("POST", f"/arenas/{arena}/join", {"request": "sixteen-characters"}, key=link)
    assert stolen["rater"] != owned["rater"], "who joins cannot become someone whom the owner admitted"
    assert call("POST", f"/arenas/{arena}/join", {"request": "short"}, key=link).status_code == 422
    another = call.good("POST", f"/arenas/{arena}/links", key=owner)["key"]
    assert call.good("DELETE", f"/arenas/{arena}/links", key=owner) == {"revoked": 2}
    for key in (link, another):
        assert call("POST", f"/arenas/{arena}/join", {}, key=key).status_code == 401
    assert call.ask(arena, second["key"])["ticket"], "who has joined stays"


def test_pausing_closing_and_reasons(call):
    arena, owner = call.arena()
    rater = call.rater(arena, owner, limit=1)
    ticket = call.ask(arena, rater)["ticket"]
    call.good("POST", f"/arenas/{arena}/pause", key=owner)
    assert call.ask(arena, call.rater(arena, owner)) == {
        "done": "paused",
        "sentence": "This comparison is paused. Please come back later.",
    }
    assert call.good("PUT", f"/tickets/{ticket}/vote", {"rank": [0, 1]}, key=rater)["counted"] == "counted"
    call.good("POST", f"/arenas/{arena}/open", key=owner)
    assert call.ask(arena, rater)["done"] == "limit"
    waiting = call.ask(arena, other := call.rater(arena, owner))["ticket"]
    assert call.good("POST", f"/arenas/{arena}/close", key=owner)["status"] == "closed"
    assert call.ask(arena, other)["done"] == "closed"
    assert call("PUT", f"/tickets/{waiting}/vote", {"rank": [0, 1]}, key=other).status_code == 409
    assert call("POST", f"/arenas/{arena}/open", key=owner).status_code == 409


def test_options_come_and_go(call):
    arena, owner = call.arena(room=5)
    body = {"options": [{"name": "salty", "content": "Ahoy."}], "request": "add-1"}
    for _ in range(2):
        info = call.good("POST", f"/arenas/{arena}/options", body, key=owner)
        assert [option["name"] for option in info["options"]] == ["mild", "sharp", "bitter", "salty"]
    for _ in range(2):
        info = call.good("POST", f"/arenas/{arena}/options/o1/retire", {}, key=owner)
        assert [option["retired"] for option in info["options"]] == [True, False, False, False]
    assert call("POST", f"/arenas/{arena}/options/o9/retire", {}, key=owner).status_code == 404
    assert "seed" not in info["settings"]


def test_policy_and_margin_change(call):
    arena, owner = call.arena()
    assert call.good("PUT", f"/arenas/{arena}/policy", {"policy": "dts"}, key=owner)["settings"]["policy"] == "dts"
    assert call.good("PUT", f"/arenas/{arena}/margin", {"margin": 0.05}, key=owner)["settings"]["margin"] == 0.05
    answer = call("PUT", f"/arenas/{arena}/policy", {"policy": "challenger"}, key=owner)
    assert answer.status_code == 422 and "Did you mean 'challengers'?" in answer.json()["error"]
    answer = call("PUT", f"/arenas/{arena}/policy", {"policy": "doubler"}, key=owner)
    assert answer.status_code == 422 and "cannot serve an arena" in answer.json()["error"]


def test_quarantine_is_seen_and_reversible(call):
    arena, owner = call.arena(slate_size=3)
    rater = call.rater(arena, owner, "Ada")
    call.good("PUT", f"/tickets/{call.ask(arena, rater)['ticket']}/vote", {"rank": [0, 1, 2]}, key=rater)
    (line,) = call.good("GET", f"/arenas/{arena}/raters", key=owner)["raters"]
    assert (line["label"], line["votes"], line["quarantined"]) == ("Ada", 1, False) and line["seconds"] >= 0.0
    call.good("POST", f"/arenas/{arena}/raters/{line['rater']}/quarantine", {"reason": "too quick"}, key=owner)
    board = call.good("GET", f"/arenas/{arena}/board", key=owner)
    assert (board["answers"], board["set_aside"], board["quarantined"]) == (0, 1, ["Ada"]) and "1 vote is excluded" in board[
        "sentence"
    ]
    receipt = call.good("PUT", f"/tickets/{call.ask(arena, rater)['ticket']}/vote", {"rank": [0, 1, 2]}, key=rater)
    assert receipt["counted"] == "counted", "who is set aside is not told so: the owner and the board are"
    assert call.good("GET", f"/arenas/{arena}/board", key=owner)["set_aside"] == 2
    call.good("POST", f"/arenas/{arena}/raters/{line['rater']}/release", key=owner)
    board = call.good("GET", f"/arenas/{arena}/board", key=owner)
    assert (board["answers"], board["set_aside"]) == (2, 0)


def test_raters_see_the_board_when_the_owner_says_so(call):
    for setting, status in (("always", 200), ("verdict", 403), ("never", 403)):
        arena, owner = call.arena(board=setting)
        rater = call.rater(arena, owner)
        assert call("GET", f"/arenas/{arena}/board", key=rater).status_code == status
    arena, owner = call.arena(THREE[:2], board="verdict", alpha=0.5)
    rater = call.rater(arena, owner)
    ticket, votes = call.ask(arena, rater), 0
    while "ticket" in ticket:
        texts = [call("GET", one["url"]).text for one in ticket["contents"]]
        ballot = {"rank": sorted(range(2), key=texts.__getitem__)}
        ticket = call.good("PUT", f"/tickets/{ticket['ticket']}/vote?next=1", ballot, key=rater)["next"]
        votes += 1
        assert votes < 50
    assert ticket["done"] == "settled"
    board = call.good("GET", f"/arenas/{arena}/board", key=rater)
    assert board["settled"] and board["sentence"].startswith("'mild' is best")


def test_votes_in_files_and_on_sheets(call):
    arena, owner = call.arena(slate_size=3)
    sheets = call.good("POST", f"/arenas/{arena}/sheets", {"number": 3, "request": "s"}, key=owner)
    assert sheets == call.good("POST", f"/arenas/{arena}/sheets", {"number": 3, "request": "s"}, key=owner)
    filled = sheets.replace(",,,\r\n", ",B>A=C,,Bo\r\n")
    path = f"/arenas/{arena}/votes"
    tried = call.good("POST", f"{path}?dry_run=1", filled, key=owner)
    assert tried["accepted"] and not tried["entered"] and tried["new"] == 3
    assert call.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 0
    assert call.good("POST", path, filled, key=owner)["entered"]
    again = call.good("POST", path, filled, key=owner)
    assert (again["new"], again["already"]) == (0, 3)
    bad = '{"id":"x1","rank":["mild","sharp"],"rater":"Cy"}\n{"id":"x2","rank":["mild","salty"]}\n{"id":"x3","rank":[7]}\n'
    report = call.good("POST", f"{path}?format=jsonl", bad, key=owner)
    assert not report["accepted"] and [line["result"] for line in report["lines"]] == ["new", "refused", "refused"]
    assert "no option 'salty'" in report["lines"][1]["problem"]
    assert call.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 3
    assert call.good("POST", f"{path}?format=jsonl", bad.split("\n")[0], key=owner)["entered"]
    assert call.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 4
    assert call.good("POST", path, "id,ticket,rank\n", key=owner)["accepted"], "no lines, no problem"
    assert call("POST", path, b"\xff\xfe", key=owner).status_code == 422


def test_a_log_goes_out_and_comes_in_elsewhere(call, tmp_path):
    odd = "Why?\u2028How?\x85"
    options = [{"name": name, "contents": [{"content": "x"}]} for name in ("=1+1", "b")]
    arena, owner = call.arena(options, contexts=[f"{odd}!"])
    rater = call.rater(arena, owner, "Ada")
    call.good("PUT", f"/tickets/{call.ask(arena, rater)['ticket']}/vote", {"rank": [0, 1]}, key=rater)
    log = call.good("GET", f"/arenas/{arena}/log.jsonl", key=owner)
    table = call.good("GET", f"/arenas/{arena}/log.csv", key=owner)
    assert table.startswith("number,at,kind,actor,rater,ticket,body,hash\r\n1,") and len(table.splitlines()) >= 6
    (tmp_path / "elsewhere").mkdir()
    elsewhere = Caller(tmp_path / "elsewhere")
    try:
        for _ in range(2):
            info = elsewhere.good("POST", "/import", log, key=elsewhere.server_key)
            assert info["arena"] == arena
        assert elsewhere.service.digest(arena) == call.service.digest(arena)
        assert elsewhere.good("GET", f"/arenas/{arena}/verify", key=elsewhere.server_key)["good"]
        assert elsewhere("GET", f"/arenas/{arena}/board", key=owner).status_code == 401, "keys do not come with a log"
        forged = log.replace('"Ada"', '"Eve"')
        assert forged != log
        (tmp_path / "third").mkdir()
        third = Caller(tmp_path / "third")
        try:
            assert third("POST", "/import", forged, key=third.server_key).status_code == 422
            assert third.good("GET", "/arenas", key=third.server_key) == {"arenas": []}
        finally:
            third.close()
    finally:
        elsewhere.close()


def test_both_databases_do_the_same(db):
    caller = Caller(db)
    try:
        image = {"name": "ünï", "kind": "image", "base64": base64.b64encode(PNG).decode()}
        arena, owner = caller.arena([*THREE, image], slate_size=4)
        rater = caller.rater(arena, owner, "Ada")
        ticket = caller.ask(arena, rater)
        shown = [caller("GET", one["url"]).content for one in ticket["contents"]]
        assert PNG in shown and len(shown) == 4
        path = f"/tickets/{ticket['ticket']}/vote?next=1"
        first = caller.good("PUT", path, {"rank": [0, 1, 2, 3]}, key=rater)
        assert caller.good("PUT", path, {"rank": [0, 1, 2, 3]}, key=rater) == first
        assert caller("PUT", path, {"rank": [1, 0]}, key=rater).status_code == 409
        assert caller.good("POST", f"/arenas/{arena}/undo", {}, key=rater)["counted"] == "undone"
        sheets = caller.good("POST", f"/arenas/{arena}/sheets", {"number": 2}, key=owner)
        assert caller.good("POST", f"/arenas/{arena}/votes", sheets.replace(",,,\r\n", ",B>A,,Bo\r\n"), key=owner)["new"] == 2
        assert caller.good("GET", f"/arenas/{arena}/board", key=owner)["answers"] == 2
        assert caller.good("GET", f"/arenas/{arena}/verify", key=owner)["good"]
        assert caller.good("GET", f"/arenas/{arena}/log.jsonl", key=owner).count("\n") == caller.service.info(arena).events + 4
        for wrong in (owner[:-4] + "AAAA", rater[:-4] + "AAAA"):
            assert caller("GET", f"/arenas/{arena}", key=wrong).status_code == 401
    finally:
        caller.close()


def test_health_and_metrics(fresh):
    assert fresh.good("GET", "/health/live") == {"live": True}
    assert fresh("GET", "/health/ready").status_code == 503
    fresh.app.app.pages.state.app_context.ready.set()
    assert fresh.good("GET", "/health/ready") == {"ready": True, "why": ""}
    arena, _ = fresh.arena()
    text = fresh.good("GET", "/metrics")
    assert 'multiduel_requests_total{route="/arenas/{arena}/open",method="POST",status="200"} 1' in text
    assert "multiduel_ready 1" in text and arena not in text
    assert 'multiduel_request_seconds_bucket{route="/health/live",le="+Inf"} 1' in text


def test_the_document_declares_what_there_is(call):
    document = call.good("GET", "/openapi.json")
    operations = [(path, method, one) for path, entry in document["paths"].items() for method, one in entry.items()]
    assert len(operations) >= 28
    for path, method, one in operations:
        declared = set(one["responses"])
        assert {"400", "413", "421", "429", "503"} <= declared, (path, method)
        if "{" in path:
            assert {"404", "422"} <= declared, (path, method)
