"""The one scale rule: which factor carries the scale, and what a distance of 1 is.

X ~ W H does not say how a component's scale is shared between its column of W and its
row of H, but distances within a factor depend on it. So:

* triplets or a graph on one side: the other factor has columns of size 1, and the
  constrained factor carries the scale of X, as data points do;
* on both sides: both factors carry half of it (columns of equal size);
* L2 terms on both factors: both carry a part, such that the two columns of a
  component cost the same by these. Without triplets and L1 terms the minimum is there anyway,
  so that the rule does not work against the L2 terms;
* on none: nothing is rescaled.

Solvers keep the rule *inside* their steps. Were the scale free, a column of one factor would
shrink to nothing while its partner carries all distances at no cost, and "100 % met" would
say nothing.

Distances are measured in units of ``sigma``, a constant of the data (and of the ratio of the
L2 weights, where both factors have any), and a graph's strength
in a unit that makes its term grow with X as the loss does, so that results do not depend on
the unit of X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rprnmf.losses import Loss
from rprnmf.observed import BaseView

EPS = float(np.finfo(np.float64).eps)
# Distance, in units of sigma, beyond which an exponential penalty is its tangent: exp(30) is 1e13,
# and its square still far from overflow, also in float32.
CAP = 30.0


@dataclass(frozen=True)
class ScaleRule:
    """Where the scale of X ~ W H lives.

    Parameters
    ----------
    view : BaseView
    loss : Loss
    n_components : int
    rows_constrained, columns_constrained : bool
        Whether triplets or a graph act on that side.
    frozen : bool
        H is given: nothing is rescaled.
    spread : float or None
        Takes the place of the mean squared distance between the rows of X.
    size : float
        With H given: about the size of its components.
    l2 : tuple of ndarray or None
        The L2 weights of the rows of both factors, where both have any.
    """

    view: BaseView
    loss: Loss
    n_components: int
    rows_constrained: bool
    columns_constrained: bool
    frozen: bool = False
    spread: float | None = None
    size: float = 1.0
    l2: tuple[np.ndarray, np.ndarray] | None = None

    def fixed(self, side: int) -> bool:
        """Whether a step on this factor (0: W, 1: H) must keep the sizes of its columns."""
        return (
            (self.columns_constrained, self.rows_constrained)[side] or self.by_cost
        ) and not self.frozen

    @property
    def balanced(self) -> bool:
        """Whether both factors carry a part of the scale."""
        return (
            (self.rows_constrained and self.columns_constrained) or self.by_cost
        ) and not self.frozen

    @property
    def by_cost(self) -> bool:
        """Whether the columns of a component have the same L2 cost, not the same size."""
        return self.l2 is not None and (self.rows_constrained or self.columns_constrained)

    @property
    def order(self) -> int:
        """The order of the norm that sizes are measured in: 1 or 2."""
        return 2 if self.by_cost else self.loss.size_order

    def weights(self, side: int) -> np.ndarray | None:
        """The weights of the squares of a column's entries in its size; None: all 1."""
        return self.l2[side] if self.l2 is not None and self.by_cost else None

    def sizes(self, side: int, F: np.ndarray) -> np.ndarray:
        """The sizes of the columns of a factor, as the rule compares them."""
        weights = self.weights(side)
        if weights is None:
            return self.loss.column_sizes(F)
        squares = np.einsum("i,ik,ik->k", weights, F, F, dtype=np.float64)
        return np.sqrt(squares).astype(F.dtype)

    def lean(self, side: int) -> float:
        """By what factor the squared entries exceed those of columns of equal size, about."""
        if self.l2 is None or not self.by_cost:
            return 1.0
        mine, other = self.l2[side].mean(), self.l2[1 - side].mean()
        return float(np.sqrt(other / mine))

    def apply(
        self, W: np.ndarray, Ht: np.ndarray, shift: tuple[np.ndarray, np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Move scale between the factors; their product is kept.

        A component that is zero in one factor becomes zero in the other: it must not carry
        distances for nothing. Give the ``shift`` of these factors if it is at hand.
        """
        if self.frozen or not (self.rows_constrained or self.columns_constrained):
            return W, Ht
        grow, alive = self.shift(W, Ht) if shift is None else shift
        return W * (grow * alive), Ht * (alive / grow)

    def shift(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the columns of W must be multiplied by, and which components are not zero."""
        w, h = self.sizes(0, W), self.sizes(1, Ht)
        alive = (w > 0) & (h > 0)
        w, h = np.where(alive, w, 1), np.where(alive, h, 1)
        shift = np.sqrt(h / w) if self.balanced else h if self.rows_constrained else 1 / w
        return shift.astype(W.dtype), alive.astype(W.dtype)

    @property
    def typical_component(self) -> float:
        """About the size of a component: the product of the sizes of its two columns."""
        n, m = self.view.shape
        return float(np.sqrt(self.view.mean_square * n * m / self.n_components)) or 1.0

    def typical_entry(self, side: int) -> float:
        """About the size of an entry of the factor of this side (0: W, 1: H)."""
        n, m = self.view.shape if side == 0 else self.view.shape[::-1]
        if self.balanced:
            size = np.sqrt(self.view.mean / self.n_components * self.lean(side)) * (m / n) ** 0.25
        else:
            size = self.view.mean * np.sqrt(m) / self.n_components / self.size
        return float(size) or 1.0

    @property
    def cap(self) -> float:
        """The distance beyond which an exponential penalty continues as its tangent."""
        return CAP

    def strength_unit(self, view: BaseView) -> float:
        """What a strength of 1 multiplies the mean penalty by."""
        return self.loss.unit(view)

    def sigma(self, side: int, degree: int, named: BaseView) -> float:
        """The distance that counts as 1 in the factor of this side.

        For squared distances it is the mean squared distance between the rows of X (columns,
        for H) that the triplets name: others may have quite another size. Where both factors
        carry the scale, each has the root of a component's size only. The
        divergence is of the first degree: its second order expansion, d^2 / (2 size), converts.

        Parameters
        ----------
        side : {0, 1}
        degree : {1, 2}
        named : BaseView
            The rows (columns) that the triplets name.
        """
        spread = named.spread() if self.spread is None else self.spread
        if self.balanced:
            spread *= self.lean(side) / self.typical_component
        if degree == 1:
            spread /= 2.0 * self.typical_entry(side)
        return float(spread)

    def graph_unit(self, side: int) -> float:
        """What multiplies a graph's strength: 1 for a graph on one side and squared errors.

        Elsewhere it makes up for what the term would lose: with both sides constrained the
        factors have the root of X's unit each, and a divergence is (x - y)^2 / (2 mean) near
        its minimum.
        """
        unit = self.loss.curvature(self.view)
        return unit * self.typical_component / self.lean(side) if self.balanced else unit

    def floor(self, side: int) -> float:
        """What a zero entry of the factor counts as in a logarithm."""
        return EPS * self.typical_entry(side)
