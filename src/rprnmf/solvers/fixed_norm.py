"""Multiplicative ratios that keep the sizes of a factor's columns.

Where the scale rule fixes the size of every column, a step minimises under that constraint: its
multiplier stands in the denominator of the ratio.
"""

from __future__ import annotations

import numpy as np

from rprnmf.scale import ScaleRule
from rprnmf.split import Split
from rprnmf.tying import Tying


def update_ratio(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """negative / positive; 0 / 0 is 0, and nothing grows by more than 1 / eps at once."""
    most = 1.0 / np.finfo(negative.dtype).eps
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.divide(negative, positive)
    return np.clip(np.nan_to_num(ratio, nan=0.0, posinf=most), 0.0, most)


class FixedSizes:
    """The sizes of the columns of one factor, as the scale rule holds them fixed."""

    def __init__(self, scale: ScaleRule, index: int, tying: Tying | None):
        self.scale, self.index, self.tying = scale, index, tying
        self.weights = scale.weights(index)

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """The gradient of what is held fixed, summed over tied rows."""
        gradient = 2.0 * F if self.scale.order == 2 else np.ones_like(F)
        if self.weights is not None:
            gradient *= self.weights[:, None].astype(F.dtype)
        return gradient if self.tying is None else self.tying.sum(gradient)

    def ratio(self, F: np.ndarray, parts: Split) -> np.ndarray:
        """The ratio of the step that minimises among factors with columns of the same size."""
        w = self.gradient(F)
        if self.weights is None:
            return multiplier_ratio(F, parts, w, self.scale.loss.size_order)
        counts = self.weights if self.tying is None else self.tying.mean(self.weights)
        ratio = multiplier_ratio(F, parts, w, 2, np.sqrt(counts)[:, None])
        # rows that count in no size
        return np.where((counts == 0)[:, None], update_ratio(*parts), ratio)

    def tangent_ratio(self, F: np.ndarray, parts: Split) -> np.ndarray:
        """The ratio for the part of the gradient that is tangent to the sizes."""
        w = self.gradient(F)
        along = np.einsum("ik,ik->k", F, w)
        mu = -np.einsum("ik,ik->k", F, parts.gradient) / np.where(along > 0, along, 1.0)
        return update_ratio(
            parts.positive + np.maximum(mu, 0.0) * w, parts.negative + np.maximum(-mu, 0.0) * w
        )

    def resized(self, new: np.ndarray, old: np.ndarray) -> np.ndarray:
        """Columns brought to the sizes of the old ones; one that vanished stays as it was."""
        sizes, found = self.scale.sizes(self.index, old), self.scale.sizes(self.index, new)
        alive = np.isfinite(found) & (found > 0)
        growth = np.divide(sizes, found, out=np.ones_like(found), where=alive)
        return np.where(alive, new * growth.astype(new.dtype), old)


def multiplier_ratio(
    F: np.ndarray, parts: Split, w: np.ndarray, order: int, unit: np.ndarray | float = 1.0
) -> np.ndarray:
    """negative / (positive + mu_k w) with the mu_k that keeps the norm of column k of unit F."""
    dtype, F = F.dtype, F.astype(np.float64) * unit
    goal = np.sum(F**order, axis=0) ** (1.0 / order)
    seen = (F > 0) & (parts.negative > 0) & (w > 0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        n = np.where(seen, F * (parts.negative / w.astype(np.float64)), 0.0)
        r = np.where(seen, parts.positive / w.astype(np.float64), 1.0)
        ratio = of_norm(n, r, goal, order) / F
    most = 1.0 / np.finfo(dtype).eps
    return np.clip(np.where(seen, ratio, 0.0), 0.0, most).astype(dtype)


def of_norm(n: np.ndarray, r: np.ndarray, goal: np.ndarray, order: int) -> np.ndarray:
    """n / (r + mu_k) with the mu_k that gives column k the norm ``goal[k]`` of this order.

    One equation per column. Written as 1 / norm = 1 / goal its left side is concave and rising
    in mu, so that Newton's method from the left climbs to the root and never passes it. Entries
    with n = 0 stay 0.

    Parameters
    ----------
    n, r : ndarray of shape (n_rows, K)
        n is not negative.
    goal : ndarray of shape (K,)
    order : {1, 2}
    """
    goal = np.where(goal > 0, goal, 1.0)
    seen = n > 0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        least = np.where(seen, n / goal, 1.0)  # no entry exceeds the goal
        mu = np.max(np.where(seen, least - r, -np.inf), axis=0, initial=-np.inf)
        mu[~np.isfinite(mu)] = 0.0
        for _ in range(50):  # a few do; rounding could keep it from 1e-12
            below = np.maximum(r + mu, least)
            powers = (n / below) ** order
            total = powers.sum(axis=0)
            slope = np.sum(powers / below, axis=0)
            busy = (total > 0) & (slope > 0) & np.isfinite(slope)
            excess = np.where(busy, total ** (1.0 / order) / goal - 1.0, 0.0)
            if np.all(np.abs(excess) < 1e-12):
                break
            mu = mu + np.divide(excess * total, slope, out=np.zeros_like(mu), where=busy)
        return n / np.maximum(r + mu, least)
