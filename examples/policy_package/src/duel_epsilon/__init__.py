"""A policy of your own as a package: multiduel knows it by name wherever this is installed."""

from duel_epsilon.policy import SPEC

__all__ = ["SPEC"]
