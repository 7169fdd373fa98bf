"""KernelSelfSparring from specs/selfsparring.md: the posterior anew in every round, from all data, by the textbook formula."""

import numpy as np

VARIANTS = [{"correlation": 0.5}]  # others in tests/policies/test_multi_dueling_baselines.py: slow in plain Python


class Naive:
    def __init__(self, n_arms, slate_size, rng, variance=0.0625, correlation=0.0, noise=0.25):
        self.K, self.m, self.rng, self.noise = n_arms, slate_size, rng, noise
        self.kernel = variance * np.where(np.eye(n_arms, dtype=bool), 1.0, correlation)
        self.n, self.y = np.zeros(n_arms), np.zeros(n_arms)  # data on each arm: how many, and their sum

    def posterior(self):
        seen = np.flatnonzero(self.n)
        cross = self.kernel[:, seen]
        gain = cross @ np.linalg.inv(self.kernel[np.ix_(seen, seen)] + np.diag(self.noise / self.n[seen]))
        return 0.5 + gain @ (self.y[seen] / self.n[seen] - 0.5), self.kernel - gain @ cross.T

    def ask(self, round):
        mean, covariance = self.posterior()
        factor = np.linalg.cholesky(covariance + 1e-8 * np.eye(self.K))
        seats = []
        for _ in range(self.m):
            z = np.array([self.rng.normal() for _ in range(self.K)])
            seats.append(int(np.argmax(mean + factor @ z)))
        return list(dict.fromkeys(seats))

    def tell(self, round, slate, wins):
        for a, i in enumerate(slate):
            for b in range(len(slate)):
                if a != b:
                    self.n[i] += wins[a, b] + wins[b, a]
                    self.y[i] += wins[a, b]
