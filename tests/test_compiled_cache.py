"""What numba keeps on disk may be damaged, full or impossible: fits go on all the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rprnmf

KERNEL = """
import sys
sys.path.insert(0, sys.argv[1])
from small import total
import numpy as np

assert total(np.arange(5.0)) == 10.0
assert total(np.arange(5, dtype=np.float32)) == 10.0
print(sum(total.stats.cache_hits.values()), sum(total.stats.cache_misses.values()))
"""
SMALL = """
from rprnmf.kernels import kernel

@kernel
def total(x):
    result = 0.0
    for i in range(len(x)):
        result += x[i]
    return result
"""
FIT = """
import numpy as np
from rprnmf import NMF, Triplets
W = NMF(2, max_iter=3, tol=0, random_state=0).fit_transform(np.ones((4, 3)))
assert W.shape == (4, 2)
"""
FULL = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))  # as a full disk: writes fail
"""


def run(code, *arguments, **environment):
    """The code in a fresh process."""
    env = {**os.environ, "PYTHONPATH": str(Path(rprnmf.__file__).parents[1]), **environment}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small module; `kept` in it is what its two kernels leave on disk."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.py").write_text(SMALL)
    assert call(folder)[:2] == (0, 2)
    (folder / "cache").rename(folder / "kept")
    return folder


def call(folder, before=""):
    """Run the two kernels: how many were found, how many compiled, and what was said."""
    done = run(before + KERNEL, folder, NUMBA_CACHE_DIR=str(folder / "cache"))
    assert done.returncode == 0, done.stderr
    found, compiled = map(int, done.stdout.split())
    return found, compiled, done.stderr


def files(folder, kind):
    """Of the cache, as it was after the first run."""
    shutil.rmtree(folder / "cache", ignore_errors=True)
    shutil.copytree(folder / "kept", folder / "cache")
    return sorted((folder / "cache").rglob(f"*.{kind}"))


def halved(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def garbled(path):
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(255 - byte for byte in data[middle : middle + 64])
    path.write_bytes(bytes(data))


def other_pickle(path):
    path.write_bytes(b"N.N.")  # None, twice


def a_folder(path):
    path.unlink()
    path.mkdir()


def test_kernels_are_found_on_disk(folder):
    assert len(files(folder, "nbi")) == 1
    assert len(files(folder, "nbc")) == 2
    assert call(folder) == (2, 0, "")


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [halved, emptied, garbled, other_pickle])
def test_damaged_files_are_compiled_anew(folder, kind, damage):
    for path in files(folder, kind):
        damage(path)
    assert call(folder) == (0, 2, "")
    if damage is halved:
        assert call(folder) == (2, 0, "")  # and written again


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_files_that_cannot_be_written_are_said_once(folder, kind):
    for path in files(folder, kind):
        a_folder(path)
    found, compiled, messages = call(folder)
    assert (found, compiled) == (0, 2)
    assert messages.count("could not keep what it compiled") == 1


def test_code_that_belongs_to_another_signature_is_not_run(folder):
    one, other = files(folder, "nbc")
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)
    assert call(folder) == (0, 2, "")


def test_a_full_disk_breaks_nothing(folder):
    pytest.importorskip("resource")
    shutil.rmtree(folder / "cache", ignore_errors=True)
    found, compiled, messages = call(folder, FULL)
    assert (found, compiled) == (0, 2)
    assert messages.count("could not keep what it compiled") == 1
    assert call(folder) == (0, 2, "")  # with room again


def test_an_installation_without_any_folder_to_write_compiles_in_memory(tmp_path):
    """Folders below a file cannot be made, not even by root."""
    source = tmp_path / "source"
    package = Path(rprnmf.__file__).parent
    shutil.copytree(package, source / "rprnmf", ignore=shutil.ignore_patterns("__pycache__"))
    (source / "rprnmf" / "kernels" / "__pycache__").write_text("")
    nowhere = str(source / "rprnmf" / "kernels" / "__pycache__" / "below")
    places = dict.fromkeys(("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"), nowhere)
    done = run(FIT, PYTHONPATH=str(source), PYTHONDONTWRITEBYTECODE="1", **places)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "compiles its loops in memory" in done.stderr
    assert "NUMBA_CACHE_DIR" in done.stderr
    assert not list(tmp_path.rglob("*.nb[ic]"))
