"""Who is better than whom on the same draws, how sure that is, and what the paper has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from rprnmf.experiments.algorithms import CONTROL, PAPER
from rprnmf.experiments.base import Row
from rprnmf.experiments.page import Table, number
from rprnmf.experiments.tables import LOWER, NAMES, counted

ASTRAY = 100.0  # times the median difference: the largest one says nothing of the others then
CHANCE = 0.05  # that a rank test takes no difference for one
FEWEST = 6  # pairs: fewer can never tell by it


@dataclass
class Gap:
    """By how much one algorithm is better than another on the same draws."""

    one: str
    other: str
    measure: str
    metric: str
    runs: int
    mean: float = np.nan  # over pairs of which neither diverged
    median: float = np.nan
    error: float | None = None
    astray: bool = False  # a few pairs decide the mean
    better: int = 0
    worse: int = 0
    lead: float = 0.0  # sum of the ranks of the differences, positive where the first is better
    chance: float = 1.0  # by the test of that (Wilcoxon's): one fit that failed does not sway it
    published: float | None = None  # the difference of the published averages

    @property
    def word(self) -> str:
        """What may be said."""
        if self.chance > CHANCE:
            return "not clearly different from"
        return "better than" if self.lead > 0 else "worse than"

    def text(self) -> str:
        """+1.2 ± 0.4 (+2.3), better 7, worse 1 of 9."""
        error = "" if self.error is None or self.astray else f" ± {number(self.error, 2)}"
        theirs = "" if self.published is None else f" ({self.published:+.3g})"
        counts = f"better {self.better}, worse {self.worse} of {self.runs}"
        return f"{self.gain}{error}{theirs}, {counts}"

    @property
    def gain(self) -> str:
        """The mean difference, or the median; there is none where one of every pair diverged."""
        if not np.isfinite(self.mean):
            return "diverged"
        return f"median {self.median:+#.3g}" if self.astray else f"{self.mean:+#.3g}"

    def said(self) -> str:
        """In a sentence: ACC +3.00, published +8.58."""
        theirs = "" if self.published is None else f", published {self.published:+.3g}"
        return f"{self.metric} {self.gain}{theirs}"


def gap(rows: list[Row], metric: str, one: str, other: str, repeat: str, measure: str) -> Gap:
    """Of two algorithms; ``runs`` may be 0. A fit that diverged is worse than any that did not."""
    pairs = values_of_pairs(rows, metric, one, other, repeat, measure)
    found = Gap(one, other, measure, metric, len(pairs))
    finite = np.isfinite(pairs)
    shift = np.subtract(*pairs[finite.all(axis=1)].T)
    if len(shift):
        found.mean, found.median = float(shift.mean()), float(np.median(shift))
        found.astray = bool(abs(shift).max() > ASTRAY * np.median(abs(shift)) > 0.0)
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


def all_gaps(
    rows: list[Row], metrics: Sequence[str], repeat: str, known: list[dict[str, Any]]
) -> list[Gap]:
    """Of whoever uses triplets: to the same without them, and to the paper's algorithms."""
    present = list(dict.fromkeys(row["algorithm"] for row in rows))
    sizes = {(row["K"], row["measure"]) for row in rows}
    figures: dict[tuple[str, str, str], list[float]] = {}
    for row in known:
        if (row["K"], row["measure"]) in sizes:
            place = row["metric"], row["measure"], row["algorithm"]
            figures.setdefault(place, []).append(float(row["value"]))
    found = []
    for one in (name for name in present if name in CONTROL):
        for measure in NAMES:
            for other in dict.fromkeys((CONTROL[one], *PAPER)):
                if other not in present or other == one or (one in PAPER and other == "RPR-NMF"):
                    continue
                for metric in metrics:
                    each = gap(rows, metric, one, other, repeat, measure)
                    theirs = [figures.get((metric, measure, name), []) for name in (one, other)]
                    if all(theirs):
                        each.published = float(np.mean(theirs[0]) - np.mean(theirs[1]))
                    found += [each] if each.runs else []
    return found


def paired_table(name: str, gaps: list[Gap]) -> Table:
    """Run by run: does what uses triplets beat what does not?"""
    metrics = list(dict.fromkeys(each.metric for each in gaps))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for each in gaps:
        line = lines.setdefault((each.one, NAMES[each.measure], each.other), {})
        line[each.metric] = each.text()
    caption = (
        "Differences on the same draws: mean ± standard error, or the median where a few fits "
        "decide the mean; in brackets the difference of the published averages. Sentences go by "
        f"Wilcoxon's test at {CHANCE:.0%}, each by itself; draws of the same data are not quite "
        "independent"
    )
    body = [[*who, *(cells.get(metric, "-") for metric in metrics)] for who, cells in lines.items()]
    return Table(f"{name}-paired", caption, ["algorithm", "measure", "against", *metrics], body)


def claims(gaps: list[Gap]) -> list[str]:
    """What of the paper's main claim comes out: that RPR-NMF is above the baselines."""
    theirs = [
        each
        for each in gaps
        if each.one == "RPR-NMF"
        and each.published
        and (each.published < 0.0) == (each.metric in LOWER)
    ]
    if not theirs:
        return []
    counts = Counter(each.word for each in theirs)
    over = ", ".join(dict.fromkeys(each.other for each in theirs))
    return [
        f"The published averages have RPR-NMF above a baseline ({over}) in {len(theirs)} "
        f"comparisons of {', '.join(dict.fromkeys(each.metric for each in theirs))}. Of these, on "
        f"the draws here, {counts['better than']} come out beyond chance, "
        f"{counts['not clearly different from']} are not clear, and in {counts['worse than']} it "
        "is the other way round."
    ]


def verdicts(gaps: list[Gap]) -> list[str]:
    """One sentence for every algorithm with triplets and measure: above whom, below whom."""
    runs: dict[tuple[str, str], set[int]] = {}
    said: dict[tuple[str, str], dict[str, dict[str, list[str]]]] = {}
    for each in gaps:
        who = each.one, each.measure
        runs.setdefault(who, set()).add(each.runs)
        named = said.setdefault(who, {}).setdefault(each.word, {})
        named.setdefault(each.other, []).append(each.said())
    return [
        f"{one}, {NAMES[measure]}, {pairs(runs[one, measure])}: "
        + "; ".join(
            f"{word} "
            + ", ".join(f"{other} ({'; '.join(texts)})" for other, texts in named.items())
            for word, named in parts.items()
        )
        + "."
        for (one, measure), parts in said.items()
    ]


def pairs(runs: set[int]) -> str:
    """How many there are to compare."""
    few = ", too few to tell" if min(runs) < FEWEST else ""
    return counted(min(runs), "pair") + (" or more" if len(runs) > 1 else "") + few


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
