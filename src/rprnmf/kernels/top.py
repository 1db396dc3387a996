"""The largest entries of each row."""

from __future__ import annotations

from rprnmf.kernels import kernel


@kernel
def top_of_rows(scores, items, values):
    """Fill rows of ``items`` and ``values`` with the largest scores, in falling order.

    Entries of -inf are never taken: rows with too few others end in items of -1. Of equal scores
    the first comes first.
    """
    n = items.shape[1]
    for i in range(scores.shape[0]):
        row = scores[i]
        best, place = values[i], items[i]
        for k in range(n):
            best[k] = -float("inf")
            place[k] = -1
        least = best[n - 1]
        for j in range(row.shape[0]):
            score = row[j]
            if score > least:
                k = n - 1
                while k > 0 and score > best[k - 1]:
                    best[k] = best[k - 1]
                    place[k] = place[k - 1]
                    k -= 1
                best[k] = score
                place[k] = j
                least = best[n - 1]
    return 0
