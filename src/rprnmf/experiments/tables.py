"""Tables beside the published ones, and sentences about them, written from the numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rprnmf.experiments.algorithms import CONTROL, PAPER
from rprnmf.experiments.base import Row, published
from rprnmf.experiments.page import Cell, Section, Table, number

LOWER = {"MSL", "MD", "RMSE", "seconds"}  # where less is better
UNIT = {"CSR": " %", "ACC": " %", "NMI": " %", "F1": " %"}
NAMES = {"euclidean": "Euclidean", "divergence": "Divergence"}
AVERAGE = "Avg."
CLOSE = 0.05  # share of a published figure within which it counts as the same


def compared_section(
    name: str,
    title: str,
    text: str,
    rows: list[Row],
    repeat: str,
    count: str,
    fitted: Collection[tuple[str, str]] = (),
) -> Section:
    """A section with one table a metric and measure: mean ± standard deviation (published).

    ``fitted`` are algorithms and metrics whose agreement with the paper says nothing, for
    settings were chosen by it.
    """
    section = Section(name, title, text)
    metrics = [
        m for m in ("MSL", "MD", "CSR", "ACC", "NMI", "RMSE", "F1") if any(m in r for r in rows)
    ]
    known = [
        {**row, "K": row["K"] if row["K"] == AVERAGE else int(row["K"])} for row in published(name)
    ]
    for metric in metrics:
        for measure in NAMES:
            part = [row for row in rows if row["measure"] == measure and metric in row]
            if part:
                table = f"{name}-{metric}-{measure}", metric, measure
                section.tables.append(metric_table(*table, part, known, repeat, count))
    section.findings = [
        *beyond_the_paper(section.tables),
        *beside_the_paper(section.tables, fitted),
        *verdicts(rows, metrics, repeat),
        *stopped_early(rows),
    ]
    pairs = paired_table(name, rows, metrics, repeat)
    section.tables += [pairs] if pairs.rows else []
    return section


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
    turns = len({row[repeat] for row in rows})
    partial = len(rows) < turns * len(sizes) * len(algorithms)
    caption = (
        f"{metric}{UNIT.get(metric, '')}, {NAMES[measure]}: mean ± standard deviation of {turns} "
        f"runs{', of whole ones in ' + AVERAGE if partial else ''}, in brackets what is published; "
        "the best of a line is bold"
    )
    return Table(name, caption, ["K", "triplets", *algorithms], body)


def summary(values: Sequence[float], figure: float | None = None) -> Cell:
    """Mean and standard deviation, beside a published figure."""
    if not values:
        return Cell(None, published=figure)
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Cell(float(np.mean(values)), spread, figure)


def mark_best(cells: list[Cell], metric: str) -> list[Cell]:
    """The best of a line, and what looks the same."""
    values = [cell.value for cell in cells if cell.value is not None and cell.value == cell.value]
    if len(values) > 1:
        best = number(min(values) if metric in LOWER else max(values), Cell.digits)
        for cell in cells:
            cell.best = cell.value is not None and number(cell.value, cell.digits) == best
    return cells


def beside_the_paper(
    tables: Sequence[Table], fitted: Collection[tuple[str, str]] = ()
) -> list[str]:
    """How many averages agree with the published ones, and which differ most."""
    pairs = []
    for table in tables:
        head, row = table.head[2:], table.rows[-1][2:]
        label = table.caption.split(":")[0]
        for algorithm, cell in zip(head, row, strict=True):
            here = cell.value is not None and cell.published is not None
            if here and (algorithm, label.split()[0].rstrip(",")) not in fitted:
                gap = abs(cell.value - cell.published)
                share = gap / (100.0 if " %" in label else abs(cell.published))
                pairs.append((share, label, algorithm, cell))
    if not pairs:
        return []
    close = sum(share <= CLOSE for share, *_ in pairs)
    sentences = [
        f"{close} of {len(pairs)} averages over K lie within {CLOSE:.0%} of the published ones "
        "(within 5 points where they are shares)."
    ]
    far = sorted((pair for pair in pairs if pair[0] > CLOSE), key=lambda pair: -pair[0])
    if far:
        named = "; ".join(
            f"{algorithm}, {label}: {cell.text()} here, {cell.published:g} published"
            for _, label, algorithm, cell in far[:6]
        )
        more = f"; and {len(far) - 6} more" if len(far) > 6 else ""
        sentences.append(f"Where we differ most: {named}{more}.")
    return sentences


def beyond_the_paper(tables: Sequence[Table]) -> list[str]:
    """The library's best beside the paper's best, on average and with the most components."""
    texts = []
    for metric in JUDGED:
        part = [table for table in tables if table.caption.startswith(metric)]
        if not part:
            continue
        lines = []
        for place, where in ((-1, "on average"), (-2, f"with K = {part[0].rows[-2][0]}")):
            ours, theirs = [], []
            for table in part:
                for algorithm, cell in zip(table.head[2:], table.rows[place][2:], strict=True):
                    if cell.published is not None:
                        theirs.append((cell.published, algorithm))
                    if algorithm not in PAPER and cell.value is not None:
                        ours.append((cell.value, algorithm))
            if ours and theirs:
                best = min if metric in LOWER else max
                (value, name), (figure, other) = best(ours), best(theirs)
                lines.append(
                    f"{where} {number(value, 3)} ({name}), the best published {number(figure, 4)} "
                    f"({other})"
                )
        if lines:
            texts.append(f"{metric}{UNIT.get(metric, '')}: {'; '.join(lines)}.")
    return [" ".join(texts)] if texts else []


JUDGED = ("ACC", "NMI", "RMSE", "F1")
SURE = 2.0  # standard errors


@dataclass
class Gap:
    """By how much one algorithm is better than another on the same draws."""

    metric: str
    mean: float
    error: float | None
    better: int
    runs: int

    @property
    def gain(self) -> float:
        """Positive where the first is better."""
        return -self.mean if self.metric in LOWER else self.mean

    @property
    def sure(self) -> bool:
        """Whether chance is an unlikely reason."""
        return self.error is not None and abs(self.mean) > SURE * self.error

    def text(self) -> str:
        """+1.2 ± 0.4, better in 7 of 9."""
        error = "" if self.error is None else f" ± {self.error:.2g}"
        return f"{self.mean:+.3g}{error}, better in {self.better} of {self.runs}"


def gap(rows: list[Row], metric: str, one: str, other: str, repeat: str, measure: str) -> Gap:
    """Of two algorithms; ``runs`` may be 0."""
    found = np.array(differences(rows, metric, one, other, repeat, measure))
    if not len(found):
        return Gap(metric, np.nan, None, 0, 0)
    error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else None
    better = int(((-found if metric in LOWER else found) > 0).sum())
    return Gap(metric, float(found.mean()), error, better, len(found))


def rivals(rows: list[Row]) -> list[tuple[str, str, str]]:
    """Who uses triplets, the measure, and whom it is compared with: the same without them, and
    the paper's baselines."""
    present = list(dict.fromkeys(row["algorithm"] for row in rows))
    return [
        (one, measure, other)
        for one in present
        if one in CONTROL
        for measure in NAMES
        for other in dict.fromkeys((CONTROL[one], *PAPER))
        if other in present and other != one and (other != "RPR-NMF" or one not in PAPER)
    ]


def paired_table(name: str, rows: list[Row], metrics: Sequence[str], repeat: str) -> Table:
    """Run by run: does what uses triplets beat what does not?"""
    judged = [metric for metric in JUDGED if metric in metrics]
    body = []
    for one, measure, other in rivals(rows):
        gaps = [gap(rows, metric, one, other, repeat, measure) for metric in judged]
        if any(found.runs for found in gaps):
            cells = [found.text() if found.runs else "-" for found in gaps]
            body.append([one, NAMES[measure], other, *cells])
    caption = "Differences on the same draws: mean ± standard error"
    head = ["algorithm", "measure", "against", *judged]
    return Table(f"{name}-paired", caption, head, body)


def verdicts(rows: list[Row], metrics: Sequence[str], repeat: str) -> list[str]:
    """One sentence for every algorithm with triplets and measure: above whom, below whom."""
    judged = [metric for metric in JUDGED if metric in metrics]
    words = {(True, True): "better than", (False, True): "worse than"}
    said: dict[tuple[str, str], dict[str, dict[str, list[str]]]] = {}
    for one, measure, other in rivals(rows):
        for metric in judged:
            found = gap(rows, metric, one, other, repeat, measure)
            if found.runs:
                word = words.get((found.gain > 0, found.sure), "not clearly different from")
                named = said.setdefault((one, measure), {}).setdefault(word, {})
                named.setdefault(other, []).append(f"{metric} {found.mean:+.3g}")
    return [
        f"{one}, {NAMES[measure]}: "
        + "; ".join(
            f"{word} "
            + ", ".join(f"{other} ({', '.join(texts)})" for other, texts in named.items())
            for word, named in parts.items()
        )
        + "."
        for (one, measure), parts in said.items()
    ]


def stopped_early(rows: list[Row]) -> list[str]:
    """Which of the authors' programs gave up before the last sweep."""
    sentences = []
    for algorithm in PAPER:
        for measure, name in NAMES.items():
            part = [
                row
                for row in rows
                if row["algorithm"] == algorithm and row["measure"] == measure and "n_iter" in row
            ]
            short = [row["n_iter"] for row in part if row["n_iter"] < row["sweeps"]]
            if short:
                sentences.append(
                    f"{algorithm}, {name}: {len(short)} of {len(part)} fits stopped before the "
                    f"last sweep, the first after {min(short)}: none lowers the objective then."
                )
    return sentences


def differences(
    rows: list[Row], metric: str, one: str, other: str, repeat: str, measure: str
) -> list[float]:
    """The differences of two algorithms on the same draws."""

    def found(algorithm: str) -> dict[Any, float]:
        return {
            tuple(row.get(k) for k in ("K", repeat, "size", "column_triplets")): row[metric]
            for row in rows
            if row["algorithm"] == algorithm and row["measure"] == measure and metric in row
        }

    a, b = found(one), found(other)
    return [a[place] - b[place] for place in a if place in b]


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
