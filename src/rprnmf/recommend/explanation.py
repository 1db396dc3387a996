"""Why an item is recommended: components, ratings and comparisons, in numbers and words.

The row of a user solves a least-squares problem in the components that it has. So its prediction
is a sum: what is expected of the user without any rating, and for every rated item a part in
proportion to how far its rating is from that expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.observed import BaseView
from rprnmf.recommend.features import RowFeatures
from rprnmf.recommend.row_model import DataWeights, RowModel
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel


class ComponentPart(NamedTuple):
    """A component: its part of the prediction, and the items that have most of it."""

    component: int
    part: float
    items: list[Any]


class RatedPart(NamedTuple):
    """A rated item: its rating, and by how much it raised or lowered the prediction."""

    item: Any
    rating: float
    part: float


class Comparison(NamedTuple):
    """A comparison that speaks of the item or the user, and whether the model meets it."""

    q: Any
    r: Any
    s: Any
    met: bool


@dataclass(frozen=True, eq=False)
class Explanation:
    """What led to a prediction; ``print`` says it in words.

    Attributes
    ----------
    user, item : hashable
    prediction : float
        In the range of the ratings.
    expected : float
        What would be predicted of a user without ratings, from what else is known.
    components : list of ComponentPart
        The largest first; all of them add up to the prediction before it is brought into range.
    rated : list of RatedPart
        The largest first, up or down. With ``expected`` and ``rest`` they add up to the same.
    comparisons : list of Comparison
    rest : float
        What the listed parts leave out: further ratings, and what the last step of the fit did
        not settle.
    note : str
    """

    user: Any
    item: Any
    prediction: float
    expected: float
    components: list[ComponentPart]
    rated: list[RatedPart]
    comparisons: list[Comparison]
    rest: float
    note: str = ""

    def __str__(self) -> str:
        lines = [f"{self.item} for {self.user}: {self.prediction:.2f}"]
        if self.note:
            lines.append(self.note)
        lines.append(f"  without any rating one would expect {self.expected:.2f}")
        for item, rating, part in self.rated:
            lines.append(f"  {part:+.2f}  {item}, rated {rating:g}")
        if self.rated:
            lines.append(f"  {self.rest:+.2f}  all else")
        for component, part, items in self.components:
            told = ", ".join(map(str, items))
            lines.append(f"  component {component} gives {part:.2f}: {told}")
        for q, r, s, met in self.comparisons:
            lines.append(f"  {q} is closer to {r} than to {s}: {'met' if met else 'not met'}")
        return "\n".join(lines)


class AskedUser(NamedTuple):
    """The user of an explanation.

    Attributes
    ----------
    name : hashable
    place : int
        Among the users of the fit, or -1.
    row : sparse array of shape (1, n_items)
        Ratings.
    factors : ndarray of shape (n_starts * n_components,)
    rows : list of ndarray of shape (n_components,)
        The same of every start.
    note : str
    """

    name: Any
    place: int
    row: sp.csr_array
    factors: np.ndarray
    rows: list[np.ndarray]
    note: str


def ratings_behind(model: StackedModel, user: AskedUser, j: int) -> tuple[float, np.ndarray]:
    """What is expected of a user without ratings for item j, and the part of each rating."""
    features = model.row_features(USERS, user.row, [user.name], model.metadata[USERS])
    view = model.view(USERS, user.row)
    found = [
        rated_parts(start, w, start[ITEMS].F[j], view, features, model.weights)
        for start, w in zip(model.starts, user.rows, strict=True)
    ]
    unit = float(model.unit_of(np.array([user.row.nnz]))[0])
    expected = float(np.mean([one for one, _ in found]))
    return expected / unit, np.mean([part for _, part in found], axis=0) / unit


def most_of(
    factor: np.ndarray, usual: np.ndarray, component: int, j: int, n: int = 3
) -> np.ndarray:
    """The usual items that have most of a component, but for item j."""
    F = np.where(usual, factor[:, component], -1.0)
    F[j] = -1.0
    order = np.argsort(-F, kind="stable")[:n]
    return order[F[order] > 0]


def rated_parts(
    start: tuple[RowModel, RowModel],
    w: np.ndarray,
    item: np.ndarray,
    view: BaseView,
    features: RowFeatures,
    weights: DataWeights,
) -> tuple[float, np.ndarray]:
    """What is expected without ratings, and the part of each rated item, in one start.

    Parameters
    ----------
    start : (RowModel, RowModel)
    w : ndarray of shape (n_components,)
        The row of the user.
    item : ndarray of shape (n_components,)
        The row of the item.
    view : BaseView
        The ratings of the user: one row.
    features : RowFeatures
    weights : DataWeights
    """
    users, items = start
    entries = view.stored()
    has = np.flatnonzero(w > 0)
    H = items.F[entries.indices][:, has].astype(np.float64)
    h = item[has].astype(np.float64)
    values = entries.data.astype(np.float64)
    if users.unit > 0:
        counts = np.array([len(values)])
        mean = users.means(features, counts)[0][has]
        pull = float(users.pulls(view)[0])
        gram, c = H.T @ H, np.ones(len(values))
    else:
        mean = np.zeros(len(has))
        pull = weights.alpha * float(view.row_counts[0]) ** weights.alpha_power
        rest = weights.missing_weight
        c = np.asarray(view.weighted_nonzeros().data, dtype=np.float64) / np.maximum(values, 1e-300)
        every = items.F[:, has].astype(np.float64)
        gram = (H * (c - rest)[:, None]).T @ H + rest * every.T @ every
    gram[np.diag_indices_from(gram)] += max(pull, 1e-9)
    reach = np.linalg.solve(gram, h) if len(has) else h
    expected = float(h @ mean)
    return expected, (H @ reach) * c * (values - H @ mean)
