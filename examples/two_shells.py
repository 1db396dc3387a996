"""Two shells: a Dask scheduler with a worker in one, a fit through it in the other.

The first shell, which goes on until Ctrl-C:

    dask scheduler --host 127.0.0.1 --port 8786 &
    dask worker tcp://127.0.0.1:8786 --host 127.0.0.1 --nworkers 1 --nthreads 2

The second one:

    python examples/two_shells.py

It writes made ratings as sparse shards to a folder, fits them through the scheduler and in memory
with the same command, `rprnmf fit`, and says how far apart the two models are.
``--scheduler ADDRESS`` takes another scheduler, whose workers must find the folder under the same
path.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from rprnmf import load
from rprnmf.cli import main
from rprnmf.inputs import write_matrix

USERS, ITEMS, SHARDS = 3000, 200, 6


def write_shards(folder: Path) -> None:
    """Ratings of users with one of three tastes: all in one file, and in shards of users."""
    rng = np.random.default_rng(0)
    taste, kind = rng.dirichlet([0.3] * 3, USERS), rng.dirichlet([0.3] * 3, ITEMS)
    rated = rng.random((USERS, ITEMS)) < 0.1
    ratings = np.clip(np.round(1 + 6 * taste @ kind.T + rng.normal(0, 0.5, rated.shape)), 1, 5)
    X = sp.csr_array(ratings * rated)
    users = [f"user {k}" for k in range(USERS)]
    items = [f"item {k}" for k in range(ITEMS)]
    write_matrix(folder / "ratings.npz", X, users, items)
    (folder / "shards").mkdir(exist_ok=True)
    for number, part in enumerate(np.array_split(np.arange(USERS), SHARDS)):
        names = [users[k] for k in part]
        write_matrix(folder / "shards" / f"ratings-{number}.npz", X[part], names, items)


def run(*arguments: str) -> None:
    """A command, as a shell would call it."""
    print("\n$ rprnmf", *arguments, flush=True)
    code = main([*arguments])
    if code:
        raise SystemExit(code)


def example(folder: Path, scheduler: str) -> None:
    """Fit twice and compare."""
    write_shards(folder)
    usual = ("--missing", "zero", "-k", "3", "--max-iter", "20", "--tol", "0", "--quiet")
    shards, one, two = f"{folder}/shards/*.npz", f"{folder}/one.rprnmf", f"{folder}/two.rprnmf"
    at = ("--scheduler", scheduler)
    run("fit", f"{folder}/ratings.npz", *usual, "--out", one)
    run("fit", shards, *usual, *at, "--checkpoint", f"{folder}/run.ckpt", "--out", two)
    run("evaluate", two, shards, *at)
    run("transform", two, shards, *at, "--out", f"{folder}/W.parquet")
    W, V = load(one).embedding_, np.asarray(load(two).embedding_)
    print(f"\nLargest difference of the two W: {np.abs(W - V).max() / W.max():.1e} of the largest.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A fit through a Dask scheduler.")
    parser.add_argument("--scheduler", default="tcp://127.0.0.1:8786", metavar="ADDRESS")
    parser.add_argument("--folder", type=Path, help="Keep the files here.")
    given = parser.parse_args()
    if given.folder is not None:
        given.folder.mkdir(exist_ok=True)
        example(given.folder.resolve(), given.scheduler)
    else:
        with tempfile.TemporaryDirectory() as place:
            example(Path(place), given.scheduler)
