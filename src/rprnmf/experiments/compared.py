"""A section beside a table of the paper: tables, and sentences written from the numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from rprnmf.experiments.algorithms import CONTROL, PAPER
from rprnmf.experiments.base import Row, published
from rprnmf.experiments.page import Section, Table, as_printed, number
from rprnmf.experiments.tables import AVERAGE, LOWER, NAMES, UNIT, counted, metric_table

CLOSE = 0.05  # share of a published figure within which it counts as the same
JUDGED = ("ACC", "NMI", "RMSE", "F1")
CHANCE = 0.05  # that a rank test takes no difference for one
FEWEST = 6  # pairs: fewer can never tell by it


def compared_section(
    name: str,
    title: str,
    text: str,
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
        *beyond_the_paper(section.tables, champion, rows),
        *beside_the_paper(section.tables, fitted),
        *verdicts(rows, metrics, repeat),
        *stopped_early(rows),
    ]
    pairs = paired_table(name, rows, metrics, repeat)
    section.tables += [pairs] if pairs.rows else []
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


def beyond_the_paper(tables: Sequence[Table], champion: str, rows: list[Row]) -> list[str]:
    """The library's way to do this beside the paper's best, and at what error.

    ``champion`` is named beforehand: to take whatever came out best would favour the library.
    """
    texts = []
    for metric in JUDGED:
        part = [table for table in tables if table.caption.startswith(metric)]
        lines = [
            beside_best(part, metric, champion, place, where.format(part[0].rows[-2][0]))
            for place, where in ((-1, "on average"), (-2, "with K = {}"))
            if part
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
    tables: Sequence[Table], metric: str, champion: str, place: int, where: str
) -> str | None:
    """An algorithm's figure in a line of the tables, that without triplets, the best published."""
    found: dict[str, float] = {}
    theirs: list[tuple[float, str]] = []
    for table in tables:
        for algorithm, cell in zip(table.head[2:], table.rows[place][2:], strict=True):
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


@dataclass
class Gap:
    """By how much one algorithm is better than another on the same draws."""

    metric: str
    runs: int
    mean: float = np.nan  # over pairs of which neither diverged
    error: float | None = None
    better: int = 0
    worse: int = 0
    lead: float = 0.0  # sum of the ranks of the differences, positive where the first is better
    chance: float = 1.0  # by the test of that (Wilcoxon's): one fit that failed does not sway it

    @property
    def word(self) -> str:
        """What may be said."""
        if self.chance > CHANCE:
            return "not clearly different from"
        return "better than" if self.lead > 0 else "worse than"

    def text(self) -> str:
        """+1.2 ± 0.4, better in 7, worse in 1 of 9."""
        error = "" if self.error is None else f" ± {self.error:.2g}"
        counts = f"better in {self.better}, worse in {self.worse} of {self.runs}"
        return f"{self.gain}{error}, {counts}"

    @property
    def gain(self) -> str:
        """The mean difference; there is none where one of every pair diverged."""
        return f"{self.mean:+#.3g}" if np.isfinite(self.mean) else "diverged"


def gap(rows: list[Row], metric: str, one: str, other: str, repeat: str, measure: str) -> Gap:
    """Of two algorithms; ``runs`` may be 0. A fit that diverged is worse than any that did not."""
    pairs = values_of_pairs(rows, metric, one, other, repeat, measure)
    found = Gap(metric, len(pairs))
    finite = np.isfinite(pairs)
    shift = np.subtract(*pairs[finite.all(axis=1)].T)
    if len(shift):
        found.mean = float(shift.mean())
    if len(shift) > 1:
        found.error = float(shift.std(ddof=1) / np.sqrt(len(shift)))
    gains = finite[:, 0].astype(float) - finite[:, 1]
    gains *= 1.0 + 2.0 * abs(shift).max(initial=0.0)
    gains[finite.all(axis=1)] = -shift if metric in LOWER else shift
    found.better, found.worse = int((gains > 0).sum()), int((gains < 0).sum())
    gains = gains[gains != 0.0]
    found.lead = float((np.sign(gains) * rankdata(abs(gains))).sum())
    if found.runs >= FEWEST and len(gains):
        found.chance = float(wilcoxon(gains).pvalue)
    return found


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
    caption = (
        "Differences on the same draws: mean ± standard error. Sentences go by Wilcoxon's test at "
        f"{CHANCE:.0%}, each by itself; draws of the same data are not quite independent"
    )
    head = ["algorithm", "measure", "against", *judged]
    return Table(f"{name}-paired", caption, head, body)


def verdicts(rows: list[Row], metrics: Sequence[str], repeat: str) -> list[str]:
    """One sentence for every algorithm with triplets and measure: above whom, below whom."""
    judged = [metric for metric in JUDGED if metric in metrics]
    runs: dict[tuple[str, str], set[int]] = {}
    said: dict[tuple[str, str], dict[str, dict[str, list[str]]]] = {}
    for one, measure, other in rivals(rows):
        for metric in judged:
            found = gap(rows, metric, one, other, repeat, measure)
            if found.runs:
                runs.setdefault((one, measure), set()).add(found.runs)
                named = said.setdefault((one, measure), {}).setdefault(found.word, {})
                named.setdefault(other, []).append(f"{metric} {found.gain}")
    return [
        f"{one}, {NAMES[measure]}, {pairs(runs[one, measure])}: "
        + "; ".join(
            f"{word} "
            + ", ".join(f"{other} ({', '.join(texts)})" for other, texts in named.items())
            for word, named in parts.items()
        )
        + "."
        for (one, measure), parts in said.items()
    ]


def pairs(runs: set[int]) -> str:
    """How many there are to compare."""
    few = ", too few to tell" if min(runs) < FEWEST else ""
    return counted(min(runs), "pair") + (" or more" if len(runs) > 1 else "") + few


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


def values_of_pairs(
    rows: list[Row], metric: str, one: str, other: str, repeat: str, measure: str
) -> np.ndarray:
    """What two algorithms reach on the same draws, of shape (n_pairs, 2)."""

    def found(algorithm: str) -> dict[Any, float]:
        return {
            tuple(row.get(k) for k in ("K", repeat, "size", "column_triplets")): row[metric]
            for row in rows
            if row["algorithm"] == algorithm and row["measure"] == measure and metric in row
        }

    a, b = found(one), found(other)
    return np.array([(a[place], b[place]) for place in a if place in b]).reshape(-1, 2)
