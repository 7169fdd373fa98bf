"""IF1: IF2 without the pruning."""

from tests.naive import if2

VARIANTS = if2.VARIANTS


class Naive(if2.Naive):
    prune = False
