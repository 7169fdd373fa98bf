"""Pairwise preference multileaving once more, written from the paper's text alone, with the chances counted and not derived.

Oosterhuis, de Rijke. Sensitive and Scalable Online Evaluation with Theoretical Guarantees. CIKM 2017. A clicked document is
preferred to all that were not clicked above the last click, and to the one that follows it (Joachims' "skip above", "skip next").
"""

from fractions import Fraction


def choices(rankings, shown):
    """How many documents could have stood in each slot, given those above."""
    sizes = []
    for k in range(len(shown)):
        may = {document for ranking in rankings for document in ranking[: k + 1]} - set(shown[:k])
        sizes.append(len(may))
    return sizes


def preferences(shown, clicked):
    """Pairs (preferred, other)."""
    last = max(clicked)
    looked_at = range(min(last + 2, len(shown)))
    return [(shown[i], shown[j]) for i in clicked for j in looked_at if j not in clicked]


def first_slot(rankings, document):
    return min(ranking.index(document) for ranking in rankings if document in ranking)


def credits(rankings, shown, clicked):
    """Of each ranker, exactly."""
    total = [Fraction(0)] * len(rankings)
    if not clicked:
        return total
    sizes = choices(rankings, shown)
    slot = {document: k for k, document in enumerate(shown)}
    for better, other in preferences(shown, clicked):
        early, late = sorted((first_slot(rankings, better), first_slot(rankings, other)))
        if min(slot[better], slot[other]) < late:  # one of them stood where the other could not
            continue
        chance = Fraction(1)
        for k in range(early, late):
            chance *= 1 - Fraction(1, sizes[k])
        for a, ranking in enumerate(rankings):
            if better in ranking and (other not in ranking or ranking.index(better) < ranking.index(other)):
                total[a] += 1 / chance
    return total
