"""Ratings in long form: one line per entry, with a user, an item and a rating."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rprnmf.inputs.entries import Entries, sparse_from_entries
from rprnmf.inputs.layout import Layout
from rprnmf.inputs.long_lines import SIDES, Shape, read_long_lines
from rprnmf.inputs.matrix import Matrix
from rprnmf.inputs.names import PLAIN, as_names
from rprnmf.inputs.source import Source
from rprnmf.inputs.text import FALLBACK, Sample, all_rows, number, with_fallback

BATCH = 1 << 16  # lines


class Found(NamedTuple):
    """What a file holds: entries by block, the names of both sides, and the encoding."""

    blocks: list[Entries]
    names: list[np.ndarray]
    encoding: str


def read_ratings(source: Source, sample: Sample, layout: Layout) -> Matrix:
    """Read ratings from a text file."""
    found = fast_entries(source, sample, layout) or _general(source, sample, layout)
    return to_matrix(source, found)


def fast_entries(source: Source, sample: Sample, layout: Layout) -> Found | None:
    """The lines in order, compiled; None if the file has something odd.

    ``layout.roles`` are user, item and value; without a value those of the entries mean nothing.
    """
    body = sample.rows[layout.first :]
    users, items = (
        not all(PLAIN.fullmatch(row[place]) for row in body if len(row) > place)
        for place in layout.roles[:2]
    )
    found = _fast(source, sample, layout, (users, items))
    if found is None and not (users and items):  # a text may come after many numbers
        found = _fast(source, sample, layout, (True, True))
    return found


def to_matrix(source: Source, found: Found) -> Matrix:
    """The sparse matrix of some ratings, names that are whole numbers in order."""
    n_entries = sum(len(block.values) for block in found.blocks)
    if n_entries == 0:
        raise source.fail("has no ratings; expected at least one line of user, item, rating.")
    names, blocks = [], found.blocks
    for side in SIDES:
        known = as_names(found.names[side])
        if known.dtype == np.int64:
            order = np.argsort(known, kind="stable")
            rank = np.empty(len(order), dtype=np.int32)
            rank[order] = np.arange(len(order), dtype=np.int32)
            known = known[order]
            field = ("row_of", "column_of")[side]
            blocks = [block._replace(**{field: rank[getattr(block, field)]}) for block in blocks]
        names.append(known)
    X, joined = sparse_from_entries(blocks, (len(names[0]), len(names[1])), source.n_jobs)
    note = (
        f"{source.title}: ratings in long form, {X.shape[0]} users x {X.shape[1]} items, "
        f"{X.nnz} entries"
    )
    if joined:
        note += f", {joined} repeated rating{'s' * (joined > 1)} averaged"
    if found.encoding == FALLBACK:
        note += ", read as Latin-1 since it is not UTF-8"
    return Matrix(X, names[0], names[1], "zero", "ratings", note + ".")


def _fast(source: Source, sample: Sample, layout: Layout, texts: tuple[bool, bool]) -> Found | None:
    """Compiled; None if the file has something odd, which the general reader then finds."""
    offset = sample.offset(layout.first)
    if offset is None:
        return None
    shape = Shape(sample.delimiter, sample.decimal, layout.n_cells, layout.roles)
    read = read_long_lines(source, offset, shape, texts)
    if read is None:
        return None
    blocks, tables = read

    def decoded(encoding: str) -> Found:
        return Found(blocks, [table.names(encoding) for table in tables], encoding)

    return with_fallback(source, sample.encoding, decoded)


def _general(source: Source, sample: Sample, layout: Layout) -> Found:
    """Any CSV file, cell by cell; every error with its line."""
    return with_fallback(
        source, sample.encoding, lambda name: _cell_by_cell(source, sample, layout, name)
    )


def _cell_by_cell(source: Source, sample: Sample, layout: Layout, encoding: str) -> Found:
    known: list[dict[str, int]] = [{}, {}]
    at = layout.roles
    store: tuple[list, list, list] = ([], [], [])
    blocks: list[Entries] = []

    def keep() -> None:
        rows, columns = (np.array(codes, dtype=np.int32) for codes in store[:2])
        same = [np.arange(len(names), dtype=np.int32) for names in known]
        blocks.append(Entries(rows, columns, np.array(store[2]), *same))
        for part in store:
            part.clear()

    for n, (line, row) in enumerate(all_rows(source, sample, encoding)):
        if n < layout.first:
            continue
        if len(row) != layout.n_cells:
            raise source.fail(f"has {len(row)} cells, expected {layout.n_cells}.", line)
        for side in SIDES:
            name = row[at[side]].strip()
            if not name:
                raise source.fail("expected a name, found nothing.", line, layout.label(at[side]))
            store[side].append(known[side].setdefault(name, len(known[side])))
        value = number(row[at[2]], sample.decimal)
        if value is None or not 0 <= value < np.inf:
            label = layout.label(at[2])
            raise source.fail(
                f"expected a rating, a number of at least 0, found {row[at[2]]!r}.", line, label
            )
        store[2].append(value)
        if len(store[2]) == BATCH:
            keep()
    if store[2]:
        keep()
    return Found(blocks, [np.array(list(names), dtype=object) for names in known], encoding)
