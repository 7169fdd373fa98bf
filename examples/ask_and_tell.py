"""Find the best of eight prompts by asking a judge to rank three at a time.

The judge here is a stand-in that knows hidden qualities and errs. Yours may be a person, a model, or a metric.
"""

from __future__ import annotations

import random

import multiduel as md

PROMPTS = ("terse", "polite", "step by step", "by example", "as a table", "as a story", "in bullets", "with sources")
QUALITY = (0.30, 0.45, 0.80, 0.60, 0.35, 0.20, 0.50, 0.55)  # hidden from the policy
luck = random.Random(1)


def judge(arms: tuple[int, ...]) -> list[int]:
    """The arms, best first, as a noisy judge sees them."""
    return sorted(arms, key=lambda arm: QUALITY[arm] + luck.gauss(0.0, 0.2), reverse=True)


policy = md.make("multi-rucb", n_arms=len(PROMPTS), slate_size=3, seed=7)
for _ in range(400):
    slate = policy.ask()
    if len(slate.arms) > 1:  # a slate of one: nothing to compare, use it
        policy.tell(slate, md.ranking(judge(slate.arms)))

print(f"After {policy.round} rounds, use '{PROMPTS[policy.recommend()]}'.\n")
print(policy.standings(names=PROMPTS))
