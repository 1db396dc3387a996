"""A section beside a table of the paper: tables, and sentences written from the numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rprnmf.experiments.algorithms import CONTROL, PAPER
from rprnmf.experiments.harness.experiment import Row, column, published, where
from rprnmf.experiments.harness.metric import MEASURES, METRICS, Metric, as_printed, counted, number
from rprnmf.experiments.harness.report import Section, Table
from rprnmf.experiments.harness.tables import AVERAGE, metric_table
from rprnmf.experiments.significance import claims, differences, significance_table, verdicts

CLOSE, POINTS = 0.05, 2.0  # relative for errors, points for percentages: close to the published
NAMED = 6  # at most so many differences are named


def section_beside_paper(
    name: str, text: str, rows: list[Row], champion: str, fitted: Collection[tuple[str, str]] = ()
) -> Section:
    """A section with one table per metric and measure: mean ± standard deviation (published).

    ``champion`` is the algorithm of the library that is compared with the paper's best.
    ``fitted`` are pairs of algorithm and metric that are not counted as agreement with the paper,
    because settings were chosen to agree in them.
    """
    known = [
        {**row, "K": K if K == AVERAGE else int(K), "value": float(row["value"])}
        for row in published(name)
        for K in [row["K"]]
    ]
    metrics = [m for m in METRICS.values() if m.name != "seconds" and column(rows, m.name)]
    tables = [
        metric_table(metric, measure, part, known)
        for metric in metrics
        for measure in MEASURES
        if (part := [row for row in where(rows, measure=measure) if metric.name in row])
    ]
    found = differences(rows, [metric for metric in metrics if metric.judged], known)
    findings = [
        *champion_beside_best(tables, champion, rows),
        *agreement(tables, fitted),
        *claims(found),
        *verdicts(found),
        *stopped_early(rows),
    ]
    return Section(
        text, [*tables, *([significance_table(found)] if found else [])], findings=findings
    )


def agreement(tables: Sequence[Table], fitted: Collection[tuple[str, str]] = ()) -> list[str]:
    """How many averages agree with the published ones, and which differ most."""
    pairs = []
    for table in tables:
        for algorithm, cell in table.line(AVERAGE).items():
            if cell.value is None or cell.published is None or table.metric is None:
                continue
            if (algorithm, table.metric.name) not in fitted:
                wide = POINTS if table.metric.unit else CLOSE * abs(cell.published)
                distance = abs(cell.value - cell.published) / wide
                pairs.append((distance, table.label, algorithm, cell))
    if not pairs:
        return []
    close = sum(distance <= 1.0 for distance, *_ in pairs)
    sentences = [
        f"{close} of {len(pairs)} averages over K lie within {CLOSE:.0%} of the published ones, "
        f"where they are shares within {POINTS:g} points."
    ]
    far = sorted((pair for pair in pairs if pair[0] > 1.0), key=lambda pair: -pair[0])
    if far:
        named = "; ".join(
            f"{algorithm}, {label}: {cell.text()} here, {cell.published:g} published"
            for _, label, algorithm, cell in far[:NAMED]
        )
        more = f"; and {len(far) - NAMED} more" if len(far) > NAMED else ""
        sentences.append(f"Where we differ most: {named}{more}.")
    return sentences


def champion_beside_best(tables: Sequence[Table], champion: str, rows: list[Row]) -> list[str]:
    """The champion beside the paper's best, and its error beside that of NMF.

    The champion is named beforehand: to take whatever came out best would favour the library.
    """
    texts = []
    for metric in (metric for metric in METRICS.values() if metric.judged):
        part = [table for table in tables if table.metric == metric]
        last = part[0].rows[-2][0] if part else ""
        lines = [
            beside_best(part, metric, champion, line, words)
            for line, words in ((AVERAGE, "on average"), (last, f"with K = {last}"))
        ]
        if any(lines):
            texts.append(f"{metric.label} {', '.join(filter(None, lines))}")
    for table in tables if texts else ():
        cells = table.line(AVERAGE)
        ours, plain = (cells[one].value if one in cells else None for one in (champion, "NMF"))
        if ours and plain and table.metric and table.metric.name in ("MSL", "MD"):
            texts.append(f"{table.metric.name} {number(ours / plain, 2)} times that of NMF")
    fits = counted(len(where(rows, algorithm=champion)), "fit")
    return [f"{champion}, {fits}: {'; '.join(texts)}."] if texts else []


def beside_best(
    tables: Sequence[Table], metric: Metric, champion: str, line: str, words: str
) -> str | None:
    """The champion in one line of the tables, the same without triplets, the best published."""
    found: dict[str, float] = {}
    theirs: list[tuple[float, str]] = []
    for table in tables:
        for algorithm, cell in table.line(line).items():
            if cell.published is not None:
                theirs.append((cell.published, algorithm))
            if cell.value is not None:
                found.setdefault(algorithm, cell.value)
    if champion not in found or not theirs:
        return None
    figure, other = min(theirs) if metric.lower_is_better else max(theirs)
    control = CONTROL[champion]
    without = f"{control} {number(found[control], 3)}, " if control in found else ""
    return (
        f"{number(found[champion], 3)} {words} "
        f"({without}best published {as_printed(figure)}, {other})"
    )


def stopped_early(rows: list[Row]) -> list[str]:
    """Which of the paper's algorithms stopped before the last sweep."""
    sentences = []
    for algorithm in PAPER:
        for measure, name in MEASURES.items():
            part = where(rows, algorithm=algorithm, measure=measure)
            short = [row["n_iter"] for row in part if row["n_iter"] < row["sweeps"]]
            if short:
                sentences.append(
                    f"{algorithm}, {name}: {len(short)} of {len(part)} fits stopped before the "
                    f"last sweep, the first after {min(short)}, where no strength was left that "
                    "lowers the objective."
                )
    return sentences
