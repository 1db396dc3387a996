"""How the seconds of an iteration grow with entries, rows, triplets and components.

Generated data, doubled from step to step. The exponent is the slope of log seconds over log
size, by least squares over the four largest steps. Writes `results/growth.*`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from common import in_turn, log_slope, median, start_process
from report import Report
from triplets import random_triplets

from rprnmf import NMF, RPRNMF

FROBENIUS, KL = "frobenius", "kullback-leibler"
KINDS = {  # name: loss, missing
    "sparse, frobenius": (FROBENIUS, None),
    "sparse, kullback-leibler": (KL, None),
    "masked, frobenius": (FROBENIUS, "zero"),
    "masked, kullback-leibler": (KL, "zero"),
}
BAND, K_LIMIT = (0.9, 1.15), 2.0
ITERATIONS = 5


class Line(NamedTuple):
    """One line of the plot: sizes, and for each the fit to time."""

    against: str
    name: str
    sizes: list[int]
    fits: list[Callable[[], Any]]
    without: Callable[[], Any] | None = None  # a fit whose seconds are taken off


def random_sparse(n: int, m: int, per_row: int, seed: int = 0) -> sp.csr_matrix:
    """So many entries 1 to 5 in each row, at random places."""
    rng = np.random.default_rng(seed)
    indices = np.empty((n, per_row), dtype=np.int32)
    for start in range(0, n, 1000):
        part = indices[start : start + 1000]
        part[:] = np.argpartition(rng.random((len(part), m), dtype=np.float32), per_row - 1)[
            :, :per_row
        ]
    indices.sort(axis=1)
    values = rng.integers(1, 6, n * per_row).astype(float)
    starts = np.arange(0, n * per_row + 1, per_row)
    return sp.csr_matrix((values, indices.ravel(), starts), shape=(n, m))


def plain(X: Any, K: int, kind: str) -> Callable[[], Any]:
    """A fit of NMF."""
    loss, missing = KINDS[kind]
    settings = {"beta_loss": loss, "missing": missing, "init": "random", "random_state": 0}
    model = NMF(K, **settings, tol=0, max_iter=ITERATIONS, n_jobs=1)
    return lambda: model.fit(X)


def with_triplets(X: np.ndarray, K: int, loss: str, count: int) -> Callable[[], Any]:
    """A fit of RPRNMF with random triplets, or of NMF if there are none."""
    settings = {"beta_loss": loss, "init": "random", "random_state": 0}
    settings |= {"tol": 0, "max_iter": ITERATIONS, "n_jobs": 1}
    if count == 0:
        return lambda: NMF(K, **settings).fit(X)
    known = random_triplets(len(X), count, np.random.default_rng(0))
    return lambda: RPRNMF(K, row_strength=1.0, **settings).fit(X, row_triplets=known)


def lines(steps: int, share: int) -> list[Line]:
    """All lines; `share` divides the sizes."""
    doubled = [2**step for step in range(steps)]
    found = []
    # so many entries a row that the rows' own cost is small; more where an entry costs little
    small = [random_sparse(4000 // share, 3000, 64 * factor) for factor in doubled]
    large = [random_sparse(8000 // share, 8000 // share, 128 // share * f) for f in doubled]
    for kind in KINDS:
        matrices = large if kind == "sparse, frobenius" else small
        fits = [plain(X, 8, kind) for X in matrices]
        found.append(Line("non-zeros", kind, [X.nnz for X in matrices], fits))
    counts = [2000 // share * factor for factor in doubled]
    for kind in ("masked, frobenius", "sparse, kullback-leibler"):
        fits = [plain(random_sparse(count, 2000, 100), 10, kind) for count in counts]
        found.append(Line("rows", kind, counts, fits))
    # few columns: what triplets add is then not a small part of what is measured
    X = np.random.default_rng(0).random((4000 // share, 50))
    counts = [25_000 // share * factor for factor in doubled]
    for loss in (FROBENIUS, KL):
        fits = [with_triplets(X, 10, loss, count) for count in counts]
        name = f"triplets' extra cost, {loss}"
        found.append(Line("triplets", name, counts, fits, with_triplets(X, 10, loss, 0)))
    X = random_sparse(4000 // share, 2000, 100)
    ranks = [4 * factor for factor in doubled]
    for kind in KINDS:
        found.append(Line("components", kind, ranks, [plain(X, rank, kind) for rank in ranks]))
    return found


def measure(line: Line, repeats: int) -> list[float]:
    """Seconds an iteration at each size, medians of fits in turn."""

    def once(fit: Callable[[], Any]) -> Callable[[int], float]:
        fit()  # warm-up
        return lambda _: float(np.median(np.diff(fit().history_["seconds"])))

    programs = {str(i): once(fit) for i, fit in enumerate(line.fits)}
    if line.without is not None:
        programs["without"] = once(line.without)
    medians = {name: median(runs) for name, runs in in_turn(programs, repeats).items()}
    less = medians.pop("without", 0.0)
    return [max(seconds - less, 1e-9) for seconds in medians.values()]


def main() -> None:
    quick, folder = start_process("growth")
    steps, share, repeats = (5, 8, 2) if quick else (6, 1, 5)
    measured = (
        f"Seconds an iteration on generated data, one thread, medians of {repeats} fits of "
        f"{ITERATIONS} iterations, sizes in turn; exponent: least squares of the logarithms over "
        "the four largest sizes. Rows grow with 100 entries each; triplets grow with the rows "
        "fixed, and their extra cost over no triplets is shown; ratio: seconds at the largest "
        "size to those at the size before."
    )
    report = Report(folder, "growth", "How time grows", measured)
    panels: dict[str, dict] = {}
    for line in lines(steps, share):
        seconds = measure(line, repeats)
        slope = log_slope(line.sizes, seconds)
        is_rank = line.against == "components"
        low, high = (0.0, K_LIMIT) if is_rank else BAND
        row = {"against": line.against, "what": line.name}
        row |= {"sizes": f"{line.sizes[0]} to {line.sizes[-1]}"}
        row |= {"seconds at the largest": seconds[-1], "ratio": seconds[-1] / seconds[-2]}
        row |= {"exponent": f"{slope:.2f}", "limit": f"<= {high}" if is_rank else f"{low}-{high}"}
        report.add(**row, within="yes" if low <= slope <= high else "no")
        panels.setdefault(line.against, {})[line.name] = line.sizes, seconds
    report.plot(panels, "size", "seconds an iteration", log="xy")


if __name__ == "__main__":
    main()
