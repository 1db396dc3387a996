"""Tables of results: mean, standard deviation, the published figure, the best in bold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rprnmf.experiments.harness.experiment import Row, column, grouped, where
from rprnmf.experiments.harness.metric import MEASURES, METRICS, Metric, counted, number
from rprnmf.experiments.harness.report import Cell, Table

AVERAGE = "Avg."


def summary(values: Sequence[float], figure: float | None = None) -> Cell:
    """Mean and standard deviation of what did not diverge, beside a published figure."""
    finite = [value for value in values if np.isfinite(value)]
    found = Cell(None, published=figure, diverged=len(values) - len(finite))
    if finite:
        found.value = float(np.mean(finite))
    if len(finite) > 1:
        found.deviation = float(np.std(finite, ddof=1))
    return found


def mark_best(cells: list[Cell], metric: Metric) -> list[Cell]:
    """Mark the best cell, and those that look the same in print."""
    values = [cell.value for cell in cells if cell.value is not None]
    if len(values) > 1:
        best = number(min(values) if metric.lower_is_better else max(values), Cell.digits)
        for cell in cells:
            cell.best = cell.value is not None and number(cell.value, cell.digits) == best
    return cells


def metric_table(
    metric: Metric, measure: str, rows: list[Row], known: list[dict[str, Any]]
) -> Table:
    """One metric and measure: a row for every K, a column for every algorithm."""
    runs = grouped(rows, "K", "algorithm")
    algorithms = list(dict.fromkeys(algorithm for _, algorithm in runs))
    sizes = sorted({K for K, _ in runs})
    values = {
        (K, one): column(runs.get((K, one), []), metric.name) for K in sizes for one in algorithms
    }
    figures = {
        (row["K"], row["algorithm"]): row["value"]
        for row in where(known, measure=measure, metric=metric.name)
    }
    body: list[list[Any]] = []
    for K in sizes:
        cells = [summary(values[K, one], figures.get((K, one))) for one in algorithms]
        triplets = max(column(where(rows, K=K), "n_triplets"))
        body.append([str(K), str(triplets), *mark_best(cells, metric)])
    whole = {row["K"] for row in known} - {AVERAGE} <= set(sizes)
    cells = [
        summary(
            averages(where(rows, algorithm=one), metric.name, len(sizes)),
            figures.get((AVERAGE, one)) if whole else None,
        )
        for one in algorithms
    ]
    body.append([AVERAGE, "", *mark_best(cells, metric)])
    counts = [len(each) for each in values.values()]
    how_many = counted(max(counts), "run")
    if min(counts) < max(counts):
        how_many = f"{min(counts)} to {how_many} ({AVERAGE}: of those that have every K)"
    caption = (
        f"{metric.label}, {MEASURES[measure]}: mean ± standard deviation of "
        f"{how_many}, in brackets what is published; the best of a line is bold"
    )
    head = ["K", "triplets", *algorithms]
    name = f"{metric.name}-{measure}"
    return Table(name, caption, head, body, metric=metric, measure=measure)


def averages(rows: list[Row], metric: str, n_sizes: int) -> list[float]:
    """The average over K of every repetition that has all of them."""
    parts = sorted(grouped(rows, "repetition").items())
    return [float(np.mean(column(part, metric))) for _, part in parts if len(part) == n_sizes]


def averages_table(
    caption: str,
    rows: list[Row],
    metrics: Sequence[str],
    known: dict[tuple[str, str, str], float],
) -> Table:
    """A row for every algorithm and measure, averaged over everything else."""
    body: list[list[Any]] = []
    for (algorithm, measure), part in grouped(rows, "algorithm", "measure").items():
        cells = [summary(column(part, m), known.get((algorithm, measure, m))) for m in metrics]
        body.append([algorithm, MEASURES[measure], *cells])
    for measure in MEASURES.values():
        lines = [line for line in body if line[1] == measure]
        for place, metric in enumerate(metrics, 2):
            mark_best([line[place] for line in lines], METRICS[metric])
    return Table("", caption, ["algorithm", "measure", *metrics], body)
