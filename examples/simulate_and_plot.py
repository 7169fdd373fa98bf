"""Regret of MultiRUCB for three slate sizes on the paper's synthetic problem, as a table and as regret.png.

Needs the 'lab' extra for the plot: pip install -c constraints.txt '.[lab]'
"""

from __future__ import annotations

import sys

import multiduel as md

target = sys.argv[1] if len(sys.argv) > 1 else "regret.png"
problem = md.synthetic(24, link="linear")
results = md.Results(md.simulate("multi-rucb", problem, slate_size=m, horizon=10**5, runs=20, seed=0) for m in (2, 4, 8))

for result in results:
    low, high = result.interval()
    print(f"m = {result.slate_size}: regret {result.mean[-1]:6.1f}, 95 % interval {low[-1]:6.1f} to {high[-1]:6.1f}")
results.plot(target)
print(f"Wrote {target}")
