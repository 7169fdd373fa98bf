"""Which reading makes the paper right? For each claim, and for the table of variances, what agrees best with all published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from multiduel.lab.paper.claims import PUBLISHED_VARIANCE
from multiduel.lab.paper.panels import MULTI, MULTI_READINGS, generated
from multiduel.lab.paper.verdicts import HOLDS, Claim
from multiduel.lab.results import Panel
from multiduel.lab.statistics import estimate_variance

FACTOR = 1.5  # variances within this factor of each other agree


def answers(claims: Sequence[Claim]) -> list[tuple[str, str, str]]:
    """Of each claim: its statement, the verdict as published, and which readings turn it."""
    rows = []
    for claim in claims:
        right = [reading for reading, line in claim.readings.items() if line.startswith(HOLDS)]
        if claim.verdict == HOLDS:
            wrong = [reading for reading, line in claim.readings.items() if not line.startswith(HOLDS)]
            words = f"As published; not with: {'; '.join(wrong)}." if wrong else "As published, and with every reading tried."
        elif right:
            words = f"{'; '.join(right)}."
        else:
            words = "None of those tried."
        rows.append((claim.statement, claim.line, words))
    return rows


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
    for name, reading in zip(MULTI, MULTI_READINGS, strict=True):
        for experiment in (name, reading):
            if experiment not in panels or generated(panels[experiment].experiment):
                continue
            for line in panels[experiment].lines:
                published = PUBLISHED_VARIANCE[name].get(line.contender.policy)
                default = experiment == reading and not line.contender.params  # stands in the panel itself, with more runs
                if published is None or default or line.result.runs < 2:
                    continue
                setting = ", ".join(f"{key} = {value}" for key, value in line.contender.params.items()) or "our default"
                ratio = estimate_variance(line.final).value / published
                found.setdefault((line.contender.policy, setting), {})[name] = ratio
    rows = [Agreement(policy, setting, ratios) for (policy, setting), ratios in found.items()]
    order = {policy: place for place, policy in enumerate(PUBLISHED_VARIANCE[MULTI[0]])}
    return sorted(rows, key=lambda row: (order[row.policy], row.distance))
