"""``rprnmf info``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import describe as counts_of
from rprnmf.cli.files import INPUT, check_files, real_file
from rprnmf.cli.models import SUFFIX, names_of
from rprnmf.cli.report import Report, Table, counted, per_cent
from rprnmf.cli.scheduler import described, scheduled, scheduler_option

SHOWN = 3  # names that are shown


@command("rprnmf info model.rprnmf")
@click.argument("model", type=INPUT, required=False)
@scheduler_option
def info(given: Any) -> Report:
    """Say what is in the file of a model: kind, size, settings, names, comparisons, versions.

    With --scheduler: also, or only, which workers there are.
    """
    if given.model is None and given.scheduler is None:
        raise click.UsageError("Missing argument 'MODEL'.")
    check_files(given.run, [], [given.model])
    document: dict[str, Any] = {}
    rows: list[list[str]] = []
    if given.model is not None:
        rows += about_model(given.model, document)
    if given.scheduler is not None:
        with scheduled(given) as client:
            rows += described(client, given.scheduler, document)
    return Report(document, [Table("", ("", ""), rows)])


def about_model(path: str, document: dict[str, Any]) -> list[list[str]]:
    """What is in the file."""
    from rprnmf.persistence import describe, load
    from rprnmf.recommend import Recommender
    from rprnmf.triplets import Triplets

    with real_file(path, SUFFIX) as file:
        about, held = describe(file), load(file)
        size = file.stat().st_size
    document |= {**about, "bytes": size}
    rows = [["kind", about["class"]]]
    if isinstance(held, Triplets):
        found = counts_of(held)
        document.update(found)
        rows += [["comparisons", str(found["triplets"])], ["items", str(found["items"])]]
    else:
        document["parameters"] = changed(held)
        settings = [f"{name}={short(value)}" for name, value in document["parameters"].items()]
        rows.append(["settings", ", ".join(settings) or "all default"])
        document["fitted"] = hasattr(held, "components_") or hasattr(held, "item_factors_")
        of_fit = recommender_rows if isinstance(held, Recommender) else fitted_rows
        rows += of_fit(held, document) if document["fitted"] else [["fitted", "no"]]
    versions = [f"{name} {about[name]}" for name in ("rprnmf", "numpy", "scikit-learn")]
    rows.append(["written", f"{about['date']} with {', '.join(versions)}"])
    rows.append(["bytes", str(size)])
    return rows


def fitted_rows(model: Any, document: dict[str, Any]) -> list[list[str]]:
    """What a fit left in a model."""
    from rprnmf.remote import is_chunked

    n, K = model.embedding_.shape
    m = model.components_.shape[1]
    document |= {"rows": n, "columns": m, "components": K, "iterations": model.n_iter_}
    document["reconstruction_err"] = model.reconstruction_err_
    document["converged"] = bool(model.converged_)
    end = "converged" if model.converged_ else "not converged"
    rows = [
        ["data", f"{n} x {m}"],
        ["components", str(K)],
        ["error", f"{model.reconstruction_err_:.4g}"],
        ["iterations", f"{model.n_iter_}, {end}"],
    ]
    if is_chunked(model.embedding_):
        document["blocks"] = model.embedding_.numblocks[0]
        rows.append(["rows of W", f"in {counted(document['blocks'], 'file')} beside it"])
    for side in ("row", "column"):
        names = names_of(model, side)
        document[f"{side}_names"] = names
        if names is not None:
            more = ", ..." if len(names) > SHOWN else ""
            rows.append([f"{side} names", ", ".join(map(str, names[:SHOWN])) + more])
        triplets = getattr(model, f"{side}_triplets_", None)
        if triplets is not None and triplets.n_triplets:
            share = float(getattr(model, f"{side}_satisfied_rate_"))
            document[f"{side}_triplets"], document[f"{side}_satisfied_rate"] = (
                triplets.n_triplets,
                share,
            )
            met = f"{per_cent(share)} of {counted(triplets.n_triplets, 'comparison')} met"
            rows.append([f"{side}s", met])
    return rows


def recommender_rows(model: Any, document: dict[str, Any]) -> list[list[str]]:
    """What a fit left in a recommender."""
    n, m = len(model.user_ids_), len(model.item_ids_)
    rated = model._X.nnz
    document |= {"kind": model.kind_, "users": n, "items": m, "ratings": rated}
    document["components"] = model.n_components_
    rows = [
        ["data", f"{counted(n, 'user')}, {counted(m, 'item')}, {counted(rated, 'rating')}"],
        ["ratings", model.kind_],
        ["components", str(model.n_components_)],
    ]
    if model.scale_ is not None:
        document["scale"] = list(model.scale_)
        rows[1][1] += f", {model.scale_[0]:g} to {model.scale_[1]:g}"
    for side, names in (("user", model.user_ids_), ("item", model.item_ids_)):
        document[f"{side}_names"] = names
        more = ", ..." if len(names) > SHOWN else ""
        rows.append([f"{side}s", ", ".join(map(str, names[:SHOWN])) + more])
        share = float(getattr(model, f"{side}_satisfied_rate_"))
        if share == share:  # NaN: no comparisons
            document[f"{side}_satisfied_rate"] = share
            rows.append([f"{side} comparisons met", per_cent(share)])
    return rows


def changed(model: Any) -> dict[str, Any]:
    """The parameters that differ from the defaults; arrays by their shape."""
    usual = type(model)().get_params(deep=False)
    given = {name: short(value) for name, value in model.get_params(deep=False).items()}
    return {name: value for name, value in given.items() if value != short(usual[name])}


def short(value: Any) -> Any:
    """A value in few letters."""
    if hasattr(value, "shape"):
        return f"<{' x '.join(map(str, value.shape))}>"
    if isinstance(value, list | tuple):
        return [short(part) for part in value]
    return value
