"""Which question next? `next_queries` beside questions at random, on a crowd's answers about food.

Answers are those that people gave (the majority of them where they differ), so that only
questions that were answered can be asked. A fifth of the screens is held out. Both ways start
with the same answers, ask for more in rounds, fit `RPRNMF` on the ingredients of the dishes and
all answers so far, and predict the answers of unseen screens. Writes `results/questions.*`.
"""

from __future__ import annotations

import numpy as np
from common import data_file, start_process
from report import Report

from rprnmf import RPRNMF, Triplets
from rprnmf.triplets import next_queries, triplets_from_survey

FIRST, EACH, ROUNDS = 100, 100, 14
# as in examples/food.py; these, and next_queries itself, were chosen on the splits 0 to 8
K, FIRST_SPLIT = 20, 20
SETTINGS = {"margin": 1.0, "init": "random", "max_iter": 10, "tol": 0.0, "row_strength": 3.0}


def split(answers: np.ndarray, screens: np.ndarray, seed: int) -> tuple[Triplets, Triplets]:
    """What can be asked, with the majority's answers, and all answers of unseen screens."""
    rng = np.random.default_rng(seed)
    out = rng.permutation(int(screens.max()) + 1) % 5 == 0
    unseen = out[screens]
    known = triplets_from_survey(*answers[~unseen].T).resolve("majority")
    return Triplets(known.items), triplets_from_survey(*answers[unseen].T)


def keys(items: np.ndarray, n: int) -> np.ndarray:
    """One number a question, whichever way round."""
    q, r, s = items.T
    return (q * n + np.minimum(r, s)) * n + np.maximum(r, s)


def learn(X: np.ndarray, pool: Triplets, unseen: Triplets, seed: int, way: str, rounds: int):
    """The share of unseen answers that is predicted, after every round."""
    rng = np.random.default_rng(1000 + seed)
    order = rng.permutation(pool.n_triplets)  # of questions at random
    place = keys(pool.items, len(X))
    by_key = np.argsort(place)
    chosen = order[:FIRST]
    shares = []
    for number in range(rounds + 1):
        model = RPRNMF(K, random_state=seed, n_jobs=1, **SETTINGS)
        model.fit(X, row_triplets=pool.take(chosen))
        q, r, s = unseen.items.T
        W = model.embedding_
        near, far = ((W[q] - W[r]) ** 2).sum(axis=1), ((W[q] - W[s]) ** 2).sum(axis=1)
        shares.append(float(np.average(near < far, weights=unseen.weights)))
        if way == "random":
            chosen = order[: FIRST + (number + 1) * EACH]
            continue
        left = np.setdiff1d(np.arange(pool.n_triplets), chosen)
        found = next_queries(model, EACH, candidates=pool.take(left), random_state=seed + number)
        at = np.searchsorted(place[by_key], keys(found.items, len(X)))
        chosen = np.concatenate((chosen, by_key[at]))
    return shares


def main() -> None:
    quick, folder = start_process("questions")
    seeds, rounds = (2, 3) if quick else (10, ROUNDS)
    measured = (
        f"Food-100: share of the answers of unseen screens predicted, mean of {seeds} seeds "
        f"(standard deviation in brackets); {FIRST} answers at random, then {EACH} a round. gain: "
        "mean of the differences, seed by seed; better: seeds in which next_queries is ahead. "
        f"{K} components, {', '.join(f'{k}={v}' for k, v in SETTINGS.items())}."
    )
    report = Report(folder, "questions", "Which question next?", measured)
    data = data_file("triplets_food100.npz")
    X = data["ingredients"].astype(float)
    answers, screens = data["triplets"].astype(np.int64), data["screen"]
    shares: dict[str, list] = {"random": [], "next_queries": []}
    for seed in range(FIRST_SPLIT, FIRST_SPLIT + seeds):
        pool, unseen = split(answers, screens, seed)
        for way, found in shares.items():
            found.append(learn(X, pool, unseen, seed, way, rounds))
            print(f"seed {seed}, {way}: {found[-1][-1]:.3f}", flush=True)
    random, ours = (np.array(shares[way]) for way in shares)
    count = FIRST + EACH * np.arange(rounds + 1)
    for place, answers_ in enumerate(count.tolist()):
        gain = ours[:, place] - random[:, place]
        cells = {
            way: f"{np.mean(found, axis=0)[place]:.3f} ({np.std(found, axis=0)[place]:.3f})"
            for way, found in shares.items()
        }
        better = f"{int((gain > 0).sum())} of {seeds}"
        report.add(answers=answers_, **cells, gain=float(gain.mean()), better=better)
    lines = {way: (count, np.mean(found, axis=0)) for way, found in shares.items()}
    report.plot({"Food-100": lines}, "answers", "unseen answers predicted", log="")


if __name__ == "__main__":
    main()
