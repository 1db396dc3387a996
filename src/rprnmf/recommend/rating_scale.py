"""The scale of ratings: lowest and highest, and what is subtracted to have none below zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.recommend.ratings import Ratings


def scale_of(data: Ratings, kind: str, given: Any) -> tuple[tuple[float, float] | None, float]:
    """The range of ratings, and what is subtracted to have none below zero."""
    if kind == "implicit":
        check_counts(data.values)
        return None, 0.0
    if data.values is None:
        raise ValueError("kind='explicit' needs ratings, got None; kind='implicit' does not.")
    low, high = float(data.values.min()), float(data.values.max())
    if given is not None:
        low, high = checked_scale(given)
        check_in_scale(data.values, (low, high))
    return (low, high), min(low, 0.0)


def check_counts(values: np.ndarray | None) -> None:
    """Counts must be above 0."""
    if values is not None and (values <= 0).any():
        place = int(np.flatnonzero(values <= 0)[0])
        raise ValueError(
            f"ratings[{place}] = {values[place]:g}: clicks and counts must be above 0; "
            "leave out what did not happen, or pass kind='explicit'."
        )


def check_further(data: Ratings, kind: str, scale: tuple[float, float] | None, method: str) -> None:
    """Ratings that come after a fit must be of its kind, and in its scale."""
    if kind == "implicit":
        check_counts(data.values)
    elif data.values is None:
        raise ValueError(f"the fit had ratings: {method} needs them too, got None.")
    else:
        check_in_scale(data.values, scale)


def checked_scale(scale: Any) -> tuple[float, float]:
    """Two numbers, the lower first."""
    try:
        low, high = (float(end) for end in scale)
    except (TypeError, ValueError):
        raise ValueError(f"scale must be (lowest, highest) rating, got {scale!r}.") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"scale must be (lowest, highest) rating, the lower first; got {scale!r}.")
    return low, high


def check_in_scale(values: np.ndarray, scale: tuple[float, float] | None) -> None:
    """Ratings must be in their scale."""
    assert scale is not None
    bad = np.flatnonzero((values < scale[0]) | (values > scale[1]))
    if len(bad):
        raise ValueError(
            f"ratings[{bad[0]}] = {values[bad[0]]:g} is out of the scale {scale[0]:g} to "
            f"{scale[1]:g} ({len(bad)} of {len(values)} are); pass scale=(lowest, highest) to "
            "Recommender if there are more ratings than the fit has seen."
        )
