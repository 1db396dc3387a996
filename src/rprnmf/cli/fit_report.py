"""What came of a fit: size, error, comparisons met, seconds, and which are unmet."""

from __future__ import annotations

from typing import Any

from rprnmf.cli.report import Report, Table, counted, per_cent

COLUMNS = ("side", "q", "r", "s", "near", "far")


def fit_report(model: Any, matrix: Any, seconds: float, given: Any) -> Report:
    """The report of a fitted model.

    Parameters
    ----------
    model : fitted estimator
    matrix : Matrix
        What it was fitted on.
    seconds : float
    given : namespace
        With ``out``, a path or None, and ``show``, the number of unmet comparisons to list.
    """
    n, m = matrix.X.shape
    err = mean_error(model, matrix)
    document: dict[str, Any] = {
        "estimator": type(model).__name__,
        "rows": n,
        "columns": m,
        "components": model.n_components_,
        "missing": matrix.missing,
        "loss": model.beta_loss,
        "solver": model.solver,
        "reconstruction_err": model.reconstruction_err_,
        "rmse": err,
        "iterations": model.n_iter_,
        "converged": model.converged_,
        "seconds": seconds,
        "out": None if given.out is None else str(given.out),
    }
    rows: list[list[Any]] = [
        ["data", f"{n} x {m}"],
        ["model", f"{type(model).__name__}, {counted(model.n_components_, 'component')}"],
        ["error (RMSE)", err],
        ["iterations", f"{model.n_iter_}{'' if model.converged_ else ', not converged'}"],
        ["seconds", f"{seconds:.1f}"],
    ]
    met, unmet = comparisons(model)
    for side, share in met.items():
        document[f"{side}_triplets"], document[f"{side}_satisfied_rate"] = share
        rows.insert(-2, [f"{side} comparisons met", f"{per_cent(share[1])} of {share[0]}"])
    document["unmet"] = [dict(zip(COLUMNS, row, strict=True)) for row in unmet]
    if given.out is not None:
        rows.append(["written to", str(given.out)])
    return Report(document, [Table("", ("", ""), rows), *unmet_table(unmet, given.show)])


def mean_error(model: Any, matrix: Any) -> float:
    """Root mean squared error of the known entries, in the unit of X."""
    from rprnmf.metrics import rmse

    return rmse(matrix.X, model.embedding_, model.components_, missing=matrix.missing)


def comparisons(model: Any) -> tuple[dict[str, tuple[int, float]], list[list[Any]]]:
    """How many comparisons each side has and the share met; and those that are unmet.

    The worst come first: those with the largest near distance for their far one.
    """
    if not hasattr(model, "triplet_report"):
        return {}, []
    report = model.triplet_report()
    met = {}
    for side in ("row", "column"):
        n = getattr(model, f"{side}_triplets_").n_triplets
        if n:
            met[side] = (n, float(getattr(model, f"{side}_satisfied_rate_")))
    order = [k for k in range(len(report)) if not report.satisfied[k]]
    order.sort(key=lambda k: report.margin[k])
    return met, [[report[name][k] for name in COLUMNS] for k in order]


def unmet_table(unmet: list[list[Any]], most: int) -> list[Table]:
    """The first of the comparisons that do not hold."""
    if not unmet or not most:
        return []
    shown = min(len(unmet), most)
    title = f"Unmet comparisons: {len(unmet)}" + (
        f", the worst {shown} of them" if shown < len(unmet) else ""
    )
    return [Table(title, COLUMNS, unmet[:shown])]
