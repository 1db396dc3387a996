"""Networks of pairs: depths, and orders against which few edges run."""

from __future__ import annotations

from rprnmf.kernels import inner, kernel


@kernel
def depths(first, parent, children, ready, depth):
    """The depth of each node of a network without cycles.

    ``parent[first[v]:first[v + 1]]`` are the nodes with an edge to v, ``children[v]`` is the
    number of edges that leave v and is used up, ``ready`` is room for all nodes. ``depth`` is
    filled: a node that no edge leaves has depth 1.
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
def sift(position, nodes, first, neighbour, weight, outward, places, order):
    """Move each node to where the weight of its edges that run backwards is least.

    ``neighbour[first[v]:first[v + 1]]`` are the ends of the edges of v, in and out; an edge runs
    backwards if it leads to a smaller position. ``places`` and ``order`` are room for the edges of
    one node. Returns by how much the weight fell.
    """
    fallen = 0.0
    for v in nodes:
        begin, end = first[v], first[v + 1]
        size = end - begin
        if size == 0:
            continue
        for t in range(size):
            places[t] = position[neighbour[begin + t]]
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
def readmit(
    tried, near, far, kept, position, first, end, outward, edge, mark, ahead, behind, slots, visits
):
    """Keep edges that close no cycle with those that are kept, in the order given.

    ``position`` is an order of the nodes along all edges that are kept, and stays one (Pearce
    and Kelly): the nodes after ``far`` and those before ``near`` change places. ``mark``,
    ``ahead``, ``behind`` and ``slots`` are room for the nodes, ``mark`` with zeros. Ends after
    about so many ``visits`` of edges.
    """
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
        mark[v] = stamp
        ahead[0] = v
        size, at = 1, 0
        cycle = False
        while at < size and not cycle:
            node = ahead[at]
            at += 1
            visits -= first[node + 1] - first[node]
            for place in range(first[node], first[node + 1]):
                other = end[place]
                if not outward[place] or not kept[edge[place]] or mark[other] == stamp:
                    continue
                if other == u:
                    cycle = True
                    break
                if position[other] < upper:
                    mark[other] = stamp
                    ahead[size] = other
                    size += 1
        if cycle:
            continue
        mark[u] = stamp
        behind[0] = u
        n_behind, at = 1, 0
        while at < n_behind:
            node = behind[at]
            at += 1
            visits -= first[node + 1] - first[node]
            for place in range(first[node], first[node + 1]):
                other = end[place]
                if outward[place] or not kept[edge[place]] or mark[other] == stamp:
                    continue
                if position[other] > lower:
                    mark[other] = stamp
                    behind[n_behind] = other
                    n_behind += 1
        kept[e] = True
        take_places(position, ahead, size, behind, n_behind, slots)


@inner
def take_places(position, ahead, n_ahead, behind, n_behind, room):
    """Give the places of all listed nodes first to those behind, then to those ahead."""
    sort_by(position, ahead, n_ahead)
    sort_by(position, behind, n_behind)
    a, b = 0, 0
    while a < n_ahead or b < n_behind:
        if b == n_behind or (a < n_ahead and position[ahead[a]] < position[behind[b]]):
            room[a + b] = position[ahead[a]]
            a += 1
        else:
            room[a + b] = position[behind[b]]
            b += 1
    for t in range(n_behind):
        position[behind[t]] = room[t]
    for t in range(n_ahead):
        position[ahead[t]] = room[n_behind + t]


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
