"""kill -9 during fits with a checkpoint and during `save`: python benchmarks/kill.py [--quick].

A process is killed at a random moment and the same call is made again, some hundred times. What
is looked at after every kill: can the file be read, does the fit go on from it, and does it end in
the same result as a fit that nobody killed, to the last bit. Exit code 1 if not.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import start_process
from report import Report

import rprnmf
from rprnmf import GNMF, NMF, RPRNMF
from rprnmf.array_file import read_arrays
from rprnmf.checkpoints import digest

KILLS = 200
SECONDS = 0.4  # a process lives at most about so long before it is killed
FIELDS = ("objective", "row_strength", "row_satisfied_rate")


def data() -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """A complete matrix, one with holes, and comparisons of its rows."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 4)) @ rng.random((4, 40)) + 0.1 * rng.random((60, 40))
    holes = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    return X, holes, [rng.choice(60, 3, replace=False) for _ in range(120)]


def fits() -> dict[str, Callable[..., Any]]:
    """Fits of different kinds; each takes ``checkpoint`` and returns a model."""
    X, holes, triplets = data()
    usual = {"tol": 0.0, "random_state": 0}
    known = {"row_triplets": triplets}
    return {
        "cd, triplets": lambda **kept: RPRNMF(5, max_iter=800, **usual).fit(X, **known, **kept),
        "cd, holes, priors, 3 starts": lambda **kept: NMF(
            5, missing="nan", n_init=3, max_iter=400, **usual
        ).fit(holes, **kept),
        "cd, triplets that teach, then obeyed": lambda **kept: RPRNMF(
            5, row_prior="data", row_strength="obey", max_iter=400, **usual
        ).fit(X, **known, **kept),
        "mu, Kullback-Leibler, graph": lambda **kept: GNMF(
            5, solver="mu", beta_loss="kullback-leibler", row_graph="knn", max_iter=600, **usual
        ).fit(X, **kept),
        "paper, Kullback-Leibler, triplets": lambda **kept: RPRNMF(
            5, solver="paper", beta_loss="kullback-leibler", max_iter=300, **usual
        ).fit(X, **known, **kept),
    }


def result_of(model: Any) -> str:
    """All that must be the same, as a short text."""
    history = [model.history_[field] for field in FIELDS]
    return digest([model.embedding_, model.components_, model.n_iter_, history])


def child(work: Callable[[], str], seconds: float) -> str | None:
    """What ``work`` gives in a process of its own; None if it was killed after some seconds."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, work().encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    os.close(writing)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.001)
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
    else:
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    with os.fdopen(reading) as file:
        text = file.read()
    if os.WIFSIGNALED(status):
        return None
    if status:
        raise SystemExit("a process ended with an error")
    return text


def n_iterations(path: Path) -> int:
    """Iterations that a checkpoint has; an error if it cannot be read."""
    _, arrays = read_arrays(path, kind="checkpoint")
    return sum(len(array) for array in arrays.values() if array.shape[1:] == (9,))


def killed_fits(folder: Path, name: str, fit: Callable[..., Any], kills: int) -> dict[str, Any]:
    """Kill a fit so many times; a fit that ended is begun anew."""
    path, rng = folder / "run.ckpt", np.random.default_rng(len(name))
    expected = result_of(fit())  # also loads what is compiled, once for all processes
    found = {"killed": name, "kills": 0, "ended": 0, "identical": 0, "went on": 0, "corrupt": 0}
    reached = 0
    while found["kills"] < kills or path.exists():
        # the last one is left to end
        seconds = rng.uniform(0.0, SECONDS) if found["kills"] < kills else np.inf
        kept = {"checkpoint": path, "checkpoint_every": float(rng.choice([0.0, 0.05]))}
        text = child(lambda kept=kept: result_of(fit(**kept)), seconds)
        if text is None:
            found["kills"] += 1
            before = reached
            try:
                reached = n_iterations(path) if path.exists() else 0
            except ValueError:
                found["corrupt"] += 1
            found["went on"] += reached > before
        else:
            found["ended"] += 1
            found["identical"] += text == expected
            path.unlink()
            reached = 0
    found["files left"] = len(os.listdir(folder))
    return found


def killed_saves(folder: Path, kills: int) -> dict[str, Any]:
    """Kill a process that saves two models to one file, by turns, so many times."""
    path, rng = folder / "model.rprnmf", np.random.default_rng(1)
    X, _, triplets = data()
    models = [RPRNMF(5, random_state=seed, max_iter=20, tol=0.0) for seed in (0, 1)]
    for model in models:
        model.fit(np.tile(X, (20, 10)), row_triplets=triplets)
    results = [result_of(model) for model in models]

    def save_for_ever() -> str:
        while True:
            for model in models:
                rprnmf.save(model, path)

    rprnmf.save(models[0], path)
    found = {"killed": "save", "kills": 0, "ended": 0, "identical": 0, "went on": 0, "corrupt": 0}
    last = path.stat().st_mtime_ns
    for _ in range(kills):
        assert child(save_for_ever, rng.uniform(0.0, 0.2 * SECONDS)) is None
        found["kills"] += 1
        try:
            found["identical"] += result_of(rprnmf.load(path)) in results
        except ValueError:
            found["corrupt"] += 1
        found["went on"] += path.stat().st_mtime_ns > last
        last = path.stat().st_mtime_ns
    found["ended"] = kills
    found["files left"] = len(os.listdir(folder)) - 1
    return found


def main() -> int:
    """Exit code 1 if anything was lost, corrupt or different."""
    quick, folder = start_process("kill")
    kills = 20 if quick else KILLS
    measured = (
        f"A process is killed (SIGKILL) after 0 to {SECONDS:g} seconds and the same call is made "
        "again; a fit that ends is begun anew. Ended: fits that came to their end, each after some "
        "kills. Identical: how many of them are as a fit without checkpoint that nobody killed, to "
        "the last bit. Went on: kills after which the checkpoint had more iterations than before. "
        "Corrupt: files that could not be read. Files left: beside the file itself, at the end. "
        "Of `save`: models that were whole when loaded after the kill (identical), and kills "
        "before which a new file had come to its place (went on); half-written files stay under "
        "another name."
    )
    report = Report(folder, "kill", "kill -9", measured)
    each = fits()
    with tempfile.TemporaryDirectory() as place:
        for number, (name, fit) in enumerate(each.items()):
            report.add(**killed_fits(Path(place), name, fit, share(kills, number, len(each))))
    with tempfile.TemporaryDirectory() as place:
        report.add(**killed_saves(Path(place), kills))
    wrong = [row for row in report.rows if row["identical"] < row["ended"] or row["corrupt"]]
    total = sum(row["kills"] for row in report.rows[:-1])
    verdict = "nothing lost, nothing corrupt, results identical" if not wrong else "see above"
    report.note(f"{total} kills of fits, {report.rows[-1]['kills']} of `save`: {verdict}.")
    return int(bool(wrong))


def share(total: int, number: int, parts: int) -> int:
    """The share of one of the parts; all together are the total."""
    return total // parts + (number < total % parts)


if __name__ == "__main__":
    sys.exit(main())
