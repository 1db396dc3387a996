"""What learning from answers costs: a fit with row_prior="data" beside plain NMF, and its growth.

Made data, whole fits with default settings. Writes `results/learning_speed.csv` and `.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import cpu_seconds_of, in_turn, median, start_process
from report import Report, within

from rprnmf import NMF, RPRNMF

K, LIMIT = 15, 5.0
USUAL = {"rows": 10_000, "answers": 10_000, "features": 200}
LINEAR = 2.3  # the most that a doubling may cost


def data(rows: int, answers: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of ten topics; answers look at three of them, and some are wrong."""
    rng = np.random.default_rng(0)
    topics = rng.gamma(0.5, 1.0, (rows, 10))
    X = topics @ (rng.random((10, features)) < 0.2) + 0.1 * rng.random((rows, features))
    asked = rng.integers(0, rows, (answers + answers // 2, 3))
    q, r, s = asked.T
    asked = asked[(q != r) & (q != s) & (r != s)][:answers]
    q, r, s = np.sqrt(topics[asked.T, :3])
    doubt = rng.logistic(scale=0.2, size=len(asked))
    other = np.sum((q - r) ** 2, axis=1) + doubt > np.sum((q - s) ** 2, axis=1)
    asked[other] = asked[other][:, [0, 2, 1]]
    return X, asked


def seconds(sizes: dict[str, int], repeats: int) -> tuple[float, float]:
    """Of plain NMF and of a fit that learns, medians of fits in turn."""
    X, known = data(**sizes)

    def timed(fit: Callable[[], Any]) -> Callable[[int], float]:
        return lambda _: cpu_seconds_of(fit)[0]

    programs = {
        "plain": timed(lambda: NMF(K, random_state=0).fit(X)),
        "learning": timed(
            lambda: RPRNMF(K, row_prior="data", random_state=0).fit(X, row_triplets=known)
        ),
    }
    found = in_turn(programs, repeats)
    return median(found["plain"]), median(found["learning"])


def main() -> None:
    quick, folder = start_process("learning_speed")
    repeats, share = (1, 10) if quick else (2, 1)
    usual = {name: size // share for name, size in USUAL.items()}
    measured = (
        f"CPU seconds of whole fits with default settings, {K} components, made data, one thread, "
        f"medians of {repeats} in turn (growth: of one). ratio: of a fit with row_prior='data' to "
        f"plain NMF, limit {LIMIT:.0f} at the usual size. growth: seconds to those at half the "
        "size; about 2 is "
        "linear. The number of iterations changes with the data too."
    )
    report = Report(folder, "learning_speed", "What learning from answers costs", measured)
    seconds({name: size // 10 for name, size in usual.items()}, 1)  # warm-up
    at_usual = seconds(usual, repeats)
    plain, learning = at_usual
    ratio = learning / plain
    first = {"plain NMF": plain, "learning": learning, "ratio": ratio}
    report.add(doubled="-", **usual, **first, growth=None, within=within(ratio, LIMIT))
    for name in usual:
        before = None
        for factor in (0.25, 0.5, 1, 2):
            sizes = usual | {name: int(factor * usual[name])}
            plain, learning = at_usual if factor == 1 else seconds(sizes, 1)
            growth = None if before is None else learning / before
            found = {"plain NMF": plain, "learning": learning, "ratio": learning / plain}
            fine = "-" if growth is None else within(growth, LINEAR)
            report.add(doubled=name, **sizes, **found, growth=growth, within=fine)
            before = learning


if __name__ == "__main__":
    main()
