"""What became of the triplets of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rprnmf.metrics import triplet_distances
from rprnmf.triplets import Triplets

SHOWN = 5  # items that a text names


class TripletReport(NamedTuple):
    """A table of all triplets, and a few lines about them; ``print`` shows the lines."""

    frame: Any
    text: str

    def __str__(self) -> str:
        return self.text


class ReportSide(NamedTuple):
    """The triplets of one side, the factor that they speak of, and the names of its rows."""

    name: str
    triplets: Triplets
    factor: np.ndarray
    names: Sequence[Any] | None


def report(sides: list[ReportSide], distance: str) -> TripletReport:
    """One row a triplet, the sides one after the other."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("triplet_report makes a DataFrame: install pandas.") from error
    parts, lines = [], []
    for side in sides:
        items, near, far = triplet_distances(side.factor, side.triplets, distance)
        named: Any = items
        if side.names is not None:
            labels = np.empty(len(side.names), dtype=object)
            labels[:] = list(side.names)
            named = labels[items]
        met = near < far
        parts.append(
            pd.DataFrame(
                {
                    "side": side.name,
                    "q": named[:, 0],
                    "r": named[:, 1],
                    "s": named[:, 2],
                    "near": near,
                    "far": far,
                    "margin": far - near,
                    "satisfied": met,
                    "weight": side.triplets.weights,
                }
            )
        )
        lines += described(side.name, named, met)
    if not parts:
        return TripletReport(pd.DataFrame(columns=COLUMNS), "no triplets were given")
    return TripletReport(pd.concat(parts, ignore_index=True), "\n".join(lines))


COLUMNS = ["side", "q", "r", "s", "near", "far", "margin", "satisfied", "weight"]


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
