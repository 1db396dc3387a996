"""Damaged files of every format: an `InputError`, or a matrix; `tests/fuzz/readers.py` has more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rprnmf.inputs import FORMATS, InputError, read_matrix
from tests.fuzz.readers import one, page, seeds

for package in ("PIL", "h5py", "pyarrow"):
    pytest.importorskip(package)
SEEDS = seeds()


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_the_files_that_are_damaged_are_sound(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(SEEDS[name])
    found = read_matrix(path.parent if name.startswith("folder") else path)
    assert found.format in FORMATS


def test_every_format_is_damaged(tmp_path):
    found = set()
    for name, data in SEEDS.items():
        path = tmp_path / name.replace("/", "")
        path.write_bytes(data)
        found.add("images" if name.startswith("folder") else read_matrix(path).format)
    assert found == set(FORMATS) - {"zarr"}  # a folder: tests/inputs/test_blocks.py


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_only_the_documented_error(start, tmp_path):
    outcomes = [one(seed, SEEDS, tmp_path) for seed in range(start, start + 50)]
    assert [text for text in outcomes if text.startswith("FAILED")] == []


@settings(max_examples=200)
@given(st.binary(max_size=300), st.sampled_from([None, *FORMATS]))
def test_any_bytes_in_any_format(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(data)
    try:
        found = read_matrix(path, format=name, n_jobs=1)
    except InputError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
    else:
        assert found.X.ndim == 2


@settings(max_examples=200)
@given(st.text("0123456789.,;|\t\n\r \"'-eE:#NaAxyé", max_size=120))
def test_any_text_that_is_like_a_table(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "file.csv"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        found = read_matrix(path, n_jobs=1)
    except InputError as error:
        assert str(error).startswith(str(path))  # noqa: PT017
    else:
        values = getattr(found.X, "data", found.X)
        assert not (np.asarray(values) < 0).any()


def test_the_page_counts():
    text = page([(0, "read"), (1, "refused: x"), (2, "FAILED: y: z")], 3, 0, 1.0)
    assert "| refused | 1 |" in text
    assert "- seed 2: y: z" in text
