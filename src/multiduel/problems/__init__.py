"""Who beats whom: preference matrices, links, utilities, instances and data files.

>>> from multiduel import problems
>>> problems.synthetic(6).winner, problems.parse("cyclic").n_arms
(0, 48)
"""

from multiduel.problems.catalogue import CATALOGUE, ENDINGS, SPECS, instance, parse
from multiduel.problems.estimated import EstimatedProblem
from multiduel.problems.files import read_csv, write_csv
from multiduel.problems.instances import (
    bradley_terry,
    cyclic,
    random_tournament,
    random_utilities,
    synthetic,
)
from multiduel.problems.links import LINKS, from_utilities
from multiduel.problems.problem import BENCHMARKS, Problem, from_matrix, preference_matrix

__all__ = [
    "BENCHMARKS",
    "CATALOGUE",
    "ENDINGS",
    "LINKS",
    "SPECS",
    "EstimatedProblem",
    "Problem",
    "bradley_terry",
    "cyclic",
    "from_matrix",
    "from_utilities",
    "instance",
    "parse",
    "preference_matrix",
    "random_tournament",
    "random_utilities",
    "read_csv",
    "synthetic",
    "write_csv",
]
