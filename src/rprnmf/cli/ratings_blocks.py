"""Ratings for a command as a Dask DataFrame, whose parts are read where the work is done."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

from rprnmf.cli.files import STDIN

ROLES = ("user", "item", "rating")
OPENED = (".parquet", ".npz", ".npy", ".zarr")
PARTS = 16  # of a file that has no parts and is read here


def in_parts(given: Any) -> bool:
    """Whether Dask does the work: that is asked for, or there are several files."""
    from rprnmf.cli.recommenders import is_model
    from rprnmf.inputs.row_blocks import in_several

    paths = list(given.ratings)
    if len(paths) == 1 and os.path.isfile(paths[0]) and is_model(paths[0]):
        return False
    return given.scheduler is not None or in_several(paths)


def fitted_in_parts(given: Any, paths: list[str]) -> tuple[Any, Any]:
    """A recommender fitted to ratings in parts, and the table of items or None."""
    from rprnmf.cli.recommender_options import knowledge_of, unfitted

    frame = frame_of(given, paths)
    tables = (given.users, given.items)
    names = [
        [] if table is None else names_in(frame, role)
        for role, table in zip(ROLES, tables, strict=False)
    ]
    knowledge = knowledge_of(given, names)
    model = unfitted(given, given.components).set_params(verbose=0 if given.run.quiet else 1)
    model.set_params(order="rating")  # that of interest needs all ratings in one place
    model.fit(frame, **knowledge)
    return model.set_params(verbose=0), knowledge["item_metadata"]


def frame_of(given: Any, paths: list[str]) -> Any:
    """The ratings: names of users and items, and numbers."""
    from rprnmf.cli.matrices import input_options
    from rprnmf.inputs.row_blocks import expanded, kind_of

    files = expanded(paths)
    options = input_options(given)
    single = len(files) == 1 and kind_of(files[0]) not in OPENED
    if files == [STDIN] or single:
        return read_here(given, files[0])
    columns = long_columns(files[0], options) if kind_of(files[0]) == ".parquet" else None
    if columns is None:
        return frame_of_matrix(given, files, options)
    given.run.note(f"{len(files)} Parquet files of ratings: {', '.join(columns.values())}.")
    return assembled(
        [(rows_of_group, (path, group, columns)) for path in files for group in groups_of(path)],
        "rating" in columns,
    )


def assembled(parts: list[tuple[Any, tuple[Any, ...]]], rated: bool) -> Any:
    """A Dask DataFrame of what functions give when it is used."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    kinds: dict[str, Any] = {"user": object, "item": object}
    if rated:
        kinds["rating"] = float
    like = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    delayed = [dask.delayed(function)(*arguments) for function, arguments in parts]
    return dd.from_delayed(delayed, meta=like, verify_meta=False)


def read_here(given: Any, path: str) -> Any:
    """The ratings of one file that is read at once, cut into parts."""
    import numpy as np

    from rprnmf.cli.recommender_options import read_ratings

    given.ratings = path
    found = read_ratings(given)[0]
    if len(found) == 1:
        table = found[0]
        columns = [table[name] for name in ROLES if name in table.columns]
    else:
        columns = list(found)
    users, items = (np.array(list(names), dtype=object) for names in columns[:2])
    values = np.asarray(columns[2], dtype=float) if len(columns) > 2 else None
    edges = np.linspace(0, len(users), min(PARTS, len(users)) + 1).astype(int)
    cuts = [slice(first, stop) for first, stop in pairwise(edges)]
    parts = [
        (frame, (users[cut], items[cut], None if values is None else values[cut])) for cut in cuts
    ]
    return assembled(parts, values is not None)


def frame_of_matrix(given: Any, files: list[str], options: Any) -> Any:
    """The entries of a matrix in blocks."""
    import numpy as np

    from rprnmf.inputs import read_blocks

    found = read_blocks(files, format=given.format, options=options)
    given.run.note(found.note)
    X = found.X
    names = [
        np.array([str(name) for name in (range(n) if known is None else known)], dtype=object)
        for n, known in zip(X.shape, (found.row_names, found.column_names), strict=True)
    ]
    edges = np.concatenate(([0], np.cumsum(X.chunks[0])))
    blocks = X.to_delayed()[:, 0]
    parts = [
        (entries_of_block, (block, names[0][first:stop], names[1]))
        for block, first, stop in zip(blocks, edges[:-1], edges[1:], strict=True)
    ]
    return assembled(parts, True)


def long_columns(path: str, options: Any) -> dict[str, str] | None:
    """The columns of ratings in long form by role; None: the file is a table."""
    from rprnmf.cli.long_roles import named
    from rprnmf.inputs.errors import need

    header = need("pyarrow.parquet", path, "pyarrow", "data").read_schema(path).names
    found = {role: header[place] for role, place in named(header).items() if role in ROLES}
    for role in ROLES:
        asked = getattr(options, role)
        if asked is not None:
            if asked not in header:
                raise ValueError(f"{path} has no column {asked!r}; found {', '.join(header)}.")
            found[role] = asked
    if not {"user", "item"} <= found.keys():
        return None
    return {role: found[role] for role in ROLES if role in found}


def groups_of(path: str) -> range:
    """The parts of a Parquet file."""
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        return range(file.metadata.num_row_groups)


def rows_of_group(path: str, group: int, columns: dict[str, str]) -> Any:
    """The ratings of a part of a Parquet file."""
    import numpy as np
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        header = file.schema_arrow.names
        lacking = [name for name in columns.values() if name not in header]
        if lacking:
            raise ValueError(f"{path} has no column {lacking[0]!r}; found {', '.join(header)}.")
        table = file.read_row_group(group, columns=list(columns.values()))
    for name in columns.values():
        if table.column(name).null_count:
            raise ValueError(f"{path}: the column {name!r} has empty cells.")
    users, items = (
        np.array([str(name) for name in table.column(columns[role]).to_pylist()], dtype=object)
        for role in ROLES[:2]
    )
    if "rating" not in columns:
        return frame(users, items, None)
    try:
        values = np.array(table.column(columns["rating"]).to_pylist(), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: the column {columns['rating']!r}: {error}.") from None
    return frame(users, items, values)


def entries_of_block(X: Any, users: Any, items: Any) -> Any:
    """The entries of a block of a matrix; of a dense one those that are not 0 and not missing."""
    import numpy as np
    import scipy.sparse as sp

    entries = sp.coo_array(X)
    user, item = entries.coords
    seen = ~np.isnan(entries.data)
    return frame(users[user[seen]], items[item[seen]], entries.data[seen].astype(float))


def frame(users: Any, items: Any, values: Any) -> Any:
    """Columns as a DataFrame."""
    import pandas as pd

    found = {"user": users, "item": items}
    return pd.DataFrame(found if values is None else {**found, "rating": values})


def names_in(frame: Any, role: str) -> list[str]:
    """The different names in a column."""
    import dask

    found = dask.compute(*[dask.delayed(names_of_part)(part, role) for part in frame.to_delayed()])
    return list(dict.fromkeys(name for names in found for name in names))


def names_of_part(part: Any, role: str) -> list[str]:
    """The same of a part."""
    return list(dict.fromkeys(part[role].tolist()))
