"""A new film finds its audience: recommendations for one person, before and after comparisons.

MovieLens 1M. *Star Trek: First Contact* is taken for a film that nobody has rated yet: its 1310
ratings are left out, and only its genres are known. Then somebody says that "Star Wars is more
like Star Trek than like Titanic", and which films the new one is like, most alike first. What
changes: which films are found to be like it, what is predicted for those who have rated it since,
and the list of science fiction of one person. At the end someone who was never seen says what she
likes.

Needs MovieLens 1M in the folder that RPRNMF_DATA names or in ~/rprnmf_data; without it the example
says so and ends. ``--out picture.svg`` draws both lists (needs matplotlib).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from rprnmf.datasets import fetch_movielens_1m
from rprnmf.recommend import Recommender
from rprnmf.triplets import Triplets, triplets_from_rankings

STAR_WARS = "Star Wars: Episode IV - A New Hope (1977)"
NEW = "Star Trek: First Contact (1996)"
TITANIC = "Titanic (1997)"
LIKE_IT = [  # most alike first
    "Star Trek: The Wrath of Khan (1982)",
    "Star Trek VI: The Undiscovered Country (1991)",
    "Star Trek IV: The Voyage Home (1986)",
    STAR_WARS,
    "Aliens (1986)",
    "Terminator 2: Judgment Day (1991)",
    "Matrix, The (1999)",
    "Jurassic Park (1993)",
    "Back to the Future (1985)",
    "Men in Black (1997)",
    "Toy Story (1995)",
    "Forrest Gump (1994)",
    "Fargo (1996)",
    TITANIC,
    "Shakespeare in Love (1998)",
]
LENGTH = 15  # of the lists


def load() -> Any:
    """MovieLens 1M; ends with a sentence if it is not there."""
    try:
        return fetch_movielens_1m(download_if_missing=False)
    except Exception as error:
        sys.exit(f"This example needs MovieLens 1M: {error}")


def said() -> Triplets:
    """The sentence, and all comparisons that the ranking implies."""
    sentence = Triplets([[STAR_WARS, NEW, TITANIC]])
    return sentence + triplets_from_rankings({NEW: LIKE_IT}, steps=-1)


def a_fan(users: np.ndarray, films: np.ndarray, ratings: np.ndarray) -> int:
    """Someone with some sixty ratings who gave Star Wars and, later, the new film five stars."""
    fans = [set(users[(films == film) & (ratings == 5)]) for film in (STAR_WARS, NEW)]
    counts = np.bincount(users)
    return int(min(fans[0] & fans[1], key=lambda fan: (abs(counts[fan] - 60), fan)))


def show(model: Recommender, person: int, scifi: list[str], title: str) -> list[str]:
    """Print what a model says of the new film; returns the person's list of science fiction."""
    print(f"\n{title}")
    print("  most like it: " + "; ".join(model.similar_items(NEW, 5).items))
    ranked = model.recommend(person, len(scifi), among=scifi, caution=1).items
    print(f"  predicted for user {person}: {model.predict(person, NEW)[0]:.2f}")
    print(f"  place {ranked.index(NEW) + 1} of {len(ranked)} in the list of science fiction")
    return ranked[:LENGTH]


def draw(before: list[str], after: list[str], path: str) -> None:
    """The two lists side by side, a line for each film that is in both."""
    from matplotlib.figure import Figure

    from rprnmf.plotting.style import GREY, INK, MET, bare, short

    figure = Figure(figsize=(9, 5), layout="constrained")
    ax = figure.subplots()
    bare(ax)
    for x, films, side in ((0.0, before, "right"), (1.0, after, "left")):
        for place, film in enumerate(films):
            new = film == NEW
            weight, color = ("bold", MET) if new else ("normal", INK)
            name = film if new else short(film)
            ax.text(x, -place, f" {name} ", ha=side, va="center", color=color, weight=weight)
    for place, film in enumerate(before):
        if film in after:
            ax.plot([0, 1], [-place, -after.index(film)], color=GREY, linewidth=1)
    ax.text(0, 1.1, "before ", ha="right", weight="bold")
    ax.text(1, 1.1, " after what was said", ha="left", weight="bold")
    ax.set(xlim=(-1.6, 2.6), ylim=(-len(before), 1.8))
    figure.savefig(path)
    print(f"\nwrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="file for a picture: .svg, .png or .pdf")
    out = parser.parse_args().out
    bunch = load()
    titles = np.array(bunch.titles, dtype=object)
    users, films = bunch.user_ids[bunch.user], titles[bunch.item]
    later = films == NEW
    genres = {title: {"genres": text} for title, text in zip(titles, bunch.genres, strict=True)}
    scifi = [title for title, known in genres.items() if "Sci-Fi" in known["genres"]]
    ratings = users[~later], films[~later], bunch.rating[~later]
    person = a_fan(users, films, bunch.rating)
    lists, model = [], Recommender(order="rating", random_state=0)  # nobody turned to it yet
    for title, comparisons in (("Before", None), ("After", said())):
        model.fit(*ratings, item_metadata=genres, item_triplets=comparisons)
        lists.append(show(model, person, scifi, title))
        error = model.predict(users[later], films[later]) - bunch.rating[later]
        print(f"  RMSE of the {later.sum()} ratings it got later: {np.sqrt(np.mean(error**2)):.3f}")
    print(f"  {100 * model.item_satisfied_rate_:.0f} % of {said().n_triplets} comparisons are met")
    print(f"\nWhy?\n{model.explain(person, NEW, n=4)}")
    new = model.fold_in([STAR_WARS, LIKE_IT[0], TITANIC], [5, 5, 1])
    print("\nSomeone new: five stars for Star Wars and The Wrath of Khan, one for Titanic")
    print(model.recommend(new, 5))
    if out:
        draw(lists[0], lists[1], out)


if __name__ == "__main__":
    main()
