"""A file is replaced whole, or stays as it was."""

from __future__ import annotations

import os
import sys

import pytest

from rprnmf.atomic_file import atomic_file


def test_a_file_is_replaced_at_the_end_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_file(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["file"]


def test_after_an_error_all_is_as_it_was(tmp_path):
    def write_half(part):
        part.write_text("half")
        raise OSError("the disk is full")

    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(OSError, match="full"), atomic_file(path) as part:
        write_half(part)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(there, tmp_path):
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    if there:
        target.write_text("old")
    link.symlink_to(target)
    with atomic_file(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_folder_is_not_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"), atomic_file(folder):
        pass
    assert list(tmp_path.iterdir()) == [folder]


def test_an_error_of_the_disk_names_the_file(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(OSError, match="file") as caught, atomic_file(path):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(path)
    assert not list(tmp_path.iterdir())
