"""Worker: ALS of implicit on clicks, on one thread.

Inputs: X (people by films), factors, regularization, alpha, iterations, seed, and repeats of the
measurement of time. Outputs: both factors, and the CPU seconds of one iteration.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import protocol
from implicit.cpu.als import AlternatingLeastSquares


def fit(given, iterations):
    """The model, and the CPU seconds of its fit."""
    model = AlternatingLeastSquares(
        factors=int(given["factors"]),
        regularization=float(given["regularization"]),
        alpha=float(given["alpha"]),
        iterations=iterations,
        num_threads=1,
        random_state=int(given["seed"]),
        dtype=np.float32,
    )
    started = time.process_time()
    model.fit(given["X"], show_progress=False)
    return model, time.process_time() - started


def main() -> None:
    """Answer a call of `environments.run`."""
    given = protocol.read()
    given["X"] = given["X"].astype(np.float32)
    fit(given, 1)  # warm-up
    model, _ = fit(given, int(given["iterations"]))
    seconds = [(fit(given, 11)[1] - fit(given, 1)[1]) / 10 for _ in range(int(given["repeats"]))]
    answer = {"W": model.user_factors, "H": model.item_factors.T}
    np.savez(sys.argv[2], **answer, seconds=np.median(seconds) if seconds else np.nan)


if __name__ == "__main__":
    main()
