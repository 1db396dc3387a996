"""A sparse matrix from entries in any order: rows in order, an entry once."""

from __future__ import annotations

from rprnmf.kernels import inner, kernel


@kernel
def count_rows(code, name_of, counts):
    """Add the entries of each row; ``name_of[code]`` is the row of an entry."""
    for e in range(len(code)):
        counts[name_of[code[e]]] += 1


@kernel
def scatter(entries, rows, columns, following, X):
    """Put entries where their rows end so far; ``following`` moves on.

    ``entries`` are the codes of rows, of columns, and values; X the indices and data.
    """
    users, items, values = entries
    indices, data = X
    for e in range(len(users)):
        row = rows[users[e]]
        place = following[row]
        following[row] = place + 1
        indices[place] = columns[items[e]]
        data[place] = values[e]


@inner
def merge(a, x, b, y, low, middle, high):
    """Merge two sorted stretches of a (and x, which goes with it) into b and y; stable."""
    one, two = low, middle
    for out in range(low, high):
        if two >= high or (one < middle and a[one] <= a[two]):
            b[out], y[out] = a[one], x[one]
            one += 1
        else:
            b[out], y[out] = a[two], x[two]
            two += 1


@inner
def sort_row(a, x, b, y):
    """Sort a, and x with it; b and y are workspace of the same lengths."""
    n = len(a)
    for begin in range(0, n, 16):  # short stretches by insertion
        for at in range(begin + 1, min(begin + 16, n)):
            key, value = a[at], x[at]
            left = at - 1
            while left >= begin and a[left] > key:
                a[left + 1], x[left + 1] = a[left], x[left]
                left -= 1
            a[left + 1], x[left + 1] = key, value
    size = 16
    turned = False
    while size < n:
        for low in range(0, n, 2 * size):
            middle, high = min(low + size, n), min(low + 2 * size, n)
            if turned:
                merge(b, y, a, x, low, middle, high)
            else:
                merge(a, x, b, y, low, middle, high)
        turned = not turned
        size *= 2
    if turned:
        for at in range(n):
            a[at], x[at] = b[at], y[at]


@kernel
def order_rows(X, start, stop, work, lengths, mean):
    """Sort rows by column and join what stands twice to its mean, or else to its sum.

    ``lengths`` becomes how many entries of each row are left.

    X: indptr, indices, data; ``work``: two arrays as long as the longest row.
    """
    indptr, indices, data = X
    for row in range(start, stop):
        begin, end = indptr[row], indptr[row + 1]
        falls = twice = False
        for e in range(begin + 1, end):
            falls |= indices[e] < indices[e - 1]
            twice |= indices[e] == indices[e - 1]
        if falls:
            n = end - begin
            sort_row(indices[begin:end], data[begin:end], work[0][:n], work[1][:n])
            for e in range(begin + 1, end):
                twice |= indices[e] == indices[e - 1]
        lengths[row] = end - begin
        if twice:
            out = e = begin
            while e < end:
                column, total, first = indices[e], 0.0, e
                while e < end and indices[e] == column:
                    total += data[e]
                    e += 1
                indices[out] = column
                data[out] = total / (e - first) if mean else total
                out += 1
            lengths[row] = out - begin


@kernel
def close_gaps(X, lengths):
    """Move rows together after entries were joined; X: indptr, indices, data."""
    indptr, indices, data = X
    out = 0
    for row in range(len(lengths)):
        begin = indptr[row]
        indptr[row] = out
        for e in range(begin, begin + lengths[row]):
            indices[out], data[out] = indices[e], data[e]
            out += 1
    indptr[len(lengths)] = out
