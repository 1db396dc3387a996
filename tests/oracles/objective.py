"""The objective written out in plain numpy, from the words of the documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

EPS = np.finfo(float).eps


def spread(X, mask):
    """Mean squared distance between rows: twice the columns' variances, over what is seen."""
    total = 0.0
    for j in range(X.shape[1]):
        column = X[mask[:, j], j]
        if len(column) and np.ptp(column):  # the mean of equal numbers need not be equal to them
            total += 2 * np.mean((column - column.mean()) ** 2)
    return total


class SlowLoss(NamedTuple):
    """A loss as functions of the observed entries x and of the model y there."""

    value: Callable
    unit: Callable  # of x: what a strength of 1 counts as
    curvature: Callable  # of x: the loss of an entry is about this times (x - y)^2
    times_sklearn: float = 1.0


def divergence(x, y):
    there = np.maximum(y, 1e-20 * x.mean())  # the documented floor of the model
    logs = np.log(np.where(x > 0, x, 1) / np.where(x > 0, there, 1))
    return np.sum(x * logs - x + y)


def model_floor(beta, single=False):
    """The documented floor of the model, in units of the mean of X."""
    least, largest_power = (1e-10, 1e18) if single else (1e-20, 1e100)
    return least if beta >= 1 else max(least, largest_power ** (1 / (beta - 2)))


def beta_divergence(beta):
    """From the definition, entry by entry, in extended precision: near 0 and 1 digits cancel."""

    def value(x, y):
        b, unit, total = np.longdouble(beta), np.longdouble(x.mean()), np.longdouble(0)
        for entry, model in zip(x / unit, y / unit, strict=True):
            if entry == 0:
                total += model**b / b
                continue
            model = max(model, model_floor(beta))
            if beta == 0:
                total += entry / model - np.log(entry / model) - 1
            else:
                powers = entry**b + (b - 1) * model**b - b * entry * model ** (b - 1)
                total += powers / (b * (b - 1))
        return float(total * unit**b)

    def unit(x):
        return np.sum(x[x > 0] ** beta) if beta >= 0 else x.size * x.mean() ** beta

    return SlowLoss(value, unit, lambda x: 0.5 * x.mean() ** (beta - 2))


#: by name; tests add to them
LOSSES = {
    "frobenius": SlowLoss(
        lambda x, y: np.sum((x - y) ** 2), lambda x: np.sum(x**2), lambda x: 1.0, 2.0
    ),
    "kullback-leibler": SlowLoss(divergence, np.sum, lambda x: 0.5 / x.mean()),
    "itakura-saito": beta_divergence(0.0),
}
BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
COSTS = {  # of the two distances and of the violation u
    "exponential": lambda near, far, u: tangent_exp(near) + np.exp(-far),
    "hinge": lambda near, far, u: max(u, 0),
    "squared_hinge": lambda near, far, u: max(u, 0) ** 2,
    "logistic": lambda near, far, u: np.logaddexp(0, u),
    "likelihood": lambda near, far, u: np.logaddexp(0, u - 1),
}


def slow_loss(beta_loss):
    """The loss of a name or a number; 2, 1 and 0 are names too."""
    if not isinstance(beta_loss, str):
        names = {beta: name for name, beta in BETAS.items()}
        if beta_loss not in names:
            return beta_divergence(float(beta_loss))
        beta_loss = names[beta_loss]
    return LOSSES[beta_loss]


def slow_objective(model, X, mask, W, H, knowledge, graphs, strengths):
    """loss + triplets + graphs + L1/L2 for "cd" and "mu"; strengths of the triplets as used."""
    n, m = X.shape
    K = W.shape[1]
    loss = slow_loss(model.beta_loss)
    seen = X[mask]
    total = loss.value(seen, (W @ H)[mask])
    unit = loss.unit(seen)
    constrained = [
        name in knowledge or graphs[side] is not None
        for side, name in enumerate(("row_triplets", "column_triplets"))
    ]
    norms = []
    for side in (0, 1):
        alpha = model.alpha_W if side == 0 or model.alpha_H == "same" else model.alpha_H
        counts = mask.sum(axis=1 - side)
        norms.append(loss.times_sklearn * alpha * counts**model.alpha_power)
    squares = [0.5 * (1 - model.l1_ratio) * weight for weight in norms]
    by_cost = any(constrained) and all(weight.any() for weight in squares)
    lean = np.sqrt(squares[1].mean() / squares[0].mean()) if by_cost else 1.0
    both = all(constrained) or by_cost
    component = np.sqrt(np.mean(seen**2) * n * m / K) if both else 1.0
    for side, (name, F) in enumerate((("row_triplets", W), ("column_triplets", H.T))):
        data, seen_there = (X, mask) if side == 0 else (X.T, mask.T)
        larger = lean if side == 0 else 1 / lean
        if name in knowledge:
            named = np.unique(knowledge[name])
            sigma = spread(data[named], seen_there[named]) / component * larger
            rows, columns = data.shape
            entry = (
                np.sqrt(seen.mean() / K * larger) * (columns / rows) ** 0.25
                if both
                else seen.mean() * np.sqrt(columns) / K
            )
            if model.distance == "divergence":
                sigma /= 2 * entry
            total += strengths[side] * unit * penalty(model, F, knowledge[name], sigma, EPS * entry)
        if graphs[side] is not None:
            S = graphs[side]
            L = np.diag(S.sum(axis=1)) - S
            unit_of_graph = loss.curvature(seen) * component / larger
            total += graph_strength(model, side) * unit_of_graph * np.trace(F.T @ L @ F)
        total += norms[side] @ (model.l1_ratio * F.sum(axis=1))
        total += squares[side] @ (F**2).sum(axis=1)
    return total


def penalty(model, F, triplets, sigma, floor):
    costs = []
    for q, r, s in triplets:
        near, far = (distance(model.distance, F[q], F[other], floor) / sigma for other in (r, s))
        if model.penalty == "ratio":
            a, b = near / model.margin + 0.1, far / model.margin + 0.1
            costs.append(np.log((a + b) / b))
        else:
            costs.append(COSTS[model.penalty](near, far, 1 + (near - far) / model.margin))
    return np.mean(costs)


def graph_strength(model, side):
    """RPRNMF has one for both sides, GNMF one for each."""
    own = (model.row_strength, model.column_strength)[side]
    return getattr(model, "graph_strength", own)


def tangent_exp(x, cap=30.0):
    return np.exp(min(x, cap)) * (1 + max(x - cap, 0))


def distance(name, x, y, floor):
    if name == "euclidean":
        return np.sum((x - y) ** 2)
    return 0.5 * np.sum((x - y) * np.log(np.maximum(x, floor) / np.maximum(y, floor)))
