"""Triplets and a neighbour graph as one row sees them.

A row's step needs the slope and a model of the curvature of all that acts on F_i, the exact
change that a new row brings, and the distances brought up to date after it. Distances are
kept by pair: a row has a pair with every row that it is compared with, however many triplets
name the two. All of it costs O(pairs of row i * K + triplets of row i).

Two arguments tell what is compiled: ``floor`` is None for squared Euclidean distances, else
what a zero counts as in the logarithms of the divergence; ``smooth`` is None for hinges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.kernels import spliced
from rprnmf.kernels.triplet import (
    EXPONENTIAL,
    HINGE,
    SQUARED_HINGE,
    derivatives,
    pair_distance,
    pair_slope,
    phi,
)

Q, R, S = range(3)


class Coupling(NamedTuple):
    """What ties the rows of a factor to each other.

    ``met[i]:met[i + 1]`` are the places of row i in ``other``, ``mirror`` and ``apart``: every
    pair of rows has two places, one with each. ``first[3 * i + role]:
    first[3 * i + role + 1]`` are the places of the triplets that it has this role in, in
    ``own``, ``also`` and ``share``; ``edge`` likewise in ``neighbour`` and
    ``affinity``. ``own`` counts from ``met[i]``: the pair q-r of q and r, the pair q-s of s.
    ``also`` is the triplet's other pair: for q it counts likewise, for r and s, which are not
    part of it, it is its place with q.
    """

    met: np.ndarray
    other: np.ndarray  # the row at the other end
    mirror: np.ndarray  # the other place of the pair
    first: np.ndarray
    own: np.ndarray
    also: np.ndarray
    share: np.ndarray  # of the triplet in the mean of all
    apart: np.ndarray  # distances in units of sigma
    of_pairs: np.ndarray  # room for one row's pairs: distances under trial, tensions
    pulling: np.ndarray  # room for the rows at their other ends
    of_triplets: np.ndarray  # room for the triplets of some rows: distances of ``also``, penalties
    bending: np.ndarray  # room for one row's triplets
    strength: float  # of the mean penalty in the objective
    penalty: int
    sigma: float
    margin: float
    cap: float
    edge: np.ndarray
    neighbour: np.ndarray
    affinity: np.ndarray  # strength of every edge in the objective
    down: np.ndarray  # for every row the part of what bends downwards that counts as upwards


TRIAL, TENSION = range(2)  # in of_pairs
ALSO, PENALTY = range(2)  # in each part of of_triplets


@spliced
def feel(c, i, kept, smooth):
    """Look at everything that couples row i, before `model`, `change` and `settle`.

    ``kept`` is the part of ``of_triplets`` where `change` will find it. Returns whether anything
    has a slope or a curvature, and how many triplets bend; these are listed in ``bending``.
    Hinges have a loop without branches: which triplets they hold is hard to foretell.
    """
    begin = c.first[3 * i]
    now = c.apart[c.met[i] : c.met[i + 1]]
    tension = c.of_pairs[TENSION, : now.shape[0]]
    tension[:] = 0.0
    active = 0
    inverse = 1.0 / c.margin
    for role in range(3):
        start, stop = c.first[3 * i + role], c.first[3 * i + role + 1]
        owns, alsos, shares = c.own[start:stop], c.also[start:stop], c.share[start:stop]
        seconds = c.of_triplets[kept, ALSO, start - begin : stop - begin]
        penalties = c.of_triplets[kept, PENALTY, start - begin : stop - begin]
        if smooth is None:
            before = active
            for t in range(owns.shape[0]):
                one = now[owns[t]]
                two = now[alsos[t]] if role == Q else c.apart[alsos[t]]
                u = 1.0 + (two - one if role == S else one - two) * inverse
                penalties[t] = max(u, 0.0)
                seconds[t] = two
                c.bending[active] = t
                active += 1 if u >= 0.0 else 0
            for held in range(before, active):
                t = c.bending[held]
                u = penalties[t]
                if c.penalty == HINGE:
                    pull = c.strength * inverse * shares[t]
                else:
                    pull = 2.0 * c.strength * inverse * shares[t] * u
                    penalties[t] = u * u
                tension[owns[t]] += -pull if role == S else pull
                if role == Q:
                    tension[alsos[t]] -= pull
                c.bending[held] = start - begin + t
        else:
            for t in range(owns.shape[0]):
                own, also = owns[t], alsos[t]
                one = now[own]
                two = now[also] if role == Q else c.apart[also]
                near, far = (two, one) if role == S else (one, two)
                pull, push, nn, _, ff = derivatives(c.penalty, near, far, c.margin, c.cap)
                w = c.strength * shares[t]
                seconds[t] = two
                penalties[t] = phi(c.penalty, near, far, c.margin, c.cap)
                tension[own] += -w * push if role == S else w * pull
                if role == Q:
                    tension[also] -= w * push
                if (nn > 0.0 and role != S) or (ff > 0.0 and role != R):
                    c.bending[active] = start - begin + t
                    active += 1
    pulled = active > 0 or c.edge[i] < c.edge[i + 1]
    if smooth is not None:
        pulled = pulled or c.first[3 * i] < c.first[3 * i + 3]
    return pulled, active


@spliced
def model(c, F, i, kept, active, scale, slope, up, A, floor, smooth):
    """A quadratic model, in row i of F, of everything that couples it.

    Its second order part is ``scale`` times the diagonal ``up`` plus A'A: that of Gauss and
    Newton, without what bends downwards. A row with few data, or none, would have nothing to
    keep it from going as far away as can be: there that counts as if it bent upwards, so that by
    Euclidean distance the row at most about doubles its distance from what it is to leave.

    Parameters
    ----------
    c : Coupling
    F : array of shape (n_rows, K)
    i, kept, active : int
        The row, as in `feel`, and its triplets that bend, which `feel` has listed.
    scale : float
    slope, up : array of shape (K,)
        Filled.
    A : array of shape (n_squares, K)
        Filled; as many triplets as it has room for stand for all of a row's.
    """
    K = F.shape[1]
    f = F[i]
    down = c.down[i]
    tension, pulling = c.of_pairs[TENSION], c.pulling
    slope[:] = 0.0
    up[:] = 0.0
    if floor is None:
        both = 0.0
        above = 0.0
        begin = c.met[i]
        size = 0
        for place in range(c.met[i + 1] - begin):
            w = 2.0 * tension[place] / c.sigma
            both += w
            above += max(w, -down * w)
            tension[size] = w
            pulling[size] = c.other[begin + place]
            size += 1 if w != 0.0 else 0
        place = 0
        while place + 4 <= size:  # four rows at a time: the slope is read and written less
            x, y = F[pulling[place]], F[pulling[place + 1]]
            z, v = F[pulling[place + 2]], F[pulling[place + 3]]
            w1, w2, w3, w4 = (
                tension[place],
                tension[place + 1],
                tension[place + 2],
                tension[place + 3],
            )
            for k in range(K):
                slope[k] -= w1 * x[k] + w2 * y[k] + w3 * z[k] + w4 * v[k]
            place += 4
        while place < size:
            y = F[pulling[place]]
            for k in range(K):
                slope[k] -= tension[place] * y[k]
            place += 1
        for place in range(c.edge[i], c.edge[i + 1]):
            w = 2.0 * c.affinity[place]
            both += w
            above += w
            y = F[c.neighbour[place]]
            for k in range(K):
                slope[k] -= w * y[k]
        for k in range(K):
            slope[k] += both * f[k]
            up[k] = scale * above
    else:
        for place in range(c.met[i], c.met[i + 1]):
            w = tension[place - c.met[i]] / c.sigma
            if w != 0.0:
                y = F[c.other[place]]
                for k in range(K):
                    once, twice = pair_slope(f[k], y[k], floor)
                    slope[k] += w * once
                    up[k] += scale * max(w, -down * w) * twice
        for place in range(c.edge[i], c.edge[i + 1]):
            w = 2.0 * c.affinity[place]
            y = F[c.neighbour[place]]
            for k in range(K):
                slope[k] += w * (f[k] - y[k])
                up[k] += scale * w
    squares(c, F, i, kept, scale, active, A, floor, smooth)


@spliced
def squares(c, F, i, kept, scale, active, A, floor, smooth):
    """The slopes of the distances of row i, as the penalty weighs their squares."""
    K = F.shape[1]
    most = A.shape[0] // 2 if c.penalty == EXPONENTIAL else A.shape[0]  # it wants two a triplet
    stride = max((active + most - 1) // most, 1)
    begin = c.first[3 * i]
    filled = 0
    for seen in range(stride // 2, active, stride):
        here = c.bending[seen]
        place = begin + here
        role = Q if place < c.first[3 * i + R] else R if place < c.first[3 * i + S] else S
        own = c.met[i] + c.own[place]
        if smooth is None:  # a hinge has no curvature, a squared one a constant one
            nn = 2.0 / (c.margin * c.margin) if c.penalty == SQUARED_HINGE else 0.0
            nf, ff = -nn, nn
        else:
            one, two = c.apart[own], c.of_triplets[kept, ALSO, here]
            near, far = (two, one) if role == S else (one, two)
            _, _, nn, nf, ff = derivatives(c.penalty, near, far, c.margin, c.cap)
        w = scale * stride * c.strength * c.share[place] / (c.sigma * c.sigma)
        x = F[c.other[own]]
        y = F[c.other[c.met[i] + c.also[place]]] if role == Q else x
        both = role == Q and nf != 0.0  # u depends on near - far: one square of the difference
        for part in range(1 if both else 2):
            a = np.sqrt(w * nn) if role != S and part == 0 else 0.0
            b = np.sqrt(w * ff) if role != R and (both or part == 1) else 0.0
            if a > 0.0 or b > 0.0:
                for k in range(K):
                    A[filled, k] = (
                        a * pair_slope(F[i, k], x[k], floor)[0]
                        - b * pair_slope(F[i, k], y[k], floor)[0]
                    )
                filled += 1
    for rest in range(filled, A.shape[0]):
        A[rest] = 0


@spliced
def change(c, F, i, kept, f, floor, smooth):
    """By how much everything that couples row i changes if it becomes f."""
    total = 0.0
    trial = c.of_pairs[TRIAL]
    begin = c.met[i]
    place = begin
    last = c.met[i + 1]
    if floor is None:  # four sums at a time keep the machine busy
        while place + 4 <= last:
            x, y = F[c.other[place]], F[c.other[place + 1]]
            z, w = F[c.other[place + 2]], F[c.other[place + 3]]
            s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0
            for k in range(f.shape[0]):
                s1 += (np.float64(f[k]) - x[k]) ** 2
                s2 += (np.float64(f[k]) - y[k]) ** 2
                s3 += (np.float64(f[k]) - z[k]) ** 2
                s4 += (np.float64(f[k]) - w[k]) ** 2
            trial[place - begin] = s1 / c.sigma
            trial[place - begin + 1] = s2 / c.sigma
            trial[place - begin + 2] = s3 / c.sigma
            trial[place - begin + 3] = s4 / c.sigma
            place += 4
    while place < last:
        y = F[c.other[place]]
        trial[place - begin] = pair_distance(f, y, floor) / c.sigma
        place += 1
    begin = c.first[3 * i]
    linear = 1.0 if c.penalty == HINGE else 0.0
    inverse = 1.0 / c.margin
    for role in range(3):
        start, stop = c.first[3 * i + role], c.first[3 * i + role + 1]
        owns, alsos, shares = c.own[start:stop], c.also[start:stop], c.share[start:stop]
        seconds = c.of_triplets[kept, ALSO, start - begin : stop - begin]
        penalties = c.of_triplets[kept, PENALTY, start - begin : stop - begin]
        if smooth is None:
            for t in range(owns.shape[0]):
                one = trial[owns[t]]
                two = trial[alsos[t]] if role == Q else seconds[t]
                u = max(1.0 + (two - one if role == S else one - two) * inverse, 0.0)
                total += shares[t] * (u * (linear + u * (1.0 - linear)) - penalties[t])
        else:
            for t in range(owns.shape[0]):
                one = trial[owns[t]]
                two = trial[alsos[t]] if role == Q else seconds[t]
                near, far = (two, one) if role == S else (one, two)
                then = phi(c.penalty, near, far, c.margin, c.cap)
                total += shares[t] * (then - penalties[t])
    total *= c.strength
    for place in range(c.edge[i], c.edge[i + 1]):
        y = F[c.neighbour[place]]
        rise = 0.0
        for k in range(F.shape[1]):
            d = np.float64(f[k]) - F[i, k]
            rise += d * (d + 2.0 * (np.float64(F[i, k]) - y[k]))
        total += c.affinity[place] * rise
    return total


@spliced
def settle(c, i):
    """The distances under trial are those of now."""
    begin = c.met[i]
    for t in range(c.met[i + 1] - begin):
        c.apart[begin + t] = c.of_pairs[TRIAL, t]
        c.apart[c.mirror[begin + t]] = c.of_pairs[TRIAL, t]
