"""Answers of crowds: how many that the fit has not seen does it predict?

Dishes (Food-100, split by screens) and materials, 50 to 3000 known answers, default settings,
several draws. Needs `triplets_food100.npz` and `triplets_materials100.npz` in the folder that
RPRNMF_DATA names; the peers' figures are those that `learning_peers.py` left. Writes
`results/learning.csv` and `.md`.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from common import MissingError, start_process
from learning_data import COUNTS, SEEDS, SETS
from learning_peers import METHODS, best_of_peers
from report import Report
from scipy.spatial.distance import cdist

from rprnmf import NMF, RPRNMF
from rprnmf.priors.kernel import KernelFeatures

COMPONENTS = (15, 40)
BINS = 10


def cosine(X: np.ndarray, unseen: np.ndarray) -> float:
    """The share that the raw features predict by themselves."""
    D = np.nan_to_num(cdist(X, X, "cosine"), nan=1.0)
    q, r, s = unseen.T
    return float(np.mean(D[q, r] < D[q, s]) + 0.5 * np.mean(D[q, r] == D[q, s]))


def kernel_alone(X: np.ndarray, known: np.ndarray, unseen: np.ndarray) -> float:
    """Kernel features and answers without a factorisation: a metric by logistic regression.

    The same features and the same weight of the prior as in the fit, by gradient descent on an
    embedding of 15 dimensions.
    """
    from scipy.optimize import minimize

    phi = KernelFeatures(X)(X)
    n, r = phi.shape
    lam = np.sqrt(len(known) / len(np.unique(known)))
    shape = (r + n, 15)
    full = np.hstack((phi, np.eye(n))) / np.sqrt(2.0)
    rng = np.random.default_rng(0)
    q, near, far = known.T

    def cost(flat: np.ndarray) -> tuple[float, np.ndarray]:
        B = flat.reshape(shape)
        Z = full @ B
        a, b = Z[q] - Z[near], Z[q] - Z[far]
        u = np.sum(a * a, axis=1) - np.sum(b * b, axis=1)
        chance = 1.0 / (1.0 + np.exp(-np.clip(u, -500, 500)))
        slope = np.zeros_like(Z)
        pulled, pushed = 2 * chance[:, None] * a, 2 * chance[:, None] * b
        np.add.at(slope, q, pulled - pushed)
        np.add.at(slope, near, -pulled)
        np.add.at(slope, far, pushed)
        value = np.logaddexp(0.0, u).sum() + lam * np.sum(B * B)
        return float(value), (full.T @ slope + 2 * lam * B).ravel()

    start = 0.3 * rng.normal(size=shape).ravel()
    Z = full @ minimize(cost, start, jac=True, method="L-BFGS-B").x.reshape(shape)
    D = cdist(Z, Z)
    return float(np.mean(D[unseen[:, 0], unseen[:, 1]] < D[unseen[:, 0], unseen[:, 2]]))


def calibration_error(chance: np.ndarray, rng: np.random.Generator) -> float:
    """Expected calibration error; half of the questions are turned round."""
    turned = rng.random(len(chance)) < 0.5
    chance, true = np.where(turned, 1 - chance, chance), ~turned
    place = np.minimum((chance * BINS).astype(int), BINS - 1)
    return sum(
        abs(chance[place == k].mean() - true[place == k].mean()) * np.mean(place == k)
        for k in range(BINS)
        if (place == k).any()
    )


def shared_components(model: RPRNMF) -> float:
    """How far what was learned lies in components that carry the data: 1 is alike, 0 is apart.

    The overlap of two shares per component: of the variance of W, by which answers are predicted,
    and of the squared entries of the model.
    """
    learned = model.embedding_.var(axis=0)
    sizes = np.sum(model.embedding_**2, axis=0) * np.sum(model.components_**2, axis=1)
    return float(np.minimum(learned / learned.sum(), sizes / sizes.sum()).sum())


def line(name: str, K: int, count: int, seeds: range) -> dict[str, float]:
    """Means over draws."""
    rows = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, known, unseen = SETS[name](count, rng)
        plain = NMF(K, random_state=0).fit(X)
        before = RPRNMF(K, random_state=0).fit(X, row_triplets=known)
        started = time.perf_counter()
        model = RPRNMF(K, row_prior="data", random_state=0).fit(X, row_triplets=known)
        seconds = time.perf_counter() - started
        rows.append(
            {
                "unseen": model.score_triplets(unseen),
                "known": model.row_satisfied_rate_,
                "without prior": before.score_triplets(unseen),
                "kernel alone": kernel_alone(X, known, unseen) if COMPONENTS[0] == K else np.nan,
                "raw cosine": cosine(X, unseen),
                "calibration error": calibration_error(model.predict_triplets(unseen), rng),
                "error": model.reconstruction_err_**2 / np.sum(X**2),
                "error of NMF": plain.reconstruction_err_**2 / np.sum(X**2),
                "shared": shared_components(model),
                "seconds": seconds,
            }
        )
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def plot(report: Report) -> None:
    """Unseen answers against known ones, for the first number of components."""
    lines = {"row_prior='data'": "unseen", "no prior": "without prior", "CKL": "CKL", "STE": "STE"}
    panels: dict[str, dict] = {}
    for name in SETS:
        rows = [r for r in report.rows if r["data"] == name and r["components"] == COMPONENTS[0]]
        for label, key in lines.items():
            known = [row for row in rows if row.get(key) is not None]
            counts = [row["answers"] for row in known]
            panels.setdefault(name, {})[label] = counts, [float(row[key]) for row in known]
        if rows:
            raw = [float(row["raw cosine"]) for row in rows]
            panels[name]["features alone"] = [row["answers"] for row in rows], raw
    report.plot(panels, "known answers", "unseen answers predicted", log="x")


def main() -> None:
    quick, folder = start_process("learning")
    seeds = SEEDS[:2] if quick else SEEDS
    measured = (
        f"Share of unseen answers predicted, default settings, means over {len(seeds)} draws that "
        "no setting was chosen on (the settings were chosen on draws 20 and 21 of the same two "
        "sets and on made data). known: given answers met; without prior: RPRNMF as it is; kernel "
        "alone: the same features and answers without a factorisation (15 dimensions, whatever K); "
        "raw cosine: X without any answer; calibration error: of predict_triplets on unseen "
        "answers, 10 bins; errors: squared, relative to X; STE, SOE, CKL: embeddings of cblearn "
        "from the same answers alone, unseen answers predicted with the best of 2, 5 and 15 "
        "dimensions (`learning_peers.md`); shared: the overlap, component by component, of what "
        "was learned (variance of W) and what carries the data (squared entries of the model)."
    )
    report = Report(folder, "learning", "Comparisons that teach", measured)
    warnings.simplefilter("ignore")
    for name in SETS:
        try:
            for K in COMPONENTS:
                for count in COUNTS[::3] if quick else COUNTS:
                    found = line(name, K, count, seeds)
                    report.add(
                        data=name,
                        components=K,
                        answers=count,
                        **{key: None if np.isnan(v) else f"{v:.4g}" for key, v in found.items()},
                        **best_of_peers(name, count),
                    )
        except MissingError as error:
            report.note(f"{error}.")
    plot(report)
    missing = [name for name in METHODS if all(row.get(name) is None for row in report.rows)]
    if missing:
        names = ", ".join(missing)
        report.note(f"{names}: not measured (benchmarks/learning_peers.py measures them).")


if __name__ == "__main__":
    main()
