"""Clicks, interleaving and multileaving as plainly as they are described: lists, dictionaries, full enumeration.

Rankings are lists of the documents that each ranker returned, best first. Each method is (lay_out, judge):
lay_out(rankings, depth, rng) returns the shown documents and, per slot, whatever the judge needs; judge(evidence,
clicked slots, n) returns n x n wins.
"""

import itertools

from tests.naive.stream import NaiveStream


def first_free(ranking, shown):
    """None if the ranker has nothing left."""
    return next((document for document in ranking if document not in shown), None)


def slots(depth, rankings):
    """How long the page is."""
    return min(depth, len(set().union(*rankings)))


def able(rankings, shown):
    """Who has a document left."""
    return [place for place, ranking in enumerate(rankings) if first_free(ranking, shown) is not None]


def ranks(document, rankings):
    """From 1, in each ranking; far below for a document that it does not hold."""
    return [ranking.index(document) + 1 if document in ranking else float("inf") for ranking in rankings]


def compare_credit(credit):
    n = len(credit)
    wins = [[0.0] * n for _ in range(n)]
    for a in range(n):
        for b in range(n):
            if a != b:
                wins[a][b] = 1.0 if credit[a] > credit[b] else 0.5 if credit[a] == credit[b] else 0.0
    return wins


def team_draft(rankings, depth, rng):
    n = len(rankings)
    turn = list(range(n))
    shown, teams, seat = [], [], 0
    while len(shown) < slots(depth, rankings):
        other = seat + rng.below(n - seat)
        turn[seat], turn[other] = turn[other], turn[seat]
        captain = turn[seat]
        seat = (seat + 1) % n
        document = first_free(rankings[captain], shown)
        if document is not None:
            shown.append(document)
            teams.append(captain)
    return shown, teams


def count_points(teams, clicked, n):
    return compare_credit([sum(teams[k] == a for k in clicked) for a in range(n)])


def softmax(ranking, shown, tau=3.0):
    weights = {d: (r + 1) ** -tau for r, d in enumerate(ranking) if d not in shown}
    total = sum(weights.values())
    return {d: w / total for d, w in weights.items()}


def probabilistic(rankings, depth, rng):
    shown, teams, shares = [], [], []
    while len(shown) < slots(depth, rankings):
        laws = [softmax(ranking, shown) for ranking in rankings]
        those = able(rankings, shown)
        place = those[rng.below(len(those))]
        left = rng.uniform()
        for document, chance in laws[place].items():  # best first
            left -= chance
            drawn = document
            if left < 0.0:
                break
        document = drawn
        total = sum(law.get(document, 0.0) for law in laws)
        shown.append(document)
        teams.append(place)
        shares.append([law.get(document, 0.0) / total for law in laws])
    return shown, (teams, shares)


def expect_points(evidence, clicked, n):
    """Average of count_points over every assignment of the clicked slots to rankers. Without a click nobody has more."""
    _, shares = evidence
    wins = [[0.0] * n for _ in range(n)]
    for teams in itertools.product(range(n), repeat=len(clicked)):
        chance = 1.0
        for team, k in zip(teams, clicked, strict=True):
            chance *= shares[k][team]
        outcome = count_points(dict(zip(clicked, teams, strict=True)), clicked, n)
        for a in range(n):
            for b in range(n):
                wins[a][b] += chance * outcome[a][b]
    return wins


def count_drawn(evidence, clicked, n):
    return count_points(evidence[0], clicked, n)


def balanced(rankings, depth, rng):
    a_first = rng.uniform() < 0.5
    shown, k = [], [0, 0]
    while len(shown) < slots(depth, rankings):
        who = 0 if k[0] < k[1] or (k[0] == k[1] and a_first) else 1
        who = who if k[who] < len(rankings[who]) else 1 - who
        document = rankings[who][k[who]]
        k[who] += 1
        if document not in shown:
            shown.append(document)
    return shown, [ranks(document, rankings) for document in shown]


def count_tops(evidence, clicked, n):
    if not clicked:
        return compare_credit([0, 0])
    top = min(evidence[max(clicked)])
    return compare_credit([sum(evidence[k][a] <= top for k in clicked) for a in range(2)])


def optimised(rankings, depth, rng, candidates=32, steps=25, step=1.0, weight=0.2):
    n = len(rankings)
    page = range(slots(depth, rankings))
    lists, credits = [], []
    for _ in range(candidates):
        shown = []
        for _ in page:
            those = able(rankings, shown)
            shown.append(first_free(rankings[those[rng.below(len(those))]], shown))
        credit = [[1.0 / r for r in ranks(document, rankings)] for document in shown]
        lists.append(shown)
        some = [bool(ranking) for ranking in rankings]  # who returned nothing is left out
        credits.append([[c - sum(row) / sum(some) if some[a] else 0.0 for a, c in enumerate(row)] for row in credit])
    p = [1.0 / candidates] * candidates

    def bias():
        return [[sum(p[L] * credits[L][k][a] for L in range(candidates)) for a in range(n)] for k in page]

    for _ in range(steps):
        now = bias()
        slope = [
            sum(2.0 * row[k][a] * now[k][a] - weight * row[k][a] ** 2 / (k + 1) for k in page for a in range(n))
            for row in credits
        ]
        mean = sum(x * y for x, y in zip(p, slope, strict=True))
        p = [x * min(2.0, max(0.5, 1.0 - step * (y - mean))) for x, y in zip(p, slope, strict=True)]
        p = [x / sum(p) for x in p]
    left = rng.uniform()
    drawn = 0
    for L in range(candidates):
        left -= p[L]
        drawn = L
        if left < 0.0:
            break
    rest = bias()
    scale = 1.0 + max((max(row) - min(row) for row in rest), default=0.0)
    return lists[drawn], [[(credits[drawn][k][a] - rest[k][a]) / scale if rankings[a] else -1.0 for a in range(n)] for k in page]


def mean_difference(evidence, clicked, n):
    wins = [[0.0] * n for _ in range(n)]
    for a in range(n):
        for b in range(n):
            if a != b:
                total = sum(evidence[k][a] - evidence[k][b] for k in clicked)
                wins[a][b] = min(1.0, max(0.0, 0.5 + 0.5 * total / max(1, len(clicked))))
    return wins


def neutral_team_draft(rankings, depth, rng):
    shown, parties = [], []
    while len(shown) < slots(depth, rankings):
        wanted = [first_free(ranking, shown) for ranking in rankings]
        named = [document for document in dict.fromkeys(wanted) if document is not None]
        for s in range(min(len(named), slots(depth, rankings) - len(shown))):
            other = s + rng.below(len(named) - s)
            named[s], named[other] = named[other], named[s]
            parties.append([a for a, document in enumerate(wanted) if document == named[s]])
            shown.append(named[s])
    return shown, parties


def count_shared_points(parties, clicked, n):
    return compare_credit([sum(a in parties[k] for k in clicked) for a in range(n)])


def pair_draft(rankings, depth, rng):
    """Evidence: per round its documents; where each was shown; the rankings."""
    shown, rounds = [], []
    while len(shown) < slots(depth, rankings):
        named = [
            document for document in dict.fromkeys(first_free(ranking, shown) for ranking in rankings) if document is not None
        ]
        for s in range(min(len(named), slots(depth, rankings) - len(shown))):
            other = s + rng.below(len(named) - s)
            named[s], named[other] = named[other], named[s]
            shown.append(named[s])
        rounds.append(named)
    return shown, (rounds, shown, rankings)


def draft_by_two(evidence, clicked, n):
    rounds, shown, rankings = evidence
    points = [[0] * n for _ in range(n)]
    for a, b in itertools.permutations(range(n), 2):
        for documents in rounds:
            mine, theirs = ([d for d in rankings[x] if d in documents] for x in (a, b))
            if not theirs:
                picks = mine[:1]
            else:
                picks = []
                while mine and theirs:
                    picks += mine[:1] if mine[0] != theirs[0] else []
                    out = {mine[0], theirs[0]}
                    mine, theirs = [d for d in mine if d not in out], [d for d in theirs if d not in out]
            points[a][b] += sum(d in shown and shown.index(d) in clicked for d in picks)
    return [
        [0.0 if a == b else 1.0 if points[a][b] > points[b][a] else 0.5 * (points[a][b] == points[b][a]) for b in range(n)]
        for a in range(n)
    ]


def pairwise(rankings, depth, rng):
    shown, pool, sizes = [], [], []
    for k in range(slots(depth, rankings)):
        for ranking in rankings:
            for document in ranking[k : k + 1]:
                if document not in shown and document not in pool:
                    pool.append(document)
        chosen = rng.below(len(pool))
        sizes.append(len(pool))
        shown.append(pool[chosen])
        last = pool.pop()
        if chosen < len(pool):
            pool[chosen] = last
    return shown, ([ranks(document, rankings) for document in shown], sizes, [not ranking for ranking in rankings])


def agree(evidence, clicked, n):
    credit = agreement(evidence, clicked, n)
    close = [
        [credit[b] if abs(credit[a] - credit[b]) <= 1e-9 * (credit[a] + credit[b]) else credit[a] for b in range(n)]
        for a in range(n)
    ]
    wins = [
        [0.0 if a == b else 1.0 if close[a][b] > credit[b] else 0.5 if close[a][b] == credit[b] else 0.0 for b in range(n)]
        for a in range(n)
    ]
    table, _, empty = evidence
    own = [sum(table[k][a] < float("inf") for k in clicked) for a in range(n)]
    for a, b in itertools.permutations(range(n), 2):
        if empty[a] != empty[b]:
            wins[a][b] = 1.0 if own[a] > own[b] else 0.5 if own[a] == own[b] else 0.0
    return wins


def agreement(evidence, clicked, n):
    """Preferences of a clicked document over those not clicked down to the one just below the lowest click."""
    table, sizes, _ = evidence
    credit = [0.0] * n
    for i in clicked:
        for j in range(min(max(clicked) + 2, len(table))):
            first = sorted([min(table[i]) - 1, min(table[j]) - 1])  # slots from which on each may stand
            if j not in clicked and min(i, j) >= first[1]:
                chance = 1.0
                for x in range(first[0], first[1]):
                    chance *= 1.0 - 1.0 / sizes[x]
                for a in range(n):
                    credit[a] += 1.0 / chance if table[i][a] < table[j][a] else 0.0
    return credit


def greedy(rankings, depth, rng, candidates=32):
    n = len(rankings)
    least, best = None, None
    for _ in range(candidates):
        shown = []
        for _ in range(slots(depth, rankings)):
            those = able(rankings, shown)
            shown.append(first_free(rankings[those[rng.below(len(those))]], shown))
        credits = [relative_credits(ranks(document, rankings)) for document in shown]
        expected = [sum(row[a] / (k + 1) for k, row in enumerate(credits)) for a in range(n)]
        mean = sum(expected) / n
        spread = sum((s - mean) ** 2 for s in expected) / mean**2 if mean else float("inf")
        if least is None or spread < least:
            least, best = spread, (shown, credits)
    return best


def relative_credits(places):
    n = len(places)
    return [-n if mine == float("inf") else -sum(theirs < mine for theirs in places) for mine in places]


def add_credits(credits, clicked, n):
    return compare_credit([sum(credits[k][a] for k in clicked) for a in range(n)])


METHODS = {
    "pair-draft": (pair_draft, draft_by_two),
    "neutral-team-draft": (neutral_team_draft, count_shared_points),
    "pairwise": (pairwise, agree),
    "greedy": (greedy, add_credits),
    "team-draft": (team_draft, count_points),
    "probabilistic": (probabilistic, expect_points),
    "probabilistic-drawn": (probabilistic, count_drawn),
    "balanced": (balanced, count_tops),
    "optimised": (optimised, mean_difference),
}


def user(shown, grades, click, stop, rng):
    """The slots clicked by a user who goes down the list. click[k][g], stop[k][g]."""
    clicked = []
    for k, document in enumerate(shown):
        grade = grades[document]
        if rng.uniform() < click[k][grade]:
            clicked.append(k)
            if rng.uniform() < stop[k][grade]:
                break
    return clicked


def compare(method, collection, click, stop, slate, words, judge=None):
    """One comparison. ``collection`` holds per query (grades, rankings of all rankers), ``words`` seed the
    stream of this round. Returns the wins of the slate."""
    lay_out, own_judge = METHODS[method]
    rng = NaiveStream(words)
    grades, rankings = collection[rng.below(len(collection))]
    shown, evidence = lay_out([rankings[i] for i in slate], len(click), rng)
    return (judge or own_judge)(evidence, user(shown, grades, click, stop, rng), len(slate))
