"""The family of beta-divergences: scikit-learn's ``beta_loss`` for any number."""

from __future__ import annotations

import numpy as np

from rprnmf.losses.base import Loss
from rprnmf.observed import BaseView, Entrywise
from rprnmf.split import Split

# A model value counts as at least TINY times the mean of X, and as more where its power beta - 2
# would exceed LARGEST_POWER: sums of such powers must not overflow.
TINY = {np.dtype(np.float64): 1e-20, np.dtype(np.float32): 1e-10}
LARGEST_POWER = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e18}


def mean(view: BaseView) -> np.float64:
    """The mean of X, 1 if that is 0; numpy's numbers overflow without an exception."""
    return np.float64(view.mean or 1.0)


class BetaDivergence(Loss):
    """sum (x^b + (b - 1) y^b - b x y^(b - 1)) / (b (b - 1)), with y the model and b = beta.

    Its limits are the Kullback-Leibler divergence at 1 and the Itakura-Saito divergence,
    sum x/y - log(x/y) - 1, at 0; at 2 it is half the squared error. It is scikit-learn's for
    every beta. Inside, X is measured in units of its mean, which keeps the powers in range.

    Parameters
    ----------
    beta : float
        For beta <= 0 every observed entry must be above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.losses.beta_divergence import BetaDivergence
    >>> from rprnmf.observed import make_view
    >>> view = make_view(np.array([[2.0]]))
    >>> BetaDivergence(3).value(view, np.array([[1.0]]), np.array([[1.0]])) * 6
    4.0
    """

    def __init__(self, beta: float):
        self.beta: float = float(beta)
        # the step that minimises a function which touches the loss and is nowhere below it
        # (Fevotte and Idier, 2011)
        self.step_exponent = 1.0 / max(2.0 - self.beta, self.beta - 1.0, 1.0)

    def value(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> float:
        unit, floor = mean(view), self._floor(F.dtype)

        def distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            return self._distances(x.astype(np.float64) / unit, y.astype(np.float64), floor)

        def from_zero(y: np.ndarray) -> np.ndarray:
            y = y.astype(np.float64)
            return y**self.beta / self.beta if self.beta > 0 else np.zeros_like(y)

        function = Entrywise(distances, from_zero)
        return float(unit**self.beta * view.entrywise_sum(function, F, G / G.dtype.type(unit)))

    def split(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> Split:
        floor, power = self._floor(F.dtype), self.beta - 1.0
        unit = mean(view).astype(F.dtype)

        def weights(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            low = np.maximum(y, floor)
            positive = low**power
            return positive, positive * (x / unit / low)

        def weights_of_zero(y: np.ndarray) -> tuple[np.ndarray, None]:
            return np.maximum(y, floor) ** power, None

        function = Entrywise(weights, weights_of_zero)
        parts = view.entrywise_times(function, F, G / unit)
        size = (mean(view) ** self.beta).astype(F.dtype)
        return Split(*parts).times(size)

    def unit(self, view: BaseView) -> float:
        # Sum of x^beta, as for the two losses of the paper. Below 0 that would be the smallest
        # entry alone, and one entry near 0 would make penalties count for everything; so the
        # mean entry stands for all. Both are the number of entries at 0.
        if self.beta >= 0:
            return view.power_sum(self.beta)
        return float(view.n_observed * mean(view) ** self.beta)

    def curvature(self, view: BaseView) -> float:
        with np.errstate(over="ignore"):  # fits refuse an X so extreme
            return float(0.5 * mean(view) ** (self.beta - 2.0))

    def check(self, view: BaseView) -> None:
        n_zeros = view.n_observed - view.n_nonzero
        if self.beta <= 0 and n_zeros:
            raise ValueError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add "
                "small values to X, or use a positive beta_loss. "
                f"Got beta_loss = {self.beta:g} and {n_zeros} zeros among the "
                f"{view.n_observed} observed entries of X."
            )
        super().check(view)

    def _floor(self, dtype: np.dtype) -> float:
        """What a model value of zero counts as, in units of the mean of X."""
        if self.beta >= 2:
            return TINY[dtype]
        return max(TINY[dtype], LARGEST_POWER[dtype] ** (1.0 / (self.beta - 2.0)))

    def _distances(self, x: np.ndarray, y: np.ndarray, floor: float) -> np.ndarray:
        """The divergence of each entry, y^b times a function of r = x / y.

        Written with expm1, which keeps its digits where beta is near 0 or 1.
        """
        b = self.beta
        low = np.maximum(y, floor)
        if b <= 0:
            x = np.maximum(x, floor)
        r = x / low
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            log = np.log(r)
            if b < 0.5:
                bend = log if b == 0 else np.expm1(b * log) / b
                found = low**b * ((bend - (r - 1.0)) / (b - 1.0))
            else:
                bend = log if b == 1 else np.expm1((b - 1.0) * log) / (b - 1.0)
                found = low**b * ((r * bend - (r - 1.0)) / b)
            far = x == 0 if b <= 2 else (r > 2.0) | (r < 0.5)  # r^b may overflow
            if b > 0 and far.any():
                x, y = x[far], y[far]
                rest = 0.0 if b <= 2 else x * (x ** (b - 1.0) - b * y ** (b - 1.0)) / (b - 1.0)
                found[far] = (rest + y**b) / b
        return np.maximum(found, 0.0, out=found)
