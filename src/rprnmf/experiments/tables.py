"""Tables of results: mean, spread, the published figure, the best in bold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rprnmf.experiments.base import Row
from rprnmf.experiments.page import Cell, Table, number

LOWER = {"MSL", "MD", "RMSE", "seconds"}  # where less is better
UNIT = {"CSR": " %", "ACC": " %", "NMI": " %", "F1": " %"}
NAMES = {"euclidean": "Euclidean", "divergence": "Divergence"}
AVERAGE = "Avg."


def metric_table(
    name: str,
    metric: str,
    measure: str,
    rows: list[Row],
    known: list[dict[str, Any]],
    repeat: str,
    count: str,
) -> Table:
    """One metric and measure: a row for every K, a column for every algorithm."""
    algorithms = list(dict.fromkeys(row["algorithm"] for row in rows))
    sizes = sorted({row["K"] for row in rows})
    figures = {
        (row["K"], row["algorithm"]): float(row["value"])
        for row in known
        if row["measure"] == measure and row["metric"] == metric
    }
    whole = {row["K"] for row in known} - {AVERAGE} <= set(sizes)
    body: list[list[Any]] = []
    for K in sizes:
        part = [row for row in rows if row["K"] == K]
        cells = [
            summary([r[metric] for r in part if r["algorithm"] == one], figures.get((K, one)))
            for one in algorithms
        ]
        body.append([str(K), str(max(row[count] for row in part)), *mark_best(cells, metric)])
    average = []
    for one in algorithms:
        runs = [r for r in rows if r["algorithm"] == one]
        averages = [
            float(np.mean(found))
            for turn in sorted({row[repeat] for row in rows})
            if len(found := [row[metric] for row in runs if row[repeat] == turn]) == len(sizes)
        ]
        average.append(summary(averages, figures.get((AVERAGE, one)) if whole else None))
    body.append([AVERAGE, "", *mark_best(average, metric)])
    many = [
        sum(r["K"] == K and r["algorithm"] == a for r in rows) for K in sizes for a in algorithms
    ]
    how_many = counted(max(many), "run")
    if min(many) < max(many):
        how_many = f"{min(many)} to {how_many} ({AVERAGE}: of those that have every K)"
    caption = (
        f"{metric}{UNIT.get(metric, '')}, {NAMES[measure]}: mean ± standard deviation of "
        f"{how_many}, in brackets what is published; the best of a line is bold"
    )
    return Table(name, caption, ["K", "triplets", *algorithms], body)


def summary(values: Sequence[float], figure: float | None = None) -> Cell:
    """Mean and standard deviation of what did not diverge, beside a published figure."""
    finite = [value for value in values if np.isfinite(value)]
    found = Cell(None, published=figure, diverged=len(values) - len(finite))
    if finite:
        found.value = float(np.mean(finite))
    if len(finite) > 1:
        found.spread = float(np.std(finite, ddof=1))
    return found


def counted(n: int, name: str) -> str:
    """1 run, 2 runs."""
    return f"{n} {name}{'' if n == 1 else 's'}"


def mark_best(cells: list[Cell], metric: str) -> list[Cell]:
    """The best of a line, and what looks the same."""
    values = [cell.value for cell in cells if cell.value is not None]
    if len(values) > 1:
        best = number(min(values) if metric in LOWER else max(values), Cell.digits)
        for cell in cells:
            cell.best = cell.value is not None and number(cell.value, cell.digits) == best
    return cells


def averages_table(
    name: str,
    caption: str,
    rows: list[Row],
    metrics: Sequence[str],
    known: Callable[[str, str, str], float | None],
) -> Table:
    """A row for every algorithm and measure, averaged over everything else."""
    body: list[list[Any]] = []
    pairs = list(dict.fromkeys((row["algorithm"], row["measure"]) for row in rows))
    for algorithm, measure in pairs:
        part = [r for r in rows if r["algorithm"] == algorithm and r["measure"] == measure]
        cells = [
            summary([r[m] for r in part if m in r], known(algorithm, measure, m)) for m in metrics
        ]
        body.append([algorithm, NAMES[measure], *cells])
    for measure in NAMES.values():
        lines = [line for line in body if line[1] == measure]
        for place, metric in enumerate(metrics, 2):
            mark_best([line[place] for line in lines], metric)
    return Table(name, caption, ["algorithm", "measure", *metrics], body)
