"""Seconds to the error of the paper's rules as matrices grow, and of 100,000 new sparse rows.

The problems are those of Figure 5 (`rprnmf.experiments.synthetic_size`): N x N with N / 5
components and N / 5 triplets of columns. From the same factors, `RPRNMF(solver="cd")` is stopped
where its loss is that of `RPRNMF(solver="paper")` after 500 sweeps. The new rows are documents of
few words, folded in by `NMF.transform`. Writes `results/figure5_speed.csv` and `.md`.
"""

from __future__ import annotations

import time
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import in_turn, median, seconds_of, start_process
from report import Report, within

from rprnmf import NMF, RPRNMF
from rprnmf.datasets import make_chains
from rprnmf.experiments import synthetic, synthetic_size
from rprnmf.experiments.fits import ERROR, LOSS, Task, by_the_paper, start

SIZES = tuple(synthetic_size.SIZES)
DRAWS, REPEATS = 5, 3
PATIENCE = 3.0  # times the seconds of "paper", then an error counts as not reached
DISTANCES = {"divergence": ("euclidean", "divergence"), "euclidean": ("euclidean",)}
RATIO_LIMIT, TRANSFORM_LIMIT = 1.0, 15.0
DOCUMENTS, FITTED, CHECKED, K_DOCUMENTS = 100_000, 5_000, 10_000, 30


def draw_task(size: int, draw: int) -> Task:
    """The data, triplets and start of one repetition of the experiment, drawn as it does."""
    K = size // 5
    rng = np.random.RandomState([size, K, 0, K, draw])
    made = make_chains(size, size, K, n_row_triplets=0, n_column_triplets=K, random_state=rng)
    factors = start(rng, made.data.shape, K)
    return Task(made.data, *factors, None, made.column_triplets, sweeps=synthetic.SWEEPS)


def processor_seconds(model: RPRNMF, X: np.ndarray, **given: Any) -> float:
    """Of one fit, as in the experiments: with one thread, wall seconds where nothing else runs."""
    started = time.process_time()
    model.fit(X, **given)
    return time.process_time() - started


def one(size: int, draw: int, measure: str, repeats: int) -> dict[str, tuple]:
    """For each program: median seconds (inf: error not reached), error and share met at the end."""
    task = draw_task(size, draw)
    K, name = task.W.shape[1], LOSS[measure]
    common = {"n_components": K, "beta_loss": name, "init": "custom", "n_jobs": 1}
    starts = {"W": task.W, "H": task.H}
    paper, known = by_the_paper("RPR-NMF", measure, task, common)

    def error(model: RPRNMF) -> float:
        return ERROR[measure][1](task.X, model.embedding_, model.components_)

    longest, _ = seconds_of(lambda: paper.fit(task.X, **known, **starts))
    target = error(paper)
    models = {"paper": paper}
    for distance in DISTANCES[measure]:
        models[distance] = RPRNMF(
            **common,
            distance=distance,
            tol=0,
            max_iter=1_000_000,
            callback=lambda now: (
                now.loss <= target * task.X.size or now.seconds > PATIENCE * longest
            ),
        )
    programs = {
        name: lambda _, model=model: processor_seconds(model, task.X, **known, **starts)
        for name, model in models.items()
    }
    found = {}
    for name, seconds in in_turn(programs, repeats).items():
        model = models[name]
        reached = error(model) <= target * (1 + 1e-9)
        end = error(model), model.column_satisfied_rate_
        found[name] = (median(seconds) if reached else inf, *end)
    return found


def figure(report: Report, sizes: tuple[int, ...], draws: int, repeats: int) -> None:
    """A row for each size, loss and distance."""
    for measure, distances in DISTANCES.items():
        one(SIZES[0], 0, measure, 1)  # compile
        for size in sizes:
            runs = [one(size, draw, measure, repeats) for draw in range(draws)]
            theirs = np.array([run["paper"] for run in runs])
            for distance in distances:
                ours = np.array([run[distance] for run in runs])
                ratios = ours[:, 0] / theirs[:, 0]
                row = {"what": "to the paper's error", "beta_loss": LOSS[measure]}
                row |= {"distance": distance, "size": f"{size}x{size}"}
                row |= {"paper_error": f"{median(theirs[:, 1]):.2e}"}
                row |= {"paper_met": f"{100 * theirs[:, 2].mean():.0f} %"}
                row |= {"met": f"{100 * ours[:, 2].mean():.0f} %"}
                row |= {"reached": f"{np.isfinite(ours[:, 0]).sum()} of {draws}"}
                row |= {"paper_seconds": median(theirs[:, 0]), "seconds": median(ours[:, 0])}
                ratio = median(ratios)
                row |= {"ratio": ratio, "largest_ratio": float(ratios.max())}
                report.add(**row, limit=RATIO_LIMIT, within=within(ratio, RATIO_LIMIT))


def documents(n: int, length: int, m: int = 6000, topics: int = 30) -> sp.csr_matrix:
    """Counts of n documents of so many words each, out of two of 30 topics."""
    rng = np.random.default_rng(0)
    ranks = np.argsort(rng.random((topics, m)), axis=1)  # a topic is an order of the words
    words = np.minimum(rng.pareto(1.0, (n, length)) * 5, m - 1).astype(int)
    both = rng.integers(topics, size=(n, 2))
    own = both[np.arange(n)[:, None], rng.integers(2, size=(n, length))]
    places = np.repeat(np.arange(n), length), ranks[own, words].ravel()
    return sp.csr_matrix((np.ones(n * length), places), shape=(n, m))


def transform(report: Report, X: sp.csr_matrix, what: str, repeats: int) -> None:
    """A row for each loss; a note says what the default `tol` leaves on the table."""
    models: dict[str, Any] = {}
    for name in DISTANCES:
        models[name] = NMF(K_DOCUMENTS, beta_loss=LOSS[name], random_state=0, n_jobs=1)
        models[name].fit(X[:FITTED])
        models[name].transform(X[:100])  # compile
    programs = {
        name: lambda _, model=model: seconds_of(lambda: model.transform(X))
        for name, model in models.items()
    }
    last = X[-CHECKED:]
    for name, runs in in_turn(programs, repeats).items():
        model, seconds = models[name], median(run[0] for run in runs)
        row = {"what": what, "beta_loss": LOSS[name], "size": f"{X.shape[0]}x{X.shape[1]}"}
        row |= {"seconds": seconds, "limit": TRANSFORM_LIMIT}
        report.add(**row, within=within(seconds, TRANSFORM_LIMIT))
        best = model.set_params(tol=1e-9, max_iter=2000).transform(last)
        losses = [
            ERROR[name][1](last, W, model.components_) for W in (runs[0][1][-last.shape[0] :], best)
        ]
        report.note(
            f"{what}, {LOSS[name]}: the loss of the last {last.shape[0]} rows is "
            f"{losses[0] / losses[1] - 1:.1e} of itself above that with tol=1e-9."
        )


def main() -> None:
    quick, folder = start_process("figure5_speed")
    draws, repeats = (2, 1) if quick else (DRAWS, REPEATS)
    measured = (
        f"To the paper's error: RPRNMF on the problems of Figure 5, {draws} draws of each size, "
        f"one thread, programs in turn, each the median of {repeats} whole fits in seconds of "
        "processor time: paper_seconds of "
        f'solver="paper" with {synthetic.SWEEPS} sweeps, seconds of solver="cd" from the same '
        "factors until its loss is no larger (mean divergence or mean squared loss; strengths "
        'automatic, "paper" as published). seconds, ratio, paper_error: medians over the draws; '
        "largest_ratio: of all draws. A draw whose error is not reached after "
        f"{PATIENCE:.0f} times the seconds of the other counts as inf. met: share of the triplets "
        "that hold at the end, by the distance that was fitted. The limit is for the median "
        f"ratio. transform: NMF with {K_DOCUMENTS} components, fitted on the first {FITTED} rows, "
        "default settings, wall seconds."
    )
    title = "Figure 5 of the paper by time, and new sparse rows"
    report = Report(folder, "figure5_speed", title, measured)
    figure(report, (20, 100) if quick else SIZES, draws, repeats)
    for length in (60, 120):
        X = documents(8_000 if quick else DOCUMENTS, length)
        what = f"transform, {length} words ({X.nnz / X.shape[0]:.0f} different ones) a row"
        transform(report, X, what, repeats)


if __name__ == "__main__":
    main()
