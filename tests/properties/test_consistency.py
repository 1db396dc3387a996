"""Contradictions: found, named, resolved; conversions of the paper against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rprnmf import Triplets
from rprnmf.triplets import check_consistency, resolve, triplets_to_graph, triplets_to_labels

triplet_rows = st.lists(
    st.permutations(range(6)).map(lambda order: list(order[:3])), min_size=1, max_size=25
)


def pair(a, b):
    return (min(a, b), max(a, b))


def edges(rows):
    return [(pair(q, r), pair(q, s)) for q, r, s in rows]


def reaches(links, start):
    seen, todo = set(), [start]
    while todo:
        for a, b in links:
            if a == todo[-1] and b not in seen:
                seen.add(b)
                todo.append(b)
                break
        else:
            todo.pop()
    return seen


def acyclic(rows):
    """Triplets that hold in random points: they cannot contradict each other."""
    rng = np.random.default_rng(len(rows))
    F = rng.random((6, 2))
    D = np.linalg.norm(F[:, None] - F[None], axis=2)
    return [[q, r, s] if D[q, r] < D[q, s] else [q, s, r] for q, r, s in rows]


@given(triplet_rows)
def test_conflicts_are_the_cycles(rows):
    found = check_consistency(rows)
    links = edges(rows)
    for t, (near, far) in enumerate(links):
        on_cycle = near in reaches(links, far)
        assert (found.conflict[t] >= 0) == on_cycle
        opposite = [u for u, (a, b) in enumerate(links) if (a, b) == (far, near)]
        assert (found.opposite[t] in opposite) if opposite else found.opposite[t] == -1
    assert found.consistent == (found.n_conflicts == 0)


@given(triplet_rows, st.integers(0, 5))
def test_what_is_left_agrees(rows, seed):
    weights = np.random.default_rng(seed).integers(1, 5, len(rows)).astype(float)
    known = Triplets(rows, weights=weights)
    found = check_consistency(known)
    low, high = found.satisfiable
    assert 0.5 <= low <= high <= 1.0
    kept = resolve(known)
    assert check_consistency(kept).consistent
    assert kept.weights.sum() == pytest.approx(low * weights.sum())
    for t in np.flatnonzero(found.excess):  # nothing that is left out could have stayed
        back = ~found.excess
        back[t] = True
        assert not check_consistency(known.take(back)).consistent
    dropped = resolve(known, "drop")
    assert check_consistency(dropped).consistent
    assert dropped.weights.sum() <= kept.weights.sum() + 1e-9
    voted = resolve(known, "majority")
    assert (check_consistency(voted).opposite < 0).all()
    assert known.resolve("majority") == voted


def test_as_little_as_can_be_is_left_out():
    # a circle of three pairs with one weak link, beside a clear vote
    rows = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [3, 4, 5], [3, 5, 4]]
    known = Triplets(rows, weights=[5, 5, 1, 7, 2])
    assert resolve(known).items.tolist() == [rows[0], rows[1], rows[3]]
    assert check_consistency(known).satisfiable[0] == pytest.approx(17 / 20)
    text = str(check_consistency(known))
    assert "5 of them in 2 conflicts" in text
    assert "(1, 2, 0)" in text


def test_a_report_speaks_of_names():
    found = check_consistency([["tea", "milk", "soup"], ["tea", "soup", "milk"]])
    assert "('tea', 'milk', 'soup')" in str(found)
    assert found.satisfiable == (0.5, 0.5)
    assert "no contradiction" in str(check_consistency([[0, 1, 2]]))


def test_long_cycles_need_no_recursion():
    n = 200_000
    items = np.arange(n)
    # the pairs (i, i + 1) in a ring, each nearer than the next
    rows = np.column_stack(((items + 1) % n, items, (items + 2) % n))
    found = check_consistency(rows)
    assert found.n_conflicts == 1
    assert len(found.members(0)) == n
    assert resolve(rows).n_triplets == n - 1
    with pytest.raises(ValueError, match="and 199994 more"):
        triplets_to_graph(rows, n)
    assert triplets_to_graph(rows[:-1], n).nnz == 2 * n


def slow_graph(rows, n):
    links = edges(rows)
    nodes = {node for link in links for node in link}

    def depth(node):
        return 1 + max((depth(b) for a, b in links if a == node), default=0)

    depths = {node: depth(node) for node in nodes}
    most = max(depths.values())
    S = np.zeros((n, n))
    for (a, b), d in depths.items():
        S[a, b] = S[b, a] = 0.1 + (d - 1) * 0.8 / max(most - 1, 1)
    return S


@given(triplet_rows)
def test_weights_are_those_of_the_recursion(rows):
    rows = acyclic(rows)
    np.testing.assert_allclose(triplets_to_graph(rows, 6).toarray(), slow_graph(rows, 6))


@given(triplet_rows)
def test_labels_join_q_and_r(rows):
    labels = triplets_to_labels(rows, 7)
    groups = [{i} for i in range(7)]
    for q, r, _ in rows:
        one, two = (next(g for g in groups if i in g) for i in (q, r))
        if one is not two:
            groups = [g for g in groups if g not in (one, two)] + [one | two]
    named = {i for q, r, _ in rows for i in (q, r)}
    for i in range(7):
        assert (labels[i] >= 0) == (i in named)
        for j in named:
            together = any(i in g and j in g for g in groups)
            assert (labels[i] == labels[j]) == (together and i in named)


def test_a_cycle_is_named_or_condensed():
    rows = [[0, 1, 2], [0, 2, 1], [3, 4, 5]]
    with pytest.raises(ValueError, match=r"triplets\[0\] = \(0, 1, 2\), triplets\[1\]"):
        triplets_to_graph(rows, 6)
    S = triplets_to_graph(rows, 6, on_cycle="condense").toarray()
    assert S[0, 1] == S[0, 2]
    assert S[3, 4] > S[3, 5]
    with pytest.raises(ValueError, match="on_cycle must be"):
        triplets_to_graph(rows, 6, on_cycle="ignore")


@given(triplet_rows)
def test_cyclic_sets_end_with_a_word(rows):
    consistent = check_consistency(rows).consistent
    if consistent:
        triplets_to_graph(rows, 6)
    else:
        with pytest.raises(ValueError, match="contradict each other"):
            triplets_to_graph(rows, 6)
    S = triplets_to_graph(rows, 6, on_cycle="condense").toarray()
    assert ((S == 0) | ((S >= 0.1 - 1e-12) & (S <= 0.9 + 1e-12))).all()
