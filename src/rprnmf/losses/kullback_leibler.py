"""The paper's Divergence."""

from __future__ import annotations

import numpy as np

from rprnmf.losses.base import Loss
from rprnmf.observed import BaseView
from rprnmf.split import Split


class KullbackLeibler(Loss):
    """sum x log(x/y) - x + y, with y the model."""

    beta = 1.0
    row_problem = "divergence"
    step_exponent = 1.0

    def value(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> float:
        return view.divergence(F, G)

    def split(self, view: BaseView, F: np.ndarray, G: np.ndarray) -> Split:
        return Split(view.ones_times(G), view.ratio_times(F, G))

    def unit(self, view: BaseView) -> float:
        return view.total

    def curvature(self, view: BaseView) -> float:
        return 0.5 / (view.mean or 1.0)
