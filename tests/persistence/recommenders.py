"""Fitted recommenders of all sorts, small, each with what it can be asked."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.recommend import Recommender
from tests.recommend.made import made_choices, made_ratings

MADE = made_ratings(24, 16, 0.5, seed=3)
PEOPLE, FILMS = MADE.users.tolist(), MADE.items.tolist()
CHOSEN = made_choices(40, 24, seed=1)
TRIPLETS = [["i0", "i1", "i2"], ["i3", "i4", "i5"]]
#: kinds of ids: from "u3" to an id of the kind
IDS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "bytes": str.encode,
    "whole": lambda name: int(name[1:]) - 5,
    "long": lambda name: 2**70 + int(name[1:]),
    "floats": lambda name: int(name[1:]) / 3,
    "numpy": lambda name: np.int16(int(name[1:])),
    "numpy bytes": lambda name: np.bytes_(name.encode()),
    "tuples": lambda name: (name[0], int(name[1:]), (None, 0.5)),
    "mixed": lambda name: (
        [str, str.encode, len][int(name[1:]) % 3](name)
        if name[1:] in ("0", "1", "2")
        else (name, np.float32(2))
    ),
}
RICH = {
    f"i{k}": {
        "year": 1990 + k,
        "genre": "Comedy|Drama" if k % 2 else "Drama",
        "tags": [1, "x"] if k % 3 else [1],
        "title": f"The film number {'seven' if k % 2 else 'eight'} from {1990 + k % 5} or {k}",
    }
    for k in range(20)
}


def counts() -> np.ndarray:
    """How often, instead of how good."""
    return np.random.default_rng(0).geometric(0.4, len(MADE.ratings)).astype(float)


#: name -> (recommender, arguments of fit)
FITS: dict[str, Callable[[], tuple[Recommender, tuple[Any, ...], dict[str, Any]]]] = {
    "ratings": lambda: (Recommender(2), (PEOPLE, FILMS, MADE.ratings), {}),
    "starts": lambda: (
        Recommender(2, n_starts=3, scale=(0, 6), unknown="ignore"),
        (PEOPLE, FILMS, MADE.ratings),
        {"item_metadata": RICH},
    ),
    "interest": lambda: (Recommender(2), CHOSEN[:3], CHOSEN.known),
    "by rating": lambda: (Recommender(2, order="rating"), CHOSEN[:3], {}),
    "below zero": lambda: (Recommender(2), (PEOPLE, FILMS, MADE.ratings - 3), {}),
    "clicks": lambda: (Recommender(3), (PEOPLE, FILMS), MADE.known),
    "counts": lambda: (
        Recommender(3, kind="implicit", n_starts=2, missing_weight=0.1),
        (PEOPLE, FILMS, counts()),
        {},
    ),
    "divergence": lambda: (
        Recommender(3, kind="implicit", beta_loss="kullback-leibler"),
        (PEOPLE, FILMS, counts()),
        {"item_metadata": RICH},
    ),
    "tables": lambda: (Recommender(2), (PEOPLE, FILMS, MADE.ratings), MADE.known),
    "labels alone": lambda: (
        Recommender(2),
        (PEOPLE, FILMS, MADE.ratings),
        {"user_metadata": {f"u{k}": ["a", "b"][: 1 + k % 2] for k in range(30)}},
    ),
    "comparisons": lambda: (
        Recommender(2),
        (PEOPLE, FILMS, MADE.ratings),
        {"item_triplets": TRIPLETS, "user_triplets": 9, "user_metadata": MADE.people},
    ),
    "positions": lambda: (
        Recommender(2, random_state=np.random.RandomState(0)),
        (np.arange(40) % 9, np.arange(40) % 8, np.arange(40) % 5 + 1.0),
        {},
    ),
}


@functools.cache
def fitted(name: str) -> Recommender:
    """The recommender; do not change it."""
    model, data, arguments = FITS[name]()
    if model.random_state is None:
        model.set_params(random_state=0)
    model.set_params(max_iter=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data, **arguments)


def with_ids(name: str) -> Recommender:
    """A fit with ids of one kind."""
    make = IDS[name]
    users, items = ([make(one) for one in part] for part in (PEOPLE, FILMS))
    return Recommender(2, max_iter=2, random_state=0).fit(users, items, MADE.ratings)


def answers(model: Recommender) -> dict[str, Any]:
    """What all methods of a fitted recommender say; it is changed by none of them."""
    users, items = model.user_ids_, model.item_ids_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # strangers
        few = None if model.kind_ == "implicit" else np.full(3, np.mean(model.scale_))
        known = model._model.metadata[0]
        facts = None if known is None else {next(iter(known.readers.values()))[0]: "g1"}
        new = model.fold_in([*items[:2], items[-1]], few, metadata=facts)
        stranger = model.fold_in([])
        return {
            "predict": model.predict(users[:1], items),
            "every user": model.predict(users, items[-1:]),
            "strangers": model.predict(["nobody", users[0], "nobody"], [items[0], "no", "no"]),
            "recommend": model.recommend(users, 5),
            "all": model.recommend(users[:1], 5, exclude_seen=False, caution=0.0),
            "stranger": model.recommend("nobody", 3),
            "similar": [model.similar_items(items[1], 4), model.similar_users(users[2], 4)],
            "explain": [model.explain(users[0], items[0]), model.explain("nobody", items[1])],
            "new": [new, model.recommend(new, 4), model.explain(new, items[2])],
            "empty": [stranger, model.predict(stranger, items[:3])],
        }


def taught(model: Recommender) -> Recommender:
    """The recommender after more ratings; it is changed."""
    known = model._model.metadata[1] is not None
    ratings = None if model.kind_ == "implicit" else [model.scale_[1], model.scale_[0], 1.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.partial_fit(
            [model.user_ids_[0], "someone", model.user_ids_[1]],
            [model.item_ids_[1], model.item_ids_[0], "something"],
            ratings,
            item_metadata={"something": {"genre": "t1", "year": 1995}} if known else None,
            item_triplets=[["something", model.item_ids_[2], model.item_ids_[3]]],
        )
