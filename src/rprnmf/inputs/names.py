"""Names of rows and columns: whole numbers where all are, else texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from rprnmf.kernels.delimited import Codes, fill_slots, join_integers, join_texts

PLAIN = re.compile(r"0|[1-9][0-9]{0,17}")


def as_names(names: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Names as an array: int64 if all are whole numbers as people write them, else objects."""
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu":
        return names.astype(np.int64)
    found = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if found and all(isinstance(name, str) and PLAIN.fullmatch(name) for name in found):
        return np.array([int(name) for name in found], dtype=np.int64)
    if found and all(type(name) is int and abs(name) < 2**63 for name in found):
        return np.array(found, dtype=np.int64)
    return np.fromiter(found, dtype=object, count=len(found))


def first_repeated(names: Any) -> tuple[Any, int, int] | None:
    """A name that occurs twice, with the two positions; None if there is none."""
    if names is None or len(set(names.tolist())) == len(names):
        return None
    found = names.tolist()
    name = next(name for name, count in Counter(found).items() if count > 1)
    first = found.index(name)
    return name, first, found.index(name, first + 1)


def empty_codes(n_names: int, n_lines: int, texts: bool) -> Codes:
    """Space for so many different names in so many lines."""
    slots = 1 << max(int(2 * n_names).bit_length(), 4)
    return Codes(
        np.zeros(slots, dtype=np.int32),
        np.empty(n_names, dtype=np.int64),
        np.empty(n_names if texts else 0, dtype=np.int64),
        np.empty(n_names if texts else 0, dtype=np.int32),
        np.empty(n_lines, dtype=np.int32),
    )


class NameTable:
    """The different names of a file that is read by blocks, in the order that they appear in.

    Parameters
    ----------
    texts : bool
        False: they are whole numbers.
    """

    def __init__(self, texts: bool):
        self.texts, self.n = texts, 0
        self.codes = empty_codes(1 << 12, 0, texts)
        self.store = np.empty(1 << 16, dtype=np.uint8)

    def join(self, buffer: np.ndarray, codes: Codes, count: int) -> np.ndarray | None:
        """Add the names of a block; the code of each. None if they cannot be placed."""
        self._make_room(self.n + count, int(codes.length[:count].sum()) if self.texts else 0)
        code_of = np.empty(count, dtype=np.int32)
        if self.texts:
            n = join_texts(buffer, codes, count, self.store, self.codes, self.n, code_of)
        else:
            n = join_integers(codes.key[:count], self.codes, self.n, code_of)
        if n < 0:
            return None
        self.n = n
        return code_of

    def _make_room(self, n_names: int, n_bytes: int) -> None:
        old = self.codes
        if self.texts:
            used = int(old.begin[self.n - 1] + old.length[self.n - 1]) if self.n else 0
            if used + n_bytes > len(self.store):
                store = np.empty(2 * (used + n_bytes), dtype=np.uint8)
                store[:used] = self.store[:used]
                self.store = store
        if n_names > len(old.key):
            self.codes = empty_codes(2 * n_names, 0, self.texts)
            for new, known in zip(self.codes[1:4], old[1:4], strict=True):
                new[: min(self.n, len(known))] = known[: self.n]
            fill_slots(self.codes.slots, self.codes.key, self.n, not self.texts)

    def names(self, encoding: str) -> np.ndarray:
        """All names, which are in this encoding; else UnicodeDecodeError."""
        if not self.texts:
            return self.codes.key[: self.n].copy()
        data = self.store.tobytes()
        begin, length = self.codes.begin[: self.n].tolist(), self.codes.length[: self.n].tolist()
        texts = [data[b : b + n].decode(encoding) for b, n in zip(begin, length, strict=True)]
        return np.fromiter(texts, dtype=object, count=len(texts))
