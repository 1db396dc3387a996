"""Lines of a user, an item and a value, compiled, in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rprnmf.inputs.blocks import map_lines
from rprnmf.inputs.entries import Entries
from rprnmf.inputs.names import NameTable, empty_codes
from rprnmf.inputs.source import Source
from rprnmf.kernels.codes import Codes
from rprnmf.kernels.decimals import powers
from rprnmf.kernels.delimited import Form, long_form

SIDES = (0, 1)  # users, items
VALUE = 5  # its role


class Shape(NamedTuple):
    """How lines are written: which cell is what."""

    delimiter: str
    decimal: str
    n_cells: int
    roles: tuple[int, ...]  # places of user, item and value, or without a value


def read_long_lines(
    source: Source, offset: int, shape: Shape, texts: tuple[bool, bool]
) -> tuple[list[Entries], list[NameTable]] | None:
    """All entries of a text file; None if it has something odd, for a general reader to find.

    Parameters
    ----------
    source : Source
    offset : int
        Where the first line begins, in bytes.
    shape : Shape
    texts : tuple of bool
        Whether names of users, and of items, are texts; else they are whole numbers.
    """
    role = np.zeros(shape.n_cells, dtype=np.int64)
    for side in SIDES:
        role[shape.roles[side]] = 1 + side + 2 * texts[side]
    for place in shape.roles[2:]:
        role[place] = VALUE
    delimiter = shape.delimiter.encode()
    form = Form(delimiter[0], len(delimiter), ord(shape.decimal), role, powers())
    tables = [NameTable(kind) for kind in texts]
    blocks: list[Entries] = []

    def work(buffer: np.ndarray) -> tuple[int, list[Codes], np.ndarray, np.ndarray]:
        n_lines = int(np.count_nonzero(buffer == 10))
        codes = [empty_codes(n_lines, n_lines, kind) for kind in texts]
        values, counts = np.empty(n_lines), np.zeros(2, dtype=np.int64)
        n = long_form(buffer, len(buffer), form, codes[0], codes[1], values, counts)
        return n, codes, values, counts

    def after(buffer: np.ndarray, result: Any) -> bool:
        n, codes, values, counts = result
        if n < 0:
            return False
        rows, columns = (tables[s].join(buffer, codes[s], int(counts[s])) for s in SIDES)
        if rows is None or columns is None:
            return False
        blocks.append(Entries(codes[0].code[:n], codes[1].code[:n], values[:n], rows, columns))
        return True

    return (blocks, tables) if map_lines(source, offset, work, after) else None
