"""What a loss must say of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from rprnmf.observed import BaseView
from rprnmf.split import Split


class Loss(ABC):
    """A sum over the observed entries of X ~ F G'."""

    #: what scikit-learn's loss is multiplied by to give this one
    times_sklearn: float
    #: a column's size is a multiple of the norm of this order
    size_order: int

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

    @abstractmethod
    def column_sizes(self, B: np.ndarray) -> np.ndarray:
        """Size of each column of a factor, in the norm in which the loss fixes its scale."""

    def reconstruction_err(self, loss: float) -> float:
        """scikit-learn's ``reconstruction_err_``: the root of twice *its* loss."""
        return float(np.sqrt(max(2.0 * loss / self.times_sklearn, 0.0)))
