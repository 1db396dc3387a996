"""``rprnmf recommend``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.facts import titles_of
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files, write_csv
from rprnmf.cli.matrices import matrix_options
from rprnmf.cli.options import seed
from rprnmf.cli.ratings_blocks import fitted_in_parts, in_parts
from rprnmf.cli.recommender_options import fit_options, knowledge_options, side_files
from rprnmf.cli.recommenders import NEW, folded_in, known_ids, recommender_of
from rprnmf.cli.report import Report, Table, counted
from rprnmf.cli.scheduler import scheduled, scheduler_option

COLUMNS = ("user", "rank", "item", "title", "score")
SIMILAR = ("like", "rank", "item", "title", "cosine")


@command("rprnmf recommend ratings.csv --for 'user 3' --items films.csv --count 5")
@click.argument("ratings", type=INPUT_OR_FOLDER, metavar="RATINGS...", nargs=-1, required=True)
@click.option(
    "--for", "who", multiple=True, metavar="USER", help="A user; may be repeated.  [default: all]"
)
@click.option(
    "--rated",
    type=INPUT,
    metavar="FILE",
    help="For someone whom the ratings lack: CSV with items and ratings.",
)
@click.option(
    "--like", multiple=True, metavar="ITEM", help="List similar items instead; may be repeated."
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
@knowledge_options
@fit_options
@click.option("-k", "--components", type=click.IntRange(1), metavar="N", help="Of the model.")
@click.option("--why", is_flag=True, help="Explain the first item of each list.")
@seed
@scheduler_option
@matrix_options
@click.option("--save", type=OUTPUT, metavar="FILE", help="Keep the fitted model.")
@click.option("--out", type=OUTPUT, metavar="FILE", help="Write the lists as CSV.")
def recommend(given: Any) -> Report:
    """Recommend items to users.

    RATINGS is a file of ratings or clicks, or a model that --save wrote before: then nothing is
    fitted. Tables of items and users have a column with the names that the ratings use. A column
    called title or name is shown beside the item. With --save alone, no lists are made.

    Several Parquet files or .npz shards, or a folder of them, are ratings in parts, which
    --scheduler may read elsewhere.
    """
    inputs = [*given.ratings, given.rated, *side_files(given)]
    check_files(given.run, [given.out, given.save], inputs)
    if given.like and (given.who or given.rated or given.why):
        raise click.UsageError("--like lists items: leave out --for, --rated and --why.")
    paths, parted = list(given.ratings), in_parts(given)
    given.ratings = ", ".join(paths)
    if not parted:
        return answers(given, *recommender_of(given))
    if given.save:
        raise click.UsageError("--save needs all ratings in one place: leave out --scheduler.")
    with scheduled(given, needed=True):
        return answers(given, *fitted_in_parts(given, paths))


def answers(given: Any, model: Any, things: Any) -> Report:
    """What a recommender is asked; ``things`` is the table of items."""
    document: dict[str, Any] = {"kind": model.kind_}
    parts: list[Any] = kept(given.save, model, document)
    titles = titles_of(things)
    if given.like:
        rows = similar(given, model)
    elif not (people := people_of(given, model)):
        return Report(document, parts)
    else:
        lists = lists_of(given, model, people)
        document["order"], said = order_of(model)
        both = list(zip(people, lists, strict=True))
        rows = [
            [name, rank, item, score]
            for (name, _), one in both
            for rank, (item, score) in enumerate(one, start=1)
        ]
        document["why"] = [
            str(model.explain(user, one.items[0], n=3))
            for (_, user), one in both
            if given.why and len(one)
        ]
    titled = [[*row[:3], titles.get(str(row[2]), ""), row[3]] for row in rows]
    parts += shown(titled, document, SIMILAR if given.like else COLUMNS, given.out)
    if not given.like:
        parts.append(said)
    return Report(document, [*parts, *document.get("why", [])])


def order_of(model: Any) -> tuple[str, str]:
    """By what lists are ordered, for a program and for a person."""
    if model.kind_ == "implicit":
        return "score", "Lists go by score, which orders a list and means nothing else."
    if model.order == "rating" or model.trust_ is None:
        text = "Lists go by predicted rating, less some for items with few ratings."
        return "rating", f"{text} score: the predicted rating."
    text = "Lists go by what people turn to and by predicted rating, together."
    return "interest", f"{text} score: the predicted rating."


def kept(path: Any, model: Any, document: dict[str, Any]) -> list[str]:
    """Save the model, at once: what is asked of it may turn out not to be known."""
    if path is None:
        return []
    from rprnmf.persistence import save

    save(model, path)
    document["saved"] = str(path)
    users, items = counted(len(model.user_ids_), "user"), counted(len(model.item_ids_), "item")
    return [f"wrote {path}: a recommender of {users} and {items}"]


def people_of(given: Any, model: Any) -> list[tuple[Any, Any]]:
    """Who gets a list: what they are called, and what the model knows them by."""
    found = [(user, user) for user in known_ids(given.who, model.user_ids_, "user", given.ratings)]
    if given.rated:
        found.append((NEW, folded_in(model, given.rated)))
    if found or (given.save and not given.out):
        return found
    return [(user, user) for user in model.user_ids_]


def lists_of(given: Any, model: Any, people: list[tuple[Any, Any]]) -> list[Any]:
    """A list for each; those whom the model knows together, which is faster."""
    known = [user for name, user in people if name is not NEW]
    new = [user for name, user in people if name is NEW]
    found = list(model.recommend(known, given.count)) if known else []
    return found + [model.recommend(user, given.count) for user in new]


def similar(given: Any, model: Any) -> list[list[Any]]:
    """Items that are like others."""
    return [
        [item, rank, other, cosine]
        for item in known_ids(given.like, model.item_ids_, "item", given.ratings)
        for rank, (other, cosine) in enumerate(model.similar_items(item, given.count), start=1)
    ]


def shown(
    rows: list[list[Any]], document: dict[str, Any], columns: tuple[str, ...], out: Any
) -> list[Any]:
    """Lists for a person, a program, and a file."""
    what = "similar" if columns is SIMILAR else "recommendations"
    document[what] = [dict(zip(columns, row, strict=True)) for row in rows]
    if out:
        write_csv(out, columns, rows)
        document["out"] = str(out)
        return [f"wrote {out}: {counted(len(rows), 'row')}"]
    titled = any(row[3] for row in rows)
    kept = [k for k in range(len(columns)) if k != 3 or titled]
    table = Table("", [columns[k] for k in kept], [[row[k] for k in kept] for row in rows])
    return [table]
