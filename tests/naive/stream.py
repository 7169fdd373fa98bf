"""The oracles' stream is part of the checks, for everybody."""

from multiduel.checks.stream import NaiveStream

__all__ = ["NaiveStream"]
