"""Triplets by the million: making, writing, reading, checking and resolving them.

Two kinds of sets, a tenth of both the wrong way round: many items, each in a few triplets; and a
crowd's answers about so few items that most of them lie on common cycles. Writes
`results/toolkit.*`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import log_slope, median, seconds_of, start_process
from report import Report

from rprnmf import Triplets
from rprnmf.triplets import (
    check_consistency,
    propose_queries,
    triplets_from_chains,
    triplets_from_features,
    triplets_from_labels,
    triplets_from_links,
    triplets_from_metadata,
    triplets_from_survey,
    triplets_to_graph,
    triplets_to_labels,
)

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
SECONDS, LINEAR = 10.0, 1.15  # limits: "in seconds", and of the exponent
CONFLICTS = "(share in conflicts)"
WRONG = 0.1  # answers the wrong way round


def makers(size: int) -> dict[str, Callable[[], Triplets]]:
    """What makes so many triplets over a tenth as many items."""
    n = size // 10
    rng = np.random.default_rng(0)
    labels = rng.integers(0, max(n // 50, 2), n)
    features = rng.random((n, 20))
    genres = (rng.random((n, 18)) < 0.15).astype(int)
    links = rng.integers(0, n, (2, 5 * n, 2))
    links = links[:, (links[0, :, 0] != links[0, :, 1]) & (links[1, :, 0] != links[1, :, 1])]
    side = np.arange(n) % 2
    must = links[0][side[links[0][:, 0]] == side[links[0][:, 1]]]
    cannot = links[1][side[links[1][:, 0]] != side[links[1][:, 1]]]
    answers = answered(features[: few_items(size)], size, rng)
    workers = rng.integers(0, 200, size)
    drawn = {"n_triplets": size, "random_state": 0}
    return {
        "from labels": lambda: triplets_from_labels(labels, **drawn),
        "from features": lambda: triplets_from_features(features, **drawn),
        "from metadata": lambda: triplets_from_metadata(
            categories={"class": labels}, tags={"genres": genres}, **drawn
        ),
        "from links": lambda: triplets_from_links(must, cannot, **drawn),
        "from a survey": lambda: triplets_from_survey(*answers.T, workers),
        "from chains, a hundredth as many": lambda: triplets_from_chains(
            features, size // 100, random_state=0
        ),
    }


def few_items(size: int) -> int:
    """So few that there are four triplets for each of their pairs."""
    return int(np.sqrt(size / 2)) + 3


def turned(known: Triplets, rng: np.random.Generator) -> Triplets:
    """The same with some the wrong way round."""
    wrong = rng.random(known.n_triplets) < WRONG
    return Triplets(np.where(wrong[:, None], known.items[:, [0, 2, 1]], known.items))


def answered(F: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Answers about random questions, some of them wrong."""
    q, r, s = rng.integers(0, len(F), (3, 2 * size))
    different = (q != r) & (q != s) & (r != s)
    q, r, s = q[different][:size], r[different][:size], s[different][:size]
    near, far = ((F[q] - F[r]) ** 2).sum(axis=1), ((F[q] - F[s]) ** 2).sum(axis=1)
    swap = (near > far) ^ (rng.random(len(q)) < WRONG)
    return np.column_stack((q, np.where(swap, s, r), np.where(swap, r, s)))


def uses(known: Triplets, n: int, folder: Path) -> dict[str, Callable[[], Any]]:
    """What is done with a set of triplets, in this order."""
    path = folder / "triplets.csv"
    found = {
        "write CSV": lambda: known.write(path),
        "read CSV": lambda: Triplets.read(path),
        "deduplicate": known.deduplicate,
        "split": lambda: known.split(random_state=0),
        "check consistency": lambda: check_consistency(known),
    }
    for method in ("majority", "drop", "feedback-arc"):
        found[f"resolve, {method}"] = lambda method=method: known.resolve(method)
    found["to a graph"] = lambda: triplets_to_graph(known, n, on_cycle="condense")
    found["to labels"] = lambda: triplets_to_labels(known, n)
    return found


def main() -> None:
    quick, folder = start_process("toolkit")
    sizes, repeats = (SIZES[:3], 2) if quick else (SIZES, 3)
    measured = (
        f"Seconds, one thread, medians of {repeats}. many items: a tenth as many items as "
        "triplets, drawn from labels. few items: so few that there are four answers for each of "
        "their pairs. A tenth of both is the wrong way round. exponent: of the growth in their "
        "number, over the four largest sizes."
    )
    report = Report(folder, "toolkit", "Triplets by the million", measured)
    seconds: dict[tuple[str, str], list[float]] = {}

    def measure(kind: str, what: str, call: Callable[[], Any]) -> None:
        took = median(seconds_of(call)[0] for _ in range(repeats))
        seconds.setdefault((kind, what), []).append(took)

    with tempfile.TemporaryDirectory() as name:
        for size in (1000, *sizes):  # the first only compiles
            if size == sizes[0]:
                seconds.clear()
            rng = np.random.default_rng(1)
            n = size // 10
            for what, make in makers(size).items():
                measure("made", what, make)
            many = triplets_from_labels(rng.integers(0, n // 50 + 2, n), size, random_state=0)
            few = Triplets(answered(rng.random((few_items(size), 5)), size, rng))
            many = turned(many, rng)
            for kind, known, items in (
                ("many items", many, n),
                ("few items", few, few_items(size)),
            ):
                share = float(np.mean(check_consistency(known).conflict >= 0))
                seconds.setdefault((kind, CONFLICTS), []).append(share)
                for what, call in uses(known, items, Path(name)).items():
                    measure(kind, what, call)
    factor = np.random.default_rng(0).random((10_000, 20))
    for (kind, what), took in seconds.items():
        row: dict[str, Any] = {"set": kind, "what": what}
        row |= {f"{size:,}": value for size, value in zip(sizes, took, strict=True)}
        if what == CONFLICTS:
            report.add(**row)
            continue
        slope = log_slope(sizes, took)
        good = took[-1] <= SECONDS and (slope <= LINEAR or took[-1] < 0.05)
        report.add(**row, exponent=slope, within="yes" if good else "no")
    asked = triplets_from_features(factor, 100_000, random_state=0)
    took = median(
        seconds_of(lambda: propose_queries(factor, 20, asked=asked, random_state=0))[0]
        for _ in range(repeats)
    )
    report.note(f"20 questions about 10,000 items, 100,000 asked before: {took:.3g} s.")


if __name__ == "__main__":
    main()
