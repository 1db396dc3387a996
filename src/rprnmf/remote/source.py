"""Blocks of a Dask array, read and checked where they are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rprnmf.remote.memory import weight_of
from rprnmf.remote.program import Lazy, Span, Store


class Said(NamedTuple):
    """What is said of a Dask array: the shape of a row, and its name."""

    width: tuple[int, ...]
    what: str


class Source:
    """One block of a Dask array, to be computed.

    Parameters
    ----------
    X : dask array
    span : Span
    what : str
        Its name, for messages.
    """

    def __init__(self, X: Any, span: Span, what: str = "X"):
        import dask

        (self.block,) = dask.optimize(X.blocks[span.block])
        self.span, self.said = span, Said(X.shape[1:], what)
        # of sparse blocks nobody knows how large they are
        self.expected = 0 if sp.issparse(X._meta) else int(self.block.nbytes)

    def __call__(self) -> Any:
        """The block."""
        return checked(computed(self.block), self.span, self.said)


def computed(lazy: Any) -> Any:
    """What something lazy of Dask gives."""
    return lazy.compute(scheduler="synchronous")


def checked(block: Any, span: Span, said: Said) -> Any:
    """A block that is what its Dask array says of it."""
    at = span.of(said.what)
    if is_frame(block):
        raise TypeError(
            f"{at} is a {type(block).__name__}, not an array; pass the frame's to_dask_array("
            "lengths=True)."
        )
    if not sp.issparse(block):
        if hasattr(block, "todense") or hasattr(block, "mask"):
            kind = f"{type(block).__module__}.{type(block).__qualname__}"
            raise TypeError(
                f"{at} is a {kind}; blocks may be numpy arrays or scipy's sparse arrays."
            )
        block = np.asarray(block)
    expected = (span.stop - span.first, *said.width)
    if block.shape != expected:
        raise ValueError(
            f"{at} has the shape {block.shape}, but the Dask array says {expected}: what it "
            "says of its chunks does not hold."
        )
    return block


def is_frame(value: Any) -> bool:
    """Whether it is a DataFrame, of pandas or of Dask."""
    return hasattr(value, "columns") and hasattr(value, "iloc")


def kept(store: Store, block: Any, missing: str | None) -> Any:
    """A block that is in memory, counted."""
    store.take(weight_of(block, missing), anyway=True)
    return block


def kept_or_lazy(store: Store, source: Source, missing: str | None) -> Any:
    """A block if there is memory for it; else what reads it whenever it is used."""
    if store.take(source.expected):
        block = source()
        if store.take(weight_of(block, missing) - source.expected):
            return block
    return Lazy(source)
