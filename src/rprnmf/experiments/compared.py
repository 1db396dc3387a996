"""A section beside a table of the paper: tables, and sentences written from the numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rprnmf.experiments.algorithms import CONTROL, PAPER
from rprnmf.experiments.base import Row, published
from rprnmf.experiments.page import Section, Table, as_printed, number
from rprnmf.experiments.paired import all_gaps, claims, paired_table, verdicts
from rprnmf.experiments.tables import AVERAGE, LOWER, NAMES, UNIT, counted, metric_table

CLOSE, POINTS = 0.05, 2.0  # of an error, and for shares: what counts as the published figure
JUDGED = ("ACC", "NMI", "RMSE", "F1")


def compared_section(
    name: str,
    title: str,
    text: str,
    notes: list[str],
    rows: list[Row],
    repeat: str,
    count: str,
    champion: str,
    fitted: Collection[tuple[str, str]] = (),
) -> Section:
    """A section with one table a metric and measure: mean ± standard deviation (published).

    ``champion`` is the algorithm of the library that is put beside the paper's best.
    ``fitted`` are algorithms and metrics whose agreement with the paper says nothing, for
    settings were chosen by it.
    """
    section = Section(name, title, text, notes=notes)
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
    gaps = all_gaps(rows, [m for m in JUDGED if m in metrics], repeat, known)
    section.findings = [
        *beyond_the_paper(section.tables, champion, rows),
        *beside_the_paper(section.tables, fitted),
        *claims(gaps),
        *verdicts(gaps),
        *stopped_early(rows),
    ]
    section.tables += [paired_table(name, gaps)] if gaps else []
    return section


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
                wide = POINTS if " %" in label else CLOSE * abs(cell.published)
                pairs.append((abs(cell.value - cell.published) / wide, label, algorithm, cell))
    if not pairs:
        return []
    close = sum(share <= 1.0 for share, *_ in pairs)
    sentences = [
        f"{close} of {len(pairs)} averages over K lie within {CLOSE:.0%} of the published ones, "
        f"where they are shares within {POINTS:g} points."
    ]
    far = sorted((pair for pair in pairs if pair[0] > 1.0), key=lambda pair: -pair[0])
    if far:
        named = "; ".join(
            f"{algorithm}, {label}: {cell.text()} here, {cell.published:g} published"
            for _, label, algorithm, cell in far[:6]
        )
        more = f"; and {len(far) - 6} more" if len(far) > 6 else ""
        sentences.append(f"Where we differ most: {named}{more}.")
    return sentences


def beyond_the_paper(tables: Sequence[Table], champion: str, rows: list[Row]) -> list[str]:
    """The library's way to do this beside the paper's best, and at what error.

    ``champion`` is named beforehand: to take whatever came out best would favour the library.
    """
    texts = []
    for metric in JUDGED:
        part = [table for table in tables if table.caption.startswith(metric)]
        last = part[0].rows[-2][0] if part else ""
        lines = [
            beside_best(part, metric, champion, line, where)
            for line, where in ((AVERAGE, "on average"), (last, f"with K = {last}"))
        ]
        if any(lines):
            texts.append(f"{metric}{UNIT.get(metric, '')} {', '.join(filter(None, lines))}")
    for table in tables:
        cells = dict(zip(table.head[2:], table.rows[-1][2:], strict=True))
        ours, plain = (cells[one].value if one in cells else None for one in (champion, "NMF"))
        if texts and ours and plain and table.caption.startswith(("MSL", "MD")):
            texts.append(
                f"{table.caption.split(',')[0]} {number(ours / plain, 2)} times that of NMF"
            )
    runs = sum(row["algorithm"] == champion for row in rows)
    return [f"{champion}, {counted(runs, 'fit')}: {'; '.join(texts)}."] if texts else []


def beside_best(
    tables: Sequence[Table], metric: str, champion: str, line: str, where: str
) -> str | None:
    """An algorithm's figure in a line of the tables, that without triplets, the best published."""
    found: dict[str, float] = {}
    theirs: list[tuple[float, str]] = []
    cells = (
        pair
        for table in tables
        for row in table.rows
        if row[0] == line
        for pair in zip(table.head[2:], row[2:], strict=True)
    )
    for algorithm, cell in cells:
        if cell.published is not None:
            theirs.append((cell.published, algorithm))
        if cell.value is not None:
            found.setdefault(algorithm, cell.value)
    if champion not in found or not theirs:
        return None
    figure, other = min(theirs) if metric in LOWER else max(theirs)
    control = CONTROL[champion]
    without = f"{control} {number(found[control], 3)}, " if control in found else ""
    return (
        f"{number(found[champion], 3)} {where} "
        f"({without}best published {as_printed(figure)}, {other})"
    )


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
                    f"last sweep, the first after {min(short)}, where no strength was left that "
                    "lowers the objective."
                )
    return sentences
