"""The paper's synthetic experiment 1 with default settings: every triplet met, at what error?

X = W0 H0 with uniform factors (100 x 20, 20 x 100), scaled to [0, 1]; triplets in 5-chains;
20 components. Ten seeds for each row of the table, five of them by the paper's rules too: plain
NMF is then `NMF(solver="paper")` with 500 sweeps, and paper_seconds is what
`RPRNMF(solver="paper")` takes for 500 sweeps with the triplets. Writes
`results/synthetic.csv` and `.md`.
"""

from __future__ import annotations

import numpy as np
from common import median, seconds_of, start_process
from report import Report

from rprnmf import NMF, RPRNMF
from rprnmf.metrics import mean_divergence, mean_squared_loss
from rprnmf.triplets import triplets_from_chains

SEEDS = 10
PAPER_SEEDS = 5  # minutes otherwise
MEASURES = {"frobenius": mean_squared_loss, "kullback-leibler": mean_divergence}
CASES = [(100, 100, 20, side, T) for side in ("columns",) for T in (10, 30, 50)]
CASES += [(100, 100, 20, "rows", 30), (100, 100, 20, "both", 30)]
CASES += [(60, 60, 12, "columns", 12), (50, 150, 15, "columns", 30)]


def one(seed: int, beta_loss: str, n: int, m: int, K: int, side: str, T: int) -> tuple:
    """Share met and error of one fit, the error of plain NMF, seconds of ours and the paper's."""
    rng = np.random.default_rng(seed)
    W, H = rng.random((n, K)), rng.random((K, m))
    X = W @ H
    X = (X - X.min()) / (X.max() - X.min())
    knowledge = {}
    if side in ("rows", "both"):
        knowledge["row_triplets"] = triplets_from_chains(W, T, random_state=seed)
    if side in ("columns", "both"):
        knowledge["column_triplets"] = triplets_from_chains(H.T, T, random_state=seed)
    model = RPRNMF(K, beta_loss=beta_loss, random_state=seed, n_jobs=1)
    seconds, _ = seconds_of(lambda: model.fit(X, **knowledge))
    rates = [model.row_satisfied_rate_, model.column_satisfied_rate_]
    measure = MEASURES[beta_loss]
    error = measure(X, model.embedding_, model.components_)
    if seed >= PAPER_SEEDS:
        return np.nanmin(rates), error, np.nan, seconds, np.nan
    settings = {"beta_loss": beta_loss, "solver": "paper", "max_iter": 500, "random_state": seed}
    paper = RPRNMF(K, n_jobs=1, **settings)
    paper_seconds, _ = seconds_of(lambda: paper.fit(X, **knowledge))
    plain = NMF(K, **settings).fit(X)
    plain_error = measure(X, plain.embedding_, plain.components_)
    return np.nanmin(rates), error, plain_error, seconds, paper_seconds


def main() -> None:
    quick, folder = start_process("synthetic")
    seeds = 2 if quick else SEEDS
    measured = (
        f"Means over {seeds} seeds; error: mean squared loss (frobenius) or mean divergence. "
        "seconds and paper_seconds: medians of whole fits of RPRNMF, one thread, by default and "
        'with solver="paper" and 500 sweeps, in turn; ratio: of the two. What goes by the '
        f"paper's rules is over the first {min(PAPER_SEEDS, seeds)} seeds."
    )
    title = "Synthetic experiment 1 of the paper, default settings of RPRNMF"
    report = Report(folder, "synthetic", title, measured)
    for beta_loss in MEASURES:
        for n, m, K, side, T in CASES[:2] if quick else CASES:
            if CASES[0][-1] == T:
                one(0, beta_loss, n, m, K, side, T)  # warm-up
            runs = [one(seed, beta_loss, n, m, K, side, T) for seed in range(seeds)]
            met, errors, plain, seconds, paper = (
                np.array(part) for part in zip(*runs, strict=True)
            )
            row = {"beta_loss": beta_loss, "size": f"{n}x{m}", "K": K, "triplets": T, "side": side}
            row |= {"runs_all_met": f"{int(np.sum(met == 1))} of {seeds}"}
            row |= {"error": f"{errors.mean():.2e}", "largest_error": f"{errors.max():.2e}"}
            row |= {"nmf_paper_error": f"{np.nanmean(plain):.2e}"}
            done = ~np.isnan(paper)
            row |= {"seconds": f"{median(seconds):.2f}"}
            row |= {"paper_seconds": f"{median(paper[done]):.2f}"}
            report.add(**row, ratio=median((seconds / paper)[done]))


if __name__ == "__main__":
    main()
