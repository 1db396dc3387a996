"""A toy of the kind of the paper's Figure 1."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch


def load_movie_example() -> Bunch:
    """Six people, five films, and what everybody knows about the films.

    The ratings are made up; the paper's own are not published. They have the property that
    its Figure 1 describes: plain NMF puts "Star Wars" closer to "Titanic" than to "Star Trek",
    because the people who rated both blockbusters liked both.

    Returns
    -------
    bunch : Bunch
        ``data``: ndarray of shape (6, 5), ratings 1 to 5, 0 where there is none;
        ``movies`` and ``users``: their names; ``column_triplets``: list of (q, r, s), film
        names, for "q is closer to r than to s".

    Examples
    --------
    >>> from rprnmf.datasets import load_movie_example
    >>> load_movie_example().column_triplets[0]
    ('Star Wars', 'Star Trek', 'Titanic')
    """
    ratings = np.array(
        [
            [5, 3, 5, 0, 4],
            [4, 0, 4, 2, 0],
            [5, 2, 0, 3, 5],
            [2, 5, 1, 4, 0],
            [0, 4, 2, 5, 1],
            [4, 2, 5, 0, 4],
        ],
        dtype=float,
    )
    return Bunch(
        data=ratings,
        movies=["Star Wars", "Star Trek", "Titanic", "Alien", "Notting Hill"],
        users=["user 1", "user 2", "user 3", "user 4", "user 5", "user 6"],
        column_triplets=[
            ("Star Wars", "Star Trek", "Titanic"),
            ("Star Trek", "Star Wars", "Notting Hill"),
            ("Alien", "Star Trek", "Titanic"),
            ("Notting Hill", "Titanic", "Alien"),
        ],
        DESCR="Illustrative ratings in the manner of Figure 1 of the paper.",
    )
