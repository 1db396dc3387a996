"""Seconds a sweep of `solver="paper"` on MovieLens 1M, beside the authors' program.

The authors' program (Octave, one core of a machine of this kind) takes 15 s an iteration
with the Euclidean measure and 25 s with the Divergence. Needs `movielens_1m.npz` in the
folder that RPRNMF_DATA names. Writes `results/paper_speed.csv` and `.md`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from common import MissingError, data_file, median, seconds_of, start_process
from report import Report

from rprnmf import RPRNMF

AUTHORS = {"frobenius": 15.0, "kullback-leibler": 25.0}
SWEEPS, REPEATS = 5, 5


def ratings() -> sp.csr_array:
    """The 6040 x 3706 rating matrix."""
    data = data_file("movielens_1m.npz")
    rows = data["user_id"].astype(np.int64) - 1
    columns = np.unique(data["movie_id"], return_inverse=True)[1]
    return sp.csr_array((data["rating"].astype(float), (rows, columns)))


def draw_triplets(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.array([rng.choice(n, 3, replace=False) for _ in range(300)])


def measure(X: sp.csr_array, beta_loss: str, n_jobs: int, sweeps: int, repeats: int) -> float:
    """Median over repeats of the seconds of one sweep."""
    rng = np.random.default_rng(0)
    triplets = {"row_triplets": draw_triplets(rng, X.shape[0])}
    triplets["column_triplets"] = draw_triplets(rng, X.shape[1])
    model = RPRNMF(20, solver="paper", beta_loss=beta_loss, missing="zero", random_state=0)
    model.set_params(row_strength=200.0, column_strength=200.0, n_jobs=n_jobs)
    model.set_params(max_iter=1).fit(X, **triplets)  # compile
    model.set_params(max_iter=sweeps)
    return median(seconds_of(lambda: model.fit(X, **triplets))[0] / sweeps for _ in range(repeats))


def main() -> None:
    quick, folder = start_process("paper_speed")
    sweeps, repeats = (1, 2) if quick else (SWEEPS, REPEATS)
    title = '`solver="paper"` on MovieLens 1M, K = 20, 300 triplets a side'
    measured = (
        f"Whole fits of {sweeps} sweeps, median of {repeats}, data preparation included; the "
        "authors' seconds are those of their program in Octave on one core of a machine of this "
        "kind (no limit set)."
    )
    report = Report(folder, "paper_speed", title, measured)
    try:
        X = ratings()
    except MissingError as error:
        report.note(f"{error}.")
        return
    for beta_loss, theirs in AUTHORS.items():
        for n_jobs in (1, 2):
            ours = measure(X, beta_loss, n_jobs, sweeps, repeats)
            row = {"beta_loss": beta_loss, "threads": n_jobs, "seconds_per_sweep": f"{ours:.3f}"}
            row |= {"authors_seconds": theirs, "times_faster": f"{theirs / ours:.0f}"}
            report.add(**row)


if __name__ == "__main__":
    main()
