"""What a loss must say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from rprnmf.observed import BaseView
from rprnmf.split import Split


class Loss(ABC):
    """A sum over the observed entries of X ~ F G'."""

    #: it is `times_sklearn` times scikit-learn's beta-divergence with this beta; None: it is no
    #: beta-divergence
    beta: float | None = None
    #: which problem a row poses while the other factor is fixed: "quadratic" (Gram matrices),
    #: "divergence" (Kullback-Leibler), or None if it is another: only `mu` can serve it then
    row_problem: ClassVar[str | None] = None
    #: F *= (negative / positive) ** step_exponent never raises the loss; None if that is not
    #: known for any exponent: a solver must then look at every step
    step_exponent: float | None = None
    #: what scikit-learn's loss is multiplied by to give this one
    times_sklearn: float = 1.0
    #: the size of a column is a multiple of its norm of this order, 1 or 2
    size_order: int = 1

    def __init_subclass__(cls, **keywords: object) -> None:
        """A subclass that is another function must say anew what solvers may know of it.

        A row problem and a step belong to the value and the gradient that they were derived
        from. Inherited by another loss they would minimise the wrong function in silence.
        """
        super().__init_subclass__(**keywords)
        defined = vars(cls)
        if "value" in defined or "split" in defined:
            for name in ("beta", "row_problem", "step_exponent"):
                if name not in defined:
                    setattr(cls, name, None)

    @abstractmethod
    def value(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> float:
        """The loss."""

    @abstractmethod
    def split(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> Split:
        """Its gradient in F, in two non-negative parts."""

    @abstractmethod
    def unit(self, view: BaseView) -> float:
        """What a strength of 1 counts as: the size of the data in the loss's own unit."""

    @abstractmethod
    def curvature(self, view: BaseView) -> float:
        """The loss of an entry is about this times (x - y)^2."""

    @property
    def powers(self) -> tuple[float, ...]:
        """Powers of the entries of X that must not overflow or underflow."""
        return (1.0,) if self.beta is None else (1.0, self.beta, self.beta - 1.0)

    @property
    def curvature_power(self) -> float:
        """The power of the entries of X that the curvature grows with."""
        return 0.0 if self.beta is None else self.beta - 2.0

    def check(self, view: BaseView) -> None:
        """Refuse data that the loss cannot measure; most losses take all."""
        return

    def column_sizes(self, B: np.ndarray) -> np.ndarray:
        """Size of each column of a factor, in the norm in which the loss fixes its scale."""
        if self.size_order == 2:
            return np.sqrt(np.einsum("ik,ik->k", B, B))
        # a column of equal entries has the same size in both norms, so that distances mean the
        # same under all losses
        return B.sum(axis=0) / np.sqrt(len(B))

    def reconstruction_err(self, loss: float) -> float:
        """scikit-learn's ``reconstruction_err_``: the root of twice *its* loss."""
        return float(np.sqrt(max(2.0 * loss / self.times_sklearn, 0.0)))
