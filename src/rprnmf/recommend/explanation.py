"""Why an item is recommended: components, ratings and comparisons, in numbers and words.

The row of a user solves a least-squares problem in the components that it has. So its prediction
is a sum: what is expected of the user without any rating, and for every rated item a part in
proportion to how far its rating is from that expectation. With the divergence the row is a fixed
point of multiplicative steps, which is a sum too: of each rating over its model, and of the pull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.recommend.row_model import DataWeights, RowModel, Task
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel
from rprnmf.threads import blas_threads

SHOWN = 0.005  # less is 0.00 in words


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


class Listed(NamedTuple):
    """Why an item stands where it does on the list of a user, beside the mean item.

    Attributes
    ----------
    interest : float
        What it has because the user rates such items, whatever the ratings: spreads above the mean
        item, times ``trust``.
    rating : float
        What it has by its predicted rating: two thirds of the spreads above the mean item. Lists
        are in the order of both together, but for caution.
    trust : float
    behind : list
        The rated items that speak most for the interest, the first most.
    """

    interest: float
    rating: float
    trust: float
    behind: list[Any]


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
        The largest first; with ``usual`` and ``lowest`` all of them add up to the prediction
        before it is brought into range.
    rated : list of RatedPart
        The largest first, up or down. With ``expected`` and ``rest`` they add up to the same.
    comparisons : list of Comparison
    usual : float
        The part of mean ratings, for users and items with few ratings (`usual.py`); it is in
        ``expected`` too.
    lowest : float
        Where a scale begins that has ratings below 0; it is in ``expected`` too.
    rest : float
        What the listed parts leave out: further ratings, and what the last step of the fit did
        not settle.
    note : str
    listed : Listed or None
        Why it is on lists, where interest counts too.
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
    usual: float = 0.0
    lowest: float = 0.0
    listed: Listed | None = None

    def __str__(self) -> str:
        lines = [f"{self.item} for {self.user}: {self.prediction:.2f}"]
        if self.note:
            lines.append(self.note)
        lines += self._on_lists()
        lines.append(f"  without any rating one would expect {self.expected:.2f}")
        for item, rating, part in self.rated:
            lines.append(f"  {part:+.2f}  {item}, rated {rating:g}")
        if self.rated or abs(self.rest) >= SHOWN:
            lines.append(f"  {self.rest:+.2f}  all else")
        if self.usual > 0:
            lines.append(f"  mean ratings of the user and the item give {self.usual:.2f}")
        if self.lowest < 0:
            lines.append(f"  the scale begins at {self.lowest:g}")
        for component, part, items in self.components:
            told = ", ".join(map(str, items))
            lines.append(f"  component {component} gives {part:.2f}: {told}")
        for q, r, s, met in self.comparisons:
            lines.append(f"  {q} is closer to {r} than to {s}: {'met' if met else 'not met'}")
        return "\n".join(lines)

    def _on_lists(self) -> list[str]:
        if self.listed is None:
            return []
        interest, rating, trust, behind = self.listed
        why = f", as of who rated {', '.join(map(str, behind[:3]))}" if behind else ""
        if trust == 0:
            why = ", as who rated what looks like chance"
        return [
            f"  on lists {interest + rating:+.2f} beside the mean item:",
            f"    {interest:+.2f}  interest{why}",
            f"    {rating:+.2f}  predicted rating",
        ]


class AskedUser(NamedTuple):
    """The user of an explanation.

    Attributes
    ----------
    name : hashable
    place : int
        Among the users of the fit, or -1.
    row : sparse array of shape (1, n_items)
        Ratings.
    scored : ndarray
        The row whose product with that of an item is the prediction.
    rows : list of ndarray of shape (n_components,)
        The row of the factor, of every start.
    note : str
    """

    name: Any
    place: int
    row: sp.csr_array
    scored: np.ndarray
    rows: list[np.ndarray]
    note: str


def ratings_behind(model: StackedModel, user: AskedUser, j: int) -> tuple[float, np.ndarray]:
    """What is expected of a user without ratings for item j, and the part of each rating."""
    places = np.array([user.place]) if user.place >= 0 else None
    with blas_threads(1):  # for one row threads cost more than they save
        task = model.task(USERS, user.row, [user.name], places)
        found = [
            rated_parts(start, w, start[ITEMS].F[j], task, model.weights)
            for start, w in zip(model.starts, user.rows, strict=True)
        ]
    unit = float(model.unit_of(task.counts)[0])
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
    task: Task,
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
    task : Task
        The ratings of the user: one row.
    weights : DataWeights
    """
    users, items = start
    view = task.view
    entries = view.nonzeros()
    has = np.flatnonzero(w > 0)
    means, pulls = users.pulled(task, weights)
    h, mean, pull = item[has].astype(np.float64), means[0][has], float(pulls[0])
    if task.counts[0] == 0:
        return float(h @ mean), np.zeros(0)
    H = items.F[entries.indices][:, has].astype(np.float64)
    values = entries.data.astype(np.float64)
    if weights.beta_loss == "kullback-leibler":
        row = w[has].astype(np.float64)
        below = view.ones_times(items.F)[0][has] + 2.0 * pull * row
        reach = row * h / np.maximum(below, 1e-300)
        ratios = view.weighted_nonzeros().data / np.maximum(H @ row, 1e-300)
        return float(2.0 * pull * reach @ np.maximum(mean, 0.0)), (H @ reach) * ratios
    gram, c = H.T @ H, np.ones(len(values))
    if view.weighted:
        rest = weights.missing_weight
        c = view.weighted_nonzeros().data.astype(np.float64) / np.maximum(values, 1e-300)
        every = items.F[:, has].astype(np.float64)
        gram = (H * (c - rest)[:, None]).T @ H + rest * every.T @ every
    pull = max(pull, 1e-9)
    gram[np.diag_indices_from(gram)] += pull
    reach = np.linalg.solve(gram, h) if len(has) else h
    if view.weighted:
        return pull * float(reach @ mean), (H @ reach) * c * values
    return float(h @ mean), (H @ reach) * c * (values - H @ mean)
