"""MovieLens 1M and 100K."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from rprnmf.datasets.home import DataError, Source, locate

GROUPLENS = "https://files.grouplens.org/datasets/movielens"
ARRAYS = ("user_id", "movie_id", "rating")
TERMS = (
    "GroupLens, University of Minnesota; research use, no redistribution. F. M. Harper and J. A. "
    "Konstan, The MovieLens Datasets: History and Context, ACM TiiS 5(4), 2015."
)
ML_1M = Source(
    title="MovieLens 1M",
    prepared="movielens_1m.npz",
    url=f"{GROUPLENS}/ml-1m.zip",
    digest="ffc19072ac1fbf665c4b50b330c4f60c4fa5f346dfbc985620992a0beabce3e0",
    arrays=ARRAYS,
    terms=TERMS,
    sha256="a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
    beside=("movielens_1m_users.csv", "movielens_1m_movies.csv"),
)
ML_100K = Source(
    title="MovieLens 100K",
    prepared="movielens_100k.npz",
    url=f"{GROUPLENS}/ml-100k.zip",
    digest="a887da38663c27ce960c8a631e85f9cc3f230ed37a1ab060dc587ca181a9363e",
    arrays=ARRAYS,
    terms=TERMS,
    sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    beside=("movielens_100k_users.csv", "movielens_100k_movies.csv"),
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

    Examples
    --------
    >>> from rprnmf.datasets import fetch_movielens_1m
    >>> fetch_movielens_1m().data.shape  # doctest: +SKIP
    (6040, 3706)
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

    Examples
    --------
    >>> from rprnmf.datasets import fetch_movielens_100k
    >>> fetch_movielens_100k().data.shape  # doctest: +SKIP
    (943, 1682)
    """
    return _movielens(ML_100K, _convert_100k, data_home, download_if_missing)


def _movielens(source: Source, convert: Any, data_home: Any, download_if_missing: bool) -> Bunch:
    folder = locate(source, convert, data_home, download_if_missing)
    with np.load(folder / source.prepared) as found:
        absent = [name for name in (*ARRAYS, "timestamp") if name not in found]
        if absent:
            raise DataError(f"{folder / source.prepared} has no array {', '.join(absent)}.")
        arrays = {name: found[name].astype(np.int64) for name in (*ARRAYS, "timestamp")}
    paths = [folder / name for name in source.beside]
    users, movies = (_table(*given) for given in zip(paths, (USERS, MOVIES), strict=True))
    user_ids, user = np.unique(arrays["user_id"], return_inverse=True)
    movie_ids, item = np.unique(arrays["movie_id"], return_inverse=True)
    rating = arrays["rating"].astype(np.float64)
    numbers = partial(_whole_numbers, paths[0], users)
    of_user = _places(paths[0], numbers("user_id"), user_ids)
    of_movie = _places(paths[1], _whole_numbers(paths[1], movies, "movie_id"), movie_ids)
    jobs = numbers("occupation") if source is ML_1M else np.array(users["occupation"])
    return Bunch(
        data=sp.csr_array((rating, (user, item)), shape=(len(user_ids), len(movie_ids))),
        user_ids=user_ids,
        gender=np.array(users["gender"])[of_user],
        age=numbers("age")[of_user],
        occupation=jobs[of_user],
        movie_ids=movie_ids,
        titles=[movies["title"][place] for place in of_movie],
        genres=[movies["genres"][place] for place in of_movie],
        user=user,
        item=item,
        rating=rating,
        timestamp=arrays["timestamp"],
        DESCR=f"{source.title}: {len(rating)} ratings. {source.url}. {source.terms}",
    )


def _table(path: Path, head: Sequence[str]) -> dict[str, list[str]]:
    """The columns of a CSV file; all must be there and complete."""
    expected = f"{path} must be a CSV file with columns {', '.join(head)}"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            absent = [name for name in head if name not in (reader.fieldnames or ())]
            if absent:
                raise DataError(f"{expected}: found no {', '.join(absent)}.")
            found: dict[str, list[str]] = {name: [] for name in head}
            for row in reader:
                for name in head:
                    if row[name] is None:
                        raise DataError(f"{expected}: line {reader.line_num} ends before {name}.")
                    found[name].append(row[name])
        return found
    except DataError:
        raise
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{expected}: found {error}.") from error


def _whole_numbers(path: Path, table: dict[str, list[str]], name: str) -> np.ndarray:
    """A column of whole numbers."""
    try:
        return np.array([int(text) for text in table[name]], dtype=np.int64)
    except ValueError as error:
        raise DataError(f"{path}: {name} must be whole numbers, found {error}.") from error


def _places(path: Path, named: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The line of each id that has ratings."""
    order = np.argsort(named, kind="stable")
    place = np.searchsorted(named[order], wanted)
    there = place < len(named)
    there[there] = named[order][place[there]] == wanted[there]
    if not there.all():
        raise DataError(f"{path} has no line for id {wanted[~there][0]}, which has ratings.")
    return order[place]


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
