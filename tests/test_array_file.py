"""One file of a header and arrays: what was written is read, all else is refused."""

from __future__ import annotations

import json
import os
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rprnmf.array_file import FileFormatError, read_arrays, write_arrays
from rprnmf.array_file.layout import DTYPES, MOST_HEADER, PREFIX
from tests.fuzz.forge import forged, repaired, taken_apart

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
).filter(lambda value: "inf" not in repr(value).lower())


@given(
    header=st.dictionaries(st.text(), JSON, max_size=3),
    arrays=st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_.\-]{1,9}", fullmatch=True),
        hnp.arrays(
            st.sampled_from(sorted(DTYPES)), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0)
        ),
        max_size=4,
    ),
    transposed=st.booleans(),
)
def test_what_was_written_is_read(tmp_path_factory, header, arrays, transposed):
    path = tmp_path_factory.mktemp("arrays") / "file"
    if transposed:
        arrays = {name: array.T for name, array in arrays.items()}
    write_arrays(path, header, arrays, kind="test")
    assert os.path.getsize(path) % 64 == 32  # arrays begin at multiples of 64
    found, read = read_arrays(path, kind=("other", "test"))
    assert found == header
    assert list(read) == list(arrays)
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        assert repr(read[name].dtype) == repr(np.dtype(array.dtype.name))
        assert read[name].shape == array.shape
        assert read[name].tobytes() == array.tobytes()
        assert read[name].flags.f_contiguous == array.flags.f_contiguous
        assert read[name].flags.writeable


@pytest.mark.parametrize("array", [np.arange(10)[::3], np.arange(4, dtype=">i2")])
def test_arrays_in_other_layouts_are_read_as_plain_ones(array, tmp_path):
    write_arrays(tmp_path / "file", {}, {"a": array}, kind="test")
    read = read_arrays(tmp_path / "file", kind="test")[1]["a"]
    assert np.array_equal(read, array)
    assert read.dtype.isnative
    assert read.flags.c_contiguous


@pytest.mark.parametrize(
    ("header", "arrays", "error", "message"),
    [
        ({"x": float("nan")}, {}, ValueError, "not JSON compliant"),
        ({"x": object()}, {}, TypeError, "not JSON serializable"),
        ({}, {"a": np.array([None])}, TypeError, "'a' cannot be written: .* dtype object"),
        ({}, {"a": np.array(["x"])}, TypeError, "<U1"),
        ({}, {"a": np.zeros(1, dtype=complex)}, TypeError, "complex128"),
        ({}, {"a": np.zeros((1,) * 9)}, TypeError, "9 dimensions"),
        ({}, {"../a": np.zeros(1)}, ValueError, "got '../a'"),
        ({}, {"": np.zeros(1)}, ValueError, "letters"),
        ({"x": "y" * MOST_HEADER}, {}, ValueError, "put long lists into arrays"),
    ],
)
def test_what_cannot_be_written_changes_nothing(header, arrays, error, message, tmp_path):
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(error, match=message):
        write_arrays(path, header, arrays, kind="test")
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["file"]


@pytest.fixture
def path(tmp_path):
    write_arrays(tmp_path / "file", {"x": 1}, {"a": np.arange(6.0), "b": np.eye(2)}, kind="test")
    return tmp_path / "file"


def refused(path, message):
    with pytest.raises(FileFormatError, match=message) as found:
        read_arrays(path, kind="test")
    assert str(path) in str(found.value)


def test_every_cut_is_refused(path):
    blob = path.read_bytes()
    for end in range(len(blob)):
        path.write_bytes(blob[:end])
        refused(path, "not an rprnmf file" if end < 8 else "cut short")


def test_every_changed_byte_is_refused(path):
    blob = path.read_bytes()
    for place in range(len(blob)):
        path.write_bytes(blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :])
        refused(path, "cannot be read")


def test_other_files_are_refused(path):
    blob = path.read_bytes()
    path.write_bytes(blob + b"\0")
    refused(path, "bytes were written, found .* followed by something else")
    path.write_bytes(blob.replace(b"\n", b"\r\n", 1))
    refused(path, "not an rprnmf file")
    path.write_bytes(blob[:8] + (2).to_bytes(4, "little") + blob[12:])
    refused(path, "format version 2, this rprnmf reads version 1; a newer rprnmf may read it")
    path.write_bytes(blob[:-1] + b"x")
    refused(path, "checksum is wrong")
    path.write_bytes(blob)
    with pytest.raises(FileFormatError, match=r"it holds 'test', expected 'model' or 'triplets'"):
        read_arrays(path, kind=("model", "triplets"))


def test_what_is_no_file_is_refused(tmp_path):
    refused(tmp_path, "folder")
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")  # to open it would wait for ever
        refused(tmp_path / "pipe", "device")
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "nothing", kind="test")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "test", "kind": "test", "header": {}, "arrays": []}', "a key occurs twice"),
        ('{"kind": "test", "header": {"x": NaN}, "arrays": []}', "not a finite number"),
        ('{"kind": "test", "header": {"x": 1e999}, "arrays": []}', "not a finite number"),
        ('{"kind": "test", "header": {"x": -Infinity}, "arrays": []}', "not a finite number"),
        ('{"kind": "test", "header": {}, "arrays": []', "not in order"),
        ('{"kind": "test", "header": {}}', "must have the parts kind, header and arrays"),
        ('{"kind": "test", "header": [], "arrays": []}', "must be an object"),
        ('{"kind": "test", "header": {}, "arrays": {}}', "its arrays a list"),
        ('{"kind": ["test"], "header": {}, "arrays": []}', "it holds"),
        ("7", "must have the parts"),
        ("[" * 100_000, "not in order: nested too deeply"),
        ("[" * 200 + "]" * 200, "nested more than 128 deep"),
        ('{"kind": "test", "header": {"x": ' + "9" * 5000 + '}, "arrays": []}', "not in order"),
    ],
    ids=lambda value: value[:50],
)
def test_headers_that_are_not_in_order(text, message, path):
    path.write_bytes(forged(text, []))
    refused(path, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "object"}, "the dtype 'object', expected one of bool"),
        ({"dtype": "V8"}, "'V8'"),
        ({"dtype": ["float64"]}, "dtype"),
        ({"shape": [9]}, r"its arrays make a file of \d+ bytes, found \d+"),
        ({"shape": [2**40]}, "its arrays make a file"),
        ({"shape": [2**62]}, "is no shape"),
        ({"shape": [0, 2**62]}, "is no shape"),
        ({"shape": [-6]}, "is no shape"),
        ({"shape": [6.0]}, "is no shape"),
        ({"shape": [True]}, "is no shape"),
        ({"shape": 6}, "is no shape"),
        ({"shape": [1] * 9 + [6]}, "is no shape"),
        ({"order": "K"}, "must be 'C' or 'F'"),
        ({"name": "b"}, "array 1 has no name of its own: 'b'"),
        ({"name": "/etc/passwd"}, "no name of its own"),
        ({"name": None}, "no name of its own"),
        ({"offset": 0}, "must have a name, dtype, shape and order"),
    ],
    ids=str,
)
def test_lists_of_arrays_that_are_not_in_order(change, message, path):
    content, parts = taken_apart(path.read_bytes())
    content["arrays"][0] |= change
    path.write_bytes(forged(content, parts))
    refused(path, message)


def test_bytes_between_arrays_and_bools_that_are_none(path):
    content, parts = taken_apart(path.read_bytes())
    path.write_bytes(forged(content, [parts[0] + b"x", parts[1]]))
    refused(path, "there are bytes after the array 'a'")
    content["arrays"][0] |= {"dtype": "bool", "shape": [48]}
    path.write_bytes(forged(content, parts))
    refused(path, "other values than 0 and 1")


def test_a_header_longer_than_the_file(path):
    blob = path.read_bytes()
    for length in (len(blob), 2**32 - 1):
        path.write_bytes(repaired(blob[:12] + length.to_bytes(4, "little") + blob[16:]))
        refused(path, "its header cannot have")
    path.write_bytes(repaired(blob[: PREFIX.size] + bytes(32)))
    refused(path, "its header cannot have")


def test_sizes_that_a_file_states_do_not_ask_for_memory(path):
    content, parts = taken_apart(path.read_bytes())
    content["arrays"][0]["shape"] = [2**33]
    path.write_bytes(forged(content, parts))
    tracemalloc.start()
    try:
        refused(path, "its arrays make a file")
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_arrays(path, {}, {"a": np.zeros(9)}, kind="test")
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["file"]


def test_the_header_is_plain_json(path):
    """A program in any language can read the file."""
    blob = path.read_bytes()
    length = int.from_bytes(blob[12:16], "little")
    content = json.loads(blob[24 : 24 + length])
    assert content["header"] == {"x": 1}
    start = 24 + length
    assert start % 64 == 0
    assert np.frombuffer(blob, "<f8", 6, start).tolist() == [0, 1, 2, 3, 4, 5]
