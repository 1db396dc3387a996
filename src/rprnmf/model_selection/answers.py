"""Answers that are held out: folds over triplets, and how many of them factors meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rprnmf.checks import summable
from rprnmf.metrics import triplet_distances
from rprnmf.model_selection.folds import resolved_triplets
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
    given = {f"{side}_triplets": of for side, of in zip(SIDES, triplets, strict=True)}
    known = resolved_triplets(X, names | {k: v for k, v in given.items() if v is not None})
    rng = check_random_state(random_state)
    found, folds = {}, {}
    for side, of_side in zip(SIDES, groups, strict=True):
        name = f"{side}_triplets"
        if name in known and known[name].n_triplets:
            found[side] = known[name]
            group = kept_groups(X, names, name, given[name], of_side)
            folds[side] = triplet_folds(known[name], n_splits, group, rng)
    if not found:
        raise ValueError("choosing needs row_triplets or column_triplets, got none.")
    return Answers(found, folds, n_splits)


def kept_groups(
    X: Any, names: dict[str, Any], name: str, triplets: Any, groups: Any
) -> np.ndarray | None:
    """The number of the group of each triplet that X knows; the others are left out of a fit."""
    if groups is None:
        return None
    known = as_triplets(triplets)
    n = known.n_triplets
    if len(groups) != n:
        raise ValueError(
            f"{name[:-9]}_groups must name one for each of {n} triplets, got {len(groups)}."
        )
    numbered = Triplets(known, weights=np.arange(1, n + 1))
    kept = resolved_triplets(X, names | {name: numbered})[name].weights.astype(np.int64) - 1
    return np.unique(np.asarray(groups)[kept], return_inverse=True)[1]


def triplet_folds(
    triplets: Triplets, n_splits: int, groups: np.ndarray | None, rng: Any
) -> np.ndarray:
    """The number of the fold that holds each triplet out.

    Groups stay together, else those that say the same.
    """
    if n_splits < 2:
        raise ValueError(f"n_splits must be at least 2, got {n_splits}.")
    group = distinct(*triplets.items.T)[1] if groups is None else groups
    n_groups = int(group.max(initial=-1)) + 1
    if n_groups < n_splits:
        raise ValueError(
            f"n_splits={n_splits} folds need as many triplets, or groups of them; got {n_groups}."
        )
    fold = np.arange(n_groups) % n_splits
    rng.shuffle(fold)
    return fold[group]


def rate_of(met: np.ndarray, weights: np.ndarray) -> float:
    """The fraction of the weight that is met."""
    weights = summable(weights)
    total = float(weights.sum())
    return float(weights[met].sum()) / total if total else np.nan
