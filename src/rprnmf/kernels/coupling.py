"""Triplets and a neighbour graph as one row sees them.

A row's step needs the slope and a model of the curvature of all that acts on F_i, the exact
change that a new row brings, and the distances brought up to date after it. Distances are
kept by pair: a row has a pair with every row that it is compared with, however many triplets
name the two. All of it costs O(pairs of row i * K + triplets of row i).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rprnmf.kernels import part, spliced
from rprnmf.kernels.distances import pull, slope, to_others
from rprnmf.kernels.triplet import penalty_at

Q, R, S = range(3)  # the roles of a row in a triplet


class PairLists(NamedTuple):
    """The pairs of every row; a pair has two places, one with each of its rows.

    ``first[i]:first[i + 1]`` are the places of row i.
    """

    first: np.ndarray
    other: np.ndarray  # the row at the other end
    mirror: np.ndarray  # the other place of the pair


class TripletLists(NamedTuple):
    """The triplets of every row, by role.

    ``first[3 * i + role]:first[3 * i + role + 1]`` are the places of the triplets in which row i
    has this role. ``own`` is a pair of the row, counted from its first: q-r for q and r, q-s for
    s. ``also`` is the triplet's other pair: for q counted likewise; r and s are not part of it,
    for them it is the pair's place with q.
    """

    first: np.ndarray
    own: np.ndarray
    also: np.ndarray
    weight: np.ndarray  # of the triplet in the mean of all


class EdgeLists(NamedTuple):
    """The neighbours of every row in a graph, with what an edge weighs in the objective."""

    first: np.ndarray
    neighbour: np.ndarray
    weight: np.ndarray


class Rule(NamedTuple):
    """What a triplet costs."""

    shape: Any  # of the penalty, see `triplet.py`
    of_difference: bool  # whether the penalty depends on near - far alone
    distance: Any  # see `distances.py`
    sigma: float  # the distance that counts as 1
    strength: float  # of the mean penalty in the objective


class Scratch(NamedTuple):
    """Arrays to work in, large enough for any row."""

    trial: np.ndarray  # per pair: the distance under trial
    tension: np.ndarray  # per pair: what triplets pull it together by
    pulling: np.ndarray  # per pair: the row at its other end
    kept: np.ndarray  # per lane and triplet: distance of ``also``, penalty
    forces: np.ndarray  # per triplet: pull, push
    bending: np.ndarray  # the triplets that act on a row


class Coupling(NamedTuple):
    """All that ties the rows of a factor to each other."""

    pairs: PairLists
    triplets: TripletLists
    edges: EdgeLists
    rule: Rule
    apart: np.ndarray  # the distances of the pairs in units of sigma, at both places
    down: np.ndarray  # per row: 1 if negative curvature counts as positive (few data), else 0
    scratch: Scratch


class Felt(NamedTuple):
    """What `feel` found: where it is kept, and how many triplets act on the row."""

    lane: int
    active: int


class Model(NamedTuple):
    """A quadratic model of what couples a row: slope'd + d'(up + A'A)d / 2, d the step."""

    slope: np.ndarray
    up: np.ndarray  # a diagonal
    A: np.ndarray


ALSO, PENALTY = range(2)  # in each lane of Scratch.kept
PULL, PUSH = range(2)  # in Scratch.forces


@spliced
def feel(c, i, lane):
    """Look at every triplet of row i, before `model`, `change` and `settle`.

    Its penalties are kept for `change` under the number ``lane``. Those that pull or push are
    listed in ``bending``, without branches: the processor could not predict them.
    """
    begin = c.triplets.first[3 * i]
    now = c.apart[c.pairs.first[i] : c.pairs.first[i + 1]]
    tension = c.scratch.tension[: now.shape[0]]
    tension[:] = 0.0
    pulls, pushes = c.scratch.forces[PULL], c.scratch.forces[PUSH]
    bending = c.scratch.bending
    active = 0
    for role in range(3):
        start, stop = c.triplets.first[3 * i + role], c.triplets.first[3 * i + role + 1]
        owns, alsos = c.triplets.own[start:stop], c.triplets.also[start:stop]
        weights = c.triplets.weight[start:stop]
        seconds = c.scratch.kept[lane, ALSO, start - begin : stop - begin]
        penalties = c.scratch.kept[lane, PENALTY, start - begin : stop - begin]
        before = active
        for t in range(owns.shape[0]):
            one = now[owns[t]]
            two = now[alsos[t]] if role == Q else c.apart[alsos[t]]
            near, far = (two, one) if role == S else (one, two)
            at = penalty_at(near, far, c.rule.shape)
            seconds[t] = two
            penalties[t] = at.value
            pulls[t] = at.pull
            pushes[t] = at.push
            bending[active] = t
            active += 1 if at.pull + at.push > 0.0 else 0
        for listed in range(before, active):
            t = bending[listed]
            w = c.rule.strength * weights[t]
            tension[owns[t]] += -w * pushes[t] if role == S else w * pulls[t]
            if role == Q:
                tension[alsos[t]] -= w * pushes[t]
            bending[listed] = start - begin + t
    return Felt(lane, active)


@part
def model(c, F, i, felt, scale, into):
    """A quadratic model, in row i of F, of everything that couples it.

    Its second order part is that of Gauss and Newton, without negative curvature. Nothing would
    keep a row with few data, or none, from moving away without limit: there negative curvature
    counts as positive, so that by Euclidean distance the row at most about doubles its distance
    from what it is to leave.

    Parameters
    ----------
    c : Coupling
    F : array of shape (n_rows, K)
    i : int
    felt : Felt
    scale : float
        What the second order part is multiplied by.
    into : Model
        Filled; as many triplets as A has rows stand for all that act on the row.
    """
    into.slope[:] = 0.0
    into.up[:] = 0.0
    pull(c, F, i, scale, into, c.rule.distance)
    squares(c, F, i, felt, scale, into.A)


@spliced
def squares(c, F, i, felt, scale, A):
    """The slopes of the distances of row i, as the penalty weighs their squares."""
    K = F.shape[1]
    distance = c.rule.distance
    most = A.shape[0] if c.rule.of_difference else A.shape[0] // 2
    stride = max((felt.active + most - 1) // most, 1)
    begin = c.triplets.first[3 * i]
    filled = 0
    for seen in range(stride // 2, felt.active, stride):
        here = c.scratch.bending[seen]
        place = begin + here
        role = Q
        if place >= c.triplets.first[3 * i + R]:
            role = R if place < c.triplets.first[3 * i + S] else S
        own = c.pairs.first[i] + c.triplets.own[place]
        one, two = c.apart[own], c.scratch.kept[felt.lane, ALSO, here]
        near, far = (two, one) if role == S else (one, two)
        at = penalty_at(near, far, c.rule.shape)
        w = scale * stride * c.rule.strength * c.triplets.weight[place]
        w /= c.rule.sigma * c.rule.sigma
        x = F[c.pairs.other[own]]
        y = F[c.pairs.other[c.pairs.first[i] + c.triplets.also[place]]] if role == Q else x
        both = role == Q and c.rule.of_difference  # one square of the difference
        for half in range(1 if both else 2):
            a = np.sqrt(w * at.near_near) if role != S and half == 0 else 0.0
            b = np.sqrt(w * at.far_far) if role != R and (both or half == 1) else 0.0
            if a > 0.0 or b > 0.0:
                for k in range(K):
                    A[filled, k] = (
                        a * slope(F[i, k], x[k], distance)[0]
                        - b * slope(F[i, k], y[k], distance)[0]
                    )
                filled += 1
    for rest in range(filled, A.shape[0]):
        A[rest] = 0


@part
def change(c, F, i, lane, f):
    """By how much everything that couples row i changes if it becomes f."""
    to_others(c, F, i, f, c.rule.distance)
    trial = c.scratch.trial
    total = 0.0
    begin = c.triplets.first[3 * i]
    for role in range(3):
        start, stop = c.triplets.first[3 * i + role], c.triplets.first[3 * i + role + 1]
        owns, alsos = c.triplets.own[start:stop], c.triplets.also[start:stop]
        weights = c.triplets.weight[start:stop]
        seconds = c.scratch.kept[lane, ALSO, start - begin : stop - begin]
        penalties = c.scratch.kept[lane, PENALTY, start - begin : stop - begin]
        for t in range(owns.shape[0]):
            one = trial[owns[t]]
            two = trial[alsos[t]] if role == Q else seconds[t]
            near, far = (two, one) if role == S else (one, two)
            total += weights[t] * (penalty_at(near, far, c.rule.shape).value - penalties[t])
    total *= c.rule.strength
    for place in range(c.edges.first[i], c.edges.first[i + 1]):
        y = F[c.edges.neighbour[place]]
        rise = 0.0
        for k in range(F.shape[1]):
            d = np.float64(f[k]) - F[i, k]
            rise += d * (d + 2.0 * (np.float64(F[i, k]) - y[k]))
        total += c.edges.weight[place] * rise
    return total


@part
def settle(c, i):
    """The distances under trial become those of the row."""
    begin = c.pairs.first[i]
    for t in range(c.pairs.first[i + 1] - begin):
        c.apart[begin + t] = c.scratch.trial[t]
        c.apart[c.pairs.mirror[begin + t]] = c.scratch.trial[t]
