"""Matrix Market: `.mtx`, dense or sparse."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from rprnmf.inputs.arrays import check_claim, checked, size_text
from rprnmf.inputs.blocks import Counted, Reading
from rprnmf.inputs.entries import Entries, sparse_from_entries
from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.source import Source
from rprnmf.threads import available_threads

MAGIC = b"%%MatrixMarket"
SHORTEST = {"coordinate": 4, "array": 2}  # bytes of an entry: "1 1\n" or "1\n"
DENSEST = 1100  # times that gzip can make a file smaller


def read_matrix_market(source: Source, options: Options) -> Matrix:
    """Read a Matrix Market file, in one pass."""
    _check_header(source)
    with source.open() as file, Reading(source) as bar, source.guard("a Matrix Market file"):
        stream = io.BufferedReader(Counted(file, bar), 1 << 22)
        with threadpool_limits(available_threads(source.n_jobs), "scipy"):
            X = scipy.io.mmread(stream)
        bar.move(source.size)
    if sp.issparse(X):
        X = _csr(source, X)
    X, missing = checked(source, X, "the matrix")
    return Matrix(X, None, None, missing, "mtx", f"{source.title}: {size_text(X)}.")


def _csr(source: Source, X: Any) -> Any:
    """Entries in order; what stands twice is added, as scipy does."""
    X = X.tocoo()
    same = [np.arange(n, dtype=np.int32) for n in X.shape]
    rows, columns = X.coords
    entries = Entries(rows, columns, X.data.astype(np.float64, copy=False), same[0], same[1])
    found, joined = sparse_from_entries([entries], X.shape, source.n_jobs)
    return X.tocsr() if joined else found


def _check_header(source: Source) -> None:
    """What the file claims must fit into its bytes, before there is space for it."""
    lines = source.head.split(b"\n")
    words = lines[0].decode("latin-1").lower().split()
    if len(words) < 5 or words[0] != MAGIC.decode().lower() or words[1] != "matrix":
        raise source.fail(
            f"expected '%%MatrixMarket matrix ...', found {lines[0][:60].decode('latin-1')!r}.", 1
        )
    layout, field = words[2], words[3]
    if layout not in SHORTEST or field not in ("real", "integer", "pattern", "double"):
        raise source.fail(f"is {layout} and {field}; expected real or integer entries.", 1)
    shown = [k for k, text in enumerate(lines) if text.strip() and not text.startswith(b"%")]
    if not shown:
        raise source.fail("has no line with the size of the matrix; expected one.")
    line, text = shown[0] + 1, lines[shown[0]]
    sizes = text.split()
    if len(sizes) != (3 if layout == "coordinate" else 2) or not all(
        word.isdigit() and len(word) <= 15 for word in sizes
    ):
        found = text[:60].decode("latin-1")
        raise source.fail(f"expected rows, columns and entries, found {found!r}.", line)
    rows, columns = int(sizes[0]), int(sizes[1])
    entries = int(sizes[2]) if layout == "coordinate" else rows * columns
    symmetric = 2 if words[4] != "general" else 1
    room = source.size * (DENSEST if source.packed else 1) * symmetric
    if entries * SHORTEST[layout] > room + 4 * symmetric:
        raise source.fail(
            f"claims {entries} entries, which its {source.size} bytes cannot hold.", line
        )
    if layout == "coordinate":
        check_claim(source, (rows, columns), entries, "the matrix")
