"""An array in blocks of rows that numpy can compute with.

Solvers are written for arrays. What they do with the rows of a factor, a product by numbers, a
maximum, a sum over the rows, is done to a `RemoteArray` where its blocks lie: numpy hands its
functions over (`__array_ufunc__`, `__array_function__`). Nothing is ever gathered in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rprnmf.remote import parts
from rprnmf.remote.pool import Pool, Remote

ONE_ROW = 1  # functions are tried on so many rows to learn the shape of what they give


class RemoteArray(Remote, NDArrayOperatorsMixin):
    """One row per row of X; one or two axes.

    Parameters
    ----------
    pool : Pool
    number : int
        Of its value in the pool.
    width : tuple of int
        The shape of a row.
    dtype : numpy.dtype
    """

    def __init__(self, pool: Pool, number: int, width: tuple[int, ...], dtype: Any):
        super().__init__(pool, number)
        self._kept: tuple[int, np.ndarray, np.ndarray] | None = None
        self.width, self.dtype = tuple(width), np.dtype(dtype)

    @classmethod
    def of(cls, remote: Remote, width: tuple[int, ...], dtype: Any) -> RemoteArray:
        """A value of the blocks, of which it is known to be an array."""
        remote.pool.share(remote.number)
        return cls(remote.pool, remote.number, width, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return (int(self.pool.bounds[-1]), *self.width)

    @property
    def ndim(self) -> int:
        """As of an array."""
        return 1 + len(self.width)

    @property
    def size(self) -> int:
        """As of an array."""
        return int(np.prod(self.shape))

    @property
    def T(self) -> Transposed:
        """For products that sum over the rows."""
        return Transposed(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("the rows of this array lie in blocks and are not gathered by themselves.")

    def row(self) -> np.ndarray:
        """An array of one row like this."""
        return np.ones((ONE_ROW, *self.width), self.dtype)

    def map(self, function: Callable[..., Any], *arguments: Any) -> RemoteArray:
        """A function of rows, tried on one row to know what it gives."""
        tried = [a.row() if isinstance(a, RemoteArray) else a for a in arguments]
        with np.errstate(all="ignore"):
            like = function(*tried)
        found = self.pool.map(function, *arguments)
        return RemoteArray.of(found, like.shape[1:], like.dtype)

    def become(self, other: RemoteArray) -> None:
        """Take the value of another: what writes in place does here."""
        self.pool.share(other.number)
        self.pool.release(self.number)
        self.number, self.width, self.dtype = other.number, other.width, other.dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if method != "__call__":
            return NotImplemented
        if ufunc is np.matmul and not isinstance(inputs[0], RemoteArray):
            return NotImplemented
        if ufunc is np.matmul and inputs[0].ndim == 1:  # sums over the rows
            return self.pool.total(parts.product, *inputs)
        found = self.map(parts.Named(ufunc, options), *inputs)
        if out is None:
            return found
        (target,) = out
        target.become(found.astype(target.dtype))
        return target

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.einsum:
            return self._einsum(*arguments, **options)
        if function in (np.zeros_like, np.ones_like, np.where, np.clip, np.nan_to_num):
            return self.map(parts.Named(function, options), *arguments)
        if function in (np.sum, np.mean, np.any, np.max):
            return getattr(arguments[0], function.__name__)(*arguments[1:], **options)
        return NotImplemented

    def _einsum(self, spec: str, *arrays: Any, **options: Any) -> Any:
        over_rows = parts.Named(parts.einsum, {"spec": spec, **options})
        given, wanted = spec.split("->")
        labels = given.split(",")
        row = next(
            one[0] for one, a in zip(labels, arrays, strict=True) if isinstance(a, RemoteArray)
        )
        if row in wanted:
            return self.map(over_rows, *arrays)
        return self.pool.total(over_rows, *arrays)

    def sum(self, axis: int | None = None, dtype: Any = None) -> Any:
        """As of an array."""
        if axis == 1:
            return self.map(parts.Named(np.sum, {"axis": 1, "dtype": dtype}), self)
        return self.pool.total(parts.Named(np.sum, {"axis": axis, "dtype": dtype}), self)

    def mean(self, axis: int | None = None, dtype: Any = None) -> Any:
        """As of an array; over the rows, or over all."""
        count = self.size if axis is None else len(self)
        total = self.sum(axis, dtype)
        return total / total.dtype.type(count)

    def any(self, axis: int | None = None) -> Any:
        """As of an array."""
        return (self.pool.total(parts.Named(parts.count, {"axis": axis}), self)) > 0

    def max(self, axis: int | None = None, initial: float = -np.inf) -> Any:
        """As of an array; over the rows, or over all."""
        options = {"axis": axis, "initial": initial}
        return np.max(self.pool.each(parts.Named(np.max, options), self), axis=0)

    def astype(self, dtype: Any, copy: bool = True) -> RemoteArray:
        """As of an array."""
        if np.dtype(dtype) == self.dtype:
            return self.copy()
        return self.map(parts.Named(parts.astype, {"dtype": np.dtype(dtype)}), self)

    def copy(self, order: str = "C") -> RemoteArray:
        """Another handle: values never change, only what handles stand for."""
        return RemoteArray.of(self, self.width, self.dtype)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key in (slice(None), slice(len(self))):
            return self.copy()
        if isinstance(key, slice) and key == slice(None, len(self)):
            return self.copy()
        if isinstance(key, tuple):
            return self.map(parts.Named(parts.taken, {"key": key}), self)
        rows = np.asarray(key)
        if rows.ndim == 1 and (rows.dtype != bool or not len(rows)):
            return self.gathered(rows.astype(np.int64))
        raise TypeError(f"rows that lie in blocks cannot be indexed by {key!r}.")

    def kept(self, rows: np.ndarray) -> np.ndarray:
        """As `gathered`, remembered for those who ask for the same rows again."""
        if self._kept is None or self._kept[0] != self.number or self._kept[1] is not rows:
            self._kept = self.number, rows, self.gathered(rows)
        return self._kept[2]

    def gathered(self, rows: np.ndarray) -> np.ndarray:
        """Some rows, here."""
        found = np.empty((len(rows), *self.width), self.dtype)
        for places, part in self.pool.total(parts.rows_of, self, self.pool.first, rows) or []:
            found[places] = part
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice) and (key == slice(None) or key == slice(None, len(self))):
            if not isinstance(value, RemoteArray):
                value = self.map(parts.filled, self, value)
            self.become(value.astype(self.dtype))
        elif isinstance(key, tuple):
            self.become(self.map(parts.Named(parts.with_part, {"key": key}), self, value))
        else:
            rows, first = np.asarray(key), self.pool.first
            found = self.pool.map(parts.with_rows, self, first, rows, np.asarray(value))
            self.become(RemoteArray.of(found, self.width, self.dtype))


class Transposed:
    """The transpose of a remote array, for products that sum over the rows."""

    def __init__(self, array: RemoteArray):
        self.array = array

    def __matmul__(self, other: RemoteArray) -> np.ndarray:
        return self.array.pool.total(parts.product, self.array, other)


def rows_where(condition: Any) -> Any:
    """The places where something holds; all, if that lies elsewhere and is not worth asking."""
    return slice(None) if isinstance(condition, RemoteArray) else np.flatnonzero(condition)
