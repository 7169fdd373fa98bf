"""RMED2: the listing of the family is in rmed1.py."""

from tests.naive import rmed1


class Naive(rmed1.Naive):
    VARIANT = "RMED2"
