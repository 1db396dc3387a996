"""Lines of delimited text to numbers, names and codes.

A buffer of bytes holds whole lines, the last one ended too. What these loops do not know (a quote
inside a cell, a sign, blanks, a cell too many) they do not judge: they return -1, and a general
reader takes over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import ndarray

from rprnmf.kernels import kernel, spliced
from rprnmf.kernels.codes import code_of_integer, code_of_text, hash_of_text, same_text
from rprnmf.kernels.decimals import Powers, decimal

NEWLINE, RETURN, QUOTE = 10, 13, 34


class Form(NamedTuple):
    """How a line is to be read."""

    delimiter: int  # a byte
    width: int  # 1, or 2 if the delimiter is that byte twice
    point: int  # the byte between a number's whole and decimal digits
    role: ndarray  # of each cell: what it is for, see the kernels
    powers: Powers


@spliced
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


@spliced
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


@spliced
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


@spliced
def text_inside(buffer, begin, end):
    """Begin and end of a cell without its quotes; nothing if blanks must be taken off."""
    if buffer[begin] == QUOTE:
        begin, end = begin + 1, end - 1
    if begin < end and (buffer[begin] <= 32 or buffer[end - 1] <= 32):
        return begin, begin
    return begin, end


@spliced
def whole_name(buffer, at, codes, n, last):
    """The code of the whole number at ``at``, and where that ends; -1 if there is none.

    There are n codes so far; ``last`` is that of the line before, which is often the same.
    """
    key, end = integer(buffer, at)
    if end < 0:
        return last, -1
    if n > 0 and codes.key[last] == key:
        return last, end
    code = code_of_integer(key, codes, n)
    return code, end if code >= 0 else -1


@spliced
def text_name(buffer, at, codes, n, last, form):
    """As `whole_name` for a text."""
    end = cell_end(buffer, at, form)
    if end < 0:
        return last, -1
    begin, after = text_inside(buffer, at, end)
    length = after - begin
    if length == 0:
        return last, -1
    if n > 0 and codes.length[last] == length:
        if same_text(buffer, begin, length, buffer, codes.begin[last]):
            return last, end
    key = hash_of_text(buffer, begin, length)
    code = code_of_text(buffer, begin, length, key, buffer, codes, n)
    return code, end if code >= 0 else -1


@kernel
def long_form(buffer, stop, form, users, items, values, counts):
    """Read lines of a user, an item and a value.

    Roles: 0 other, 1 and 2 user and item that are whole numbers, 3 and 4 the same as texts, 5 the
    value. ``counts`` becomes the numbers of users and items. Returns the number of lines, or -1.
    """
    last = len(form.role) - 1
    n_users = n_items = n = at = 0
    user = item = np.int64(0)
    while at < stop:
        if buffer[at] == NEWLINE:
            at += 1
            continue
        for place in range(last + 1):
            role = form.role[place]
            if role == 5:
                values[n], end = decimal(buffer, at, form.point, form.powers)
            elif role == 1:
                user, end = whole_name(buffer, at, users, n_users, user)
                n_users += user == n_users
            elif role == 2:
                item, end = whole_name(buffer, at, items, n_items, item)
                n_items += item == n_items
            elif role == 3:
                user, end = text_name(buffer, at, users, n_users, user, form)
                n_users += user == n_users
            elif role == 4:
                item, end = text_name(buffer, at, items, n_items, item, form)
                n_items += item == n_items
            else:
                end = cell_end(buffer, at, form)
            if end < 0:
                return -1
            at = past_delimiter(buffer, end, place == last, form)
            if at < 0:
                return -1
        users.code[n], items.code[n] = user, item
        n += 1
    counts[0], counts[1] = n_users, n_items
    return n


@spliced
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
