"""Values come back from a checkpoint as they were, to the last bit and with their types."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rprnmf.array_file import FileFormatError
from rprnmf.checkpoints import digest
from rprnmf.checkpoints.tree import copied, packed, unpacked

VALUES = [
    *(None, True, 0, -3, 2**80, "text", 0.1, -0.0, 1e-320, np.inf, -np.inf, np.nan),
    *(np.float64(0.1), np.float32(0.1), np.int64(3), np.bool_(True), np.float64(np.nan)),
    *(np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
    *(np.zeros((0, 3), np.float32), np.array([True, False]), np.array(2.5)),
    *([1, 2.0, None], (1, (2, [3])), {"a": {"b": (np.arange(3), 4)}}, [], (), {}),
]


def same(one, other):
    """Whether two values are the same, types and memory order included."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        order = one.flags.f_contiguous == other.flags.f_contiguous
        return one.dtype == other.dtype and order and np.array_equal(one, other, equal_nan=True)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value):
    content, arrays = packed(value)
    text = json.dumps(content, allow_nan=False)
    assert same(unpacked(json.loads(text), arrays), value)
    assert same(copied(value), value)


def test_an_array_that_occurs_twice_is_kept_once():
    array = np.arange(3)
    assert len(packed([array, {"again": array}, array.copy()])[1]) == 2


def test_other_values_are_refused():
    with pytest.raises(TypeError, match="cannot hold a set"):
        packed({"a": {1, 2}})
    for wrong in ({"array": "none"}, {"float": "1"}, {"list": 3}, {"a": 1, "b": 2}, [1], {"x": 1}):
        with pytest.raises(FileFormatError, match="not in order"):
            unpacked(wrong, {})


def test_digests_tell_values_apart():
    class Thing:
        def __init__(self, value):
            self.value = value

    alike = VALUES[17], VALUES[18]  # the same but for their memory order
    others = [
        value for value in VALUES[:-3] if type(value) is not np.bool_ and value is not alike[1]
    ]
    others += [[1, 2], [12], ["1", "2"], np.arange(3.0), np.arange(3), Thing(1), Thing(2)]
    assert len({digest(value) for value in others}) == len(others)
    assert digest(alike[0]) == digest(alike[1])
    big = np.random.default_rng(0).random((50, 70))
    assert digest(big) == digest(np.asfortranarray(big)) == digest(big.copy())
    assert digest(big[::2, ::3]) == digest(big[::2, ::3].copy())
    assert digest(Thing(print)) == digest(Thing(print))
