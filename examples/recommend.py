"""Recommendations for one person, before and after a comparison of films.

MovieLens 1M: a recommender is fitted to all ratings, with what is known of people and films. Then
it is told that "Star Wars is more like Star Trek than like Titanic", and some more of the kind, and
fitted again. What changes: which films are alike, and what is recommended to someone who gave
*Star Wars* five stars. At the end someone who was never seen says what she likes.

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

STAR_WARS = "Star Wars: Episode IV - A New Hope (1977)"
STAR_TREK = "Star Trek: First Contact (1996)"
TITANIC = "Titanic (1997)"
SAID = [
    (STAR_WARS, STAR_TREK, TITANIC),
    (STAR_WARS, "Star Trek: The Wrath of Khan (1982)", "Forrest Gump (1994)"),
    (STAR_WARS, "Alien (1979)", "Shakespeare in Love (1998)"),
    (STAR_TREK, "Galaxy Quest (1999)", "Jerry Maguire (1996)"),
    (TITANIC, "English Patient, The (1996)", STAR_WARS),
]


def load() -> Any:
    """MovieLens 1M, with titles as ids; ends with a sentence if it is not there."""
    try:
        return fetch_movielens_1m(download_if_missing=False)
    except Exception as error:
        sys.exit(f"This example needs MovieLens 1M: {error}")


def tables(bunch: Any) -> dict[str, Any]:
    """What is known of people and films."""
    people = {
        int(user): {"gender": gender, "age": int(age), "occupation": int(job)}
        for user, gender, age, job in zip(
            bunch.user_ids, bunch.gender, bunch.age, bunch.occupation, strict=True
        )
    }
    films = {
        title: {"title": title, "genres": genres}
        for title, genres in zip(bunch.titles, bunch.genres, strict=True)
    }
    return {"user_metadata": people, "item_metadata": films}


def distance(model: Recommender, one: str, other: str) -> float:
    """How far apart two films are, over the mean distance of films."""
    F = model.item_factors_
    place = {title: k for k, title in enumerate(model.item_ids_)}
    apart = np.sum((F[place[one]] - F[place[other]]) ** 2)
    return float(apart / (2.0 * F.var(axis=0).sum()))


def show(model: Recommender, user: int, title: str) -> list[str]:
    """Print what a model says; returns the list of the user."""
    print(f"\n{title}")
    for film in (STAR_TREK, TITANIC):
        print(f"  distance of Star Wars to {film}: {distance(model, STAR_WARS, film):.2f}")
    alike = model.similar_items(STAR_WARS, 5)
    print("  most like Star Wars: " + "; ".join(map(str, alike.items)))
    best = model.recommend(user, 10)
    print(f"  for user {user}:")
    for film, score in best:
        print(f"    {score:.2f}  {film}")
    return list(best.items)


def draw(before: list[str], after: list[str], path: str) -> None:
    """The two lists side by side, a line for each film that is in both."""
    from matplotlib.figure import Figure

    from rprnmf.plotting.style import GREY, INK, MET, bare, short

    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    bare(ax)
    for x, films, side in ((0.0, before, "right"), (1.0, after, "left")):
        for place, film in enumerate(films):
            new = film not in before
            color = MET if new else INK
            ax.text(x, -place, f" {short(film)} ", ha=side, va="center", color=color)
    for place, film in enumerate(before):
        if film in after:
            ax.plot([0, 1], [-place, -after.index(film)], color=GREY, linewidth=1)
    ax.text(0, 1, "before ", ha="right", weight="bold")
    ax.text(1, 1, " after: Star Wars is more like Star Trek", ha="left", weight="bold")
    ax.set(xlim=(-1.2, 2.4), ylim=(-len(before), 1.8))
    figure.savefig(path)
    print(f"\nwrote {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="file for a picture: .svg, .png or .pdf")
    out = parser.parse_args().out
    bunch = load()
    titles = np.array(bunch.titles, dtype=object)
    ratings = bunch.user_ids[bunch.user], titles[bunch.item], bunch.rating
    known = tables(bunch)
    fans = ratings[0][(ratings[1] == STAR_WARS) & (bunch.rating == 5)]
    counts = np.bincount(bunch.user_ids[bunch.user])
    user = int(min(fans, key=lambda fan: abs(counts[fan] - 60)))  # someone with some sixty ratings
    first = Recommender(random_state=0).fit(*ratings, **known)
    before = show(first, user, "Before")
    told = Recommender(random_state=0).fit(*ratings, **known, item_triplets=SAID)
    print(f"\nSaid: {len(SAID)} comparisons, {100 * told.item_satisfied_rate_:.0f} % of them met")
    after = show(told, user, "After")
    print(f"\nWhy?\n{told.explain(user, after[0], n=3)}")
    new = told.fold_in([STAR_WARS, STAR_TREK, TITANIC], [5, 5, 1])
    print("\nSomeone new: five stars for Star Wars and Star Trek, one for Titanic")
    print(told.recommend(new, 5))
    if out:
        draw(before, after, out)


if __name__ == "__main__":
    main()
