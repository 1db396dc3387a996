"""The figures and averages of the synthetic experiments."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from rprnmf.experiments.algorithms import OWN, PAPER
from rprnmf.experiments.beside_paper import stopped_early
from rprnmf.experiments.fits import ERROR
from rprnmf.experiments.harness.drawing import Axis, Panel, draw_panels
from rprnmf.experiments.harness.experiment import Row, column, grouped, where
from rprnmf.experiments.harness.metric import MEASURES, METRICS, as_printed, number
from rprnmf.experiments.harness.report import Figure, Section, Table
from rprnmf.experiments.harness.tables import averages_table, summary
from rprnmf.experiments.significance import difference

SHOWN = ("MSL", "MD", "CSR", "seconds")
Known = dict[tuple[str, str, str], float]  # published averages by algorithm, measure and metric


def report(
    text: str, rows: list[Row], x: Axis, known: Known | None = None, log_time: bool = False
) -> Section:
    """MSL/MD, CSR and time over one setting, and their averages."""
    known = known or {}
    caption = (
        "Averages over everything else: mean ± standard deviation of single runs, "
        f"{n_repetitions(rows)} repetitions; in brackets what is published; the best of a measure "
        "is bold"
    )
    tables = [averages_table(caption, rows, SHOWN, known), points_table("points", rows, x)]
    found = findings(rows, known)
    own = next((one for one in found if one.startswith(OWN)), "")
    return Section(text, tables, [figure(rows, x, log_time)], found, own)


def n_repetitions(rows: list[Row]) -> int:
    """How many repetitions there are."""
    return len({row["repetition"] for row in rows})


def figure(rows: list[Row], x: Axis, log_time: bool = False) -> Figure:
    """Error, CSR and time over one setting."""
    panels = [
        Panel("MSL / MD", lambda row: row[ERROR[row["measure"]][0]], log=True),
        Panel("CSR (%)", itemgetter("CSR")),
        Panel("Processing time (s)", itemgetter("seconds"), "seconds", log_time),
    ]
    caption = (
        "MSL (Euclidean, solid) and MD (Divergence, dashed), CSR and time; means of "
        f"{n_repetitions(rows)} repetitions, bars are standard deviations. Time is what one thread "
        "spent on the fit."
    )
    return draw_panels("", caption, rows, x, panels)


def points_table(name: str, rows: list[Row], x: Axis) -> Table:
    """What the figure shows, in a file."""
    body: list[list[Any]] = []
    lines = grouped(rows, x.setting, "algorithm", "measure")
    for place, algorithm, measure in sorted(lines, key=itemgetter(0)):
        part = lines[place, algorithm, measure]
        cells = [summary(column(part, metric)) for metric in SHOWN]
        body.append([f"{place:g}", algorithm, MEASURES[measure], *cells])
    head = [x.label, "algorithm", "measure", *SHOWN]
    return Table(name, "The points of the figure", head, body, shown=False)


def mean(rows: list[Row], algorithm: str, measure: str, metric: str) -> float:
    """The mean over all runs of an algorithm by a measure."""
    return float(np.mean(column(where(rows, algorithm=algorithm, measure=measure), metric)))


def findings(rows: list[Row], known: Known) -> list[str]:
    """Sentences from the numbers; those that compare need all of the paper's algorithms."""
    present = set(grouped(rows, "algorithm", "measure"))
    found = [
        beside_published(rows, *place, known[place])
        for algorithm in ("NMF", "RPR-NMF")
        for measure, (metric, _) in ERROR.items()
        if (place := (algorithm, measure, metric)) in known and (algorithm, measure) in present
    ]
    if not {(algorithm, measure) for algorithm in PAPER for measure in ERROR} <= present:
        return found
    found.append(by_rate(rows, known))
    found += [by_time(rows, measure) for measure in ERROR]
    for measure in ERROR:
        gain = difference(rows, METRICS["CSR"], "RPR-NMF", "NMF", measure)
        if gain.error is not None:
            found.append(
                f"RPR-NMF over NMF on the same draws, {MEASURES[measure]}: CSR {gain.mean:+.1f} "
                f"points (standard error {gain.error:.1f})."
            )
    found += [every_triplet_met(rows, measure) for measure in ERROR if (OWN, measure) in present]
    return found + stopped_early(rows)


def beside_published(
    rows: list[Row], algorithm: str, measure: str, metric: str, figure: float
) -> str:
    """An error as a multiple of the published one."""
    ours = mean(rows, algorithm, measure, metric)
    return (
        f"{algorithm}, {MEASURES[measure]}: {metric} {number(ours, 3)}, "
        f"{ours / figure:.2f} times the published {as_printed(figure)}."
    )


def by_rate(rows: list[Row], known: Known) -> str:
    """The paper's algorithms in order of the percentage of triplets met."""
    rates, figures = {}, {}
    for measure in ("divergence", "euclidean"):
        name = f"RPR-NMF {MEASURES[measure]}"
        rates[name] = mean(rows, "RPR-NMF", measure, "CSR")
        figures[name] = known.get(("RPR-NMF", measure, "CSR"))
    for algorithm in ("NMF", "GNMF", "LCNMF"):
        name = f"{algorithm} (both)"
        rates[name] = float(np.mean([mean(rows, algorithm, each, "CSR") for each in ERROR]))
        figures[name] = known.get((algorithm, "euclidean", "CSR"))
    texts = [
        f"{name} {rates[name]:.1f} %"
        + (f" (published {figure:.1f})" if (figure := figures[name]) is not None else "")
        for name in sorted(rates, key=lambda name: -rates[name])
    ]
    return f"CSR: {' > '.join(texts)}."


def by_time(rows: list[Row], measure: str) -> str:
    """The paper's algorithms in order of time."""
    times = {name: mean(rows, name, measure, "seconds") for name in PAPER}
    slower = sorted(times, key=lambda name: times[name])
    return (
        f"Seconds a fit, {MEASURES[measure]}: "
        + " < ".join(f"{name} {number(times[name], 2)}" for name in slower)
        + "; in the paper GNMF is the fastest and LCNMF the slowest."
    )


def every_triplet_met(rows: list[Row], measure: str) -> str:
    """In how many runs the library's own solver meets all triplets, and at what error."""
    rates, metric = column(where(rows, algorithm=OWN, measure=measure), "CSR"), ERROR[measure][0]
    own, plain, paper = (
        number(mean(rows, name, measure, metric), 3) for name in (OWN, "NMF", "RPR-NMF")
    )
    return (
        f"{OWN}, {MEASURES[measure]}: every triplet met in {rates.count(100.0)} of {len(rates)} "
        f"runs, {metric} {own}, by the paper's rules {plain} (NMF) and {paper} (RPR-NMF)."
    )
