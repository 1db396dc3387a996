"""Images that a user gives, and factors that are images."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.fitted import FittedSide


def check_images(images: Any, n: int) -> np.ndarray:
    """One picture per item: grey, or with three or four colour channels."""
    found = np.asarray(images)
    fits = found.ndim in (3, 4) and len(found) == n and 0 not in found.shape
    if not fits or (found.ndim == 4 and found.shape[3] not in (3, 4)):
        raise ValueError(
            f"images must have the shape ({n}, height, width), one picture per item, or "
            f"({n}, height, width, 3) in colour; got {found.shape}."
        )
    if found.dtype.kind not in "uifb":
        raise TypeError(f"images must be numbers, got dtype {found.dtype}.")
    if found.dtype.kind == "b":
        found = found.astype(np.uint8)
    if found.ndim == 4 and found.dtype.kind == "f":  # matplotlib has colours from 0 to 1
        found = np.nan_to_num(found) / max(np.nanmax(found, initial=0.0), 1.0)
    return found


def check_image_shape(image_shape: Any, entries: FittedSide) -> tuple[int, ...]:
    """The shape of an image whose pixels are the features."""
    n = len(entries.factor)
    shape = tuple(image_shape) if np.iterable(image_shape) else (image_shape,)
    fits = len(shape) in (2, 3) and all(isinstance(k, int | np.integer) and k > 0 for k in shape)
    if not fits or int(np.prod(shape)) != n or (len(shape) == 3 and shape[2] not in (3, 4)):
        raise ValueError(
            f"image_shape must be (height, width) or (height, width, 3) with {n} numbers in all, "
            f"one for each {entries.side}; got {image_shape!r}."
        )
    return shape
