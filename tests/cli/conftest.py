"""Small made files with names, as people have them, and a model of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rprnmf.cli import main

FILMS = ["Star Wars", "Star Trek", "Alien", "Titanic", "Notting Hill", "Love Actually"]
KIND = [0, 0, 0, 1, 1, 1]
TRIPLETS = """q,r,s
Star Wars,Star Trek,Titanic
Star Trek,Alien,Notting Hill
Titanic,Love Actually,Alien
Notting Hill,Titanic,Star Wars
Alien,Star Wars,Titanic
Alien,Titanic,Star Wars
"""


def write_files(folder):
    """Ratings, a table of numbers, documents, and comparisons of films."""
    rng = np.random.default_rng(0)
    taste = 2 * rng.random((30, 2))
    ratings = np.clip(np.round(1.5 + 1.5 * taste[:, KIND] + 0.4 * rng.normal(size=(30, 6))), 1, 5)
    lines = [
        f"user {u},{film},{ratings[u, j]:g}\n"
        for u in range(30)
        for j, film in enumerate(FILMS)
        if rng.random() < 0.7
    ]
    (folder / "ratings.csv").write_text("user,film,rating\n" + "".join(lines))
    rows = [f"user {u}," + ",".join(f"{x:g}" for x in row) + "\n" for u, row in enumerate(ratings)]
    (folder / "table.csv").write_text("name," + ",".join(FILMS) + "\n" + "".join(rows))
    (folder / "triplets.csv").write_text(TRIPLETS)
    (folder / "numbers.csv").write_text(
        "".join(",".join(f"{x:g}" for x in row) + "\n" for row in ratings)
    )
    return folder


SPACE = ["rocket", "moon", "orbit", "star", "engine", "crew", "launch", "planet"]
KITCHEN = ["soup", "bread", "salt", "oven", "butter", "onion", "pepper", "cook"]
WORDS = """q,r,s
rocket,moon,soup
bread,soup,orbit
"""


def write_documents(folder):
    """Texts about two things, and comparisons of words."""
    rng = np.random.default_rng(1)
    lines = []
    for k in range(24):
        words = [*rng.choice(SPACE if k % 2 else KITCHEN, 8).tolist(), "often"]
        lines.append(f'note {k},"{" ".join(words)}"\n')
    (folder / "documents.csv").write_text("name,text\n" + "".join(lines))
    (folder / "triplets.csv").write_text(WORDS)
    return folder


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A folder with files, and model.rprnmf, fitted on the ratings."""
    folder = write_files(tmp_path_factory.mktemp("data"))
    arguments = ["fit", folder / "ratings.csv", "--column-triplets", folder / "triplets.csv"]
    arguments += ["-k", "3", "--quiet", "--out", folder / "model.rprnmf"]
    assert main([str(each) for each in arguments]) == 0
    return folder


@pytest.fixture
def call(capsys):
    """Run the program in this process: the exit code, stdout (JSON as a document) and stderr."""

    def run(*arguments):
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        captured = capsys.readouterr()
        out = captured.out
        if "--json" in arguments and code == 0:
            out = json.loads(out)
        return code, out, captured.err

    return run
