"""Lines of delimited text to numbers, names and codes.

A buffer of bytes holds whole lines, the last one ended too. What these loops do not know (a quote
inside a cell, a sign, blanks, a cell too many) they do not judge: they return -1, and a general
reader takes over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rprnmf.kernels import inner, kernel
from rprnmf.kernels.decimals import Powers, decimal

NEWLINE, RETURN, QUOTE = 10, 13, 34
MOST_PROBES = 1000  # then so many names share a slot that someone chose them to
SMALL = 20  # bits: integers below keep their order in the slots
SPREAD = 0x9E3779B1
OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


class Form(NamedTuple):
    """How a line is to be read."""

    delimiter: int  # a byte
    width: int  # 1, or 2 if the delimiter is that byte twice
    point: int  # the byte between a number's whole and decimal digits
    role: ndarray  # of each cell: what it is for, see the kernels
    powers: Powers


class Codes(NamedTuple):
    """Names as they first appear, and the code of the name in each line."""

    slots: ndarray  # a power of two of them; 1 + code, 0: free
    key: ndarray  # of each code: the integer itself, or a hash of the text
    begin: ndarray  # where the text of each code is
    length: ndarray
    code: ndarray  # of each line


@inner
def cell_end(buffer, at, form):
    """The end of the cell that begins at ``at``, quoted or not; -1 if it is odd."""
    if buffer[at] == QUOTE:
        at += 1
        while buffer[at] != QUOTE:
            if buffer[at] == NEWLINE:
                return -1
            at += 1
        return at + 1
    while True:
        c = buffer[at]
        if c == NEWLINE:
            return at
        if c == RETURN:
            return at if buffer[at + 1] == NEWLINE else -1
        if c == form.delimiter and (form.width == 1 or buffer[at + 1] == c):
            return at
        at += 1


@inner
def past_delimiter(buffer, at, last, form):
    """The begin of the next cell, or of the next line after the last; -1 if it is not there."""
    c = buffer[at]
    if last:
        if c == NEWLINE:
            return at + 1
        return at + 2 if c == RETURN and buffer[at + 1] == NEWLINE else -1
    if c == form.delimiter and (form.width == 1 or buffer[at + 1] == c):
        return at + form.width
    return -1


@inner
def integer(buffer, at):
    """A whole number as people write it, no sign and no zeros before it; end -1 if it is not."""
    begin = at
    value = np.int64(0)
    while 48 <= buffer[at] <= 57:
        value = 10 * value + np.int64(buffer[at]) - 48
        at += 1
        if at - begin > 18:
            return value, -1
    if at == begin or (buffer[begin] == 48 and at - begin > 1):
        return value, -1
    return value, at


@inner
def code_of_integer(key, codes, n):
    """The code of a whole number: n if it is new, -1 if it cannot be placed."""
    mask = len(codes.slots) - 1
    slot = (key + (key >> SMALL) * SPREAD) & mask
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


@inner
def code_of_text(buffer, begin, end, store, codes, n):
    """The code of the bytes from begin to end: n if they are new, -1 if they cannot be placed.

    ``store`` holds the texts of all codes.
    """
    key = OFFSET
    for at in range(begin, end):
        key = (key ^ np.uint64(buffer[at])) * PRIME
    key ^= key >> np.uint64(29)
    mask = np.uint64(len(codes.slots) - 1)
    slot = np.int64(key & mask)
    signed = np.int64(key)
    for _ in range(MOST_PROBES):
        found = np.int64(codes.slots[slot]) - 1
        if found < 0:
            codes.slots[slot] = n + 1
            codes.key[n] = signed
            codes.begin[n] = begin
            codes.length[n] = end - begin
            return n
        if codes.key[found] == signed and codes.length[found] == end - begin:
            other = codes.begin[found]
            same = True
            for at in range(end - begin):
                if buffer[begin + at] != store[other + at]:
                    same = False
                    break
            if same:
                return found
        slot = (slot + 1) & np.int64(mask)
    return -1


@inner
def text_inside(buffer, begin, end):
    """Begin and end of a cell without its quotes; nothing if blanks must be taken off."""
    if buffer[begin] == QUOTE:
        begin, end = begin + 1, end - 1
    if begin < end and (buffer[begin] <= 32 or buffer[end - 1] <= 32):
        return begin, begin
    return begin, end


@kernel
def long_form(buffer, stop, form, users, items, values, counts):
    """Read lines of a user, an item and a value.

    Roles: 0 other, 1 and 2 user and item that are whole numbers, 3 and 4 the same as texts, 5 the
    value. ``counts`` becomes the numbers of users and items. Returns the number of lines, or -1.
    """
    last = len(form.role) - 1
    n_users = n_items = n = at = 0
    while at < stop:
        if buffer[at] == NEWLINE:
            at += 1
            continue
        for place in range(last + 1):
            role = form.role[place]
            if role == 5:
                values[n], end = decimal(buffer, at, form.point, form.powers)
            elif role == 1 or role == 2:
                key, end = integer(buffer, at)
                if end >= 0 and role == 1:
                    users.code[n] = code = code_of_integer(key, users, n_users)
                    n_users += code == n_users
                    end = end if code >= 0 else -1
                elif end >= 0:
                    items.code[n] = code = code_of_integer(key, items, n_items)
                    n_items += code == n_items
                    end = end if code >= 0 else -1
            else:
                end = cell_end(buffer, at, form)
                if end >= 0 and role > 0:
                    first, after = text_inside(buffer, at, end)
                    if first == after:
                        return -1
                    if role == 3:
                        users.code[n] = code = code_of_text(
                            buffer, first, after, buffer, users, n_users
                        )
                        n_users += code == n_users
                    else:
                        items.code[n] = code = code_of_text(
                            buffer, first, after, buffer, items, n_items
                        )
                        n_items += code == n_items
                    end = end if code >= 0 else -1
            if end < 0:
                return -1
            at = past_delimiter(buffer, end, place == last, form)
            if at < 0:
                return -1
        n += 1
    counts[0], counts[1] = n_users, n_items
    return n


@inner
def is_missing(buffer, begin, end):
    """Whether a cell is empty, NA, NaN or nan."""
    size = end - begin
    if size == 0:
        return True
    c = buffer[begin]
    if c != 78 and c != 110:  # N, n
        return False
    if size == 2:
        return c == 78 and buffer[begin + 1] == 65
    return size == 3 and (buffer[begin + 1] | 32) == 97 and (buffer[begin + 2] | 32) == 110


@kernel
def table(buffer, stop, form, out, begin, length):
    """Read lines of numbers.

    A role of k >= 0 is the column of ``out``; -1 is a cell to pass over, -2 the name of the row,
    whose place goes to ``begin`` and ``length``. Returns the number of lines, or -1.
    """
    last = len(form.role) - 1
    n = at = 0
    while at < stop:
        if buffer[at] == NEWLINE:
            at += 1
            continue
        for place in range(last + 1):
            role = form.role[place]
            end = -1
            if role >= 0:
                out[n, role], end = decimal(buffer, at, form.point, form.powers)
            if end < 0:
                end = cell_end(buffer, at, form)
                if end < 0:
                    return -1
                if role >= 0:
                    if not is_missing(buffer, at, end):
                        return -1
                    out[n, role] = np.nan
                elif role == -2:
                    first, after = text_inside(buffer, at, end)
                    if first == after:
                        return -1
                    begin[n], length[n] = first, after - first
            at = past_delimiter(buffer, end, place == last, form)
            if at < 0:
                return -1
        n += 1
    return n


@kernel
def coordinates(buffer, stop, form, rows, columns, values):
    """Read lines of a row and a column, counted from 1, and perhaps a value.

    ``form.role`` has the largest row and column, and whether there is a value. Returns the number
    of lines, or -1.
    """
    n = at = 0
    while at < stop:
        if buffer[at] == NEWLINE:
            at += 1
            continue
        row, end = integer(buffer, at)
        if end < 0 or row < 1 or row > form.role[0]:
            return -1
        at = past_delimiter(buffer, end, False, form)
        if at < 0:
            return -1
        column, end = integer(buffer, at)
        if end < 0 or column < 1 or column > form.role[1]:
            return -1
        rows[n], columns[n], values[n] = row - 1, column - 1, 1.0
        if form.role[2]:
            at = past_delimiter(buffer, end, False, form)
            if at < 0:
                return -1
            values[n], end = decimal(buffer, at, form.point, form.powers)
            if end < 0:
                return -1
        at = past_delimiter(buffer, end, True, form)
        if at < 0:
            return -1
        n += 1
    return n


@kernel
def join_integers(keys, known, n, code_of):
    """Add whole numbers to those that are known; ``code_of``: the code of each. Returns n."""
    for at in range(len(keys)):
        code = code_of_integer(keys[at], known, n)
        if code < 0:
            return -1
        n += code == n
        code_of[at] = code
    return n


@kernel
def join_texts(buffer, names, count, store, known, n, code_of):
    """Add texts to those that are known, whose bytes are in ``store``. Returns n, or -1."""
    used = known.begin[n - 1] + known.length[n - 1] if n > 0 else 0
    for at in range(count):
        begin = names.begin[at]
        end = begin + names.length[at]
        code = code_of_text(buffer, begin, end, store, known, n)
        if code < 0:
            return -1
        if code == n:
            for place in range(begin, end):
                store[used + place - begin] = buffer[place]
            known.begin[n] = used
            used += end - begin
            n += 1
        code_of[at] = code
    return n


@kernel
def fill_slots(slots, key, n, whole):
    """Place the first n keys in empty slots; whether they are whole numbers, or hashes."""
    mask = len(slots) - 1
    for code in range(n):
        if whole:
            slot = (key[code] + (key[code] >> SMALL) * SPREAD) & mask
        else:
            slot = np.int64(np.uint64(key[code]) & np.uint64(mask))
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = code + 1
