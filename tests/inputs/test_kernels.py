"""The compiled loops that read, against plain Python and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rprnmf.inputs.entries import Entries, sparse_from_entries
from rprnmf.inputs.names import NameTable, empty_codes
from rprnmf.kernels import kernel
from rprnmf.kernels.decimals import decimal, powers
from rprnmf.kernels.delimited import join_texts

TABLE = powers()


@kernel
def read_one(buffer, table):
    return decimal(buffer, 0, 46, table)


def read(text):
    return read_one(np.frombuffer(text.encode() + b"\n", dtype=np.uint8), TABLE)


DIGITS = st.text("0123456789", max_size=22)
WRITTEN = st.builds(
    lambda a, b, e: f"{a}.{b}" + (f"e{e}" if e is not None else ""),
    DIGITS,
    DIGITS,
    st.one_of(st.none(), st.integers(-330, 330)),
)


@settings(max_examples=1000)
@given(st.one_of(WRITTEN, st.floats(0, allow_infinity=False).map(repr)))
def test_a_number_is_the_nearest_one_or_is_left_to_python(text):
    value, end = read(text)
    if end >= 0:
        assert end == len(text)
        assert value == float(text)


@pytest.mark.parametrize("digits", [".17g", ".18e", ".16e", "f", "g"])
def test_numbers_as_programs_write_them_are_read(digits):
    rng = np.random.default_rng(0)
    numbers = rng.random(500) * 10.0 ** rng.integers(-12, 12, 500)
    for number in numbers.tolist():
        text = format(number, digits)
        value, end = read(text)
        if sum(c.isdigit() for c in text.split("e")[0].lstrip("0.")) <= 19:
            assert end == len(text)
            assert value == float(text)


def test_half_way_between_two_numbers():
    for text in ("9007199254740993", "9007199254740993.0", "9007199254740995", "1.5e0", "0.5"):
        assert read(text) == (float(text), len(text))
    for odd in (
        "",
        ".",
        "-1",
        "+1",
        "e5",
        "1e",
        "1e+",
        "x",
        "1" * 20,
        "1e-320",
        "1e400",
        "1e99999",
    ):
        assert read(odd)[1] == -1


@given(
    st.integers(1, 12),
    st.integers(1, 40),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 39), st.integers(0, 9)), max_size=400),
    st.booleans(),
)
def test_entries_in_any_order_become_rows(n_rows, n_columns, found, mean):
    entries = [(r % n_rows, c % n_columns, float(v)) for r, c, v in found]
    blocks = []
    for start in range(0, len(entries), 50):
        r, c, v = (np.array(part) for part in zip(*entries[start : start + 50], strict=True))
        same = [np.arange(n, dtype=np.int32) for n in (n_rows, n_columns)]
        blocks.append(Entries(r.astype(np.int32), c.astype(np.int32), v, *same))
    X, joined = sparse_from_entries(blocks, (n_rows, n_columns), 2, mean)
    expected: dict = {}
    for r, c, v in entries:
        expected.setdefault((r, c), []).append(v)
    assert joined == len(entries) - len(expected)
    assert X.nnz == len(expected)
    total = {place: np.mean(v) if mean else np.sum(v) for place, v in expected.items()}
    for row in range(n_rows):
        columns = X.indices[X.indptr[row] : X.indptr[row + 1]]
        assert (np.diff(columns) > 0).all()
        for column, value in zip(columns, X.data[X.indptr[row] : X.indptr[row + 1]], strict=True):
            assert value == pytest.approx(total[row, column])


def test_long_rows_are_sorted():
    rng = np.random.default_rng(0)
    columns = rng.permutation(5000).astype(np.int32)
    zeros = np.zeros(5000, dtype=np.int32)
    same = np.arange(5000, dtype=np.int32)
    X, _ = sparse_from_entries([Entries(zeros, columns, columns * 1.0, same, same)], (1, 5000), 1)
    assert X.indices.tolist() == list(range(5000))
    assert X.data.tolist() == list(range(5000))
    assert isinstance(X, sp.csr_array)


@given(st.lists(st.lists(st.binary(min_size=1, max_size=12), max_size=60), max_size=8))
def test_names_of_many_blocks_get_one_code_each(blocks):
    table, expected = NameTable(texts=True), {}
    for names in blocks:
        distinct = list(dict.fromkeys(names))
        buffer = np.frombuffer(b"".join(distinct) + b"\n", dtype=np.uint8)
        codes = empty_codes(len(distinct) + 1, 0, texts=True)
        lengths = [len(name) for name in distinct]
        codes.length[: len(distinct)] = lengths
        codes.begin[: len(distinct)] = np.cumsum([0, *lengths])[:-1]
        found = table.join(buffer, codes, len(distinct))
        assert found.tolist() == [expected.setdefault(n, len(expected)) for n in distinct]
    assert table.names("latin-1").tolist() == [name.decode("latin-1") for name in expected]


def test_names_that_cannot_be_placed_are_given_back():
    """As if someone had chosen texts that share a slot."""
    table = NameTable(texts=True)
    table.codes.slots[:] = 1  # all taken, by another name
    table.codes.key[0] = table.codes.length[0] = 0
    buffer = np.frombuffer(b"abc\n", dtype=np.uint8)
    codes = empty_codes(1, 0, texts=True)
    codes.begin[0], codes.length[0] = 0, 3
    assert table.join(buffer, codes, 1) is None
    code_of = np.zeros(1, dtype=np.int32)
    assert join_texts(buffer, codes, 1, table.store, table.codes, 0, code_of) == -1
