"""``rprnmf evaluate``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import triplet_options, triplets_of
from rprnmf.cli.files import INPUT, INPUT_OR_FOLDER, OUTPUT, check_files, write_csv
from rprnmf.cli.fit_report import COLUMNS, unmet_table
from rprnmf.cli.matrices import blocks_option, in_blocks, matrix_options, read_new
from rprnmf.cli.models import (
    align_columns,
    factor_of,
    load_model,
    names_of,
    rows_of,
)
from rprnmf.cli.options import show, side
from rprnmf.cli.report import Report, Table, per_cent
from rprnmf.cli.scheduler import scheduled, scheduler_option

ANSWERS = ("q", "r", "s", "chance", "met")


@command("rprnmf evaluate model.rprnmf ratings.csv --held-out test.csv --side column")
@click.argument("model", type=INPUT)
@click.argument("x", type=INPUT_OR_FOLDER, metavar="[X]...", nargs=-1)
@triplet_options
@click.option(
    "--held-out",
    type=INPUT,
    metavar="FILE",
    help="Comparisons that the fit has not seen, of rows or, with --side column, of columns.",
)
@side
@scheduler_option
@blocks_option
@matrix_options
@show
@click.option(
    "--out", type=OUTPUT, metavar="FILE", help="Write the held-out ones with chances, CSV."
)
def evaluate(given: Any) -> Report:
    """Say how well a model explains data and comparisons.

    X is what it was fitted on, or other data: its rows and columns are found by their names, and
    rows that the model does not know are placed first. Without --row-triplets and --column-triplets
    the comparisons are those of the fit.
    """
    files = [given.model, *given.x, given.row_triplets, given.column_triplets, given.held_out]
    check_files(given.run, [given.out], files, (".csv",))
    if given.out is not None and given.held_out is None:
        raise click.UsageError("--out writes held-out comparisons; --held-out FILE is missing.")
    with scheduled(given, needed=in_blocks(given)):
        return evaluated(given)


def evaluated(given: Any) -> Report:
    """Measure what is given."""
    model = load_model(given.model)
    document: dict[str, Any] = {"model": given.model}
    rows: list[list[Any]] = []
    if given.x:
        found = errors(given, model)
        document.update(found)
        rows += [["entries", str(found["entries"])], ["error (RMSE)", found["rmse"]]]
        rows.append([f"loss of an entry ({model.beta_loss})", found["loss"]])
        rows.append(["relative error", found["relative_error"]])
    unmet: list[list[Any]] = []
    for one in ("row", "column"):
        n, share, left = satisfied(given, model, one)
        if n:
            document[f"{one}_triplets"], document[f"{one}_satisfied_rate"] = n, share
            rows.append([f"{one} comparisons met", f"{per_cent(share)} of {n}"])
            unmet += left
    document["unmet"] = [dict(zip(COLUMNS, row, strict=True)) for row in unmet]
    parts: list[Any] = [Table("", ("", ""), rows)] if rows else []
    parts += unmet_table(unmet, given.show)
    if given.held_out is not None:
        held_out, table = answers(given, model)
        document["held_out"] = held_out
        parts.append(table)
    if not parts:
        raise click.UsageError("there is nothing to evaluate: give X, comparisons or --held-out.")
    return Report(document, parts)


def errors(given: Any, model: Any) -> dict[str, float]:
    """How far the model is from data."""
    import numpy as np

    from rprnmf.losses import get_loss
    from rprnmf.metrics.approximation import pair_of

    matrix = read_new(given, given.x, model)
    X = align_columns(matrix, model, given.run)
    W = rows_of(matrix, X, model, given.run)
    H = model.components_.astype(X.dtype)
    with pair_of(X, W.astype(X.dtype), H, model.missing) as (view, W, Ht):
        n_entries = view.n_observed
        if n_entries == 0:
            raise ValueError(
                f"{', '.join(given.x)} has no entry that the model could be compared with."
            )
        squared = view.squared_error(W, Ht)
        total = view.squared_error(np.zeros_like(W), Ht)
        loss = get_loss(model.beta_loss).value(view, W, Ht)
    return {
        "entries": n_entries,
        "rmse": float(np.sqrt(squared / n_entries)),
        "loss": loss / n_entries,
        "relative_error": float(np.sqrt(squared / total)) if total else float("nan"),
    }


def satisfied(given: Any, model: Any, one: str) -> tuple[int, float, list[list[Any]]]:
    """Comparisons of one side, the share met, and those unmet, the worst first."""
    import numpy as np

    from rprnmf.metrics import triplet_distances

    factor, names = factor_of(model, one), names_of(model, one)
    path = getattr(given, f"{one}_triplets")
    known = getattr(model, f"{one}_triplets_", None)
    if path is not None:
        known = triplets_of(path, len(factor), names, given).positions(len(factor), names, one)
    if known is None or not known.n_triplets:
        return 0, float("nan"), []
    distance = getattr(model, "distance_", "euclidean")
    items, near, far = triplet_distances(factor, known, distance)
    left = np.flatnonzero(near >= far)
    left = left[np.argsort((far - near)[left], kind="stable")]
    called = type(known)(items[left]).with_names(names).items.tolist()
    rows = [[one, *row, near[k], far[k]] for row, k in zip(called, left, strict=True)]
    return len(items), float(np.mean(near < far)), rows


def answers(given: Any, model: Any) -> tuple[dict[str, Any], Table]:
    """Held-out comparisons, with the chance that the model gave each."""
    import numpy as np

    from rprnmf.metrics import triplet_distances

    factor, names = factor_of(model, given.side), names_of(model, given.side)
    known = triplets_of(given.held_out, len(factor), names, given)
    if not known.n_triplets:
        raise ValueError(f"{given.held_out} has no comparisons.")
    distance = getattr(model, "distance_", "euclidean")
    _, near, far = triplet_distances(factor, known, distance, names=names)
    met = near < far
    weights = known.weights / known.weights.max()
    found: dict[str, Any] = {"triplets": len(met), "met": float(weights @ met / weights.sum())}
    chances = np.full(len(met), np.nan)
    fitted = getattr(model, f"{given.side}_triplets_", None)
    if fitted is not None and fitted.n_triplets and model.solver != "paper":
        chances = model.predict_triplets(known, given.side)
        found["mean_chance"] = float(weights @ chances / weights.sum())
    order = np.argsort(chances if not np.isnan(chances).any() else met, kind="stable")
    rows = [[*known.items[k].tolist(), chances[k], bool(met[k])] for k in order.tolist()]
    if given.out is not None:
        write_csv(given.out, ANSWERS, [[*row[:4], int(row[4])] for row in rows])
        found["out"] = str(given.out)
    found["answers"] = [dict(zip(ANSWERS, row, strict=True)) for row in rows]
    title = f"Held-out comparisons: {per_cent(found['met'])} of {len(met)} met"
    if "mean_chance" in found:
        title += f", mean chance {found['mean_chance']:.2f}"
    shown = rows[: given.show]
    title += f"; the {len(shown)} least expected" if len(shown) < len(rows) and shown else ""
    return found, Table(title, ANSWERS, shown)
