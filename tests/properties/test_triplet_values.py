"""Triplets put together, thinned out, renumbered, shuffled and split."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rprnmf import RPRNMF, Triplets
from rprnmf.model_selection import triplet_scorer
from rprnmf.triplets import check_consistency

rows = st.lists(st.permutations(range(7)).map(lambda order: list(order[:3])), max_size=25)
seeds = st.integers(0, 9)


def value(items, seed=0, named=False):
    weights = np.random.default_rng(seed).integers(1, 6, len(items)).astype(float)
    if not items:
        return Triplets(np.zeros((0, 3), dtype=int))
    if named:
        items = [[f"item {i}" for i in row] for row in items]
    return Triplets(items, weights=weights)


def pairs(triplets):
    return list(zip(map(tuple, triplets.items.tolist()), triplets.weights.tolist(), strict=True))


@given(rows, seeds, st.booleans())
def test_every_triplet_once_with_the_sum_of_its_weights(items, seed, named):
    known = value(items, seed, named)
    once = known.deduplicate()
    total = Counter()
    for row, weight in pairs(known):
        total[row] += weight
    assert dict(pairs(once)) == dict(total)
    assert [row for row, _ in pairs(once)] == list(total)  # in the order of first occurrence
    assert once.deduplicate() == once


@given(rows, rows, seeds)
def test_one_after_the_other(first, second, seed):
    one, two = value(first, seed), value(second, seed + 1)
    assert pairs(one + two) == pairs(one) + pairs(two)
    assert Triplets.concat([one, two, one]).n_triplets == 2 * len(first) + len(second)


@given(rows, st.lists(st.integers(0, 6), unique=True), st.booleans())
def test_a_subset_speaks_of_the_rows_that_are_left(items, kept, named):
    known = value(items, 1, named)
    names = [f"item {i}" for i in kept] if named else kept
    some = known.subset(names)
    inside = [pair for pair in pairs(known) if set(pair[0]) <= set(names)]
    if not named:
        inside = [(tuple(kept.index(i) for i in row), weight) for row, weight in inside]
    assert pairs(some) == inside


@given(rows, seeds)
def test_shuffled_triplets_are_the_same_ones(items, seed):
    known = value(items, seed)
    mixed = known.shuffle(seed)
    assert sorted(pairs(mixed)) == sorted(pairs(known))
    assert mixed == known.shuffle(seed)


@given(rows.filter(lambda items: len(items) > 3), seeds, st.floats(0.1, 0.9))
def test_a_split_keeps_groups_together(items, seed, share):
    known = value(items, seed)
    groups = np.arange(len(items)) // 3
    numbered = Triplets(known.items, weights=np.arange(1.0, len(items) + 1))
    train, test = numbered.split(share, groups=groups, random_state=seed)
    assert sorted(pairs(train) + pairs(test)) == sorted(pairs(numbered))
    of = [set(groups[part.weights.astype(int) - 1].tolist()) for part in (train, test)]
    assert not of[0] & of[1]
    assert of[0]
    assert of[1]
    assert abs(test.n_triplets - share * len(items)) <= 3
    again = numbered.split(share, groups=groups, random_state=seed)
    assert (train, test) == again


def test_values_do_not_change():
    given_rows = np.array([[0, 1, 2], [3, 4, 5]])
    known = Triplets(given_rows)
    given_rows[0, 0] = 9
    assert known.items[0, 0] == 0
    for array in (known.items, known.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_summary_says_what_there_is():
    known = Triplets([["a", "b", "c"], ["a", "b", "c"], ["d", "b", "a"]], weights=[1, 2, 1])
    assert known.summary().splitlines() == [
        "3 triplets by name, weights 1 to 2 over 4 items",
        "an item occurs in 1 to 3 of them (median 2.5)",
        "1 repeat another one",
    ]
    assert value([]).summary() == "0 triplets by index over 0 items"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda known: known + Triplets([["a", "b", "c"]]), "by index and triplets by name"),
        (lambda known: known + Triplets([[0, 1, 2]], absent="drop"), "differ in absent"),
        (lambda known: known.split(groups=[1, 1]), "needs two triplets, or groups of them; got 1"),
        (lambda known: known.split(1.5), "between 0 and 1, got 1.5"),
        (lambda known: known.split(groups=[1]), "one for each of 2 triplets, got 1"),
        (lambda known: known.subset([1, 1]), "different from each other"),
        (lambda known: known.resolve("vote"), "method must be one of 'majority'"),
    ],
)
def test_what_cannot_be_done_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call(Triplets([[0, 1, 2], [3, 4, 5]]))


MISSING = {
    "NaN beside names": [["a", "b", "c"], ["a", float("nan"), "c"]],
    "None beside names": [["a", "b", "c"], ["a", None, "c"]],
    "NaN in an array": np.array([["a", "b", "c"], ["a", np.nan, "c"]], dtype=object),
    "NaN beside positions": [[0, 1, 2], [0, float("nan"), 2]],
}


@pytest.mark.parametrize("case", MISSING)
def test_a_missing_name_is_no_name(case):
    with pytest.raises(ValueError, match=r"triplets\[1\] = .*: r=(nan|None) is missing"):
        Triplets(MISSING[case])


# pandas 2.0 calls what numpy 1.26 is about to drop
@pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning")
def test_what_pandas_calls_missing():
    pd = pytest.importorskip("pandas")
    for column in (pd.array([3, pd.NA], dtype="Int64"), ["d", pd.NA], ["d", pd.NaT]):
        frame = pd.DataFrame({"q": [0, 1], "r": [1, 2], "s": column})
        with pytest.raises(ValueError, match=r"triplets\[1\] = .*: s=.* is missing"):
            Triplets(frame)
    with pytest.raises(TypeError, match="weights must be positive numbers"):
        Triplets([[0, 1, 2]], weights=[pd.NA])


def test_a_number_in_a_list_of_names_stays_a_number():
    assert Triplets([["a", 1, "1"]]).items.tolist() == [["a", 1, "1"]]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([[0, 1, 2], [0, -1, 2]], r"triplets\[1\] = \(q=0, r=-1, s=2\): r=-1 is no position"),
        (np.array([[0, 1, 2**63]], dtype=np.uint64), "s=9223372036854775808 does not fit"),
        ([[0, 1, 10**30]], "does not fit into 64 bits"),
        ([[0, 1, -(10**30)]], "does not fit into 64 bits"),
    ],
)
def test_what_is_no_position(items, message):
    with pytest.raises(ValueError, match=message):
        Triplets(items)


def test_other_integers_are_positions_or_names():
    known = Triplets(np.array([[0, 1, 2**40]], dtype=np.uint64))
    assert known == Triplets([[0, 1, 2**40]])
    assert Triplets([[0, -1, -2]], named=True).items.tolist() == [[0, -1, -2]]


def test_huge_weights_count_as_their_ratios():
    items = [[0, 1, 2], [0, 2, 1], [3, 4, 5], [3, 5, 4]]
    huge = Triplets(items, weights=[1e308, 5e307, 1.5e308, 1.5e308])
    small = Triplets(items, weights=[2.0, 1.0, 3.0, 3.0])
    for method in ("majority", "feedback-arc"):
        kept = [known.resolve(method).items.tolist() for known in (huge, small)]
        assert kept[0] == kept[1]
    assert check_consistency(huge).satisfiable == check_consistency(small).satisfiable
    X = np.random.default_rng(0).random((6, 5))
    fits = [
        RPRNMF(2, max_iter=9, tol=0, random_state=0).fit(X, row_triplets=known)
        for known in (huge, small)
    ]
    np.testing.assert_allclose(fits[0].embedding_, fits[1].embedding_, rtol=1e-9)
    np.testing.assert_array_equal(fits[0].row_triplets_.weights, huge.weights)
    new = [
        fit.transform(X[:2], row_triplets=Triplets([[6, 0, 1], [7, 1, 2]], weights=w))
        for fit, w in zip(fits, ([1e308, 1.5e308], [2.0, 3.0]), strict=True)
    ]
    np.testing.assert_allclose(*new, rtol=1e-9)
    scores = [triplet_scorer(known)(fits[0], X) for known in (huge, small)]
    assert scores[0] == pytest.approx(scores[1])
    with pytest.raises(ValueError, match="equal triplets add up to more than"):
        (huge + huge).deduplicate()
    assert "4 repeat another one" in (huge + huge).summary()


def test_names_and_back():
    known = Triplets([[0, 1, 2], [2, 0, 1]], weights=[2, 3])
    names = ["tea", "coffee", "soup"]
    named = known.with_names(names)
    assert named.items.tolist() == [["tea", "coffee", "soup"], ["soup", "tea", "coffee"]]
    assert named.positions(3, names) == known
    assert known.with_names(None) is known
    assert known.with_names([0, 1, 2]) is known
    assert known.take([]).with_names(names).named
