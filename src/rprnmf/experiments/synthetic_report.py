"""The figures and averages of the synthetic experiments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.experiments.algorithms import ERROR, OWN, PAPER
from rprnmf.experiments.base import Row
from rprnmf.experiments.compared import stopped_early
from rprnmf.experiments.drawing import Panel, draw_panels, lines_of
from rprnmf.experiments.page import Section, Table, as_printed, number
from rprnmf.experiments.paired import gap
from rprnmf.experiments.tables import NAMES, averages_table, summary

METRICS = ("MSL", "MD", "CSR", "seconds")


def report(
    name: str,
    title: str,
    text: str,
    rows: list[Row],
    labels: tuple[str, str],
    known: Callable[[str, str, str], float | None],
    *,
    log_x: bool = False,
    log_time: bool = False,
) -> Section:
    """MSL/MD, CSR and time over one quantity, and their averages."""
    label, x = labels
    panels = [
        Panel("MSL / MD", label, "MSL / MD", lines_of(rows, x, error_of), True, log_x),
        Panel("CSR (%)", label, "CSR (%)", lines_of(rows, x, lambda row: row["CSR"]), False, log_x),
        Panel(
            *("Processing time (s)", label, "seconds"),
            *(lines_of(rows, x, lambda row: row["seconds"]), log_time, log_x),
        ),
    ]
    runs = len({row["repetition"] for row in rows})
    caption = (
        f"MSL (Euclidean, solid) and MD (Divergence, dashed), CSR and time; means of {runs} "
        "repetitions, bars are standard deviations. Time is what one thread spent on the fit."
    )
    table = averages_table(
        name,
        f"Averages over everything else: mean ± standard deviation of single runs, {runs} "
        "repetitions; in brackets what is published; the best of a measure is bold",
        rows,
        METRICS,
        known,
    )
    tables = [table, points_table(f"{name}-points", label, x, rows)]
    figure = draw_panels(name, caption, panels)
    found = findings(rows, known)
    own = next((one for one in found if one.startswith(OWN)), "")
    return Section(name, title, text, tables, [figure], found, own)


def points_table(name: str, label: str, x: str, rows: list[Row]) -> Table:
    """What the figure shows, in a file."""
    body: list[list[Any]] = []
    for place in sorted({row[x] for row in rows}):
        at = [row for row in rows if row[x] == place]
        for algorithm, measure in dict.fromkeys((r["algorithm"], r["measure"]) for r in at):
            part = [r for r in at if (r["algorithm"], r["measure"]) == (algorithm, measure)]
            cells = [summary([r[m] for r in part if m in r]) for m in METRICS]
            body.append([f"{place:g}", algorithm, NAMES[measure], *cells])
    head = [label, "algorithm", "measure", *METRICS]
    return Table(name, "The points of the figure", head, body, shown=False)


def error_of(row: Row) -> float | None:
    """MSL or MD."""
    return row[ERROR[row["measure"]][0]]


def mean(rows: list[Row], algorithm: str, measure: str, metric: str) -> float:
    """Over all runs."""
    return float(
        np.mean(
            [
                row[metric]
                for row in rows
                if row["algorithm"] == algorithm and row["measure"] == measure
            ]
        )
    )


def findings(rows: list[Row], known: Callable[[str, str, str], float | None]) -> list[str]:
    """Sentences from the numbers: ratios to the paper, the order on CSR, paired gains."""
    present = {(row["algorithm"], row["measure"]) for row in rows}
    found = []
    for algorithm in ("NMF", "RPR-NMF"):
        for measure, (metric, _) in ERROR.items():
            figure = known(algorithm, measure, metric)
            if figure is not None and (algorithm, measure) in present:
                ours = mean(rows, algorithm, measure, metric)
                found.append(
                    f"{algorithm}, {NAMES[measure]}: {metric} {number(ours, 3)}, "
                    f"{ours / figure:.2f} times the published {as_printed(figure)}."
                )
    if not {(algorithm, measure) for algorithm in PAPER for measure in ERROR} <= present:
        return found
    rates, figures = {}, {}
    for measure in ("divergence", "euclidean"):
        name = f"RPR-NMF {NAMES[measure]}"
        rates[name] = mean(rows, "RPR-NMF", measure, "CSR")
        figures[name] = known("RPR-NMF", measure, "CSR")
    for algorithm in ("NMF", "GNMF", "LCNMF"):
        name = f"{algorithm} (both)"
        rates[name] = float(np.mean([mean(rows, algorithm, each, "CSR") for each in ERROR]))
        figures[name] = known(algorithm, "euclidean", "CSR")
    ordered = sorted(rates, key=lambda name: -rates[name])
    texts = [
        f"{name} {rates[name]:.1f} %"
        + (f" (published {figure:.1f})" if (figure := figures[name]) is not None else "")
        for name in ordered
    ]
    found.append(f"CSR: {' > '.join(texts)}.")
    for measure in ERROR:
        times = {name: mean(rows, name, measure, "seconds") for name in PAPER}
        slower = sorted(times, key=lambda name: times[name])
        found.append(
            f"Seconds a fit, {NAMES[measure]}: "
            + " < ".join(f"{name} {number(times[name], 2)}" for name in slower)
            + "; in the paper GNMF is the fastest and LCNMF the slowest."
        )
    for measure in ERROR:
        gain = gap(rows, "CSR", "RPR-NMF", "NMF", "repetition", measure)
        if gain.error is not None:
            found.append(
                f"RPR-NMF over NMF on the same draws, {NAMES[measure]}: CSR {gain.mean:+.1f} "
                f"points (standard error {gain.error:.1f})."
            )
    for measure, (metric, _) in ERROR.items():
        part = [r for r in rows if r["algorithm"] == OWN and r["measure"] == measure]
        if part:
            whole = sum(row["CSR"] == 100.0 for row in part)
            found.append(
                f"{OWN}, {NAMES[measure]}: every triplet met in {whole} of {len(part)} runs, "
                f"{metric} {number(mean(rows, OWN, measure, metric), 3)}, by the paper's rules "
                f"{number(mean(rows, 'NMF', measure, metric), 3)} (NMF) and "
                f"{number(mean(rows, 'RPR-NMF', measure, metric), 3)} (RPR-NMF)."
            )
    return found + stopped_early(rows)
