"""Which question next? `next_queries` beside questions at random, on the answers of two crowds.

Dishes (Food-100) and materials. Only questions that people answered can be asked, and the answer is
theirs (on dishes that of the majority, where they differ). Unseen are the answers of a fifth of
the screens, and those to the test questions. Both ways start with the same answers, ask for more
in rounds, and fit `RPRNMF(15, row_prior="data")` with all answers so far. Writes
`results/questions.*`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from common import MissingError, data_file, start_process
from report import Report

from rprnmf import RPRNMF, Triplets
from rprnmf.triplets import next_queries, triplets_from_survey

FIRST, EACH, MOST, SHOWN = 50, 50, 1500, 100
# what `next_queries` does was chosen on the seeds 0 to 4
K, FIRST_SEED = 15, 20
LEVELS = (300, 500, 700, 1000, 1500)  # the accuracy of so many answers at random

Split = tuple[np.ndarray, Triplets, Triplets]


def food(seed: int) -> Split:
    """Ingredients of dishes, what can be asked, all answers of unseen screens."""
    data = data_file("triplets_food100.npz")
    answers, screens = data["triplets"].astype(np.int64), data["screen"]
    rng = np.random.default_rng(seed)
    out = rng.permutation(int(screens.max()) + 1) % 5 == 0
    unseen = out[screens]
    known = triplets_from_survey(*answers[~unseen].T).resolve("majority")
    X = data["ingredients"].astype(float)
    return X, Triplets(known.items), triplets_from_survey(*answers[unseen].T)


def materials(seed: int) -> Split:
    """Block means of pictures; ties are left out."""
    data = data_file("triplets_materials100.npz")
    X = data["images_stpeters"].astype(float).reshape(100, 16, 4, 16, 4, 3).mean((2, 4))
    known, unseen = (
        data[f"{part}_triplets"][np.diff(data[f"{part}_votes"].astype(int), axis=1)[:, 0] != 0]
        for part in ("train", "test")
    )
    return X.reshape(100, -1), Triplets(known.astype(np.int64)), Triplets(unseen.astype(np.int64))


SETS: dict[str, Callable[[int], Split]] = {"food": food, "materials": materials}


def keys(items: np.ndarray, n: int) -> np.ndarray:
    """One number a question, whichever way round."""
    q, r, s = items.T
    return (q * n + np.minimum(r, s)) * n + np.maximum(r, s)


def learn(split: Split, seed: int, way: str, most: int) -> list[float]:
    """The share of unseen answers that is predicted, whenever SHOWN more are known."""
    X, pool, unseen = split
    rng = np.random.default_rng(1000 + seed)
    order = rng.permutation(pool.n_triplets)  # of questions at random
    # questions are shown in any order, so that it does not give the answer away
    turned = rng.random(pool.n_triplets) < 0.5
    shown = Triplets(np.where(turned[:, None], pool.items[:, [0, 2, 1]], pool.items))
    place = keys(pool.items, len(X))
    by_key = np.argsort(place)
    chosen = order[:FIRST]
    shares = []
    while True:
        if way == "next_queries" or len(chosen) % SHOWN == 0:
            model = RPRNMF(K, row_prior="data", random_state=0, n_jobs=1)
            model.fit(X, row_triplets=pool.take(chosen))
        if len(chosen) % SHOWN == 0:
            shares.append(model.score_triplets(unseen))
        if len(chosen) >= most:
            return shares
        if way == "random":
            chosen = order[: len(chosen) + EACH]
            continue
        number = 1000 * seed + len(chosen)
        found = next_queries(model, EACH, candidates=shown, random_state=number)
        at = np.searchsorted(place[by_key], keys(found.items, len(X)))
        chosen = np.concatenate((chosen, by_key[at]))


def needed(count: np.ndarray, curve: np.ndarray, target: float) -> float:
    """The number of answers at which a curve first reaches an accuracy; NaN if it does not."""
    reached = np.flatnonzero(curve >= target)
    if not len(reached):
        return np.nan
    k = reached[0]
    if k == 0:
        return float(count[0])
    part = (target - curve[k - 1]) / (curve[k] - curve[k - 1])
    return float(count[k - 1] + part * (count[k] - count[k - 1]))


def fractions(count: np.ndarray, random: np.ndarray, ours: np.ndarray, level: int) -> list[float]:
    """Of the answers that random questions need for what they reach at a level, seeds resampled.

    Curves are means over the seeds.
    """
    rng = np.random.default_rng(0)
    n = len(random)
    picks = [np.arange(n), *rng.integers(0, n, (1000, n))]
    at = int(np.flatnonzero(count == level)[0])
    return [
        needed(count, ours[pick].mean(axis=0), random[pick].mean(axis=0)[at]) / level
        for pick in picks
    ]


def main() -> None:
    quick, folder = start_process("questions")
    seeds, most = (2, 300) if quick else (10, MOST)
    measured = (
        f"Share of unseen answers predicted, mean of {seeds} seeds that nothing was chosen on "
        f"(standard deviation in brackets); {FIRST} answers at random, then {EACH} a round; "
        f"RPRNMF({K}, row_prior='data'), else default settings. gain: mean of the differences, "
        "seed by seed; better: seeds in which next_queries is ahead; needed: the fraction of so "
        "many answers with which next_queries is as good as random questions with all (curves of "
        "means; 90 % interval over resampled seeds)."
    )
    report = Report(folder, "questions", "Which question next?", measured)
    panels = {}
    for name, make in SETS.items():
        shares: dict[str, list] = {"random": [], "next_queries": []}
        try:
            for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                split = make(seed)
                for way, found in shares.items():
                    found.append(learn(split, seed, way, most))
                    print(f"{name}, seed {seed}, {way}: {found[-1][-1]:.3f}", flush=True)
        except MissingError as error:
            report.note(f"{error}.")
            continue
        random, ours = (np.array(shares[way]) for way in shares)
        count = SHOWN * np.arange(1, random.shape[1] + 1)
        for place, answers in enumerate(count.tolist()):
            gain = ours[:, place] - random[:, place]
            cells = {
                way: f"{np.mean(found, axis=0)[place]:.3f} ({np.std(found, axis=0)[place]:.3f})"
                for way, found in shares.items()
            }
            part = None
            if answers in LEVELS:
                mean, *others = fractions(count, random, ours, answers)
                low, high = np.nanpercentile(others, [5, 95])
                part = f"{mean:.2f} ({low:.2f} to {high:.2f})"
            better = f"{int((gain > 0).sum())} of {seeds}"
            report.add(
                data=name,
                answers=answers,
                **cells,
                gain=float(gain.mean()),
                better=better,
                needed=part,
            )
        panels[name] = {way: (count, np.mean(found, axis=0)) for way, found in shares.items()}
    report.plot(panels, "answers", "unseen answers predicted", log="")


if __name__ == "__main__":
    main()
