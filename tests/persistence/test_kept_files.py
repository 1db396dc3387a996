"""Files of all versions of the format are read, and say what they said."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import rprnmf
from rprnmf.array_file.layout import VERSION
from tests.persistence.make_files import said

FOLDER = Path(__file__).parent / "files"
FILES = sorted(FOLDER.glob("version_*/*.rprnmf"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_kept_file_says_what_it_said(path):
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    model = rprnmf.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations
        found = said(path.stem, model)
    for name in {"transform", "factors"} & set(expected):
        # sums: processors and versions of numpy round the last digits in their own way
        np.testing.assert_allclose(found.pop(name), expected.pop(name), rtol=1e-5, atol=1e-7)
    assert json.loads(json.dumps(found)) == expected


def test_every_version_has_files():
    assert {path.parent.name for path in FILES} == {f"version_{k}" for k in range(1, VERSION + 1)}
    for folder in FOLDER.glob("version_*"):
        expected = json.loads((folder / "expected.json").read_text())
        assert {path.stem for path in folder.glob("*.rprnmf")} == set(expected)
