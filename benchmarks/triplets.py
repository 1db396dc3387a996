"""What triplets cost: RPRNMF beside plain NMF from the same start.

Seconds an iteration with as many row triplets as rows, and with 100,000; and seconds of whole
fits to one loss. Writes `results/triplets.*`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from common import MissingError, in_turn, load, median, random_start, seconds_of, start_process
from report import Report, within

from rprnmf import NMF, RPRNMF
from rprnmf.triplets import triplets_from_labels

LOSSES = ("frobenius", "kullback-leibler")
STRENGTHS = (1.0, "auto")
AS_ROWS, MANY, SAME_LOSS = 1.15, 2.0, 1.5  # limits
ABOVE = (1.05, 1.01, 1.001)  # the losses that are waited for, times that of the end


class Case(NamedTuple):
    """Data, start and triplets."""

    data: str
    X: Any
    K: int
    W: np.ndarray
    H: np.ndarray
    triplets: Any
    n_triplets: int
    losses: tuple[str, ...]
    limit: float

    def fit(self, strength: Any, beta_loss: str, **settings: Any) -> Any:
        """Plain NMF (strength None) or RPRNMF, one thread, from the start."""
        kind = NMF if strength is None else RPRNMF
        knows = {} if strength is None else {"row_triplets": self.triplets}
        model = kind(self.K, init="custom", beta_loss=beta_loss, n_jobs=1, **settings)
        if strength is not None:
            model.set_params(row_strength=strength)
        return model.fit(self.X, W=self.W, H=self.H, **knows)


def random_triplets(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Triplets of three different points."""
    drawn = rng.integers(0, n, (2 * count, 3))
    q, r, s = drawn.T
    return drawn[(q != r) & (q != s) & (r != s)][:count]


def generated(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """A dense product of uniform factors with noise, and triplets at random."""
    rng = np.random.default_rng(0)
    n, m = (200, 100) if quick else (2000, 1000)
    X = rng.random((n, 20)) @ rng.random((20, m)) + rng.random((n, m))
    return X, random_triplets(n, n, rng)


def cases(quick: bool, report: Report) -> list[Case]:
    """All data that can be had."""
    found = []
    for data, K, losses, count, limit in (
        ("ORL", 40, LOSSES, None, AS_ROWS),
        ("ORL", 40, LOSSES[:1], 100_000, MANY),
        ("PIE", 68, LOSSES[:1], None, AS_ROWS),
        ("TDT2", 30, LOSSES[:1], None, AS_ROWS),
        ("generated", 20, LOSSES, None, AS_ROWS),
    ):
        if data == "generated":
            X, known = generated(quick)
        else:
            try:
                X, labels = load(data)
            except MissingError as error:
                report.note(f"{data}: {error}.")
                continue
            if quick:
                step = max(1, X.shape[0] // 400)
                X, labels = X[::step], labels[::step]
                X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
            known = triplets_from_labels(labels, count or X.shape[0], random_state=0)
        start = random_start(X, K, 0)
        found.append(Case(data, X, K, *start, known, count or X.shape[0], losses, limit))
    return found


def iteration_seconds(case: Case, beta_loss: str, iterations: int, repeats: int) -> dict:
    """For None and each strength the seconds of one iteration, and of all, undone steps too.

    Both are medians over repeats; that of one is the median over the iterations of a fit.
    """

    def program(strength: Any) -> Callable[[int], np.ndarray]:
        def once(_: int) -> np.ndarray:
            done = case.fit(strength, beta_loss, tol=0, max_iter=iterations)
            seconds = done.history_["seconds"]
            return np.array([np.median(np.diff(seconds)), seconds[-1]])

        case.fit(strength, beta_loss, tol=0, max_iter=2)  # warm-up
        return once

    programs = {strength: program(strength) for strength in (None, *STRENGTHS)}
    return {name: np.median(runs, axis=0) for name, runs in in_turn(programs, repeats).items()}


def to_loss(
    case: Case, beta_loss: str, end_iter: int, repeats: int
) -> tuple[dict[tuple[str, float], float], dict]:
    """Seconds of whole fits to multiples of the loss where RPRNMF "auto" ends, and the lines.

    A program is there when its loss does not rise above that any more and, RPRNMF, as many
    triplets hold as at its end. Infinite if it does not get there in three times as many
    iterations.
    """
    fitted = case.fit("auto", beta_loss, max_iter=end_iter)
    end, rate = fitted.history_["loss"][-1], fitted.row_satisfied_rate_
    lines: dict[str, tuple] = {}
    found: dict[tuple[str, float], list[float]] = {}

    def program(name: str, strength: Any) -> Callable[[int], None]:
        def stop(state: Any) -> bool:
            return state.loss <= min(ABOVE) * end and not state.row_satisfied_rate < rate

        def once(_: int) -> None:
            seconds, done = seconds_of(
                lambda: case.fit(
                    strength,
                    beta_loss,
                    tol=0,
                    max_iter=3 * end_iter,
                    callback=stop,
                )
            )
            times, loss = done.history_["seconds"], done.history_["loss"]
            lines[name] = times, loss
            for above in ABOVE:
                not_yet = (loss > above * end) | (done.history_["row_satisfied_rate"] < rate)
                there = len(loss) - int(np.argmax(not_yet[::-1])) if not_yet.any() else 0
                # with what the fit did before its first iteration and after its last
                took = times[there] + seconds - times[-1] if there < len(loss) else np.inf
                found.setdefault((name, above), []).append(float(took))

        return once

    in_turn({"NMF": program("NMF", None), "RPRNMF": program("RPRNMF", "auto")}, repeats)
    return {key: median(runs) for key, runs in found.items()}, lines


def main() -> None:
    quick, folder = start_process("triplets")
    repeats, iterations, end_iter = (2, 5, 20) if quick else (5, 30, 200)
    measured = (
        f"RPRNMF and plain NMF from the same start, one thread, medians of {repeats}, in turn. "
        f"iteration: the median iteration of {iterations} (tol=0); {iterations} iterations: all "
        "of them, with the steps that were undone and repeated. to 1.01 times the "
        "loss: seconds of whole fits to that multiple of the loss where RPRNMF "
        f'(row_strength="auto") ends by default (max_iter={end_iter}, Kullback-Leibler a quarter '
        "of that), and with as many triplets met; plain NMF goes on to lower losses, RPRNMF does "
        "not, so that the ratio grows without bound near its own end. "
        "Ratio: RPRNMF to NMF."
    )
    report = Report(folder, "triplets", "What triplets cost", measured)
    panels: dict[str, dict] = {}
    for case in cases(quick, report):
        for beta_loss in case.losses if case.data == "generated" or not quick else LOSSES[:1]:
            names = {"data": case.data, "shape": "x".join(map(str, case.X.shape)), "K": case.K}
            names |= {"loss": beta_loss, "triplets": case.n_triplets}

            def add(kind, strength, plain, ours, limit, names=names):
                row = {"measured": kind, "strength": strength, "NMF s": plain, "RPRNMF s": ours}
                ratio = ours / plain
                there = np.isfinite(plain) and np.isfinite(ours)
                row |= {"ratio": ratio, "limit": limit}
                row |= {"within": within(ratio, limit) if there else "no"}
                report.add(**names, **row)

            seconds = iteration_seconds(case, beta_loss, iterations, repeats)
            for strength in STRENGTHS:
                one, whole = zip(seconds[None], seconds[strength], strict=True)
                add("iteration", strength, *one, case.limit)
                add(f"{iterations} iterations", strength, *whole, case.limit)
            if case.limit == MANY or case.data == "generated":
                continue  # triplets at random: the loss where they end is of no interest
            last = end_iter // (4 if beta_loss == LOSSES[1] else 1)
            whole, lines = to_loss(case, beta_loss, last, repeats)
            for above in ABOVE:
                kind = f"to {above} times the loss"
                add(kind, "auto", whole["NMF", above], whole["RPRNMF", above], SAME_LOSS)
            panels[f"{case.data}, {beta_loss}"] = lines
            report.plot(panels, "seconds", "loss", log="xy")


if __name__ == "__main__":
    main()
