"""Answers that are held out: folds over triplets, and how many of them factors meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.checks import axis_names, summable
from rprnmf.metrics import triplet_distances
from rprnmf.triplets import Triplets, as_triplets
from rprnmf.triplets.pairs import distinct

SIDES = ("row", "column")
NAMES = ("row_names", "column_names")


class Answers(NamedTuple):
    """The triplets of the sides that have any, by position, and the fold that holds each out."""

    triplets: dict[str, Triplets]
    folds: dict[str, np.ndarray]
    n_splits: int

    @property
    def known(self) -> dict[str, Triplets]:
        """All of them, as parameters of ``fit``."""
        return {f"{side}_triplets": triplets for side, triplets in self.triplets.items()}

    def parameters(self, strength: Any) -> dict[str, Any]:
        """The parameters of an estimator that give these triplets a strength."""
        return {f"{side}_strength": strength for side in self.triplets}

    @property
    def n_triplets(self) -> int:
        """Of both sides."""
        return sum(triplets.n_triplets for triplets in self.triplets.values())

    def score(self, factors: Sequence[np.ndarray], fold: int, distance: str) -> HeldOutScore:
        """Whether factors meet the triplets that were held out in a fold."""
        met, weights, out = [], [], []
        for side, triplets in self.triplets.items():
            F = factors[SIDES.index(side)]
            met.append(np.less(*triplet_distances(F, triplets, distance)[1:]))
            weights.append(triplets.weights)
            out.append(self.folds[side] == fold)
        held_out = np.concatenate(out)
        hits = np.concatenate(met)[held_out]
        rate = rate_of(hits, np.concatenate(weights)[held_out])
        return HeldOutScore(rate, np.flatnonzero(held_out), hits)


class HeldOutScore(NamedTuple):
    """The fraction of the weight that is met; which triplets were held out; which are met."""

    rate: float
    places: np.ndarray
    met: np.ndarray


def hold_out_answers(
    X: Any,
    triplets: Sequence[Any],
    groups: Sequence[Any],
    names: dict[str, Any],
    n_splits: int,
    random_state: Any,
) -> Answers:
    """Look up the triplets of rows and columns in X, and deal them out to folds."""
    both = axis_names(X, names.get("row_names"), names.get("column_names"))
    rng = check_random_state(random_state)
    found, folds = {}, {}
    for index, side in enumerate(SIDES):
        if triplets[index] is None:
            continue
        n = np.shape(X)[index]
        known, group = known_answers(triplets[index], groups[index], n, both[index], side)
        if known.n_triplets:
            found[side] = known
            folds[side] = triplet_folds(group, n_splits, rng)
    if not found:
        raise ValueError("choosing needs row_triplets or column_triplets, got none.")
    return Answers(found, folds, n_splits)


def known_answers(
    triplets: Any, groups: Any, n: int, names: Any, side: str
) -> tuple[Triplets, np.ndarray]:
    """The triplets that X knows, by position, and the number of the group of each.

    Without groups, answers to one question are one: (q, r, s) held out beside (q, s, r) in the fit
    would say how often people contradict each other, not what was learned.
    """
    given = as_triplets(triplets)
    known = given.positions(n, names, side)
    if groups is None:
        q, r, s = known.items.T
        return known, distinct(q, np.minimum(r, s), np.maximum(r, s))[1]
    if len(groups) != given.n_triplets:
        raise ValueError(
            f"{side}_groups must name one for each of {given.n_triplets} triplets, "
            f"got {len(groups)}."
        )
    numbered = Triplets(given, weights=np.arange(1, given.n_triplets + 1))
    kept = numbered.positions(n, names, side).weights.astype(np.int64) - 1
    return known, np.unique(np.asarray(groups)[kept], return_inverse=True)[1]


def triplet_folds(group: np.ndarray, n_splits: int, rng: Any) -> np.ndarray:
    """The number of the fold that holds each triplet out; groups stay together."""
    n_groups = int(group.max(initial=-1)) + 1
    if not 2 <= n_splits <= n_groups:
        raise ValueError(
            f"n_splits must be from 2 to the number of answers, or groups of them, {n_groups}; "
            f"got {n_splits}."
        )
    return rng.permutation(np.arange(n_groups) % n_splits)[group]


def rate_of(met: np.ndarray, weights: np.ndarray) -> float:
    """The fraction of the weight that is met."""
    weights = summable(weights)
    total = float(weights.sum())
    return float(weights[met].sum()) / total if total else np.nan
