"""From options to an estimator, and to what its ``fit`` is told."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.comparisons import triplets_of
from rprnmf.cli.model_options import NAMES, PARAMETERS
from rprnmf.cli.side_files import graph_of, labels_of, prior_of

COMPONENTS = 10  # if nothing is said
SIDES = ("row", "column")


def estimator_of(given: Any, matrix: Any, *, verbose: int = 0) -> Any:
    """The estimator that the options describe.

    Parameters
    ----------
    given : namespace
        The options of `model_options`.
    matrix : Matrix
        What was read; it says how entries are missing.
    verbose : int, default=0
    """
    from rprnmf import estimators

    name = estimator_name(given)
    made = getattr(estimators, name.upper())()
    known = made.get_params(deep=False)
    values = {each: getattr(given, each) for each in NAMES}
    values = {each: value for each, value in values.items() if value is not None}
    for side in SIDES:
        graph, prior = getattr(given, f"{side}_graph"), getattr(given, f"{side}_prior")
        if graph is not None:
            values[f"{side}_graph"] = graph_of(graph, matrix, side)
        if prior:
            values[f"{side}_prior"] = prior_of(prior, matrix, side)
    for each in values:
        if PARAMETERS.get(each, each) not in known:
            flag = f"--{each.replace('_', '-')}"
            raise click.UsageError(f"{flag} does not go with --estimator {name}.")
    values["components"] = number_of_components(getattr(given, "components", None), matrix.X.shape)
    parameters = {PARAMETERS.get(each, each): value for each, value in values.items()}
    made.set_params(**parameters, missing=matrix.missing, random_state=given.seed, verbose=verbose)
    return made


def estimator_name(given: Any) -> str:
    """What is asked for; else what the knowledge asks for."""
    labels = any(getattr(given, f"{side}_labels", None) for side in SIDES)
    triplets = any(getattr(given, f"{side}_triplets", None) for side in SIDES)
    name: str = given.estimator or ("lcnmf" if labels else "rprnmf")
    if triplets and name != "rprnmf":
        raise click.UsageError(f"comparisons do not go with {name}: only rprnmf takes them.")
    if labels and name != "lcnmf":
        raise click.UsageError(f"labels do not go with {name}: only lcnmf takes them.")
    return name


def number_of_components(wanted: int | None, shape: tuple[int, int]) -> int:
    """As many as asked for, which X must have room for."""
    most = min(shape)
    if wanted is None:
        return min(COMPONENTS, most)
    if wanted > most:
        raise ValueError(
            f"-k {wanted} is too many components: X has {shape[0]} rows and {shape[1]} columns, "
            f"so that {most} explain all of it. `rprnmf rank` helps to choose."
        )
    return wanted


def knowledge_of(given: Any, matrix: Any) -> dict[str, Any]:
    """What ``fit`` is told: names, comparisons and labels.

    Parameters
    ----------
    given : namespace
        With ``row_triplets`` and so on: paths or None.
    matrix : Matrix
    """
    known: dict[str, Any] = {"row_names": matrix.row_names, "column_names": matrix.column_names}
    for index, side in enumerate(SIDES):
        n, names = matrix.X.shape[index], known[f"{side}_names"]
        path = getattr(given, f"{side}_triplets", None)
        if path is not None:
            known[f"{side}_triplets"] = triplets_of(path, n, names, given)
        labels = getattr(given, f"{side}_labels", None)
        if labels is not None:
            key = "y" if side == "row" else "column_labels"
            known[key] = labels_of(labels, n, names)
    return known
