"""Files that commands read and write.

An output that exists is replaced, at once and whole, as most programs do: the same command gives
the same file again. It is looked at before the work begins, for an hour's work must not end at a
folder that is not there. An input is never an output.
"""

from __future__ import annotations

import csv
import errno
import glob
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from rprnmf.cli.choices import GRAPHS, PRIORS
from rprnmf.cli.command import Run

STDIN = "-"
SIDE_FILES = ("row_triplets", "column_triplets", "row_labels", "column_labels")
NEVER_READ = {".rprnmf", ".ckpt", ".svg", ".pdf"}
KEYWORDS = {"prior": PRIORS, "graph": GRAPHS}  # of options that take a word or a file


class InputPath(click.Path):
    """A file that is there, or ``-`` for standard input."""

    def __init__(self, folders: bool = False):
        super().__init__(allow_dash=True, dir_okay=folders)

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> str:
        """Only one input can be standard input."""
        found = str(super().convert(value, param, ctx))
        if found == STDIN and ctx is not None:
            taken = ctx.meta.setdefault("rprnmf.stdin", param)
            if taken is not param:
                self.fail("only one input can be standard input (-)", param, ctx)
        return found


INPUT = InputPath()
INPUT_OR_FOLDER = InputPath(folders=True)
OUTPUT = click.Path(path_type=Path)


def as_paths(x: Any) -> list[str]:
    """The argument X, of commands that take one and of those that take several."""
    if x is None:
        return []
    return [x] if isinstance(x, str) else list(x)


def inputs_of(given: Any) -> list[str | None]:
    """All files that a command which fits a model reads: X, and what is known beside it."""
    found = [*as_paths(given.x), *(getattr(given, name, None) for name in SIDE_FILES)]
    for name, words in KEYWORDS.items():
        for side in ("row", "column"):
            value = getattr(given, f"{side}_{name}", None) or ()
            several = (value,) if isinstance(value, str) else value
            found += [each for each in several if each not in words]
    return found


def check_files(
    run: Run, outputs: Sequence[Path | None], inputs: Sequence[str | None], suffixes: Any = None
) -> None:
    """Refuse what is not there, or could not be written later, before anything is loaded.

    Parameters
    ----------
    run : Run
    outputs, inputs : sequences of paths
        None: not given.
    suffixes : sequence of str, default=None
        How names of outputs may end; None: as they like.
    """
    for name in inputs:
        if name in (None, STDIN) or glob.has_magic(name):  # a pattern is tried by who reads it
            continue
        if not os.path.exists(name):
            raise FileNotFoundError(errno.ENOENT, "there is no such file", name)
    written: list[Path] = []
    for path in outputs:
        if path is None:
            continue
        check_output(path, suffixes)
        if path.exists() and any(is_read(path, each) for each in inputs if each is not None):
            raise ValueError(f"{path} is an input; the output must be another file.")
        if os.path.realpath(path) in map(os.path.realpath, written):
            raise ValueError(f"{path} is the name of two outputs; each needs its own.")
        written.append(path)
    if written:
        names = " and ".join(map(str, written))
        run.after_stop = f"{names} {'was' if len(written) == 1 else 'were'} not written."


def is_read(path: Path, given: str) -> bool:
    """Whether a file is what a name of an input, a pattern or a folder means."""
    if given == STDIN:
        return False
    if not os.path.exists(given):
        return any(path.samefile(each) for each in glob.iglob(given, recursive=True))
    if path.samefile(given):
        return True
    if Path(given).resolve() not in path.resolve().parents:
        return False
    from rprnmf.inputs.errors import InputError
    from rprnmf.inputs.row_blocks import shards_in

    try:
        shards = shards_in(given)
    except InputError:
        return True  # of several kinds: the folder is refused by who reads it
    if shards:
        return any(path.samefile(each) for each in shards)
    return path.suffix.lower() not in NEVER_READ  # texts, images, or the parts of an array


def check_output(path: Path, suffixes: Any) -> None:
    """Whether a file could be written."""
    if suffixes is not None and path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: the name must end in {', '.join(suffixes)}.")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; the output must be a file.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{path}: the folder {folder} does not exist.")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"{path} cannot be written: no permission.")


@contextmanager
def real_file(path: str, suffix: str) -> Iterator[Path]:
    """The file, or one with what comes from standard input."""
    if path != STDIN:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"stdin{suffix}"
        copy.write_bytes(sys.stdin.buffer.read())
        yield copy


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table, whole or not at all."""
    from rprnmf.atomic_file import atomic_file

    with atomic_file(path) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
