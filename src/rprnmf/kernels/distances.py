"""How far apart two rows are: the distances of the registry, compiled.

A distance is a sum over coordinates. ``floor`` is what a zero counts as in the logarithms of
the divergence; the squared Euclidean distance does not use it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rprnmf.kernels import kernel
from rprnmf.kernels.pluggable import pluggable


class Distance(NamedTuple):
    """A distance as the kernels want it."""

    between: Any  # (x, y, floor) -> the distance of two rows
    slope: Any  # (x, y, floor) -> first and second derivative of one coordinate's part in x
    to_others: Any  # see `coupling.py`
    pull: Any  # likewise


@pluggable
def euclidean(x, y, floor):
    """||x - y||^2, in double precision."""
    total = 0.0
    for k in range(x.shape[0]):
        d = np.float64(x[k]) - np.float64(y[k])
        total += d * d
    return total


@pluggable
def euclidean_slope(x, y, floor):
    """Of (x - y)^2."""
    return 2.0 * (x - y), 2.0


@pluggable
def divergence(x, y, floor):
    """1/2 sum_k (x - y) log(x / y), entries below the floor counting as it in the log."""
    total = 0.0
    for k in range(x.shape[0]):
        if x[k] != y[k]:
            total += (x[k] - y[k]) * np.log(max(x[k], floor) / max(y[k], floor))
    return 0.5 * total


@pluggable
def divergence_slope(x, y, floor):
    """Of 1/2 (x - y) log(x / y)."""
    a = max(x, floor)
    b = max(y, floor)
    return 0.5 * (np.log(a / b) + (x - y) / a), 0.5 * (a + b) / (a * a)


@kernel
def distances(between, floor, F, i, j, out):
    """out[t] = the distance of rows i[t] and j[t] of F."""
    for t in range(i.shape[0]):
        out[t] = between(F[i[t]], F[j[t]], floor)


@pluggable
def euclidean_to_others(c, F, i, f):
    """The distances that row i would have as f from the rows it is compared with."""
    trial, sigma = c.scratch.trial, c.rule.sigma
    begin, end = c.pairs.first[i], c.pairs.first[i + 1]
    other = c.pairs.other
    place = begin
    while place + 4 <= end:  # four sums at a time keep the machine busy
        x, y = F[other[place]], F[other[place + 1]]
        z, w = F[other[place + 2]], F[other[place + 3]]
        s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
        for k in range(f.shape[0]):
            s1 += (np.float64(f[k]) - x[k]) ** 2
            s2 += (np.float64(f[k]) - y[k]) ** 2
            s3 += (np.float64(f[k]) - z[k]) ** 2
            s4 += (np.float64(f[k]) - w[k]) ** 2
        trial[place - begin] = s1 / sigma
        trial[place - begin + 1] = s2 / sigma
        trial[place - begin + 2] = s3 / sigma
        trial[place - begin + 3] = s4 / sigma
        place += 4
    while place < end:
        trial[place - begin] = euclidean(f, F[other[place]], 0.0) / sigma
        place += 1


@pluggable
def divergence_to_others(c, F, i, f):
    """As `euclidean_to_others`."""
    begin = c.pairs.first[i]
    for place in range(begin, c.pairs.first[i + 1]):
        apart = divergence(f, F[c.pairs.other[place]], c.rule.floor)
        c.scratch.trial[place - begin] = apart / c.rule.sigma


@pluggable
def euclidean_pull(c, F, i, scale, model):
    """Slope and curvature of the distances of row i, each times the tension of its pair.

    Curvature that bends downwards counts with the part ``down`` only (see `coupling.model`).
    The slope of all pairs is (sum of weights) f - sum of weight * row: only rows whose pair has
    a tension are read, four at a time.
    """
    K = F.shape[1]
    slope, up = model.slope, model.up
    tension, pulling = c.scratch.tension, c.scratch.pulling
    down = c.down[i]
    both, above = 0.0, 0.0
    begin = c.pairs.first[i]
    size = 0
    for place in range(c.pairs.first[i + 1] - begin):
        w = 2.0 * tension[place] / c.rule.sigma
        both += w
        above += max(w, -down * w)
        tension[size] = w
        pulling[size] = c.pairs.other[begin + place]
        size += 1 if w != 0.0 else 0
    place = 0
    while place + 4 <= size:
        x, y = F[pulling[place]], F[pulling[place + 1]]
        z, v = F[pulling[place + 2]], F[pulling[place + 3]]
        w1, w2 = tension[place], tension[place + 1]
        w3, w4 = tension[place + 2], tension[place + 3]
        for k in range(K):
            slope[k] -= w1 * x[k] + w2 * y[k] + w3 * z[k] + w4 * v[k]
        place += 4
    while place < size:
        y = F[pulling[place]]
        for k in range(K):
            slope[k] -= tension[place] * y[k]
        place += 1
    for place in range(c.edges.first[i], c.edges.first[i + 1]):
        w = 2.0 * c.edges.weight[place]
        both += w
        above += w
        y = F[c.edges.neighbour[place]]
        for k in range(K):
            slope[k] -= w * y[k]
    for k in range(K):
        slope[k] += both * F[i, k]
        up[k] = scale * above


@pluggable
def divergence_pull(c, F, i, scale, model):
    """As `euclidean_pull`; a graph pulls by squared Euclidean distances here too."""
    K = F.shape[1]
    slope, up = model.slope, model.up
    down = c.down[i]
    f = F[i]
    begin = c.pairs.first[i]
    for place in range(begin, c.pairs.first[i + 1]):
        w = c.scratch.tension[place - begin] / c.rule.sigma
        if w != 0.0:
            y = F[c.pairs.other[place]]
            for k in range(K):
                once, twice = divergence_slope(f[k], y[k], c.rule.floor)
                slope[k] += w * once
                up[k] += scale * max(w, -down * w) * twice
    for place in range(c.edges.first[i], c.edges.first[i + 1]):
        w = 2.0 * c.edges.weight[place]
        y = F[c.edges.neighbour[place]]
        for k in range(K):
            slope[k] += w * (f[k] - y[k])
            up[k] += scale * w


EUCLIDEAN = Distance(euclidean, euclidean_slope, euclidean_to_others, euclidean_pull)
DIVERGENCE = Distance(divergence, divergence_slope, divergence_to_others, divergence_pull)
