"""Fixtures of saved models."""

from __future__ import annotations

import numpy as np
import pytest

import rprnmf
from tests.fuzz.forge import forged, taken_apart


@pytest.fixture
def forge(tmp_path):
    """A saved model, changed: ``change(header, array)``; ``array`` replaces one by its number."""

    def through(model, change):
        path = tmp_path / "model.rprnmf"
        rprnmf.save(model, path)
        content, parts = taken_apart(path.read_bytes())

        def array(node, value=None):
            number = node["array"]
            entry = content["arrays"][number]
            if value is None:
                return np.frombuffer(parts[number], entry["dtype"]).reshape(entry["shape"]).copy()
            entry |= {"dtype": value.dtype.name, "shape": list(value.shape), "order": "C"}
            parts[number] = value.tobytes()
            return value

        change(content["header"], array)
        path.write_bytes(forged(content, parts))
        return path

    return through
