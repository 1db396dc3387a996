"""Options of commands that fit a recommender, and what they stand for."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.comparisons import read_triplets
from rprnmf.cli.facts import facts_of
from rprnmf.cli.files import INPUT
from rprnmf.cli.long_form import NEEDED, read_lines
from rprnmf.cli.matrices import input_options, takes_long
from rprnmf.cli.options import several

TABLES = ("items", "users", "item_triplets", "user_triplets")
knowledge_options = several(
    click.option(
        "--items", type=INPUT, metavar="FILE", help="What is known of items, and titles, CSV."
    ),
    click.option("--users", type=INPUT, metavar="FILE", help="What is known of users, CSV."),
    click.option("--item-triplets", type=INPUT, metavar="FILE", help="Comparisons of items."),
    click.option("--user-triplets", type=INPUT, metavar="FILE", help="Comparisons of users."),
)
fit_options = several(
    click.option(
        "--kind",
        type=click.Choice(("auto", "explicit", "implicit")),
        default="auto",
        show_default=True,
        help="explicit: ratings; implicit: clicks or counts; auto: as they look.",
    ),
    click.option(
        "--starts",
        type=click.IntRange(1),
        metavar="N",
        default=1,
        show_default=True,
        help="Take the mean of so many models.",
    ),
    click.option(
        "--order",
        type=click.Choice(("interest", "rating")),
        default="interest",
        show_default=True,
        help="Lists from ratings: by what people turn to as well, or by predicted ratings alone.",
    ),
)


def side_files(given: Any) -> list[str | None]:
    """The files beside the ratings."""
    return [getattr(given, name) for name in TABLES]


def read_ratings(given: Any) -> tuple[tuple[Any, ...], list[list[str]]]:
    """Ratings in a file as the first arguments of ``fit``, and all names of both sides.

    In long form they stay as they are, one by one: what several of a pair mean depends on the kind.
    """
    from rprnmf.inputs.formats import detect
    from rprnmf.inputs.reading import read_source
    from rprnmf.inputs.source import open_source

    path, options = given.ratings, input_options(given)
    timed = getattr(given, "split", None) == "time"
    with open_source(path, takes_long(given, path), None) as source:
        kind = given.format or detect(source)
        lines = read_lines(source, kind, options, timed)
        if lines is not None:
            given.run.note(lines.note)
            return (lines.table,), lines.names
        if timed:
            raise source.fail(f"--split time needs one line per rating, with a {NEEDED}.")
        found = read_source(source, kind, options)
    given.run.note(found.note)
    return of_matrix(found)


def of_matrix(found: Any) -> tuple[tuple[Any, ...], list[list[str]]]:
    """The entries of a matrix as users, items and values; all names of both sides."""
    import scipy.sparse as sp

    X = sp.coo_array(found.X)
    names = [
        [str(name) for name in (range(n) if known is None else known)]
        for n, known in zip(X.shape, (found.row_names, found.column_names), strict=True)
    ]
    users, items = ([part[k] for k in at] for part, at in zip(names, X.coords, strict=True))
    return (users, items, X.data), names


def unfitted(given: Any, components: int | None) -> Any:
    """A recommender with the settings of the options."""
    from rprnmf.recommend import Recommender

    return Recommender(
        components or "auto",
        kind=given.kind,
        n_starts=given.starts,
        order=given.order,
        random_state=given.seed,
    )


def knowledge_of(given: Any, names: list[list[str]]) -> dict[str, Any]:
    """What is known beside the ratings, as arguments of ``fit``."""
    found: dict[str, Any] = {
        "user_metadata": facts_of(given.users, names[0]),
        "item_metadata": facts_of(given.items, names[1]),
    }
    for name in TABLES[2:]:
        path = getattr(given, name)
        found[name] = None if path is None else read_triplets(path)
    return found
