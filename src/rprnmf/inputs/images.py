"""A folder of images: grey values, one row per image."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from rprnmf.inputs.errors import need
from rprnmf.inputs.folder import files_in
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.names import as_names
from rprnmf.inputs.source import Source

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp")
#: formats that Pillow reads by itself: others call programs, or read other files
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "PPM", "WEBP")
MOST_PIXELS = 50_000_000
DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")  # grey values beyond 0 to 255


def read_images(source: Source, options: Options) -> Matrix:
    """Read a folder of images; their pixels row by row are the columns."""
    need("PIL", source.name, "Pillow", "images")
    paths = files_in(source, SUFFIXES, "an image")
    rows: list[np.ndarray] = []
    size = options.image_size
    for path in paths:
        grey = _grey(source, path, options.image_size)
        size = size or grey.shape
        if grey.shape != tuple(size):
            raise source.fail(
                f"{path.name} is {grey.shape[0]} x {grey.shape[1]} pixels, {paths[0].name} "
                f"{size[0]} x {size[1]}; expected one size, or the option image_size, for "
                "instance (32, 32)."
            )
        rows.append(grey.ravel())
    X = np.stack(rows).astype(np.float64)
    names = as_names([path.relative_to(source.path).as_posix() for path in paths])
    height, width = size or (0, 0)
    pixels = np.array([f"{y},{x}" for y in range(height) for x in range(width)], dtype=object)
    note = f"{source.title}: {len(X)} images of {height} x {width} pixels, grey values"
    return Matrix(X, names, pixels, None, "images", note + ".")


def _grey(source: Source, path: Path, size: tuple[int, int] | None) -> np.ndarray:
    """The grey values of an image, brought to a size."""
    from PIL import Image, ImageOps

    with source.guard(f"an image, {path.name}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise source.fail(
                    f"{path.name} has {image.width} x {image.height} pixels; expected at most "
                    f"{MOST_PIXELS} in all."
                )
            upright: Any = ImageOps.exif_transpose(image)
            if upright.mode not in DEEP:
                upright = upright.convert("L")
            if size is not None:
                upright = upright.resize(size[::-1], Image.Resampling.BOX)
            grey = np.asarray(upright)
    if not (grey >= 0).all() or np.isinf(grey).any():
        raise source.fail(f"{path.name} has grey values below 0; expected at least 0.")
    return grey
