"""D-TS+, literally: D-TS with its ties decided by the estimated regret."""

import math

from tests.naive import dts


def kl_to_half(p):
    return sum(x * math.log(x / 0.5) for x in (p, 1.0 - p) if x > 0.0)


class Naive(dts.Naive):
    def choose(self, C, theta):
        others = [[j for j in range(self.K) if j != i] for i in range(self.K)]
        score = [float(sum(theta[i, j] > 0.5 for j in others[i])) for i in range(self.K)]
        best = [i for i in C if score[i] == max(score[c] for c in C)]
        if len(best) == 1:
            return best[0]
        regret = []
        for i in best:
            total = 0.0
            for j in others[i]:
                if theta[i, j] != 0.5:
                    total += (max(score) - (score[i] + score[j]) / 2.0) / kl_to_half(theta[i, j])
            regret.append(total)
        return best[self.rng.argmax([-r for r in regret])]
