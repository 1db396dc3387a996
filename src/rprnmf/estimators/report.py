"""What became of the triplets of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rprnmf.metrics import triplet_distances
from rprnmf.triplets import Triplets

COLUMNS = ("side", "q", "r", "s", "near", "far", "margin", "satisfied", "weight")
SHOWN = 5  # items that a text names


@dataclass(frozen=True, eq=False, repr=False)
class TripletReport:
    """Columns with one entry per triplet, and a few lines about them, which ``print`` shows.

    Attributes
    ----------
    side : ndarray of str
        "row" or "column".
    q, r, s : ndarray
        Names where X has names, else positions.
    near, far : ndarray of float
        The distances q-r and q-s.
    margin : ndarray of float
        far - near.
    satisfied : ndarray of bool
    weight : ndarray of float
    text : str
    """

    side: np.ndarray
    q: np.ndarray
    r: np.ndarray
    s: np.ndarray
    near: np.ndarray
    far: np.ndarray
    margin: np.ndarray
    satisfied: np.ndarray
    weight: np.ndarray
    text: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return COLUMNS

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in COLUMNS:
            raise KeyError(f"the report has no column {column!r}; it has {', '.join(COLUMNS)}.")
        return getattr(self, column)

    def __len__(self) -> int:
        return len(self.satisfied)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    @property
    def frame(self) -> Any:
        """The columns as a DataFrame; needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'report.frame is a DataFrame, which needs pandas: pip install "rprnmf[data]". '
                "report.q, report.near and so on are the same columns without it."
            ) from error
        return pd.DataFrame({name: self[name] for name in COLUMNS})


class ReportSide(NamedTuple):
    """One side of X: its factor, its triplets as positions, and its names."""

    name: str
    factor: np.ndarray
    triplets: Triplets
    names: Any


def report(sides: list[ReportSide], distance: str) -> TripletReport:
    """The report, the sides one after the other."""
    parts: list[dict[str, np.ndarray]] = []
    lines: list[str] = []
    for side in sides:
        n = side.triplets.n_triplets
        if n == 0:
            continue
        _, near, far = triplet_distances(side.factor, side.triplets, distance)
        named = side.triplets.with_names(side.names).items
        met = near < far
        parts.append(
            {
                "side": np.full(n, side.name, dtype=object),
                **dict(zip("qrs", named.T, strict=True)),
                "near": near,
                "far": far,
                "margin": far - near,
                "satisfied": met,
                "weight": side.triplets.weights,
            }
        )
        lines += described(side.name, named, met)
    if not parts:
        nothing = {name: np.zeros(0) for name in COLUMNS}
        return TripletReport(**nothing, text="no triplets were given")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    return TripletReport(**columns, text="\n".join(lines))


def described(side: str, named: np.ndarray, met: np.ndarray) -> list[str]:
    """How many are met, and which items gather those that are not."""
    n, n_met = len(met), int(met.sum())
    lines = [f"{side} triplets: {n_met} of {n} met ({100 * n_met / n:.1f} %)"]
    if n_met < n:
        counts: dict[Any, int] = {}
        for item in named[~met].ravel().tolist():
            counts[item] = counts.get(item, 0) + 1
        most = sorted(counts.items(), key=lambda entry: -entry[1])[:SHOWN]
        gathered = ", ".join(f"{item} ({count})" for item, count in most)
        lines.append(f"  unmet ones are gathered by {gathered}")
    return lines
