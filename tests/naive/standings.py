"""Standings from their specification, answer by answer, without a look at the package's arithmetic."""

import math

import numpy as np
from scipy.optimize import minimize

RIDGE = 0.5


def strengths(K, clusters):
    """Strengths, information, sum of squared scores, comparisons and units. A cluster is a list of (i, j, share of i)."""
    rows = [row for cluster in clusters for row in cluster]

    def loss(theta):
        value, slope = 0.5 * RIDGE * (theta @ theta), RIDGE * theta.copy()
        for i, j, y in rows:
            p = 1.0 / (1.0 + math.exp(theta[j] - theta[i]))
            value -= y * math.log(p) + (1.0 - y) * math.log(1.0 - p)
            slope[i] -= y - p
            slope[j] += y - p
        return value, slope

    theta = minimize(loss, np.zeros(K), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 10_000}).x
    J, compared = np.zeros((K, K)), np.zeros(K)
    for i, j, _ in rows:
        p = 1.0 / (1.0 + math.exp(theta[j] - theta[i]))
        pair = np.zeros(K)
        pair[i], pair[j] = 1.0, -1.0
        J += p * (1.0 - p) * np.outer(pair, pair)
        compared[[i, j]] += 1.0
    meat, units = np.zeros((K, K)), np.zeros(K)
    for cluster in clusters:
        u = np.zeros(K)
        for i, j, y in cluster:
            p = 1.0 / (1.0 + math.exp(theta[j] - theta[i]))
            u[i] += y - p
            u[j] -= y - p
        meat += np.outer(u, u)
        units[sorted({arm for i, j, _ in cluster for arm in (i, j)})] += 1.0
    return theta, J, meat, compared, units


def intervals(K, clusters, answers, alpha=0.05):
    """Strengths relative to the weighted mean, standard errors, and half-widths at all times. All options are connected."""
    theta, J, meat, compared, units = strengths(K, clusters)
    G = len(clusters)
    H = np.eye(K) - np.outer(np.ones(K), compared / compared.sum())
    bread = np.linalg.pinv(J)
    robust = H @ bread @ meat @ bread @ H.T * G / (G - 1) * answers / (answers - K)
    model = H @ np.linalg.inv(J + RIDGE * np.eye(K)) @ H.T
    error = np.sqrt(np.maximum(np.diag(robust), np.diag(model)))
    differences = np.zeros((K, K))
    for i in range(K):
        for j in range(K):
            differences[i, j] = max(C[i, i] + C[j, j] - 2.0 * C[i, j] for C in (robust, model))
    wide = np.array([e * times(n, alpha / K) if n >= 20 else math.nan for e, n in zip(error, units, strict=True)])
    return H @ theta, error, wide, differences, units


def times(n, a):
    """Student's form of the mixture boundary, found by halving instead of solved."""
    rho2 = (math.log(-2.0 * math.log(a)) - 2.0 * math.log(a) + 1.0) / 100.0
    c = 1.0 / rho2

    def log_evidence(t):
        return 0.5 * math.log(c / (n + c)) + 0.5 * n * math.log((n - 1 + t * t) / (n - 1 + t * t * c / (n + c)))

    low, high = 0.0, 1e6
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if log_evidence(middle) < -math.log(a) else (low, middle)
    return low


def ranks(theta, differences, units, L, K, alpha=0.05):
    """Rank ranges where there is no verdict: by differences, or by a pair's own evidence L."""
    ahead = np.zeros((K, K), bool)
    for i in range(K):
        for j in range(K):
            if i == j:
                continue
            n = min(units[i], units[j])
            by_strength = n >= 20 and theta[i] - theta[j] > math.sqrt(differences[i, j]) * times(n, alpha / (K * (K - 1)))
            against = L[j, i] >= math.log(K * (K - 1) / alpha)
            ahead[i, j] = L[i, j] >= math.log(2 * K * (K - 1) / alpha) or (by_strength and not against)
    return 1 + ahead.sum(axis=0), K - ahead.sum(axis=1)
