"""The paper's Euclidean measure."""

from __future__ import annotations

import numpy as np

from rprnmf.losses.base import Loss
from rprnmf.observed import BaseView
from rprnmf.split import Split


class Frobenius(Loss):
    """||X - F G'||^2: twice scikit-learn's, so that the paper's strengths stay valid."""

    beta = 2.0
    row_problem = "quadratic"
    step_exponent = 1.0
    times_sklearn = 2.0
    size_order = 2

    def value(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> float:
        return view.squared_error(F, G)

    def split(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> Split:
        return Split(2 * view.model_times(F, G), 2 * view.times(G))

    def unit(self, view: BaseView) -> float:
        return view.squares

    def curvature(self, view: BaseView) -> float:
        return 1.0
