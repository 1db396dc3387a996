"""MovieLens 1M and 100K."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from rprnmf.datasets.home import DataError, Source, locate

GROUPLENS = "https://files.grouplens.org/datasets/movielens"
ARRAYS = ("user_id", "movie_id", "rating")
ML_1M = Source(
    title="MovieLens 1M",
    prepared="movielens_1m.npz",
    url=f"{GROUPLENS}/ml-1m.zip",
    digest="784a05add6418936868b68b3bab8dfb2a787d1cece6d3102d5540b4f8ced33ca",
    arrays=ARRAYS,
    sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
    beside=("movielens_1m_users.csv", "movielens_1m_movies.csv"),
)
ML_100K = Source(
    title="MovieLens 100K",
    prepared="movielens_100k.npz",
    url=f"{GROUPLENS}/ml-100k.zip",
    digest="6dc1836cd428506fc8f131cb30dacd7b7f7c9802f556117d584ee11d885ccf0d",
    arrays=ARRAYS,
    sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    beside=("movielens_100k_users.csv", "movielens_100k_movies.csv"),
)
TERMS = (
    "GroupLens, University of Minnesota; research use, no redistribution. F. M. Harper and J. A. "
    "Konstan, The MovieLens Datasets: History and Context, ACM TiiS 5(4), 2015."
)
USERS = ("user_id", "gender", "age", "occupation", "zip")
MOVIES = ("movie_id", "title", "genres")


def fetch_movielens_1m(*, data_home: Any = None, download_if_missing: bool = True) -> Bunch:
    """MovieLens 1M: 1,000,209 ratings of 6040 people for 3706 films.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder to look in and to download to. None is that of RPRNMF_DATA to look in, and
        ``~/rprnmf_data`` to look in and to download to.
    download_if_missing : bool, default=True
        False: raise if the data are not there.

    Returns
    -------
    bunch : Bunch
        ``data``: csr_array of shape (6040, 3706), all stored entries are ratings, to be used with
        ``missing="zero"``; ``user_ids``, ``gender``, ``age`` (an age group: its lowest age),
        ``occupation`` (a code) of the rows; ``movie_ids``, ``titles`` and ``genres`` (with ``|``
        between them) of the columns; ``user``, ``item``, ``rating``, ``timestamp`` (0: not known)
        in the order of the official file; ``DESCR``.
    """
    return _movielens(ML_1M, _convert_1m, data_home, download_if_missing)


def fetch_movielens_100k(*, data_home: Any = None, download_if_missing: bool = True) -> Bunch:
    """MovieLens 100K: 100,000 ratings of 943 people for 1682 films.

    Parameters
    ----------
    data_home : path-like, default=None
        The folder to look in and to download to. None is that of RPRNMF_DATA to look in, and
        ``~/rprnmf_data`` to look in and to download to.
    download_if_missing : bool, default=True
        False: raise if the data are not there.

    Returns
    -------
    bunch : Bunch
        As `fetch_movielens_1m`, of shape (943, 1682); ages in years, occupations as names.
    """
    return _movielens(ML_100K, _convert_100k, data_home, download_if_missing)


def _movielens(source: Source, convert: Any, data_home: Any, download_if_missing: bool) -> Bunch:
    folder = locate(source, convert, data_home, download_if_missing)
    with np.load(folder / source.prepared) as found:
        arrays = {name: found[name].astype(np.int64) for name in (*ARRAYS, "timestamp")}
    paths = [folder / name for name in source.beside]
    users, movies = (_table(*given) for given in zip(paths, (USERS, MOVIES), strict=True))
    user_ids, user = np.unique(arrays["user_id"], return_inverse=True)
    movie_ids, item = np.unique(arrays["movie_id"], return_inverse=True)
    rating = arrays["rating"].astype(np.float64)
    of_user = _places(paths[0], users["user_id"], user_ids)
    of_movie = _places(paths[1], movies["movie_id"], movie_ids)
    codes = source is ML_1M
    occupation = np.array(users["occupation"])[of_user]
    return Bunch(
        data=sp.csr_array((rating, (user, item)), shape=(len(user_ids), len(movie_ids))),
        user_ids=user_ids,
        gender=np.array(users["gender"])[of_user],
        age=np.array(users["age"]).astype(np.int64)[of_user],
        occupation=occupation.astype(np.int64) if codes else occupation,
        movie_ids=movie_ids,
        titles=[movies["title"][place] for place in of_movie],
        genres=[movies["genres"][place] for place in of_movie],
        user=user,
        item=item,
        rating=rating,
        timestamp=arrays["timestamp"],
        DESCR=f"{source.title}: {len(rating)} ratings. {source.url}. {TERMS}",
    )


def _table(path: Path, head: Sequence[str]) -> dict[str, list[str]]:
    """The columns of a CSV file that must be there."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {name: [row[name] for row in rows] for name in head}
    except (KeyError, UnicodeDecodeError, csv.Error) as error:
        text = f"{path} must be a CSV file with columns {', '.join(head)}: found {error}."
        raise DataError(text) from error


def _places(path: Path, named: list[str], wanted: np.ndarray) -> list[int]:
    """The lines of the ids that ratings have."""
    try:
        row = {int(number): place for place, number in enumerate(named)}
        return [row[number] for number in wanted.tolist()]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} has no line for id {error}, which has ratings.") from error


def _convert_1m(official: Path, folder: Path) -> None:
    with zipfile.ZipFile(official) as archive:
        ratings = archive.read("ml-1m/ratings.dat").replace(b"::", b"\t")
        users, movies = (
            [line.split("::") for line in _lines(archive, f"ml-1m/{name}.dat")]
            for name in ("users", "movies")
        )
    _write(ML_1M, folder, ratings, users, movies)


def _convert_100k(official: Path, folder: Path) -> None:
    with zipfile.ZipFile(official) as archive:
        ratings = archive.read("ml-100k/u.data")
        people = [line.split("|") for line in _lines(archive, "ml-100k/u.user")]
        films = [line.split("|") for line in _lines(archive, "ml-100k/u.item")]
        names = [line.split("|")[0] for line in _lines(archive, "ml-100k/u.genre")]
    users = [[number, gender, age, *rest] for number, age, gender, *rest in people]
    movies = [
        [
            film[0],
            film[1],
            "|".join(g for g, has in zip(names, film[5:], strict=True) if has == "1"),
        ]
        for film in films
    ]
    _write(ML_100K, folder, ratings, users, movies)


def _lines(archive: zipfile.ZipFile, name: str) -> list[str]:
    return [line.rstrip("\r") for line in archive.read(name).decode("latin-1").split("\n") if line]


def _write(source: Source, folder: Path, ratings: bytes, users: Iterable, movies: Iterable) -> None:
    columns = np.loadtxt(io.BytesIO(ratings), dtype=np.int64, delimiter="\t").T
    named = zip((*ARRAYS, "timestamp"), columns, strict=True)
    np.savez_compressed(folder / source.prepared, **dict(named))
    for name, header, rows in zip(source.beside, (USERS, MOVIES), (users, movies), strict=True):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
