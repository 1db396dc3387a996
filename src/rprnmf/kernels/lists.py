"""Triplets and their pairs by row: the first fields of a `Coupling`.

All fill arrays that are made outside. Offsets have one slot more than they need: an entry is
counted two slots on, then placed at the slot after its own, which ends where the next begins.
"""

from __future__ import annotations

from rprnmf.kernels import kernel
from rprnmf.kernels.coupling import Q, R


@kernel
def list_pairs(wanted, one, two, met, pair, other, mirror, with_one, with_two):
    """The wanted pairs by row, and the places of each with its two rows.

    Fills ``met`` (zeros), ``other`` and ``mirror`` (see `Coupling`), ``pair``, the number of the
    pair at a place, and for every pair its places with row ``one`` and with row ``two``.
    """
    for p in range(one.shape[0]):
        if wanted[p]:
            met[one[p] + 2] += 1
            met[two[p] + 2] += 1
    for i in range(2, met.shape[0]):
        met[i] += met[i - 1]
    for p in range(one.shape[0]):
        if wanted[p]:
            i, j = one[p], two[p]
            a, b = met[i + 1], met[j + 1]
            met[i + 1] = a + 1
            met[j + 1] = b + 1
            with_one[p] = a
            with_two[p] = b
            pair[a] = p
            other[a] = j
            mirror[a] = b
            pair[b] = p
            other[b] = i
            mirror[b] = a


@kernel
def list_triplets(
    chosen, share, ends, near, far, one, with_one, with_two, met, first, own, also, its_share
):
    """The chosen triplets by row and role.

    Fills ``first`` (zeros), ``own``, ``also`` and ``its_share`` (see `Coupling`).
    """
    for t in chosen:
        for role in range(3):
            first[3 * ends[role, t] + role + 2] += 1
    for slot in range(2, first.shape[0]):
        first[slot] += first[slot - 1]
    for t in chosen:
        q = ends[Q, t]
        a, b = near[t], far[t]
        near_q, near_r = with_one[a], with_two[a]
        if one[a] != q:
            near_q, near_r = near_r, near_q
        far_q, far_s = with_one[b], with_two[b]
        if one[b] != q:
            far_q, far_s = far_s, far_q
        for role in range(3):
            i = ends[role, t]
            place = first[3 * i + role + 1]
            first[3 * i + role + 1] = place + 1
            its_share[place] = share[t]
            if role == Q:
                own[place] = near_q - met[i]
                also[place] = far_q - met[i]
            elif role == R:
                own[place] = near_r - met[i]
                also[place] = far_q
            else:
                own[place] = far_s - met[i]
                also[place] = near_q
