"""The machines as their papers list them: every index computed in full, every time."""

import math

INF = math.inf


def kl(p, q):
    """Relative entropy of Bernoulli(p) to Bernoulli(q)."""
    d = 0.0
    if p > 0.0:
        d += p * math.log(p / q) if q > 0.0 else INF
    if p < 1.0:
        d += (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if q < 1.0 else INF
    return d


def kl_upper(p, level):
    """The largest q >= p with kl(p, q) <= level, by bisection to the last bit."""
    if p >= 1.0 or level <= 0.0:
        return p
    low, high = p, 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if kl(p, middle) <= level:
            low = middle
        else:
            high = middle
    return low


class Counts:
    """Wins and feedbacks of each arm."""

    def __init__(self, n_arms):
        self.S = [0.0] * n_arms
        self.N = [0.0] * n_arms

    def add(self, arm, won, lost):
        self.S[arm] += won
        self.N[arm] += won + lost


class UCB:
    """Algorithm 3 of Du, Wang and Huang. The clock counts advances, so that late feedback does not stop it."""

    def __init__(self, n_arms, rng, alpha=3.0, timer="own", unobserved=INF):
        self.K, self.rng = n_arms, rng
        self.alpha, self.timer, self.unobserved = alpha, timer, float(unobserved)
        self.reset()

    def reset(self, delta=None):
        self.counts = Counts(self.K)
        self.tau = 1

    def indices(self, round):
        clock = {"own": self.tau, "round": round, "pulls": max(1, self.tau - 1)}[self.timer]
        return [
            s / n + math.sqrt((self.alpha + 2.0) * math.log(clock) / (2.0 * n)) if n > 0.0 else self.unobserved
            for s, n in zip(self.counts.S, self.counts.N, strict=True)
        ]

    def advance(self, round):
        arm = self.rng.argmax(self.indices(round))
        self.tau += 1
        return arm

    def feedback(self, arm, won, lost):
        self.counts.add(arm, won, lost)

    additional_feedback = feedback


class KLUCB:
    """Algorithm 1 of Garivier and Cappe."""

    def __init__(self, n_arms, rng, c=0.0):
        self.K, self.rng, self.c = n_arms, rng, c
        self.reset()

    def reset(self, delta=None):
        self.counts = Counts(self.K)
        self.tau = 1

    def indices(self):
        level = math.log(self.tau)
        level += self.c * math.log(max(1.0, level))  # ln ln tau is undefined or negative up to tau = e: clamped to 0
        return [kl_upper(s / n, level / n) if n > 0.0 else INF for s, n in zip(self.counts.S, self.counts.N, strict=True)]

    def advance(self, round):
        arm = self.rng.argmax(self.indices())
        self.tau += 1
        return arm

    def feedback(self, arm, won, lost):
        self.counts.add(arm, won, lost)

    additional_feedback = feedback


class Thompson:
    """Algorithm 1 of Agrawal and Goyal."""

    def __init__(self, n_arms, rng, prior=1.0):
        self.K, self.rng, self.prior = n_arms, rng, prior
        self.reset()

    def reset(self, delta=None):
        self.counts = Counts(self.K)

    def advance(self, round):
        S, N = self.counts.S, self.counts.N
        return self.rng.argmax([self.rng.beta(S[k] + self.prior, N[k] - S[k] + self.prior) for k in range(self.K)])

    def feedback(self, arm, won, lost):
        self.counts.add(arm, won, lost)

    additional_feedback = feedback


class LUCB:
    """LUCB with one arm to find, one sample at a time; KL-LUCB changes the bounds only."""

    def __init__(self, n_arms, rng, epsilon=0.0, radius="t4", test="round"):
        self.K, self.rng = n_arms, rng
        self.epsilon, self.power, self.test = epsilon, {"t4": 4.0, "t2": 2.0, "delta": 0.0}[radius], test

    def reset(self, delta):
        self.counts = Counts(self.K)
        self.delta = delta
        self.queue = self.rng.distinct(range(self.K), self.K)
        self.t = 1
        self.found = None

    def renew(self, delta):
        """A new delta, the counts kept: the queue goes on as it was, and the next plan decides."""
        self.delta = delta
        if self.K > 1:
            self.found = None

    def upper(self, mean, n, level):
        return mean + math.sqrt(level / (2.0 * n))

    def lower(self, mean, n, level):
        return mean - math.sqrt(level / (2.0 * n))

    def advance(self, round):
        return self.queue[0]

    def feedback(self, arm, won, lost):
        self.counts.add(arm, won, lost)
        self.queue.remove(arm)
        if not self.queue:
            self.plan()
            self.t += 1
        elif self.test == "sample" and min(self.counts.N) > 0.0:
            self.apart()

    def apart(self):
        """h*, l*, and whether their intervals are disjoint; if so, h* is the answer."""
        S, N, arms = self.counts.S, self.counts.N, range(self.K)
        level = math.log(1.25 * self.K * self.t**self.power / self.delta)
        mean = [S[a] / N[a] if N[a] > 0.0 else 0.5 for a in arms]
        h = self.rng.argmax(mean)
        if self.K == 1:
            self.found = h
            return h, h
        upper = [(self.upper(mean[a], N[a], level) if N[a] > 0.0 else INF) if a != h else -INF for a in arms]
        rival = self.rng.argmax(upper)
        if N[h] > 0.0 and upper[rival] - self.lower(mean[h], N[h], level) < self.epsilon:
            self.found = h
        return h, rival

    def plan(self):
        h, rival = self.apart()
        self.queue = [h, rival]


class KLLUCB(LUCB):
    """LUCB with the bounds of Kaufmann and Kalyanakrishnan."""

    def upper(self, mean, n, level):
        return kl_upper(mean, level / n)

    def lower(self, mean, n, level):
        return 1.0 - kl_upper(1.0 - mean, level / n)


MACHINES = {"ucb": UCB, "kl-ucb": KLUCB, "thompson": Thompson, "lucb": LUCB, "kl-lucb": KLLUCB}
