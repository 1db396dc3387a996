"""A crowd's answers about food: what they add to ingredients, and what ingredients add to them.

The Food-100 answers ("which of these taste more like the probe?") contradict each other. This
example reads them, reports and resolves the contradictions, and asks how many answers of unseen
screens are predicted by

- RPRNMF: ingredients and answers, with a strength that is chosen on training screens only,
- plain NMF, and the raw ingredients: no answers,
- STE (cblearn, if it is installed): answers alone.

Answers of one screen are not independent, so that screens are split, not answers. Needs
`triplets_food100.npz` in the folder that RPRNMF_DATA names. What it printed is kept in
`benchmarks/results/food.txt`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rprnmf import NMF, RPRNMF, Triplets
from rprnmf.metrics import mean_squared_loss, satisfied_rate
from rprnmf.model_selection import choose_strength
from rprnmf.triplets import check_consistency, triplets_from_survey

COUNTS = (300, 1000, 3000)
STRENGTHS = (0.1, 0.3, 1.0, 3.0)
# To predict answers is more than to meet those that are known: a wide margin, few iterations from
# random starts, and several starts side by side, which are one non-negative factorisation:
# X is about [W1 W2 ...] [H1; H2; ...] / N_STARTS. These were chosen on the splits 0 and 1.
K, N_STARTS, FIRST_SPLIT = 20, 8, 10
SETTINGS = {"margin": 1.0, "init": "random", "max_iter": 10, "tol": 0.0}


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ingredients (a tenth of the dishes has no list), the answers, and their screens."""
    path = Path(os.environ.get("RPRNMF_DATA", ".")) / "triplets_food100.npz"
    if not path.exists():
        sys.exit(f"{path} is missing: set RPRNMF_DATA to the folder that has it.")
    with np.load(path) as data:
        X = data["ingredients"].astype(float)
        answers, screens = data["triplets"].astype(np.int64), data["screen"]
    return X, answers, screens


def split(screens: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """n answers to learn from, and all answers of a fifth of the screens, which they are not of."""
    rng = np.random.default_rng(seed)
    held_out = rng.random(int(screens.max()) + 1)[screens] < 0.2
    return rng.choice(np.flatnonzero(~held_out), n, replace=False), np.flatnonzero(held_out)


def ste(answers: np.ndarray, n_items: int, seed: int) -> np.ndarray | None:
    """Ordinal embedding of the answers alone."""
    try:
        from cblearn.embedding import STE
    except ImportError:
        return None
    return STE(n_components=5, random_state=seed).fit_transform(answers, n_objects=n_items)


def stacked(models: list) -> tuple[np.ndarray, np.ndarray]:
    """W and H of several fits side by side; all of them count the same in distances."""
    sizes = [np.linalg.norm(model.embedding_) for model in models]
    W = np.hstack([model.embedding_ / size for model, size in zip(models, sizes, strict=True)])
    H = np.vstack([model.components_ * size for model, size in zip(models, sizes, strict=True)])
    return W, H / len(models)


def one(X: np.ndarray, answers: np.ndarray, screens: np.ndarray, n: int, seed: int) -> dict:
    """One split: the strength, and what is predicted by whom."""
    train, test = split(screens, n, seed)
    known, unseen = Triplets(answers[train]), answers[test]
    curve = choose_strength(
        RPRNMF(K, random_state=seed, **SETTINGS),
        *(X, STRENGTHS),
        row_triplets=known,
        row_groups=screens[train],
        random_state=seed,
        verbose=0,
    )
    learned = known.deduplicate().resolve("majority")
    fits = [
        RPRNMF(K, row_strength=curve.best, random_state=100 * seed + start, **SETTINGS)
        for start in range(N_STARTS)
    ]
    W, H = stacked([model.fit(X, row_triplets=learned) for model in fits])
    plain = NMF(K, max_iter=500, random_state=seed).fit(X)
    single = NMF(1, random_state=seed).fit(X)
    embedded = ste(answers[train], len(X), seed)
    return {
        "strength": curve.best,
        "RPRNMF": satisfied_rate(fits[0].embedding_, unseen),
        f"{N_STARTS} starts": satisfied_rate(W, unseen),
        "NMF": satisfied_rate(plain.embedding_, unseen),
        "raw": satisfied_rate(X, unseen),
        "STE": np.nan if embedded is None else satisfied_rate(embedded, unseen),
        "error": mean_squared_loss(X, fits[0].embedding_, fits[0].components_),
        f"{N_STARTS} starts ": mean_squared_loss(X, W, H),
        "error NMF": mean_squared_loss(X, plain.embedding_, plain.components_),
        "error K=1": mean_squared_loss(X, single.embedding_, single.components_),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="how many splits (default 5)")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, answers, screens = load()
    everything = triplets_from_survey(*answers.T)
    started = time.perf_counter()
    print(everything.summary())
    print(check_consistency(everything))
    for method in ("majority", "feedback-arc"):
        kept = everything.resolve(method)
        share = kept.weights.sum() / everything.weights.sum()
        print(f"resolve({method!r}) keeps {kept.n_triplets} triplets, {share:.1%} of the weight")
    print(f"({time.perf_counter() - started:.1f} s)\n")
    print("Share of unseen answers predicted, and mean squared error of the ingredients.")
    header: list[str] = []
    for n in COUNTS:
        rows = []
        for seed in range(FIRST_SPLIT, FIRST_SPLIT + arguments.seeds):
            row = {"answers": n, "seed": seed} | one(X, answers, screens, n, seed)
            if not header:
                header = list(row)
                print(" ".join(f"{name:>9}" for name in header))
            rows.append(row)
            print(" ".join(f"{value:>9.4g}" for value in row.values()), flush=True)
        means = np.mean([list(row.values()) for row in rows], axis=0)
        print(" ".join(["     mean", " " * 9, *(f"{value:>9.4g}" for value in means[2:])]))


if __name__ == "__main__":
    main()
