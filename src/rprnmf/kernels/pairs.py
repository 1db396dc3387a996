"""Gradients of distances between pairs of rows, in two parts, and derivatives by columns' sizes.

The distances themselves are in `distances.py`.
"""

from __future__ import annotations

import numpy as np

from rprnmf.kernels import kernel


@kernel
def euclidean_split(F, i, j, weight, positive, negative):
    """Add the parts of the gradient of sum_t weight_t ||F_i - F_j||^2."""
    for t in range(i.shape[0]):
        w = 2.0 * weight[t]
        if w == 0.0:
            continue
        f = F[i[t]]
        g = F[j[t]]
        for k in range(F.shape[1]):
            positive[i[t], k] += w * f[k]
            positive[j[t], k] += w * g[k]
            negative[i[t], k] += w * g[k]
            negative[j[t], k] += w * f[k]


@kernel
def divergence_split(F, i, j, weight, floor, positive, negative):
    """Add the parts of the gradient of sum_t weight_t SD(F_i, F_j).

    d SD(x, y) / dx = 1/2 (log(x/y) + 1 - y/x).
    """
    for t in range(i.shape[0]):
        w = 0.5 * weight[t]
        if w == 0.0:
            continue
        f = F[i[t]]
        g = F[j[t]]
        for k in range(F.shape[1]):
            x = max(f[k], floor)
            y = max(g[k], floor)
            log = np.log(x / y)
            up = max(log, 0.0)
            down = max(-log, 0.0)
            positive[i[t], k] += w * (up + f[k] / x)
            negative[i[t], k] += w * (down + g[k] / x)
            positive[j[t], k] += w * (down + g[k] / y)
            negative[j[t], k] += w * (up + f[k] / y)


@kernel
def tensions(near, far, weight, pull, push, out):
    """Add to out, per pair, what triplets pull it together by minus what they push it apart by."""
    for t in range(near.shape[0]):
        if pull[t] != 0.0:
            out[near[t]] += weight[t] * pull[t]
        if push[t] != 0.0:
            out[far[t]] -= weight[t] * push[t]


@kernel
def euclidean_gain(F, i, j, weight, out):
    """Add sum_t weight_t d ||F_i - F_j||^2 / d log c_k for columns multiplied by c_k."""
    for t in range(i.shape[0]):
        w = 2.0 * weight[t]
        if w == 0.0:
            continue
        f = F[i[t]]
        g = F[j[t]]
        for k in range(F.shape[1]):
            out[k] += w * (np.float64(f[k]) - np.float64(g[k])) ** 2


@kernel
def divergence_gain(F, i, j, weight, floor, out):
    """Add sum_t weight_t d SD(F_i, F_j) / d log c_k for columns multiplied by c_k."""
    for t in range(i.shape[0]):
        w = 0.5 * weight[t]
        if w == 0.0:
            continue
        f = F[i[t]]
        g = F[j[t]]
        for k in range(F.shape[1]):
            d = f[k] - g[k]
            x = max(f[k], floor)
            y = max(g[k], floor)
            out[k] += w * (d * np.log(x / y) + d * (f[k] / x - g[k] / y))
