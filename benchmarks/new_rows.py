"""Rows that the fit has not seen: how many answers about them are predicted?

A fifth of the things that people compared is left out of the fit and folded in afterwards, with
the pull to what their features predict and without it. Writes `results/new_rows.csv` and `.md`.
"""

from __future__ import annotations

import numpy as np
from common import MissingError, start_process
from learning_data import SETS
from report import Report

from rprnmf import NMF, RPRNMF

COUNTS, SEEDS = (300, 1000, 3000), range(100, 110)


def shares(name: str, count: int, seed: int) -> tuple[float, float]:
    """Answers about new rows that are predicted, without the pull and with it."""
    rng = np.random.default_rng(seed)
    X, known, unseen = SETS[name](10**6, rng)
    order = rng.permutation(len(X))
    n = len(X) - len(X) // 5
    place = np.argsort(order)
    old, about = place[known], place[unseen]
    old, about = old[(old < n).all(axis=1)][:count], about[(about >= n).any(axis=1)]
    fitted, new = X[order[:n]], X[order[n:]]
    model = RPRNMF(15, row_prior="data", random_state=0).fit(fitted, row_triplets=old)
    plain = NMF(15).fit(new, H=model.components_, update_H=False)  # the same components, no pull
    found = []
    for rows in (plain.embedding_, model.transform(new)):
        q, r, s = np.concatenate((model.embedding_, rows))[about.T]
        near, far = np.sum((q - r) ** 2, axis=1), np.sum((q - s) ** 2, axis=1)
        found.append(float(np.mean(near < far)))
    return found[0], found[1]


def main() -> None:
    quick, folder = start_process("new_rows")
    seeds = SEEDS[:2] if quick else SEEDS
    measured = (
        "A fifth of the rows is not in the fit (15 components, row_prior='data', defaults); share "
        f"of the unseen answers about them that is predicted, means over {len(seeds)} draws that "
        "no setting was chosen on. plain: folded in without the pull; better: draws in which the "
        "pull is ahead."
    )
    report = Report(folder, "new_rows", "New rows", measured)
    for name in SETS:
        for count in COUNTS[:1] if quick else COUNTS:
            try:
                plain, pulled = np.array([shares(name, count, seed) for seed in seeds]).T
            except MissingError as error:
                report.note(f"{error}.")
                break
            cells = {"plain": f"{plain.mean():.4f}", "with the pull": f"{pulled.mean():.4f}"}
            better = f"{int(np.sum(pulled > plain))} of {len(seeds)}"
            gain = float(np.mean(pulled - plain))
            report.add(data=name, answers=count, **cells, gain=gain, better=better)


if __name__ == "__main__":
    main()
