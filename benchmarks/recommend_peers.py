"""Other programs with the methods of `Recommender`: what is predicted for everyone, from tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from environments import run
from recommend_data import MovieLens
from sklearn.neighbors import kneighbors_graph

from rprnmf import GNMF
from rprnmf.priors.encoding import FrameEncoder
from rprnmf.recommend.ids import Ids
from rprnmf.recommend.knowledge import drawn_triplets
from rprnmf.recommend.metadata import Metadata
from rprnmf.recommend.recipes import EXPLICIT


class Tables:
    """Positions of all ids, and features of all users and items as `Recommender` reads them.

    Attributes
    ----------
    users, items : ndarray
        All ids, sorted; a position in a factor is a position here.
    U, I : ndarray
        Numbers and columns of zeros and ones: genres, year, words of the title; gender, age, job.
    """

    def __init__(self, data: MovieLens):
        self.users, self.items = np.unique(data.user), np.unique(data.item)
        self.U = features(data.people, self.users, "user")
        self.I = features(data.films, self.items, "item")
        genres = data.films.loc[self.items, "genres"]
        encoder = FrameEncoder(genres.to_frame())
        self.genres = encoder(genres.to_frame()).toarray()

    @property
    def shape(self) -> tuple[int, int]:
        """Users and items."""
        return len(self.users), len(self.items)

    def places(self, users: Any, items: Any) -> tuple[np.ndarray, np.ndarray]:
        """Positions of ids."""
        return np.searchsorted(self.users, users), np.searchsorted(self.items, items)


def features(frame: Any, ids: np.ndarray, what: str) -> np.ndarray:
    """One row per id."""
    table = Metadata(frame, what).table(ids.tolist())
    return FrameEncoder(table)(table).toarray()


class Factors:
    """A program whose predictions are products of two factors, of all users and all items."""

    def __init__(self, tables: Tables):
        self.tables = tables

    def predict(self, users: Any, items: Any) -> np.ndarray:
        """Ratings of pairs."""
        u, i = self.tables.places(users, items)
        return np.clip(np.einsum("ik,ik->i", self.W[u], self.Ht[i]), 1, 5)


class Cmfrec(Factors):
    """CMF of cmfrec, with or without tables; its cold rows are part of its fit.

    Parameters
    ----------
    tables : Tables
    told : bool
        Whether it gets the features.
    **setting
        Of the worker, and ``ones``: a constant feature, with which non-negative factors of cold
        rows can be the mean factor.
    """

    def __init__(self, tables: Tables, told: bool, **setting: Any):
        super().__init__(tables)
        self.told, self.setting = told, setting

    def fit(self, users: Any, items: Any, ratings: Any, **_: Any) -> Cmfrec:
        """In its own environment."""
        setting = dict(self.setting)
        ones = setting.pop("ones", 0.0)
        sides = {}
        for name, table in (("U", self.tables.U), ("I", self.tables.I)):
            constant = np.full((len(table), 1 if ones else 0), ones)
            sides[name] = np.hstack((table, constant)) if self.told else table[:, :0]
        row, column = self.tables.places(users, items)
        entries = {"rows": row, "columns": column, "values": ratings, "shape": self.tables.shape}
        found = run("cmfrec", worker="cmfrec_side", **entries, **sides, **setting)
        self.W, self.Ht, self.seconds = found["W"], found["Ht"], float(found["seconds"])
        return self


class Graph(Factors):
    """GNMF on the observed ratings: films that share genres, and people alike, are neighbours.

    Parameters
    ----------
    tables : Tables
    n_components, n_neighbors : int
    strength : float or "auto"
    alpha : float
        Weight of the L2 terms; 0: the default prior instead.
    """

    def __init__(
        self,
        tables: Tables,
        n_components: int = 20,
        n_neighbors: int = 10,
        strength: float | str = "auto",
        alpha: float = 0.0,
    ):
        super().__init__(tables)
        self.n_components, self.n_neighbors = n_components, n_neighbors
        self.strength, self.alpha = strength, alpha

    def fit(self, users: Any, items: Any, ratings: Any, **_: Any) -> Graph:
        """All users and items are rows of X, some of them without entries."""
        entries = np.asarray(ratings, dtype=np.float32), self.tables.places(users, items)
        X = sp.csr_array(entries, shape=self.tables.shape)
        model = GNMF(
            self.n_components,
            missing="zero",
            row_graph=near(self.tables.U, self.n_neighbors),
            column_graph=near(self.tables.genres, self.n_neighbors),
            row_strength=self.strength,
            column_strength=self.strength,
            alpha_W=self.alpha,
            max_iter=100,
            n_jobs=1,
            random_state=0,
        ).fit(X)
        self.W, self.Ht = model.embedding_, model.components_.T
        return self


class Comparisons(Factors):
    """What `Recommender` fits to ratings, but metadata only say which comparisons are drawn.

    Cold users and items are rows too, so that comparisons can name them.

    Parameters
    ----------
    tables : Tables
    data : MovieLens
    per_row : float
        So many comparisons for each user and each item.
    """

    def __init__(self, tables: Tables, data: MovieLens, per_row: float = 3.0):
        super().__init__(tables)
        self.triplets = [
            drawn_triplets(int(per_row * len(ids)), Ids(ids.tolist(), what), known, 0)
            for ids, what, known in (
                (tables.users, "user", Metadata(data.people, "user")),
                (tables.items, "item", Metadata(data.films, "item")),
            )
        ]

    def fit(self, users: Any, items: Any, ratings: Any, **_: Any) -> Comparisons:
        """With what was rated, and the mean row, as the only prior."""
        entries = np.asarray(ratings, dtype=np.float32), self.tables.places(users, items)
        X = sp.csr_array(entries, shape=self.tables.shape)
        settings = {"row_prior": "data", "column_prior": "data", "n_jobs": 1, "random_state": 0}
        model = EXPLICIT.estimator(constrained=True, **settings)
        model.fit(X, row_triplets=self.triplets[0], column_triplets=self.triplets[1])
        self.W, self.Ht = model.embedding_, model.components_.T
        self.met = model.row_satisfied_rate_, model.column_satisfied_rate_
        return self


def near(points: np.ndarray, n_neighbors: int) -> sp.csr_array:
    """The nearest by features, in both directions; who is among equals is chosen at random."""
    noise = np.random.default_rng(0).normal(scale=1e-3, size=points.shape)
    graph = sp.csr_array(kneighbors_graph(points + noise, n_neighbors))
    return sp.csr_array(graph.maximum(graph.T))
