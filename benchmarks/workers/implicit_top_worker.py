"""Worker: lists of ten items for all users by implicit, from given factors, on one thread.

Inputs: X (users by items), W, Ht, repeats. Outputs: the items, and the CPU seconds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import protocol
from implicit.cpu.als import AlternatingLeastSquares


def main() -> None:
    """Answer a call of `environments.run`."""
    given = protocol.read()
    X = given["X"].astype(np.float32)
    model = AlternatingLeastSquares(factors=given["W"].shape[1], num_threads=1, dtype=np.float32)
    model.user_factors = given["W"].astype(np.float32)
    model.item_factors = given["Ht"].astype(np.float32)
    users, seconds = np.arange(X.shape[0]), []
    for _ in range(int(given["repeats"]) + 1):
        started = time.process_time()
        items, _ = model.recommend(users, X, N=10)
        seconds.append(time.process_time() - started)
    np.savez(sys.argv[2], items=items, seconds=np.median(seconds[1:]))


if __name__ == "__main__":
    main()
