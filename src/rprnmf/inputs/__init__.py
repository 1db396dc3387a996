"""Matrices from the files that people have, and back.

A format is one file of this folder and one line in `FORMATS`. Readers are imported when they are
needed, so that the names of formats can be listed at once.
"""

from __future__ import annotations

from rprnmf.inputs.errors import InputError
from rprnmf.inputs.formats import FORMATS, Format
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.reading import read_matrix
from rprnmf.inputs.row_blocks import read_blocks
from rprnmf.inputs.writing import write_matrix

__all__ = [
    "FORMATS",
    "Format",
    "InputError",
    "Matrix",
    "Options",
    "read_blocks",
    "read_matrix",
    "write_matrix",
]
