"""A feedback arc set: few edges of a directed graph without which it has no cycle.

To find the least one is NP-hard. The nodes are put in an order that little weight runs against
(`sift`), then edges that run against it are taken back where they close no cycle (`readmit`).
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import ndarray

from rprnmf.kernels import inner, kernel


class NodeEdges(NamedTuple):
    """The edges of every node, in and out: those of v stand at ``first[v]:first[v + 1]``."""

    first: ndarray
    end: ndarray  # the node at the other end
    outward: ndarray  # whether the edge leaves v
    weight: ndarray
    number: ndarray  # of the edge, which stands at both of its nodes


class Search(NamedTuple):
    """Workspace of `readmit`, of one integer per node each; ``mark`` begins with zeros."""

    mark: ndarray
    ahead: ndarray
    behind: ndarray
    slots: ndarray


@kernel
def depths(first, parent, children, ready, depth):
    """The depth of each node of a directed graph without cycles.

    A node that no edge leaves has depth 1, any other one more than the deepest that it leads to.
    ``parent[first[v]:first[v + 1]]`` are the nodes with an edge to v. ``children[v]`` is the
    number of edges that leave v; it is 0 everywhere in the end. ``ready`` is workspace of one
    integer per node, ``depth`` the result.
    """
    n = children.shape[0]
    depth[:] = 1
    end = 0
    for v in range(n):
        if children[v] == 0:
            ready[end] = v
            end += 1
    at = 0
    while at < end:
        v = ready[at]
        at += 1
        for place in range(first[v], first[v + 1]):
            u = parent[place]
            depth[u] = max(depth[u], depth[v] + 1)
            children[u] -= 1
            if children[u] == 0:
                ready[end] = u
                end += 1


@kernel
def sift(position, nodes, edges, places, order):
    """Move each node to where the weight of its edges that run backwards is least.

    An edge runs backwards if it leads to a smaller position. ``places`` and ``order`` are
    workspace for the edges of one node. Returns by how much the weight fell.
    """
    fallen = 0.0
    weight, outward = edges.weight, edges.outward
    for v in nodes:
        begin, end = edges.first[v], edges.first[v + 1]
        size = end - begin
        if size == 0:
            continue
        for t in range(size):
            places[t] = position[edges.end[begin + t]]
            order[t] = t
        sort_by(places, order, size)
        cost = 0.0  # in front of all: edges into v run backwards
        now = 0.0
        for t in range(size):
            w = weight[begin + t]
            if not outward[begin + t]:
                cost += w
            if outward[begin + t] == (places[t] < position[v]):
                now += w
        best, gap = cost, 0
        for t in range(size):
            place = begin + order[t]
            cost += weight[place] if outward[place] else -weight[place]
            if t + 1 < size and places[order[t + 1]] == places[order[t]]:
                continue
            if cost < best:
                best, gap = cost, t + 1
        if best < now - 1e-12 * (now + best):
            fallen += now - best
            low = places[order[gap - 1]] if gap > 0 else places[order[0]] - 2.0
            high = places[order[gap]] if gap < size else places[order[size - 1]] + 2.0
            position[v] = 0.5 * (low + high)
    return fallen


@kernel
def readmit(tried, near, far, kept, position, edges, search, visits):
    """Keep edges that close no cycle with those that are kept, in the order given.

    Edge e leads from ``near[e]`` to ``far[e]``. ``position`` is an order of the nodes along all
    edges that are kept, and stays one (Pearce and Kelly): the nodes after ``far`` and those
    before ``near`` change places. Ends after about ``visits`` visits of edges.
    """
    mark, ahead, behind = search.mark, search.ahead, search.behind
    stamp = 0
    for e in tried:
        if visits < 0:
            break
        u, v = near[e], far[e]
        lower, upper = position[v], position[u]
        if lower > upper:
            kept[e] = True
            continue
        stamp += 1
        n_ahead, visits = reach_ahead(u, v, position, kept, edges, search, stamp, visits)
        if n_ahead < 0:
            continue
        mark[u] = stamp
        behind[0] = u
        n_behind, at = 1, 0
        while at < n_behind:
            node = behind[at]
            at += 1
            visits -= edges.first[node + 1] - edges.first[node]
            for place in range(edges.first[node], edges.first[node + 1]):
                other = edges.end[place]
                if edges.outward[place] or not kept[edges.number[place]] or mark[other] == stamp:
                    continue
                if position[other] > lower:
                    mark[other] = stamp
                    behind[n_behind] = other
                    n_behind += 1
        kept[e] = True
        take_places(position, ahead, n_ahead, behind, n_behind, search.slots)


@inner
def reach_ahead(u, v, position, kept, edges, search, stamp, visits):
    """List the nodes that v leads to and that stand before u; -1 of them if it leads to u."""
    mark, ahead = search.mark, search.ahead
    upper = position[u]
    mark[v] = stamp
    ahead[0] = v
    size, at = 1, 0
    while at < size:
        node = ahead[at]
        at += 1
        visits -= edges.first[node + 1] - edges.first[node]
        for place in range(edges.first[node], edges.first[node + 1]):
            other = edges.end[place]
            if not edges.outward[place] or not kept[edges.number[place]] or mark[other] == stamp:
                continue
            if other == u:
                return -1, visits
            if position[other] < upper:
                mark[other] = stamp
                ahead[size] = other
                size += 1
    return size, visits


@inner
def take_places(position, ahead, n_ahead, behind, n_behind, slots):
    """Give the places of all listed nodes first to those behind, then to those ahead."""
    sort_by(position, ahead, n_ahead)
    sort_by(position, behind, n_behind)
    a, b = 0, 0
    while a < n_ahead or b < n_behind:
        if b == n_behind or (a < n_ahead and position[ahead[a]] < position[behind[b]]):
            slots[a + b] = position[ahead[a]]
            a += 1
        else:
            slots[a + b] = position[behind[b]]
            b += 1
    for t in range(n_behind):
        position[behind[t]] = slots[t]
    for t in range(n_ahead):
        position[ahead[t]] = slots[n_behind + t]


@inner
def sort_by(places, order, size):
    """Put the first numbers of ``order`` in the order of their places (Shell's sort)."""
    gap = size // 2
    while gap > 0:
        for t in range(gap, size):
            this = order[t]
            at = t
            while at >= gap and places[order[at - gap]] > places[this]:
                order[at] = order[at - gap]
                at -= gap
            order[at] = this
        gap = 1 if gap == 2 else int(gap * 5 // 11)
