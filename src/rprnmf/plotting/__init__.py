"""Pictures of what was learned; they need matplotlib (``pip install 'rprnmf[plot]'``).

Each function draws on the Axes it is given, or on a new figure, and returns the Axes. The classes
do the same in two steps, in the manner of scikit-learn's displays.
"""

from __future__ import annotations

from rprnmf.plotting.components import ComponentsDisplay, plot_components
from rprnmf.plotting.evaluation import EvaluationDisplay, plot_evaluation
from rprnmf.plotting.history import HistoryDisplay, plot_history
from rprnmf.plotting.learning import LearningDisplay, plot_learning
from rprnmf.plotting.map import MapDisplay, plot_map
from rprnmf.plotting.reliability import ReliabilityDisplay, plot_reliability
from rprnmf.plotting.triplets import TripletsDisplay, plot_triplets

__all__ = [
    "ComponentsDisplay",
    "EvaluationDisplay",
    "HistoryDisplay",
    "LearningDisplay",
    "MapDisplay",
    "ReliabilityDisplay",
    "TripletsDisplay",
    "plot_components",
    "plot_evaluation",
    "plot_history",
    "plot_learning",
    "plot_map",
    "plot_reliability",
    "plot_triplets",
]
