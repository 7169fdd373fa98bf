"""ECW-RMED from the listing, upsets by trying every set of changed pairs (few arms) or by sorting (many)."""

import itertools
import math

import numpy as np

from tests.naive.rmed1 import kl

VARIANTS = [{}, {"alpha": 1.0, "beta": 0.1}]


class Naive:
    def __init__(self, n_arms, slate_size, rng, alpha=3.0, beta=0.01):
        self.K, self.rng, self.alpha, self.beta = n_arms, rng, alpha, beta
        self.arms = rng.distinct(range(n_arms), n_arms)  # number i, here and below, is arms[i]
        self.W = np.zeros((n_arms, n_arms))
        self.pairs = [(i, j) for i in range(n_arms) for j in range(i + 1, n_arms)]
        self.line = list(self.pairs)
        self.script = self.listing()
        self.certified = 0

    def ask(self, round):
        self.t = round
        l, m = next(self.script)
        return [self.arms[l]] if l == m else [self.arms[l], self.arms[m]]

    def tell(self, round, slate, wins):
        i, j = (self.arms.index(arm) for arm in slate)
        self.W[i, j] += wins[0, 1]
        self.W[j, i] += wins[1, 0]
        self.line_up()

    def N(self, i, j):
        return self.W[i, j] + self.W[j, i]

    def P(self, i, j):
        return self.W[i, j] / self.N(i, j) if self.N(i, j) > 0 else 0.5

    def beats(self, i, j):
        return self.P(j, i) < 0.5

    def cost(self, i, j):
        """Evidence for the side of 1/2 that the pair is on, counted from its loser."""
        loser, winner = (i, j) if self.beats(j, i) else (j, i)
        return self.N(i, j) * kl(self.P(loser, winner))

    def superiors(self, i):
        return [j for j in range(self.K) if j != i and self.beats(j, i)]

    def short(self, pair):
        i, j = pair
        margin = self.beta / max(1.0, math.log(math.log(max(self.t, 3))))
        return self.N(i, j) < self.alpha * math.sqrt(math.log(self.t)) or abs(self.P(i, j) - 0.5) < margin

    def line_up(self):
        waiting = set(self.line)
        self.line += [pair for pair in self.pairs if pair not in waiting and self.short(pair)]

    def next_short(self):
        self.line_up()
        while self.line:
            pair = self.line.pop(0)
            if self.short(pair):
                self.line.append(pair)
                return pair
        return None

    def winners(self):
        L = [len(self.superiors(i)) for i in range(self.K)]
        return [i for i in range(self.K) if L[i] == min(L)]

    def upset(self, i1):
        """The cheapest set of pairs to turn round such that another arm has fewer superiors than i1."""
        L = [len(self.superiors(i)) for i in range(self.K)]
        least = math.inf
        for i2 in range(self.K):
            if i2 == i1:
                continue
            needed = L[i2] - L[i1] + 1
            units = [self.cost(i1, j) for j in range(self.K) if j not in (i1, i2) and self.beats(i1, j)]
            units += [self.cost(i2, j) for j in self.superiors(i2) if j != i1]
            units.sort()
            if len(units) >= needed:
                least = min(least, sum(units[:needed], 0.0))
            if self.beats(i1, i2) and len(units) >= needed - 2:
                least = min(least, self.cost(i1, i2) + sum(units[: max(needed - 2, 0)], 0.0))
        return least

    def upset_by_force(self, i1):
        """The same, over all sets of decided pairs."""
        decided = [(i, j) for i, j in itertools.permutations(range(self.K), 2) if self.beats(i, j)]
        least = math.inf
        for size in range(len(decided) + 1):
            for turned in itertools.combinations(decided, size):
                L = [len(self.superiors(i)) for i in range(self.K)]
                for i, j in turned:
                    L[i] += 1
                    L[j] -= 1
                if min(L) < L[i1]:
                    least = min(least, sum(self.cost(i, j) for i, j in turned))
        return least

    def rates(self, i1):
        """[(pair, q)], and the regret of these draws per ln t."""
        L = [len(self.superiors(i)) for i in range(self.K)]
        r = lambda i, j: (L[i] + L[j] - 2 * L[i1]) * (0.5 / (self.K - 1))  # noqa: E731
        q, total = [], 0.0
        for j in range(self.K):
            if j != i1 and self.beats(i1, j):
                q.append(((i1, j), 1.0 / kl(self.P(j, i1))))
                total += r(i1, j) / kl(self.P(j, i1))
        for i2 in range(self.K):
            superiors = [j for j in self.superiors(i2) if j != i1]
            k = len(superiors) - (L[i2] - L[i1] + 1)
            if i2 == i1 or k < 0:
                continue
            costs = sorted((r(j, i2) / kl(self.P(i2, j)), j) for j in superiors)
            choices = [(sum((cost for cost, _ in costs[:h]), 0.0) / (h - k), h) for h in range(k + 1, len(costs) + 1)]
            least, h = min(choices)
            total += least
            q += [((i2, j), 1.0 / ((h - k) * kl(self.P(i2, j)))) for _, j in costs[:h]]
        return q, total

    def listing(self):
        L_C = list(self.pairs) or [(0, 0)]
        while True:
            L_R, L_N = list(L_C), []
            for pair in L_C:
                while (forced := self.next_short()) is not None:
                    yield forced
                yield pair
                L_R.remove(pair)
                log_t = math.log(self.t - 1)
                winners = self.winners()
                costs = [self.upset(i) for i in winners]
                if max(costs) > log_t:
                    i1 = winners[self.rng.argmax(costs)]
                    Q = []
                    self.certified += 1
                else:
                    i1 = winners[self.rng.argmax([-self.rates(i)[1] for i in winners])]
                    Q = sorted((min(p), max(p)) for p, q in self.rates(i1)[0] if self.N(*p) < q * log_t)
                for p in [*Q, (i1, i1)]:
                    if p not in L_R and p not in L_N:
                        L_N.append(p)
            L_C = L_N
