"""Lists from ratings: by interest and predicted ratings, beside each alone and popularity.

MovieLens 1M, 100K, and a seventh of the ratings of 1M: a fifth of the ratings held out, the latter
two in three splits; and the latest tenth of 1M, of people who had rated before. The films that
people liked are to be found. Writes `results/recommend_order.csv` and `.md`; `--quick`: 100K alone,
one split.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from clicks_data import LIKED, Clicks, measured, popularity
from common import start_process
from recommend_data import movielens, periods
from report import Report

from rprnmf.recommend import Recommender

LATEST = "the latest tenth"
DATA = (
    *(("MovieLens 1M", "a fifth", 1), ("MovieLens 1M, a seventh", "a fifth", 3)),
    *(("MovieLens 100K", "a fifth", 3), ("MovieLens 1M", LATEST, 1)),
)
LIKES, BOTH = "clicks: ratings of at least 4", 'order="interest"'
SEED = 30  # no setting was chosen on these splits


def matrix(users: np.ndarray, items: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Pairs as ones."""
    return sp.csr_array((np.ones(len(users), np.float32), (users, items)), shape=shape)


def of_lists(model: Any, clicks: Clicks, people: np.ndarray) -> tuple[float, float]:
    """NDCG@10 and recall@20 of what ``recommend`` returns; ids are positions."""
    lists = model.recommend(people.tolist(), 20)
    scores = np.zeros(clicks.train.shape)
    for row, one in enumerate(lists):
        scores[row, one.items] = np.arange(len(one.items), 0, -1)
    return measured(clicks, lambda rows: scores[rows])


def split(name: str, how: str, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Positions of users and films and the ratings, and which are held out."""
    data, rng = movielens(name.removesuffix(", a seventh")), np.random.default_rng(seed)
    kept = rng.random(len(data.rating)) < (1.0 if "," not in name else 1 / 7)
    users, items = (np.unique(ids[kept], return_inverse=True)[1] for ids in (data.user, data.item))
    out = periods(data)[kept] == 2 if how == LATEST else rng.random(int(kept.sum())) < 0.2
    return [users, items, data.rating[kept]], out


def one_split(name: str, how: str, seed: int) -> dict[str, dict[str, float]]:
    """What every method finds, and the seconds of fits."""
    (users, items, ratings), out = split(name, how, seed)
    shape = int(users.max()) + 1, int(items.max()) + 1
    seen, liked = matrix(users[~out], items[~out], shape), out & (ratings >= LIKED)
    held = matrix(users[liked], items[liked], shape)
    known = np.diff(held.indptr) > 0
    known &= np.diff(seen.indptr) > 0
    people = np.flatnonzero(known)
    clicks = Clicks(sp.csr_array(seen[people]), sp.csr_array(held[people]))
    ndcg, recall = measured(clicks, popularity(seen[people]))
    found: dict[str, dict[str, float]] = {"popularity": {"NDCG@10": ndcg, "recall@20": recall}}
    common = {"random_state": 0, "n_jobs": 1, "unknown": "ignore"}
    train = users[~out], items[~out], ratings[~out]
    good = train[2] >= LIKED
    methods = {
        'order="rating"': (Recommender(order="rating", **common), train),
        BOTH: (Recommender(**common), train),
        "clicks: all pairs rated": (Recommender(kind="implicit", **common), train[:2]),
        LIKES: (Recommender(kind="implicit", **common), tuple(part[good] for part in train[:2])),
    }
    for method, (model, told) in methods.items():
        started = time.process_time()
        model.fit(*told)
        row = {"fit": time.process_time() - started}
        row["NDCG@10"], row["recall@20"] = of_lists(SeenOut(model, seen), clicks, people)
        if model.trust_ is not None:
            row["trust"] = model.trust_
        found[method] = row
    return found


class SeenOut:
    """Lists without what was rated, also where the model knows the likes alone."""

    def __init__(self, model: Recommender, seen: sp.csr_array):
        self.model, self.seen = model, seen

    def recommend(self, people: list[int], n: int) -> list[Any]:
        """As `Recommender.recommend`."""
        more = n + int(np.diff(self.seen.indptr).max()) if self.model.kind_ == "implicit" else n
        lists = self.model.recommend(people, more)
        for person, one in zip(people, lists, strict=True):
            rated = set(self.seen.indices[self.seen.indptr[person] : self.seen.indptr[person + 1]])
            one.items[:] = [item for item in one.items if item not in rated][:n]
        return lists


def mean(values: Any) -> str:
    """Mean and standard error."""
    values = np.asarray(values, dtype=float)
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}" if len(values) > 1 else ""
    return f"{values.mean():.4f}{error}"


def main() -> None:
    quick, folder = start_process("recommend_order")
    text = (
        "Ratings held out: a fifth at random, means and standard errors over three splits where "
        "there are any, or the latest tenth, of people who have ratings before. "
        "NDCG@10 and recall@20 (over as many hits as there could be) of ratings of at least 4 that "
        "were held out, on lists without what was rated. Defaults of Recommender; the constants "
        "behind them were chosen on other splits. CPU seconds of the fit, one thread."
    )
    report = Report(folder, "recommend_order", "The order of lists from ratings", text)
    for name, how, n_splits in DATA[2:3] if quick else DATA:
        runs = [one_split(name, how, SEED + k) for k in range(1 if quick else n_splits)]
        for method in runs[0]:
            rows = [run[method] for run in runs]
            told = {"trust": f"{rows[0]['trust']:.2f}"} if "trust" in rows[0] else {}
            if "fit" in rows[0]:
                told["seconds"] = f"{np.median([row['fit'] for row in rows]):.3g}"
            report.add(
                data=name,
                **{"held out": how},
                method=method,
                **{measure: mean([row[measure] for row in rows]) for measure in
                   ("NDCG@10", "recall@20")},
                **told,
            )  # fmt: skip


if __name__ == "__main__":
    main()
