"""Which settings come near the published variances? Every setting tried of the paper's multi-dueling algorithms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from multiduel.engine.simulation.statistics import estimate_variance
from multiduel.lab.paper.claims import PUBLISHED_VARIANCE
from multiduel.lab.paper.panels import MULTI, VARIED_IN, generated
from multiduel.lab.results import Panel

FACTOR = 1.5  # variances within this factor of each other agree


@dataclass(frozen=True)
class Agreement:
    """Measured over published variance of one setting of an algorithm, in each panel that has it."""

    policy: str
    setting: str
    ratios: dict[str, float]  # panel -> ratio

    @property
    def distance(self) -> float:
        """The mean factor by which they are off."""
        return math.exp(sum(abs(math.log(max(r, 1e-12))) for r in self.ratios.values()) / len(self.ratios))


def variances(panels: Mapping[str, Panel]) -> list[Agreement]:
    """Every setting tried of the paper's multi-dueling algorithms, nearest to the published variances first. Generated rankers
    have no published variance."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name in MULTI:
        for experiment in (name, f"joint-{name}", *VARIED_IN[name]):
            if experiment not in panels or generated(panels[experiment].experiment):
                continue
            for line in panels[experiment].lines:
                published = PUBLISHED_VARIANCE[name].get(line.contender.policy)
                if published is None or line.result.runs < 2:
                    continue
                setting = ", ".join(f"{key} = {value}" for key, value in line.contender.params.items()) or "our default"
                ratio = estimate_variance(line.final).value / published
                found.setdefault((line.contender.policy, setting), {})[name] = ratio
    rows = [Agreement(policy, setting, ratios) for (policy, setting), ratios in found.items()]
    order = {policy: place for place, policy in enumerate(PUBLISHED_VARIANCE[MULTI[0]])}
    return sorted(rows, key=lambda row: (order[row.policy], row.distance))
