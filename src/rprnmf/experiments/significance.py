"""Which algorithm is better on the same draws, how sure that is, and what the paper says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from rprnmf.experiments.algorithms import CONTROL, PAPER
from rprnmf.experiments.harness.experiment import Row, column, grouped, where
from rprnmf.experiments.harness.metric import MEASURES, Metric, counted, number
from rprnmf.experiments.harness.report import Table

OUTLIER = 100.0  # times the median: a difference so large decides the mean alone
LEVEL = 0.05  # of the rank test
MIN_PAIRS = 6  # with fewer the test never reaches that level
PUBLISHED = ("metric", "measure", "algorithm")
DRAW = ("K", "repetition", "size", "column_triplets")  # rows that agree in these share a draw


@dataclass
class Difference:
    """By how much one algorithm is better than another on the same draws."""

    one: str
    other: str
    measure: str
    metric: Metric
    runs: int
    mean: float = np.nan  # over pairs of which neither diverged
    median: float = np.nan
    error: float | None = None
    has_outlier: bool = False  # then the median says more than the mean
    better: int = 0
    worse: int = 0
    rank_sum: float = 0.0  # of the differences, with signs: positive where the first is better
    p_value: float = 1.0  # of Wilcoxon's test of these ranks, which one failed fit does not sway
    published: float | None = None  # the difference of the published averages

    @property
    def verdict(self) -> str:
        """What may be said of the first algorithm, before the name of the other."""
        if self.p_value > LEVEL:
            return "not clearly different from"
        return "better than" if self.rank_sum > 0 else "worse than"

    def text(self) -> str:
        """For a table: +1.2 ± 0.4 (+2.3), better 7, worse 1 of 9."""
        error = "" if self.error is None or self.has_outlier else f" ± {number(self.error, 2)}"
        theirs = "" if self.published is None else f" ({self.published:+.3g})"
        counts = f"better {self.better}, worse {self.worse} of {self.runs}"
        return f"{self.gain}{error}{theirs}, {counts}"

    @property
    def gain(self) -> str:
        """The mean difference, or the median if there is an outlier."""
        if not np.isfinite(self.mean):
            return "diverged"
        return f"median {self.median:+#.3g}" if self.has_outlier else f"{self.mean:+#.3g}"

    def in_words(self) -> str:
        """For a sentence: ACC +3.00, published +8.58."""
        theirs = "" if self.published is None else f", published {self.published:+.3g}"
        return f"{self.metric.name} {self.gain}{theirs}"


def difference(rows: list[Row], metric: Metric, one: str, other: str, measure: str) -> Difference:
    """Compare two algorithms; a fit that diverged is worse than any that did not."""
    first, second = (
        {
            tuple(row.get(name) for name in DRAW): row[metric.name]
            for row in where(rows, algorithm=algorithm, measure=measure)
            if metric.name in row
        }
        for algorithm in (one, other)
    )
    shared = [(first[draw], second[draw]) for draw in first if draw in second]
    pairs = np.array(shared, dtype=float).reshape(-1, 2)
    found = Difference(one, other, measure, metric, len(pairs))
    finite = np.isfinite(pairs)
    shift = np.subtract(*pairs[finite.all(axis=1)].T)
    if len(shift):
        found.mean, found.median = float(shift.mean()), float(np.median(shift))
        found.has_outlier = bool(abs(shift).max() > OUTLIER * np.median(abs(shift)) > 0.0)
    if len(shift) > 1:
        found.error = float(shift.std(ddof=1) / np.sqrt(len(shift)))
    gains = finite[:, 0].astype(float) - finite[:, 1]
    gains *= 1.0 + 2.0 * abs(shift).max(initial=0.0)
    gains[finite.all(axis=1)] = -shift if metric.lower_is_better else shift
    found.better, found.worse = int((gains > 0).sum()), int((gains < 0).sum())
    gains = gains[gains != 0.0]
    found.rank_sum = float((np.sign(gains) * rankdata(abs(gains))).sum())
    if found.runs >= MIN_PAIRS and len(gains):
        found.p_value = float(wilcoxon(gains).pvalue)
    return found


def differences(
    rows: list[Row], metrics: Sequence[Metric], known: list[dict[str, Any]]
) -> list[Difference]:
    """Compare whatever uses triplets with the same without them and with the paper's algorithms."""
    present = [algorithm for (algorithm,) in grouped(rows, "algorithm")]
    sizes = grouped(rows, "K", "measure")
    figures = grouped([row for row in known if (row["K"], row["measure"]) in sizes], *PUBLISHED)
    found = [
        difference(rows, metric, one, other, measure)
        for one in present
        if one in CONTROL
        for measure in MEASURES
        for other in dict.fromkeys((CONTROL[one], *PAPER))
        if other in present and other != one and not (one in PAPER and other == "RPR-NMF")
        for metric in metrics
    ]
    for each in found:
        names = each.metric.name, each.measure
        one, other = (figures.get((*names, who)) for who in (each.one, each.other))
        if one and other:
            averages = np.mean(column(one, "value")), np.mean(column(other, "value"))
            each.published = float(np.subtract(*averages))
    return [each for each in found if each.runs]


def significance_table(found: list[Difference]) -> Table:
    """One line per pair of algorithms and measure, one column per metric."""
    metrics = list(dict.fromkeys(each.metric.name for each in found))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for each in found:
        line = lines.setdefault((each.one, MEASURES[each.measure], each.other), {})
        line[each.metric.name] = each.text()
    caption = (
        "Differences on the same draws: mean ± standard error, or the median where a few fits "
        "decide the mean; in brackets the difference of the published averages. Sentences go by "
        f"Wilcoxon's test at {LEVEL:.0%}, each by itself; draws of the same data are not quite "
        "independent"
    )
    body = [[*who, *(cells.get(metric, "-") for metric in metrics)] for who, cells in lines.items()]
    return Table("paired", caption, ["algorithm", "measure", "against", *metrics], body)


def claims(found: list[Difference]) -> list[str]:
    """How often the paper's main claim holds here: that RPR-NMF is better than the baselines."""
    theirs = [
        each
        for each in found
        if each.one == "RPR-NMF"
        and each.published
        and (each.published < 0.0) == each.metric.lower_is_better
    ]
    if not theirs:
        return []
    counts = Counter(each.verdict for each in theirs)
    over = ", ".join(dict.fromkeys(each.other for each in theirs))
    return [
        f"The published averages have RPR-NMF above a baseline ({over}) in {len(theirs)} "
        f"comparisons of {', '.join(dict.fromkeys(each.metric.name for each in theirs))}. Of "
        f"these, on the draws here, {counts['better than']} come out beyond chance, "
        f"{counts['not clearly different from']} are not clear, and in {counts['worse than']} it "
        "is the other way round."
    ]


def verdicts(found: list[Difference]) -> list[str]:
    """One sentence per algorithm and measure: which others it is better or worse than."""
    sentences = []
    for one, measure in dict.fromkeys((each.one, each.measure) for each in found):
        part = [each for each in found if (each.one, each.measure) == (one, measure)]
        said: dict[str, dict[str, list[str]]] = {}
        for each in part:
            said.setdefault(each.verdict, {}).setdefault(each.other, []).append(each.in_words())
        texts = (
            f"{verdict} " + ", ".join(f"{other} ({'; '.join(by)})" for other, by in named.items())
            for verdict, named in said.items()
        )
        pairs = counted_pairs({each.runs for each in part})
        sentences.append(f"{one}, {MEASURES[measure]}, {pairs}: {'; '.join(texts)}.")
    return sentences


def counted_pairs(runs: set[int]) -> str:
    """How many pairs there are, and whether they are too few."""
    few = ", too few to tell" if min(runs) < MIN_PAIRS else ""
    return counted(min(runs), "pair") + (" or more" if len(runs) > 1 else "") + few
