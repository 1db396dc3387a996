"""Many texts as two arrays: all their bytes, and where each ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.persistence.pool import Pool

ERRORS = "surrogatepass"  # text that Python allows and UTF-8 does not


def pack_text(values: list[str], pool: Pool) -> list[int]:
    """UTF-8 bytes, and where each text ends."""
    return pack_bytes([value.encode("utf-8", ERRORS) for value in values], pool)


def unpack_text(column: Any, n: int, pool: Pool) -> list[str]:
    """The texts again."""
    return [part.decode("utf-8", ERRORS) for part in unpack_bytes(column, n, pool)]


def pack_bytes(parts: list[bytes], pool: Pool) -> list[int]:
    """All of them, and where each ends."""
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return [pool.put(np.frombuffer(b"".join(parts), dtype=np.uint8)), pool.put(ends)]


def unpack_bytes(column: Any, n: int, pool: Pool) -> list[bytes]:
    """They again."""
    if not isinstance(column, list) or len(column) != 2:
        raise ValueError("a column of text must have bytes and ends.")
    data = pool.take(column[0], "uint8").tobytes()
    ends = pool.take(column[1], "int64", n)
    starts = np.concatenate(([0], ends[:-1])) if n else ends
    if (starts > ends).any() or (ends[-1] if n else 0) != len(data):
        raise ValueError("the ends of texts must rise to their last byte.")
    both = zip(starts.tolist(), ends.tolist(), strict=True)
    return [data[start:end] for start, end in both]
