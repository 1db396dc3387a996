"""How far apart two rows are: the distances of the registry, compiled.

A distance is a sum over coordinates. It travels to the kernels as a named tuple; the functions
below find what to do by its class (`pluggable.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rprnmf.kernels import kernel
from rprnmf.kernels.pluggable import by_class


def between(x: Any, y: Any, distance: Any) -> float:
    """How far apart two rows are."""
    return type(distance).between(x, y, distance)


def slope(x: float, y: float, distance: Any) -> tuple[float, float]:
    """First and second derivative in x of one coordinate's part."""
    return type(distance).slope(x, y, distance)


def to_others(c: Any, F: Any, i: int, f: Any, distance: Any) -> None:
    """Fill in the distances that row i would have as f from the rows it is compared with."""
    type(distance).to_others(c, F, i, f, distance)


def pull(c: Any, F: Any, i: int, scale: float, model: Any, distance: Any) -> None:
    """Slope and curvature of the distances of row i, each times the tension of its pair.

    Negative curvature counts by ``Coupling.down`` (see `coupling.model`).
    """
    type(distance).pull(c, F, i, scale, model, distance)


@by_class(between)
def _between(x, y, distance):
    return distance.instance_class.between


@by_class(slope)
def _slope(x, y, distance):
    return distance.instance_class.slope


@by_class(to_others)
def _to_others(c, F, i, f, distance):
    return distance.instance_class.to_others


@by_class(pull)
def _pull(c, F, i, scale, model, distance):
    return distance.instance_class.pull


def euclidean(x, y, distance):
    """||x - y||^2, in double precision."""
    total = 0.0
    for k in range(x.shape[0]):
        d = np.float64(x[k]) - np.float64(y[k])
        total += d * d
    return total


def euclidean_slope(x, y, distance):
    """Of (x - y)^2."""
    return 2.0 * (x - y), 2.0


def divergence(x, y, distance):
    """1/2 sum_k (x - y) log(x / y), entries below the floor counting as it in the log."""
    total = 0.0
    for k in range(x.shape[0]):
        if x[k] != y[k]:
            ratio = max(x[k], distance.floor) / max(y[k], distance.floor)
            total += (x[k] - y[k]) * np.log(ratio)
    return 0.5 * total


def divergence_slope(x, y, distance):
    """Of 1/2 (x - y) log(x / y)."""
    a = max(x, distance.floor)
    b = max(y, distance.floor)
    return 0.5 * (np.log(a / b) + (x - y) / a), 0.5 * (a + b) / (a * a)


@kernel
def distances(distance, F, i, j, out):
    """out[t] = the distance of rows i[t] and j[t] of F."""
    for t in range(i.shape[0]):
        out[t] = between(F[i[t]], F[j[t]], distance)


def euclidean_to_others(c, F, i, f, distance):
    """Four sums at a time keep the machine busy."""
    trial, sigma = c.scratch.trial, c.rule.sigma
    begin, end = c.pairs.first[i], c.pairs.first[i + 1]
    other = c.pairs.other
    place = begin
    while place + 4 <= end:
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
        trial[place - begin] = between(f, F[other[place]], distance) / sigma
        place += 1


def divergence_to_others(c, F, i, f, distance):
    """One after the other."""
    begin = c.pairs.first[i]
    for place in range(begin, c.pairs.first[i + 1]):
        apart = between(f, F[c.pairs.other[place]], distance)
        c.scratch.trial[place - begin] = apart / c.rule.sigma


def euclidean_pull(c, F, i, scale, model, distance):
    """The slope of all pairs is (sum of weights) f - sum of weight * row.

    Only rows whose pair has a tension are read, four at a time.
    """
    K = F.shape[1]
    slopes, up = model.slope, model.up
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
            slopes[k] -= w1 * x[k] + w2 * y[k] + w3 * z[k] + w4 * v[k]
        place += 4
    while place < size:
        y = F[pulling[place]]
        for k in range(K):
            slopes[k] -= tension[place] * y[k]
        place += 1
    for place in range(c.edges.first[i], c.edges.first[i + 1]):
        w = 2.0 * c.edges.weight[place]
        both += w
        above += w
        y = F[c.edges.neighbour[place]]
        for k in range(K):
            slopes[k] -= w * y[k]
    for k in range(K):
        slopes[k] += both * F[i, k]
        up[k] = scale * above


def divergence_pull(c, F, i, scale, model, distance):
    """A graph pulls by squared Euclidean distances here too."""
    K = F.shape[1]
    slopes, up = model.slope, model.up
    down = c.down[i]
    f = F[i]
    begin = c.pairs.first[i]
    for place in range(begin, c.pairs.first[i + 1]):
        w = c.scratch.tension[place - begin] / c.rule.sigma
        if w != 0.0:
            y = F[c.pairs.other[place]]
            for k in range(K):
                once, twice = slope(f[k], y[k], distance)
                slopes[k] += w * once
                up[k] += scale * max(w, -down * w) * twice
    for place in range(c.edges.first[i], c.edges.first[i + 1]):
        w = 2.0 * c.edges.weight[place]
        y = F[c.edges.neighbour[place]]
        for k in range(K):
            slopes[k] += w * (f[k] - y[k])
            up[k] += scale * w


class Euclidean(NamedTuple):
    """Squared Euclidean distances."""

    floor: float  # not used


class Divergence(NamedTuple):
    """Symmetric divergences."""

    floor: float  # what a zero counts as in logarithms


_FUNCTIONS: Any = (
    (Euclidean, (euclidean, euclidean_slope, euclidean_to_others, euclidean_pull)),
    (Divergence, (divergence, divergence_slope, divergence_to_others, divergence_pull)),
)
for _tag, _functions in _FUNCTIONS:
    for _stub, _function in zip((between, slope, to_others, pull), _functions, strict=True):
        setattr(_tag, _stub.__name__, staticmethod(_function))
