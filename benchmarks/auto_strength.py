"""Are comparisons met that can be met? Random problems with comparisons from a true factor.

Sizes, components, noise, loss and number of comparisons at random, default settings. Every
comparison agrees with the factor that X was made from, so that none contradicts another. A fit
must meet all of them, or warn. Writes `results/auto_strength.csv` and `.md`.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import start_process
from report import Report

from rprnmf import RPRNMF
from rprnmf.triplets import triplets_from_features

LOSSES = ("frobenius", "kullback-leibler")


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """X, triplets that its true factor meets, and how many components to fit."""
    rng = np.random.default_rng(seed)
    n, m = (int(rng.integers(low, 200)) for low in (30, 20))
    true, K = int(rng.integers(3, 30)), int(rng.integers(5, 61))
    W = rng.gamma(rng.uniform(0.3, 2.0), 1.0, (n, true))
    X = W @ rng.gamma(1.0, 1.0, (true, m))
    X *= rng.gamma(1.0 / rng.choice([1e-4, 0.01, 0.1]), size=X.shape) * 1.0
    X /= X.mean()
    count = int(rng.choice([10, 50, 200, 1000]))
    known = triplets_from_features(W, count, random_state=int(rng.integers(2**31)))
    return X, known.items, min(K, n, m)


def main() -> None:
    quick, folder = start_process("auto_strength")
    seeds = range(4 if quick else 100)
    measured = (
        f"{len(seeds)} random problems (30-200 x 20-200, 5-60 components, 10-1000 triplets from "
        "a true factor, three amounts of noise), default settings. all met: fits that meet every "
        "triplet; warned: of the others, those that say so; silent: those that do not, or that "
        "claim to have converged. least met: the lowest share of triplets met."
    )
    report = Report(folder, "auto_strength", "Comparisons that can be met", measured)
    for loss in LOSSES:
        met, warned, silent, least = 0, 0, 0, 1.0
        for seed in seeds:
            X, known, K = problem(seed)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = RPRNMF(K, beta_loss=loss, random_state=0).fit(X, row_triplets=known)
            rate = model.row_satisfied_rate_
            least = min(least, rate)
            if rate == 1.0:
                met += 1
            elif any("are not met" in str(one.message) for one in caught) and not model.converged_:
                warned += 1
            else:
                silent += 1
        cells = {"all met": met, "warned": warned, "silent": silent, "least met": f"{least:.4f}"}
        report.add(loss=loss, problems=len(seeds), **cells)


if __name__ == "__main__":
    main()
