"""The registry of formats, and which of them a file is in."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rprnmf.inputs.matrix import Matrix, Options
from rprnmf.inputs.rows import Rows, is_zarr
from rprnmf.inputs.source import Source


@dataclass(frozen=True)
class Format:
    """One format of files.

    Parameters
    ----------
    reader : str
        "module:function" of this folder; the function takes a Source and Options.
    text : str
        What it is, in a few words.
    suffixes : tuple of str
        Of files whose content does not tell.
    magic : tuple of bytes
        What such files begin with.
    opener : str, default=""
        The same for a function that returns `Rows`, which are read when they are used, or None if
        this file must be read at once.

    Examples
    --------
    >>> from rprnmf.inputs import FORMATS
    >>> FORMATS["npy"].suffixes
    ('.npy',)
    """

    reader: str
    text: str
    suffixes: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    opener: str = ""

    def load(self) -> Callable[[Source, Options], Matrix]:
        """The function that reads it."""
        return _function(self.reader)

    def open(self, source: Source, options: Options) -> Rows | None:
        """Its rows, to be read when they are used."""
        return _function(self.opener)(source, options) if self.opener else None


def _function(where: str) -> Any:
    """The function at "module:function"."""
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(f"rprnmf.inputs.{module}"), name)


FORMATS: dict[str, Format] = {
    "csv": Format("tabular:read_table", "a table of numbers, with or without names", (".csv",)),
    "ratings": Format("tabular:read_ratings", "user, item and rating in each line"),
    "texts": Format("tabular:read_texts", "a folder of text files, or a column of texts"),
    "images": Format("images:read_images", "a folder of images, grey values"),
    "npy": Format("npy:read_npy", "an array of numpy", (".npy",), (b"\x93NUMPY",), "npy:open_npy"),
    "npz": Format(
        *("npz:read_npz", "arrays of numpy or scipy.sparse", (".npz",), (b"PK\3\4",)),
        opener="npz:open_npz",
    ),
    "mtx": Format(
        "matrix_market:read_matrix_market", "Matrix Market", (".mtx", ".mm"), (b"%%MatrixMarket",)
    ),
    "mat": Format("mat:read_mat", "MATLAB or Octave", (".mat",), (b"MATLAB 5.0", b"MATLAB 7.3")),
    "h5ad": Format("h5ad:read_h5ad", "AnnData", (".h5ad",), (b"\x89HDF\r\n\x1a\n",)),
    "parquet": Format(
        *("parquet:read_parquet", "Parquet", (".parquet", ".pq"), (b"PAR1",)),
        opener="parquet:open_parquet",
    ),
    "zarr": Format("zarr_array:read_zarr", "Zarr", opener="zarr_array:open_zarr"),
}

#: what files begin with that are no matrices, and what to do
OTHERS = {
    b"%PDF": "is a PDF document; expected data.",
    b"\xd0\xcf\x11\xe0": "is an old spreadsheet or document; save the sheet as CSV.",
    b"\x80\x04\x95": "is a pickle, which could run code when it is read; save it as .npy or .npz.",
    b"\x80\x03": "is a pickle, which could run code when it is read; save it as .npy or .npz.",
    b"BZh": "is packed by bzip2; expected it unpacked, or packed by gzip.",
    b"\xfd7zXZ": "is packed by xz; expected it unpacked, or packed by gzip.",
    b"\x28\xb5\x2f\xfd": "is packed by zstd; expected it unpacked, or packed by gzip.",
    b"RDX": "is an R workspace; save the matrix as CSV.",
}


def detect(source: Source) -> str | None:
    """The name of the format, by content and then by suffix; None: text with delimiters."""
    if source.is_folder:
        return _folder(source)
    head = source.head
    for beginning, reason in OTHERS.items():
        if head.startswith(beginning):
            raise source.fail(reason)
    for name, one in FORMATS.items():
        if one.magic and head.startswith(one.magic):
            if name == "npz":
                _check_zip(source)
            if name == "h5ad" and source.suffix == ".mat":
                return "mat"
            return name
    if not head.strip():
        raise source.fail("is empty; expected a matrix.")
    binary = b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
    for name, one in FORMATS.items():
        if source.suffix in one.suffixes and name != "csv":
            return name
    if binary:
        raise source.fail(f"is none of the formats {', '.join(FORMATS)}, nor text.")
    return None


def _folder(source: Source) -> str:
    """A Zarr array; or images or texts, by the suffixes in it."""
    if is_zarr(source.path):
        return "zarr"
    from rprnmf.inputs.folder import visible_files
    from rprnmf.inputs.images import SUFFIXES

    suffixes = [path.suffix.lower() for path in visible_files(source)]
    if not suffixes:
        raise source.fail("is an empty folder; expected text files or images.")
    n_images = sum(suffix in SUFFIXES for suffix in suffixes)
    return "images" if 2 * n_images > len(suffixes) else "texts"


def _check_zip(source: Source) -> None:
    """Say what a zip file is that has no arrays."""
    with source.unpacked() as path, source.guard("a zip file"), zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(name.endswith(".npy") for name in names):
        return
    if any(name.startswith("xl/") for name in names):
        raise source.fail("is a spreadsheet; save the sheet as CSV.")
    raise source.fail(f"is a zip file without arrays of numpy (it has {len(names)} files).")
