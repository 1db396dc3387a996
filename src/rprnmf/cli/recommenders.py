"""Recommenders for commands: fitted to ratings, or from a file; and who is asked about."""

from __future__ import annotations

import os
from typing import Any

import click
from click.core import ParameterSource

from rprnmf.cli.facts import facts_of, name_column
from rprnmf.cli.files import STDIN
from rprnmf.cli.recommender_options import knowledge_of, read_ratings, unfitted
from rprnmf.cli.tables import read_table

NEW = "new user"
#: options that a model in a file has no use for are all others
OF_ANSWERS = ("ratings", "who", "rated", "like", "count", "items", "why", "save", "out")
COUNTED = ("rating", "ratings", "stars", "score", "value", "count", "counts", "plays", "weight")


def recommender_of(given: Any) -> tuple[Any, Any]:
    """The recommender of a command, and the table of items or None."""
    if not is_model(given.ratings):
        return fitted(given)
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if (
            name in context.params
            and name not in OF_ANSWERS
            and source is not ParameterSource.DEFAULT
        ):
            flag = option.opts[0]
            raise click.UsageError(f"{flag} is for a fit, but {given.ratings} is a fitted model.")
    model = loaded(given.ratings)
    return model, facts_of(given.items, map(str, model.item_ids_))


def is_model(path: str) -> bool:
    """Whether a file begins as those of `rprnmf.save` do."""
    from rprnmf.array_file.layout import MAGIC

    if path == STDIN or os.path.isdir(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def loaded(path: str) -> Any:
    """A fitted recommender of a file."""
    from rprnmf.persistence import load
    from rprnmf.recommend import Recommender

    model = load(path)
    if not isinstance(model, Recommender):
        raise ValueError(
            f"{path} holds {type(model).__name__}; a file of ratings is needed, or a model that "
            "rprnmf recommend --save wrote."
        )
    if not hasattr(model, "user_ids_"):
        raise ValueError(f"{path} holds a recommender that was not fitted.")
    return model


def fitted(given: Any) -> tuple[Any, Any]:
    """A recommender fitted to a file of ratings, and the table of items or None."""
    ratings, names = read_ratings(given)
    knowledge = knowledge_of(given, names)
    model = unfitted(given, given.components).set_params(verbose=0 if given.run.quiet else 1)
    model.fit(*ratings, **knowledge)
    return model.set_params(verbose=0), knowledge["item_metadata"]


def known_ids(wanted: Any, ids: list[Any], what: str, path: str) -> list[Any]:
    """The ids that are written so; text and numbers are alike."""
    place = {str(name): name for name in ids}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        raise ValueError(f"{path} has no {what} {unknown[0]!r}; found {str(ids[0])!r}, ...")
    return [place[name] for name in wanted]


def folded_in(model: Any, path: str) -> Any:
    """Someone whom the model does not know, from a table of rated items."""
    table = read_table(path)
    place = {str(name): name for name in model.item_ids_}
    column = name_column(table, set(place))
    others = [name for name in table.columns if name != column]
    rated = [name for name in others if name.lower() in COUNTED] or others
    items = [place.get(name, name) for name in table.columns[column]]
    if not rated:
        if model.kind_ == "explicit":
            raise ValueError(f"{path} must have a column with ratings beside {column!r}.")
        return model.fold_in(items)
    try:
        ratings = [float(cell) for cell in table.columns[rated[0]]]
    except ValueError as error:
        raise ValueError(f"{path}: column {rated[0]!r} must have numbers: {error}.") from None
    return model.fold_in(items, ratings)
