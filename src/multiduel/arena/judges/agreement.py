"""Agreement of two who judged the same: Cohen's kappa, and Krippendorff's alpha of any number who judged.

Cohen 1960; Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability" (nominal data).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def cohens_kappa(pairs: Iterable[tuple[Hashable, Hashable]]) -> float:
    """Cohen's kappa: agreement beyond what two who keep their habits reach by chance; nan if it is not defined.

    Parameters
    ----------
    pairs
        What the one and the other said of each.

    Returns
    -------
    float
        1 for full agreement, 0 for that of chance.

    Examples
    --------
    >>> cohens_kappa([(1, 1), (1, 1), (0, 0), (0, 1)])
    0.5
    """
    said = list(pairs)
    if not said:
        return math.nan
    n = len(said)
    one, other = Counter(a for a, _ in said), Counter(b for _, b in said)
    agreed = sum(a == b for a, b in said) / n
    chance = sum(one[value] * other[value] for value in one) / n**2
    return math.nan if chance == 1.0 else (agreed - chance) / (1.0 - chance)


def krippendorffs_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha for nominal values; nan if it is not defined.

    Parameters
    ----------
    units
        For each thing that was judged, all values that it was given. Units with fewer than two say nothing.

    Returns
    -------
    float
        1 for full agreement, 0 for that of chance.

    Examples
    --------
    >>> round(krippendorffs_alpha([(1, 1), (1, 1), (0, 0), (0, 1)]), 4)
    0.5333
    """
    together: Counter[tuple[Hashable, Hashable]] = Counter()
    for unit in units:
        counts, m = Counter(unit), len(unit)
        if m > 1:
            for a, x in counts.items():
                for b, y in counts.items():
                    together[a, b] += x * (y - (a == b)) / (m - 1)  # type: ignore[assignment]
    totals: Counter[Hashable] = Counter()
    for (a, _), times in together.items():
        totals[a] += times
    n = sum(totals.values())
    differ = sum(times for (a, b), times in together.items() if a != b)
    expected = sum(x * y for a, x in totals.items() for b, y in totals.items() if a != b)
    return math.nan if expected == 0 else 1.0 - (n - 1) * differ / expected
