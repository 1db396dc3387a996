"""``rprnmf demo``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.pictures import draw
from rprnmf.cli.report import Report, Table, per_cent

SEED = 0
PICTURES = ("films.png", "digits.png", "components.png", "history.png")


@command("rprnmf demo --out rprnmf-demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="rprnmf-demo",
    show_default=True,
    metavar="DIR",
    help="Folder for the pictures; it is made.",
)
def demo(given: Any) -> Report:
    """Show what comparisons change, on built-in data.

    Six people rate five films, in the manner of the paper's Figure 1; and handwritten digits, with
    comparisons made from some of their labels. Takes less than a minute and needs no network.
    """
    from rprnmf.plotting.style import need_matplotlib

    need_matplotlib("a picture", "cli")
    given.out.mkdir(parents=True, exist_ok=True)
    films, films_document = film_example(given.out)
    digits, digits_document = digit_example(given.out)
    names = [str(given.out / name) for name in PICTURES]
    document = {"films": films_document, "digits": digits_document, "pictures": names}
    return Report(document, [*films, *digits, f"\nPictures: {', '.join(names)}"])


def film_example(folder: Path) -> tuple[list[Any], dict[str, Any]]:
    """Ratings alone, and with comparisons of films."""
    import numpy as np

    from rprnmf.datasets import load_movie_example
    from rprnmf.estimators import NMF, RPRNMF
    from rprnmf.metrics import rmse, satisfied_rate
    from rprnmf.plotting import plot_map

    bunch = load_movie_example()
    films = bunch.movies
    settings = {"n_components": 2, "missing": "zero", "max_iter": 500, "random_state": SEED}
    plain = NMF(**settings).fit(bunch.data, column_names=films, row_names=bunch.users)
    guided = RPRNMF(**settings).fit(
        bunch.data,
        column_triplets=bunch.column_triplets,
        column_names=films,
        row_names=bunch.users,
    )
    draw(lambda: plot_map(guided, side="column"), folder / PICTURES[0])
    columns, found = ["", "NMF", "RPRNMF"], {}
    rows: list[list[Any]] = [["distance from Star Wars to Star Trek"], ["... to Titanic"]]
    rows += [["comparisons met"], ["error of the ratings (RMSE)"]]
    for name, model in (("NMF", plain), ("RPRNMF", guided)):
        F = model.components_.T / np.linalg.norm(model.components_.T, axis=1).mean()
        gaps = [
            float(np.linalg.norm(F[0] - F[films.index(film)])) for film in ("Star Trek", "Titanic")
        ]
        met = satisfied_rate(F, bunch.column_triplets, names=films)
        error = rmse(bunch.data, model.embedding_, model.components_)
        found[name] = {"to_star_trek": gaps[0], "to_titanic": gaps[1], "met": met, "rmse": error}
        for row, value in zip(rows, (*gaps, per_cent(met), error), strict=True):
            row.append(value if isinstance(value, str) else f"{value:.2f}")
    ratings = [
        [user, *(int(x) if x else None for x in row)]
        for user, row in zip(bunch.users, bunch.data, strict=True)
    ]
    parts = [
        Table("Films: six people rate five of them", ["", *films], ratings),
        '\nEverybody knows "Star Wars is closer to Star Trek than to Titanic"; ratings do not.',
        Table("", columns, rows),
        "",
    ]
    return parts, found


def digit_example(folder: Path) -> tuple[list[Any], dict[str, Any]]:
    """Images alone, with comparisons, and with neighbours beside them."""
    from sklearn.cluster import KMeans

    from rprnmf.datasets import load_digits
    from rprnmf.estimators import NMF, RPRNMF
    from rprnmf.metrics import clustering_accuracy, normalized_mutual_info, satisfied_rate
    from rprnmf.plotting import plot_components, plot_history, plot_map
    from rprnmf.triplets import triplets_from_labels

    X, y = load_digits(return_X_y=True)
    known = triplets_from_labels(y, 2000, random_state=SEED)
    unseen = triplets_from_labels(y, 5000, random_state=SEED + 1)
    settings = {"n_components": 10, "max_iter": 100, "tol": 0, "random_state": SEED}
    models: dict[str, tuple[Any, dict[str, Any]]] = {
        "NMF": (NMF(**settings), {}),
        "comparisons": (RPRNMF(**settings), {"row_triplets": known}),
        "comparisons and neighbours": (
            RPRNMF(row_graph="cosine", **settings),
            {"row_triplets": known},
        ),
    }
    rows, found = [], {}
    for name, (model, knowledge) in models.items():
        started = time.perf_counter()
        W = model.fit_transform(X, **knowledge)
        seconds = time.perf_counter() - started
        clusters = KMeans(10, n_init=10, random_state=SEED).fit_predict(W)
        found[name] = {
            "met": satisfied_rate(W, known),
            "unseen": satisfied_rate(W, unseen),
            "accuracy": clustering_accuracy(y, clusters),
            "nmi": normalized_mutual_info(y, clusters),
            "error": model.reconstruction_err_,
            "seconds": seconds,
        }
        met, others, *measures, error, took = found[name].values()
        rows.append([name, per_cent(met), per_cent(others), *measures, round(error), f"{took:.1f}"])
    draw(lambda: plot_map(model, None, images=X.reshape(-1, 8, 8)), folder / PICTURES[1])
    draw(lambda: plot_components(model, image_shape=(8, 8)), folder / PICTURES[2])
    draw(lambda: plot_history(model), folder / PICTURES[3])
    title = f"Digits: {X.shape[0]} images, {known.n_triplets} comparisons made from labels"
    columns = ["", "met", "unseen met", "ACC", "NMI", "error", "seconds"]
    explained = (
        "\nmet: comparisons that hold; unseen met: others from the same labels; ACC, NMI: how well "
        "k-means on W finds the digits; error: ||X - WH||."
    )
    return [Table(title, columns, rows), explained], found
