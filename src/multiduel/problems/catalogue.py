"""Problems by name: what there is, what each may be told, and where it is from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

from multiduel.inputs import BadInput, choice, did_you_mean
from multiduel.problems import instances, literature
from multiduel.problems.files import read_csv
from multiduel.problems.problem import Problem

ENDINGS = (".csv", ".tsv", ".txt")  # of files that hold a matrix


@dataclass(frozen=True)
class Family:
    """Problems of one kind, for any number of arms."""

    make: Callable[..., Problem]
    arms: int  # if not given
    options: tuple[str, ...]
    source: str
    about: str


AILON = "Ailon, Karnin, Joachims. ICML 2014 (not compared with its table)"
CATALOGUE: dict[str, Family] = {
    "synthetic": Family(
        instances.synthetic,
        48,
        ("link",),
        "Du, Wang, Huang. AAMAS 2020",
        "utilities 0.8, then 0.7 to 0.2 geometrically",
    ),
    "1good": Family(partial(literature.good, n_good=1), 6, ("link",), AILON, "utilities 0.8, then 0.2: the others are alike"),
    "2good": Family(partial(literature.good, n_good=2), 6, ("link",), AILON, "utilities 0.8, 0.7, then 0.2"),
    "3good": Family(partial(literature.good, n_good=3), 6, ("link",), AILON, "utilities 0.8, 0.7, 0.7, then 0.2"),
    "6good": Family(
        partial(literature.good, n_good=6),
        16,
        ("link",),
        "Sui, Zhuang, Burdick, Yue. UAI 2017 (not compared with its table)",
        "utilities 0.8, five of 0.7, then 0.2",
    ),
    "arith": Family(literature.arith, 6, ("link",), AILON, "utilities 0.8, then 0.7 to 0.2 evenly"),
    "geom": Family(literature.geom, 6, ("link",), AILON, "utilities 0.8, then 0.7 to 0.2 geometrically"),
    "arithmetic": Family(
        literature.arithmetic, 8, ("step",), "Komiyama et al. COLT 2015", "P[i, j] = 1/2 + 0.05 (j - i): a total order"
    ),
    "cyclic": Family(
        instances.cyclic,
        48,
        ("gap", "cycle_gap", "condorcet"),
        "Komiyama et al. COLT 2015, with 4 arms; larger ones in its manner",
        "a narrow winner over a cycle: to refute an arm, its strongest opponent beats the winner",
    ),
    "three-winners": Family(
        literature.three_winners,
        500,
        ("gap",),
        "in the manner of Zoghi et al. NIPS 2015 (also Wu and Liu 2016)",
        "three Copeland winners in a cycle, the rest in order; nobody beats everybody",
    ),
    "swirl": Family(
        literature.swirl,
        9,
        ("gap",),
        "in the manner of Komiyama, Honda, Nakagawa. ICML 2016",
        "a circle in which one arm wins one duel more: the only Copeland winner",
    ),
    "bvsc": Family(
        literature.borda_or_copeland,
        8,
        ("gap", "rout"),
        "in the manner of Komiyama, Honda, Nakagawa. ICML 2016",
        "one arm beats all others narrowly, another nearly all of them by far",
    ),
    "random": Family(instances.random_utilities, 48, ("link", "seed"), "ours", "utilities drawn uniformly from [0, 1)"),
    "bradley-terry": Family(
        instances.bradley_terry, 48, ("seed", "scale"), "Bradley, Terry 1952", "logit link on normal utilities"
    ),
    "tournament": Family(
        instances.random_tournament,
        48,
        ("seed", "condorcet"),
        "ours",
        "every pair has a random winner: no order, no transitivity",
    ),
}
SPECS = tuple(CATALOGUE)


def instance(name: str, n_arms: int | None = None, **options: Any) -> Problem:
    """Make a problem of the literature by its name.

    Parameters
    ----------
    name
        A name that ``multiduel problem --list`` has, with sources and options.
    n_arms
        How many arms, where the source leaves it open.
    **options
        The instance's own options.

    Returns
    -------
    Problem
        The instance.

    Raises
    ------
    BadInput
        If there is no such instance, or it has no such option.

    Examples
    --------
    >>> instance("arithmetic").n_arms, instance("swirl", 7, gap=0.2).copeland_winners
    (8, (0,))
    """
    family = CATALOGUE[choice("name", name, CATALOGUE)]
    for option in options:
        if option not in family.options:
            takes = " and ".join(f"'{known}'" for known in family.options)
            raise BadInput(f"'{option}' must not be given for '{name}', which takes {takes}. Got {options[option]!r}.")
    return family.make(family.arms if n_arms is None else n_arms, **options)


def parse(spec: str, *, n_arms: int | None = None, link: str | None = None, seed: int = 0) -> Problem:
    """Make a problem from the text of a command line.

    Parameters
    ----------
    spec
        One of SPECS, or the path of a file that ``read_csv`` reads.
    n_arms
        None: the family's number of arms, or the file's.
    link
        None: the linear link, where links apply. Refused where they do not.
    seed
        For problems that are drawn; the others ignore it.

    Examples
    --------
    >>> parse("cyclic").n_arms, parse("synthetic", n_arms=6).winner
    (48, 0)
    """
    if PurePath(spec).suffix.lower() in ENDINGS:
        if link is not None:
            raise BadInput(f"'link' must not be given for '{spec}': a file has its chances. Got '{link}'.")
        problem = read_csv(spec)
        if n_arms is not None and n_arms != problem.n_arms:
            raise BadInput(f"'n_arms' must be {problem.n_arms}, the number of arms in '{spec}'. Got {n_arms}.")
        return problem
    if spec not in CATALOGUE:
        known = ", ".join(f"'{name}'" for name in SPECS)
        hint = did_you_mean(spec, SPECS)
        raise BadInput(f"A problem must be one of {known}, or a file ending in {', '.join(ENDINGS)}. Got '{spec}'.{hint}")
    options: dict[str, Any] = {} if link is None else {"link": link}
    if "seed" in CATALOGUE[spec].options:
        options["seed"] = seed
    return instance(spec, n_arms, **options)
