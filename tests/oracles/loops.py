"""The paper's update rules written out as loops: slow, plain, and nothing shared with src.

Equations are those of the article with the corrections that the authors' program makes;
V ~ W H, M the mask (1 observed), triplets as lists of (q, r, s). Every quantity is computed
anew wherever it is needed.
"""

from __future__ import annotations

import math

import numpy as np

EPS = float(np.finfo(float).eps)


def product(W, H, i, j):
    return sum(W[i, k] * H[k, j] for k in range(W.shape[1]))


def squared_distance(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def symmetric_divergence(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += (a - b) * math.log(max(a, EPS) / max(b, EPS)) / 2
    return total


def exponential_parts(F, triplets, k):
    """C+ and C- of the article for column k of a factor with one point per row."""
    plus, minus = np.zeros(len(F)), np.zeros(len(F))
    for q, r, s in triplets:
        pull = math.exp(squared_distance(F[q], F[r]))
        push = math.exp(-squared_distance(F[q], F[s]))
        plus[q] += pull * F[q, k] + push * F[s, k]
        plus[r] += pull * F[r, k]
        plus[s] += push * F[q, k]
        minus[q] += pull * F[r, k] + push * F[q, k]
        minus[r] += pull * F[q, k]
        minus[s] += push * F[s, k]
    return plus, minus


def g(x, y):
    return math.log(max(x, EPS) / max(y, EPS)) + (x - y) / max(x, EPS)


def hinge_part(F, triplets, k):
    """P of the article, with the sign that the derivative has."""
    P = np.zeros(len(F))
    for q, r, s in triplets:
        if symmetric_divergence(F[q], F[r]) >= symmetric_divergence(F[q], F[s]):
            P[q] += g(F[q, k], F[r, k]) - g(F[q, k], F[s, k])
            P[r] += g(F[r, k], F[q, k])
            P[s] -= g(F[s, k], F[q, k])
    return P


def hinge_value(F, triplets):
    total = 0.0
    for q, r, s in triplets:
        total += max(symmetric_divergence(F[q], F[r]) - symmetric_divergence(F[q], F[s]), 0.0)
    return total


def divergence(V, M, W, H):
    total = 0.0
    for i, j in zip(*np.nonzero(M), strict=True):
        y = product(W, H, i, j)
        total += y - V[i, j]
        if V[i, j] > 0:
            total += V[i, j] * math.log(V[i, j] / y)
    return total


def sums_euclidean(V, M, W, H, k):
    """For every row i: sums over its observed j of V H_k and of (W H) H_k."""
    above, below = np.zeros(len(V)), np.zeros(len(V))
    for i, j in zip(*np.nonzero(M), strict=True):
        above[i] += V[i, j] * H[k, j]
        below[i] += product(W, H, i, j) * H[k, j]
    return above, below


def sums_divergence(V, M, W, H, k):
    """For every row i: sums over its observed j of V H_k / (W H) and of H_k."""
    above, below = np.zeros(len(V)), np.zeros(len(V))
    for i, j in zip(*np.nonzero(M), strict=True):
        if V[i, j] > 0:
            above[i] += V[i, j] * H[k, j] / product(W, H, i, j)
        below[i] += H[k, j]
    return above, below


def no_zeros(V, M):
    V = V.copy()
    if M.all():
        V[V == 0] = EPS
    return V


def rpr_euclidean(V, M, W, H, rows, columns, row_strength, column_strength, sweeps):
    """Algorithm 1; strengths multiply the mean over the triplets."""
    filled = np.where(M, V, 0.0)
    unit = filled.max() - filled.min()
    V = no_zeros(V / unit, M)
    W, H = W.copy(), H.copy()
    for _ in range(sweeps):
        for k in range(W.shape[1]):
            above, below = sums_euclidean(V, M, W, H, k)
            plus, minus = exponential_parts(W, rows, k)
            weight = row_strength / max(len(rows), 1)
            W[:, k] *= (above + weight * minus) / np.maximum(below + weight * plus, EPS)
            above, below = sums_euclidean(V.T, M.T, H.T, W.T, k)
            plus, minus = exponential_parts(H.T, columns, k)
            weight = column_strength / max(len(columns), 1)
            H[k] *= (above + weight * minus) / np.maximum(below + weight * plus, EPS)
    return W * unit, H


def rpr_divergence(V, M, W, H, rows, columns, row_strength, column_strength, sweeps):
    """Algorithm 2; strengths multiply the mean over the triplets."""
    V = no_zeros(V, M)
    W, H = W.copy(), H.copy()
    strengths = [row_strength / max(len(rows), 1), column_strength / max(len(columns), 1)]
    last = None
    done = 0
    while done < sweeps:
        W_old, H_old = W.copy(), H.copy()
        for k in range(W.shape[1]):
            above, below = sums_divergence(V, M, W, H, k)
            W[:, k] *= above / denominators(below, strengths[0] * hinge_part(W, rows, k) / 2)
            above, below = sums_divergence(V.T, M.T, H.T, W.T, k)
            H[k] *= above / denominators(below, strengths[1] * hinge_part(H.T, columns, k) / 2)
        objective = divergence(V, M, W, H)
        objective += strengths[0] * hinge_value(W, rows)
        objective += strengths[1] * hinge_value(H.T, columns)
        if last is not None and objective > last and max(strengths) > 0:
            W, H = W_old, H_old
            strengths = [0.5 * strength for strength in strengths]
            if max(strengths) < 1e-6:
                break
        else:
            last = objective
            strengths = [1.01 * strength for strength in strengths]
            done += 1
    return W, H


def denominators(base, penalty):
    result = base.copy()
    for i in range(len(base)):
        if base[i] + penalty[i] >= 0:
            result[i] = base[i] + penalty[i]
    return np.maximum(result, EPS)


def gnmf_euclidean(V, M, W, H, row_graph, column_graph, row_strength, column_strength, sweeps):
    V = no_zeros(V, M)
    W, H = W.copy(), H.copy()
    for _ in range(sweeps):
        for k in range(W.shape[1]):
            above, below = sums_euclidean(V, M, W, H, k)
            pull = row_strength * row_graph @ W[:, k]
            hold = row_strength * row_graph.sum(axis=0) * W[:, k]
            W[:, k] *= (above + pull) / np.maximum(below + hold, EPS)
            above, below = sums_euclidean(V.T, M.T, H.T, W.T, k)
            pull = column_strength * column_graph @ H[k]
            hold = column_strength * column_graph.sum(axis=0) * H[k]
            H[k] *= (above + pull) / np.maximum(below + hold, EPS)
    return W, H


def gnmf_divergence(V, M, W, H, column_graph, strength, sweeps):
    """A graph on the columns of H, X ~ U V' with U = W; block updates, V first."""
    U, B = W.copy(), H.T.copy()
    K = U.shape[1]
    laplacian = strength * (np.diag(column_graph.sum(axis=1)) - column_graph)
    B = B * np.linalg.norm(U, axis=0)
    U = U / np.linalg.norm(U, axis=0)
    for _ in range(sweeps):
        ratio = np.where(M, V, 0.0) / np.maximum(U @ B.T, 1e-10)
        above, sums = B * (ratio.T @ U), np.maximum(M.T @ U, 1e-10)
        B = np.column_stack(
            [np.linalg.solve(laplacian + np.diag(sums[:, k]), above[:, k]) for k in range(K)]
        )
        ratio = np.where(M, V, 0.0) / np.maximum(U @ B.T, 1e-10)
        U = U * (ratio @ B) / np.maximum(M @ B, 1e-10)
    B = B * np.linalg.norm(U, axis=0)
    U = U / np.linalg.norm(U, axis=0)
    return U, B.T


def lcnmf(V, M, W, H, row_groups, column_groups, sums, sweeps):
    """Members of a group share one row (column); `sums` is the loss's."""
    V = no_zeros(V, M)
    W, H = W.copy(), H.copy()
    for factor, groups in ((W, row_groups), (H.T, column_groups)):
        for group in set(groups):
            factor[groups == group] = factor[groups == group].mean(axis=0)
    for _ in range(sweeps):
        for k in range(W.shape[1]):
            above, below = sums(V, M, W, H, k)
            for group in set(row_groups):
                here = row_groups == group
                W[here, k] *= above[here].sum() / max(below[here].sum(), EPS)
            above, below = sums(V.T, M.T, H.T, W.T, k)
            for group in set(column_groups):
                here = column_groups == group
                H[k, here] *= above[here].sum() / max(below[here].sum(), EPS)
    return W, H
