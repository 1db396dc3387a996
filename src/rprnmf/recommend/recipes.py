"""How ratings and how clicks are fitted: the defaults of both kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rprnmf.estimators import NMF, RPRNMF
from rprnmf.recommend.row_model import DataWeights

# The search for the strength of the priors does some fifty iterations, from whose factors the fit
# goes on. On MovieLens 1M and 100K the error of unseen ratings is least three to ten iterations
# later, and rises by .001 in thirty more.
RATING_ITERATIONS = 8
# Strengths of comparisons grow from iteration to iteration until all are met, at most for so many.
TRIPLET_ITERATIONS = 40


@dataclass(frozen=True)
class Recipe:
    """Settings of one kind of data.

    Attributes
    ----------
    n_components, max_iter : int
    by_data : bool
        Whether which items were rated, and by whom, predicts rows.
    weights : DataWeights
    """

    n_components: int
    max_iter: int
    by_data: bool
    weights: DataWeights

    def estimator(self, constrained: bool, **settings: Any) -> NMF | RPRNMF:
        """The estimator of one start.

        Parameters
        ----------
        constrained : bool
            Whether there are comparisons.
        **settings
            Priors, seed, threads and the like.
        """
        common = {
            "n_components": self.n_components,
            "beta_loss": self.weights.beta_loss,
            "missing": "zero",
            "missing_weight": self.weights.missing_weight,
            "alpha_W": self.weights.alpha,
            "alpha_power": self.weights.alpha_power,
            "tol": 0.0,
            "max_iter": self.max_iter,
            **settings,
        }
        if not constrained:
            return NMF(**common)
        common["max_iter"] = max(self.max_iter, TRIPLET_ITERATIONS)
        return RPRNMF(penalty="squared_hinge", callback=self.all_met, **common)

    def all_met(self, state: Any) -> bool:
        """Whether the fit has gone on for long enough and every comparison is met."""
        rates = state.row_satisfied_rate, state.column_satisfied_rate
        unmet = any(rate < 1.0 for rate in rates)  # NaN: a side without comparisons
        return state.iteration >= self.max_iter and not unmet


EXPLICIT = Recipe(40, RATING_ITERATIONS, True, DataWeights())
# Chosen on training clicks of MovieLens 1M: benchmarks/clicks_search.py. With the divergence, alpha
# was the best of .003, .01, .03, .06 and .1 there.
IMPLICIT = Recipe(128, 30, False, DataWeights(0.15, 0.09, 0.7))
KL = "kullback-leibler"
RECIPES = {
    ("explicit", "frobenius"): EXPLICIT,
    ("explicit", KL): replace(EXPLICIT, weights=DataWeights(beta_loss=KL)),
    ("implicit", "frobenius"): IMPLICIT,
    ("implicit", KL): Recipe(128, 60, False, DataWeights(1.0, 0.03, 1.0, KL)),
}
