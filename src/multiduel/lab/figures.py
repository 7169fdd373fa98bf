"""The figures of a Result, under the lab's roof."""

from multiduel.engine.figures import COLOURS, DASHES, KINDS, SCALES, SIZES, STYLE, UNDATED, _apart, check, plain, regret_plot

__all__ = ["COLOURS", "DASHES", "KINDS", "SCALES", "SIZES", "STYLE", "UNDATED", "_apart", "check", "plain", "regret_plot"]
