"""X from a file, and the options for a file that is not understood as it was meant."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import click

from rprnmf.cli.choices import FORMATS
from rprnmf.cli.files import as_paths
from rprnmf.cli.options import several

TAB = "\\t"
LARGE = 1 << 24  # bytes of a file that takes long to read


class Size(click.ParamType):
    """Height and width: 32x32."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Two numbers."""
        if not isinstance(value, str):
            return value
        found = re.fullmatch(r"(\d+)x(\d+)", value)
        if found is None:
            self.fail(f"expected HEIGHTxWIDTH, as 32x32, got {value!r}.", param, ctx)
        return int(found[1]), int(found[2])


class Documents(click.ParamType):
    """A number of documents, or with a point in it a share of them."""

    name = "documents"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """A whole number or a float: 1 is one document, 1.0 is all of them."""
        if not isinstance(value, str):
            return value
        try:
            return float(value) if "." in value else int(value)
        except ValueError:
            self.fail(f"expected a number or a share of documents, got {value!r}.", param, ctx)


matrix_options = several(
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        help="What the file is.  [default: found out by its content and name]",
    ),
    click.option("--header/--no-header", default=None, help="Whether the first line has names."),
    click.option("--index", metavar="COLUMN", help="The column with the names of rows."),
    click.option("--no-index", is_flag=True, help="There is no column with names of rows."),
    click.option(
        "--delimiter", metavar="TEXT", help="What separates cells: , ; | :: \\t or a blank."
    ),
    click.option("--decimal", type=click.Choice((".", ",")), help="The decimal point."),
    click.option("--encoding", metavar="NAME", help="Of text files.  [default: UTF-8]"),
    click.option("--no-names", is_flag=True, help="Leave the names of rows and columns out."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column out."),
    click.option("--user", metavar="COLUMN", help="Of ratings: who."),
    click.option("--item", metavar="COLUMN", help="Of ratings: what."),
    click.option("--rating", metavar="COLUMN", help="Of ratings: how good."),
    click.option("--text", metavar="COLUMN", help="The column with documents."),
    click.option(
        "--min-df", type=Documents(), metavar="N", help="Documents that a word must be in."
    ),
    click.option(
        "--max-df", type=Documents(), metavar="N", help="Documents, or share, that it may be in."
    ),
    click.option("--variable", metavar="NAME", help="Which array of a .npz, .mat or .h5ad file."),
    click.option("--image-size", type=Size(), metavar="HxW", help="Bring images to this size."),
    click.option("--transpose", is_flag=True, help="Rows become columns."),
)
missing_option = click.option(
    "--missing",
    type=click.Choice(("auto", "none", "nan", "zero")),
    default="auto",
    show_default=True,
    help="Which entries are not known: none, empty ones (nan) or zeros. auto: as the file "
    "suggests; of ratings all that are not there.",
)


blocks_option = click.option(
    "--blocks",
    type=click.IntRange(1),
    metavar="ROWS",
    help="Rows of a block, where Dask does the work.  [default: up to 64 MB, 16 blocks]",
)


def in_blocks(given: Any) -> bool:
    """Whether X becomes a Dask array: that is asked for, or it is in several files."""
    paths = as_paths(given.x)
    if not paths:
        return False
    if given.scheduler is not None or given.blocks is not None:
        return True
    from rprnmf.inputs.row_blocks import in_several

    return in_several(paths)


def read_input(given: Any, path: str | Sequence[str]) -> Any:
    """X, its names and how its entries are missing, by the options.

    Parameters
    ----------
    given : namespace
        The options of `matrix_options`, and perhaps those of `missing_option`, `blocks_option` and
        `scheduler_option`: then X may be a Dask array.
    path : str or sequence of str
    """
    from dataclasses import replace

    from rprnmf.inputs import read_blocks, read_matrix

    options, paths = input_options(given), as_paths(path)
    usual: dict[str, Any] = {"format": given.format, "options": options}
    usual["verbose"] = any(takes_long(given, each) for each in paths)
    if hasattr(given, "blocks") and in_blocks(given):
        found = read_blocks(paths, rows=given.blocks, **usual)
    else:
        found = read_matrix(paths[0], **usual)
    given.run.note(found.note)
    missing = getattr(given, "missing", "auto")
    if missing == "auto":
        return found
    return replace(found, missing=None if missing == "none" else missing)


def takes_long(given: Any, path: str) -> bool:
    """Whether to show how far a file is read."""
    if given.run.quiet or not os.path.isfile(path):
        return False
    return os.path.getsize(path) > LARGE


def input_options(given: Any) -> Any:
    """What the options of `matrix_options` tell a reader."""
    from rprnmf.inputs import Options

    index = False if given.no_index else given.index
    delimiter = "\t" if given.delimiter == TAB else given.delimiter
    return Options(
        header=given.header,
        index=index,
        delimiter=delimiter,
        decimal=given.decimal,
        encoding=given.encoding,
        names=not given.no_names,
        drop=given.drop,
        user=given.user,
        item=given.item,
        rating=given.rating,
        text=given.text,
        min_df=given.min_df,
        max_df=given.max_df,
        variable=given.variable,
        image_size=given.image_size,
        transpose=given.transpose,
    )


def read_new(given: Any, path: str | Sequence[str], model: Any) -> Any:
    """Data for a model that there is: its columns decide which words count, not these texts."""
    import numpy as np
    import scipy.sparse as sp

    from rprnmf.remote import is_chunked

    given.min_df = 1 if given.min_df is None else given.min_df
    given.max_df = 1.0 if given.max_df is None else given.max_df
    found = read_input(given, path)
    if is_chunked(found.X):  # nothing of it is read yet
        return found
    values = found.X.data if sp.issparse(found.X) else found.X
    if model.missing != "nan" and np.isnan(values).any():
        raise ValueError(
            f"{', '.join(as_paths(path))} has empty entries, the model was fitted without any: fit "
            "it with --missing nan, or complete the data."
        )
    return found
