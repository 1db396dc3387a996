"""Folders of texts and of images, and columns of texts."""

from __future__ import annotations

import numpy as np
import pytest

from rprnmf.inputs import InputError, Options, read_matrix

image = pytest.importorskip("PIL.Image")


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "sports").mkdir()
    (tmp_path / "b.txt").write_text("Ball games, and more ball games")
    (tmp_path / "sports" / "a.txt").write_bytes("el balón".encode("latin-1"))
    (tmp_path / ".hidden").write_text("not this")
    found = read_matrix(tmp_path)
    assert found.row_names.tolist() == ["b.txt", "sports/a.txt"]
    assert found.column_names.tolist() == ["and", "ball", "balón", "el", "games", "more"]
    assert found.X.toarray().tolist() == [[1, 2, 0, 0, 2, 1], [0, 0, 1, 1, 0, 0]]
    assert found.missing is None
    assert "1 files read as Latin-1" in found.note


def test_rare_and_common_words_are_left_out_of_many_texts(tmp_path):
    for k in range(24):
        (tmp_path / f"{k:02}.txt").write_text(f"always even{k % 2} word{k}")
    found = read_matrix(tmp_path)
    assert found.column_names.tolist() == ["even0", "even1"]
    assert "at least 2 texts and at most half" in found.note
    every = read_matrix(tmp_path, options=Options(min_df=1, max_df=1.0))
    assert every.X.shape == (24, 27)


def test_a_column_of_texts(tmp_path):
    path = tmp_path / "documents.csv"
    path.write_text('id,title,text\nx,One,"the cat, the mat"\ny,Two,a dog and a cat\n')
    found = read_matrix(path)
    assert (found.format, found.row_names.tolist()) == ("texts", ["x", "y"])
    assert found.X[0, found.column_names.tolist().index("the")] == 2
    other = read_matrix(path, options=Options(text="title"))
    assert other.column_names.tolist() == ["one", "two"]
    (tmp_path / "lines.txt").write_text("the cat, sat on the mat\na dog; and a cat were here\n")
    assert read_matrix(tmp_path / "lines.txt").X.shape == (2, 9)


def test_texts_without_words_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("! ?")
    with pytest.raises(InputError, match="no words to count in 1 texts"):
        read_matrix(tmp_path)


def save(folder, name, array, mode=None):
    image.fromarray(np.asarray(array)).save(folder / name)


def test_a_folder_of_images(tmp_path):
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 256, (3, 4, 5), dtype=np.uint8)
    for k in range(3):
        save(tmp_path, f"{k}.png", grey[k])
    save(tmp_path, "colour.png", np.stack([grey[0]] * 3, axis=-1))
    found = read_matrix(tmp_path)
    assert found.X[:3].tolist() == grey.reshape(3, -1).tolist()
    assert found.X[3].tolist() == found.X[0].tolist()
    assert found.row_names.tolist() == ["0.png", "1.png", "2.png", "colour.png"]
    assert found.column_names[:6].tolist() == ["0,0", "0,1", "0,2", "0,3", "0,4", "1,0"]
    assert "4 images of 4 x 5 pixels" in found.note


def test_images_of_several_sizes_need_one(tmp_path):
    save(tmp_path, "a.png", np.full((4, 4), 10, np.uint8))
    save(tmp_path, "b.png", np.full((6, 8), 20, np.uint8))
    with pytest.raises(InputError, match=r"b\.png is 6 x 8 pixels, a\.png 4 x 4.*image_size"):
        read_matrix(tmp_path)
    found = read_matrix(tmp_path, options=Options(image_size=(2, 3)))
    assert found.X.tolist() == [[10] * 6, [20] * 6]


def test_images_of_16_bits_keep_their_values(tmp_path):
    save(tmp_path, "a.png", np.full((2, 2), 60_000, np.uint16))
    assert read_matrix(tmp_path).X.tolist() == [[60_000] * 4]


def test_bad_images_are_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    with pytest.raises(InputError, match=r"a\.png"):
        read_matrix(tmp_path)
    (tmp_path / "a.png").unlink()
    (tmp_path / "a.pgm").write_bytes(b"P5 50000 50000 255\n" + b"\0" * 100)
    with pytest.raises(InputError, match=r"a\.pgm.*50000"):
        read_matrix(tmp_path)
    (tmp_path / "a.pgm").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    with pytest.raises(InputError, match=r"a\.pgm"):  # Pillow would start a program for it
        read_matrix(tmp_path)


def test_folders_without_anything_to_read(tmp_path):
    with pytest.raises(InputError, match="is an empty folder"):
        read_matrix(tmp_path)
    (tmp_path / "a.bin").write_bytes(b"\0\1")
    with pytest.raises(InputError, match="none of them text"):
        read_matrix(tmp_path)
    with pytest.raises(InputError, match="is a folder; expected a file"):
        read_matrix(tmp_path, format="csv")
    with pytest.raises(InputError, match="is a file; expected a folder"):
        read_matrix(tmp_path / "a.bin", format="images")
