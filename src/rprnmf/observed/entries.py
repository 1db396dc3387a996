"""The stored entries of a sparse matrix and the sums that run over them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from rprnmf.kernels import csr
from rprnmf.observed.transpose import Transposable
from rprnmf.threads import available_threads, map_blocks, row_blocks


class Entries(Transposable):
    """Stored entries in row order; ``T`` holds them in column order.

    Parameters
    ----------
    X : sparse matrix of shape (n_rows, n_columns), no duplicates
    n_jobs : int or None
    """

    def __init__(self, X: sp.csr_array, n_jobs: int | None = None):
        self.shape = X.shape
        self.indptr = _read_only(X.indptr.astype(np.int64, copy=False))
        self.indices = _read_only(X.indices.astype(np.int32, copy=False))
        self.data = _read_only(X.data)
        self.n_jobs = n_jobs
        self.n_threads = available_threads(n_jobs)

    def _transposed(self) -> Entries:
        return Entries(sp.csr_array(self.matrix().T), self.n_jobs)

    def matrix(self) -> sp.csr_array:
        """As a scipy array that shares the memory."""
        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def places(self, rows: slice) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """Row (counted from the first) and column of the entries of some rows; their values."""
        bounds = self.indptr[rows.start : rows.stop + 1]
        chosen = slice(bounds[0], bounds[-1])
        return (
            (np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), self.indices[chosen]),
            self.data[chosen],
        )

    def replaced(self, data: np.ndarray) -> Entries:
        """Other values at the same places."""
        return Entries(
            sp.csr_array((data, self.indices, self.indptr), shape=self.shape), self.n_jobs
        )

    def only(self, rows: np.ndarray, chosen: np.ndarray) -> Entries:
        """Some of the entries; ``rows`` has the row of each."""
        n = self.shape[0]
        first = np.concatenate(([0], np.cumsum(np.bincount(rows[chosen], minlength=n))))
        part = self.data[chosen], self.indices[chosen], first
        return Entries(sp.csr_array(part, shape=self.shape), self.n_jobs)

    def take(self, rows: np.ndarray) -> Entries:
        """The entries of some rows."""
        return Entries(sp.csr_array(self.matrix()[rows]), self.n_jobs)

    def joined(self, unit: np.ndarray, member: np.ndarray) -> Entries:
        """Several rows in one: ``member[unit[u]:unit[u + 1]]`` make up row u.

        A column may then occur more than once in a row.
        """
        chosen = self.take(member)
        joined = Entries.__new__(Entries)  # scipy would look for duplicates
        joined.__dict__.update(chosen.__dict__, indptr=_read_only(chosen.indptr[unit]))
        joined.shape = (len(unit) - 1, self.shape[1])
        return joined

    @property
    def arrays(self) -> csr.Stored:
        """As kernels want them."""
        return csr.Stored(self.indptr, self.indices, self.data)

    @property
    def row_counts(self) -> np.ndarray:
        """Number of stored entries of each row."""
        return np.diff(self.indptr)

    def map(self, work, K: int) -> list:
        """Run ``work(start, stop)`` over row blocks of about equal cost."""
        return map_blocks(work, row_blocks(self.indptr * K), self.n_threads)

    def _fill(self, kernel, K: int, dtype, *arguments) -> np.ndarray:
        out, arrays = np.empty((self.shape[0], K), dtype=dtype), self.arrays
        self.map(lambda start, stop: kernel(start, stop, arrays, *arguments, out), K)
        return out

    def times(self, G: np.ndarray) -> np.ndarray:
        """X G."""
        return self._fill(csr.times, G.shape[1], G.dtype, G)

    def ones_times(self, G: np.ndarray) -> np.ndarray:
        """1 G, the ones standing at the stored entries."""
        return self._fill(csr.ones_times, G.shape[1], G.dtype, G)

    def model_times(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        """[F G'] G over the stored entries."""
        return self._fill(csr.model_times, G.shape[1], G.dtype, F, G)

    def ratio_times(self, F: np.ndarray, G: np.ndarray, floor: float) -> np.ndarray:
        """[X / F G'] G over the stored entries."""
        return self._fill(csr.ratio_times, G.shape[1], G.dtype, F, G, floor)

    def model(self, F: np.ndarray, G: np.ndarray) -> np.ndarray:
        """F G' at the stored entries, in their order."""
        out, arrays = np.empty(len(self.indices), dtype=F.dtype), self.arrays
        self.map(lambda start, stop: csr.model(start, stop, arrays, F, G, out), F.shape[1])
        return out

    def _sum(self, kernel, K: int, *arguments) -> tuple[float, float]:
        arrays = self.arrays
        parts = self.map(lambda start, stop: kernel(start, stop, arrays, *arguments), K)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def squared_error(self, F: np.ndarray, G: np.ndarray) -> tuple[float, float]:
        """Sums of (x - y)^2 and of y^2."""
        return self._sum(csr.squared_error, F.shape[1], F, G)

    def divergence(self, F: np.ndarray, G: np.ndarray, floor: float) -> tuple[float, float]:
        """Sums of x log(x/y) - x + y and of y."""
        return self._sum(csr.divergence, F.shape[1], F, G, floor)


def _read_only(array: np.ndarray) -> np.ndarray:
    """The array as one that cannot be written to.

    numba compiles a kernel once for read-only and once for writable arrays. With all arrays
    read-only, the memory map of a user needs no further compilation.
    """
    array = array.view()
    array.flags.writeable = False
    return array
