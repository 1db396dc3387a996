"""Data to try things on: fetched, made, or always there."""

from __future__ import annotations

from sklearn.datasets import load_digits

from rprnmf.datasets.faces import fetch_orl, fetch_pie
from rprnmf.datasets.four_points import load_four_points
from rprnmf.datasets.home import DataError, MissingDataError, get_data_home
from rprnmf.datasets.movie_example import load_movie_example
from rprnmf.datasets.movielens import fetch_movielens_1m, fetch_movielens_100k
from rprnmf.datasets.synthetic import make_chains

__all__ = [
    "DataError",
    "MissingDataError",
    "fetch_movielens_1m",
    "fetch_movielens_100k",
    "fetch_orl",
    "fetch_pie",
    "get_data_home",
    "load_digits",
    "load_four_points",
    "load_movie_example",
    "make_chains",
]
