"""kill -9 while a file is saved, a few times; `benchmarks/kill.py` does it 200 times.

A process saves two models in turns to one place until it is killed at a random moment. Then the
file must be one of the two, whole.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import rprnmf
from rprnmf.array_file import FileFormatError
from tests.persistence.equality import bits

LONGEST = 0.15  # seconds that a process lives


def models() -> dict[str, rprnmf.NMF]:
    """Two that take some milliseconds to write."""
    found = {}
    for name, n in (("small", 2_000), ("large", 10_000)):
        X = np.random.default_rng(0).random((n, 12))
        model = rprnmf.NMF(6, max_iter=2, tol=0.0, random_state=0)
        found[name] = model.fit(X, row_names=[f"{name} {k}" for k in range(n)])
    return found


def save_for_ever(saved: list[rprnmf.NMF], path: Path) -> None:
    """In turns, until the process ends."""
    while True:
        for model in saved:
            rprnmf.save(model, path)


def kill_saves(kills: int, seed: int, folder: Path) -> Counter:
    """How often which model was found, and how often a process was in the midst of a file."""
    rng, found = np.random.default_rng(seed), Counter()
    saved, path = models(), folder / "model.rprnmf"
    expected = {name: bits(vars(model)) for name, model in saved.items()}
    rprnmf.save(saved["small"], path)
    for _ in range(kills):
        process = os.fork()
        if process == 0:
            save_for_ever(list(saved.values())[:: rng.choice([-1, 1])], path)
        time.sleep(rng.uniform(0.0, LONGEST))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        try:
            loaded = bits(vars(rprnmf.load(path)))
            found[next((name for name in saved if expected[name] == loaded), "BROKEN")] += 1
        except (FileFormatError, OSError):
            found["BROKEN"] += 1
        for part in folder.glob(".*.part"):
            found["in the midst of a file"] += 1
            part.unlink()
    return found


if __name__ == "__main__":  # a process of its own: one with threads should not fork
    with tempfile.TemporaryDirectory() as here:
        print(dict(kill_saves(int(sys.argv[1]), 0, Path(here))))
