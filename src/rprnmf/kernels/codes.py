"""Different names to codes 0, 1, 2, ...: whole numbers, or texts by their bytes.

Open addressing, with at least twice as many slots as names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rprnmf.kernels import kernel, spliced

MOST_PROBES = 1000  # then so many names share a slot that someone chose them to
SMALL = 20  # bits: integers below keep their order in the slots, which the cache likes
SPREAD = 0x9E3779B1
MIX = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
PADDING = 8  # bytes behind a text that may be read, whatever they are


class Codes(NamedTuple):
    """Names as they first appear, and the code of the name in each line."""

    slots: ndarray  # a power of two of them; 1 + code, 0: free
    key: ndarray  # of each code: the integer itself, or a hash of the text
    begin: ndarray  # where the text of each code is
    length: ndarray
    code: ndarray  # of each line


@spliced
def slot_of_integer(key, mask):
    """Where to look first."""
    return (key + (key >> SMALL) * SPREAD) & mask


@spliced
def code_of_integer(key, codes, n):
    """The code of a whole number: n if it is new, -1 if it cannot be placed."""
    mask = len(codes.slots) - 1
    slot = slot_of_integer(key, mask)
    for _ in range(MOST_PROBES):
        found = codes.slots[slot]
        if found == 0:
            codes.slots[slot] = n + 1
            codes.key[n] = key
            return n
        if codes.key[found - 1] == key:
            return np.int64(found) - 1
        slot = (slot + 1) & mask
    return -1


@spliced
def word(buffer, at):
    """Eight bytes as one number; the compiler makes it one load."""
    return (
        np.uint64(buffer[at])
        | np.uint64(buffer[at + 1]) << np.uint64(8)
        | np.uint64(buffer[at + 2]) << np.uint64(16)
        | np.uint64(buffer[at + 3]) << np.uint64(24)
        | np.uint64(buffer[at + 4]) << np.uint64(32)
        | np.uint64(buffer[at + 5]) << np.uint64(40)
        | np.uint64(buffer[at + 6]) << np.uint64(48)
        | np.uint64(buffer[at + 7]) << np.uint64(56)
    )


@spliced
def first_bytes(buffer, at, n):
    """The first n of eight bytes, 1 to 8 of them, as one number."""
    rest = np.uint64(64 - 8 * n)
    return word(buffer, at) << rest >> rest


@spliced
def same_text(buffer, begin, length, store, other):
    """Whether two texts of one length, at least 1, are the same."""
    at = 0
    while length - at > 8:
        if word(buffer, begin + at) != word(store, other + at):
            return False
        at += 8
    rest = length - at
    return first_bytes(buffer, begin + at, rest) == first_bytes(store, other + at, rest)


@spliced
def hash_of_text(buffer, begin, length):
    """A number of 63 bits for a text of at least 1 byte."""
    key = np.uint64(length) * MIX
    at = 0
    while length - at > 8:
        key = (key ^ word(buffer, begin + at)) * MIX
        key ^= key >> HALF
        at += 8
    key = (key ^ first_bytes(buffer, begin + at, length - at)) * MIX
    key ^= key >> HALF
    return np.int64(key >> np.uint64(1))


@spliced
def code_of_text(buffer, begin, length, key, store, codes, n):
    """The code of a text with this hash: n if it is new, -1 if it cannot be placed.

    ``store`` holds the texts of all codes. Buffer and store go on for `PADDING` bytes.
    """
    mask = len(codes.slots) - 1
    slot = key & mask
    for _ in range(MOST_PROBES):
        found = np.int64(codes.slots[slot]) - 1
        if found < 0:
            codes.slots[slot] = n + 1
            codes.key[n] = key
            codes.begin[n] = begin
            codes.length[n] = length
            return n
        if codes.key[found] == key and codes.length[found] == length:
            if same_text(buffer, begin, length, store, codes.begin[found]):
                return found
        slot = (slot + 1) & mask
    return -1


@kernel
def join_integers(keys, known, n, code_of):
    """Add whole numbers to those that are known; ``code_of``: the code of each.

    Returns how many are known then, or -1.
    """
    for at in range(len(keys)):
        code = code_of_integer(keys[at], known, n)
        if code < 0:
            return -1
        n += code == n
        code_of[at] = code
    return n


@kernel
def join_texts(buffer, names, count, store, known, n, code_of):
    """As `join_integers` for texts; those that are known are in ``store``."""
    used = known.begin[n - 1] + known.length[n - 1] if n > 0 else 0
    for at in range(count):
        begin, length = names.begin[at], np.int64(names.length[at])
        code = code_of_text(buffer, begin, length, names.key[at], store, known, n)
        if code < 0:
            return -1
        if code == n:
            for place in range(length):
                store[used + place] = buffer[begin + place]
            known.begin[n] = used
            used += length
            n += 1
        code_of[at] = code
    return n


@kernel
def fill_slots(codes, n, whole):
    """Place the first n keys in empty slots; whether they are whole numbers, or hashes."""
    mask = len(codes.slots) - 1
    for code in range(n):
        key = codes.key[code]
        slot = slot_of_integer(key, mask) if whole else key & mask
        while codes.slots[slot] != 0:
            slot = (slot + 1) & mask
        codes.slots[slot] = code + 1
