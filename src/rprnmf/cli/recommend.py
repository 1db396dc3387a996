"""``rprnmf recommend``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import read_triplets
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files, write_csv
from rprnmf.cli.matrices import matrix_options, read_input
from rprnmf.cli.options import seed
from rprnmf.cli.report import Report, Table, counted
from rprnmf.cli.tables import TextTable, read_table

COLUMNS = ("user", "rank", "item", "title", "score")
TITLES = ("title", "name", "label")


@command("rprnmf recommend ratings.csv --for 'user 3' --items films.csv --count 5")
@click.argument("ratings", type=INPUT_OR_FOLDER)
@click.option(
    "--for", "who", multiple=True, metavar="USER", help="A user; may be repeated.  [default: all]"
)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1),
    metavar="N",
    default=10,
    show_default=True,
    help="Items for each user.",
)
@click.option(
    "--items", type=INPUT, metavar="FILE", help="What is known of items, and titles, CSV."
)
@click.option("--users", type=INPUT, metavar="FILE", help="What is known of users, CSV.")
@click.option("--item-triplets", type=INPUT, metavar="FILE", help="Comparisons of items.")
@click.option("--user-triplets", type=INPUT, metavar="FILE", help="Comparisons of users.")
@click.option(
    "--kind",
    type=click.Choice(("auto", "explicit", "implicit")),
    default="auto",
    show_default=True,
    help="explicit: ratings; implicit: clicks or counts; auto: as they look.",
)
@click.option("-k", "--components", type=click.IntRange(1), metavar="N", help="Of the model.")
@click.option(
    "--starts",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="Take the mean of so many models.",
)
@click.option("--why", is_flag=True, help="Explain the first item of each list.")
@seed
@matrix_options
@click.option("--out", type=OUTPUT, metavar="FILE", help="Write the lists as CSV.")
def recommend(given: Any) -> Report:
    """Recommend items to users, from a file of ratings or clicks.

    Tables of items and users have a column with the names that the ratings use. A column called
    title or name is shown beside the item.
    """
    tables = [given.items, given.users, given.item_triplets, given.user_triplets]
    check_files(given.run, [given.out], [given.ratings, *tables])
    import scipy.sparse as sp

    from rprnmf.recommend import Recommender

    found = read_input(given, given.ratings)
    X = sp.coo_array(found.X)
    names = [
        [str(name) for name in (range(n) if known is None else known)]
        for n, known in zip(X.shape, (found.row_names, found.column_names), strict=True)
    ]
    users, items = ([part[k] for k in at] for part, at in zip(names, X.coords, strict=True))
    facts = [facts_of(path, part) for path, part in zip(tables[:2], names[::-1], strict=True)]
    comparisons = [None if path is None else read_triplets(path) for path in tables[2:]]
    model = Recommender(
        given.components or "auto",
        kind=given.kind,
        n_starts=given.starts,
        random_state=given.seed,
        verbose=0 if given.run.quiet else 1,
    )
    model.fit(
        users,
        items,
        X.data,
        item_metadata=facts[0],
        user_metadata=facts[1],
        item_triplets=comparisons[0],
        user_triplets=comparisons[1],
    )
    asked = list(given.who) or names[0]
    unknown = [user for user in asked if user not in set(model.user_ids_)]
    if unknown:
        raise ValueError(f"{given.ratings} has no user {unknown[0]!r}; found {names[0][0]!r}, ...")
    titles = titles_of(facts[0])
    lists: list[Any] = list(model.recommend(asked, given.count))
    rows = [
        [user, rank, item, titles.get(item, ""), score]
        for user, one in zip(asked, lists, strict=True)
        for rank, (item, score) in enumerate(one, start=1)
    ]
    why = [
        str(model.explain(user, one.items[0], n=3))
        for user, one in zip(asked, lists, strict=True)
        if given.why and len(one)
    ]
    if given.out:
        write_csv(given.out, COLUMNS, rows)
    return shown(rows, why, model.kind_, given.out)


def shown(rows: list[list[Any]], why: list[str], kind: str, out: Any) -> Report:
    """Lists for a person, and for a program."""
    document = {
        "kind": kind,
        "recommendations": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        "why": why,
    }
    if out:
        document["out"] = str(out)
        return Report(document, [f"wrote {out}: {counted(len(rows), 'recommendation')}", *why])
    titled = any(row[3] for row in rows)
    kept = [k for k in range(len(COLUMNS)) if k != 3 or titled]
    table = Table("", [COLUMNS[k] for k in kept], [[row[k] for k in kept] for row in rows])
    return Report(document, [table, *why])


def facts_of(path: str | None, names: list[str]) -> dict[str, dict[str, Any]] | None:
    """A table by the names that the ratings use."""
    if path is None:
        return None
    table = read_table(path)
    column = name_column(table, set(names))
    rest = {name: as_numbers(cells) for name, cells in table.columns.items() if name != column}
    return {
        name: {key: cells[row] for key, cells in rest.items()}
        for row, name in enumerate(table.columns[column])
    }


def name_column(table: TextTable, known: set[str]) -> str:
    """The column that has most of the names."""
    hits = {name: len(known & set(cells)) for name, cells in table.columns.items()}
    best = max(hits, key=lambda name: hits[name])
    if hits[best] == 0:
        raise ValueError(
            f"{table.path} must have a column with names that the ratings use, as "
            f"{min(known)!r}; found none in {', '.join(map(repr, table.columns))}."
        )
    return best


def as_numbers(cells: list[str]) -> list[Any]:
    """Numbers, where all cells that are not empty are; else text, None where empty."""
    try:
        return [float(cell) if cell.strip() else None for cell in cells]
    except ValueError:
        return [cell if cell.strip() else None for cell in cells]


def titles_of(facts: dict[str, dict[str, Any]] | None) -> dict[str, Any]:
    """What items are called, if the table says so."""
    found = {}
    for item, known in (facts or {}).items():
        title = next((value for key, value in known.items() if key.lower() in TITLES), None)
        if title is not None:
            found[item] = title
    return found
