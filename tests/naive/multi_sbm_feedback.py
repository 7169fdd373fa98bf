"""MultiSBM-Feedback: MultiSBM in which the right arm's machine learns too."""

from tests.naive import multi_sbm

VARIANTS = multi_sbm.VARIANTS


class Naive(multi_sbm.Naive):
    teaches_both = True
