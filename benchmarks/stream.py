"""Blocks of rows that arrive one after the other, in one pass, beside scikit-learn's MiniBatchNMF.

Both programs have their default settings and get the same blocks by `partial_fit`. What counts is
the objective on all of the data. Writes `results/stream.csv` and `.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from common import MissingError, cpu_seconds_of, in_turn, load, median, start_process
from ratings_priors import split
from report import Report, within
from sklearn.decomposition import MiniBatchNMF

from rprnmf import NMF
from rprnmf.datasets import fetch_movielens_1m
from rprnmf.losses import get_loss
from rprnmf.observed import make_view

LOSSES = ("frobenius", "kullback-leibler")
TEXTS, FACES = (256, 1024, 4096), {"ORL": (40, 100), "PIE": (64, 256, 1024)}
COMPONENTS = {"TDT2": 30, "ORL": 40, "PIE": 40, "MovieLens 1M": 20}
LIMIT, TIME_LIMIT = 1.0, 0.5
SEED = 0


class Case(NamedTuple):
    """One stream."""

    data: str
    order: str
    X: Any  # in the order of the stream
    size: int  # of a block
    missing: str | None = None
    test: sp.coo_array | None = None  # entries that were held out


def plain_cases() -> Iterator[Case | str]:
    """Complete data, shuffled and by class; a sentence for data that are not there."""
    for data, sizes in {"TDT2": TEXTS, **FACES}.items():
        try:
            X, labels = load(data)
        except MissingError as error:
            yield f"{data}: {error}."
            continue
        orders = {
            "shuffled": np.random.default_rng(SEED).permutation(len(labels)),
            "by class": np.argsort(labels, kind="stable"),
        }
        for order, rows in orders.items():
            for size in sizes:
                yield Case(data, order, X[rows], size)


def rating_cases() -> Iterator[Case | str]:
    """MovieLens 1M by blocks of people, a fifth of the ratings held out."""
    try:
        X = sp.csr_array(fetch_movielens_1m(download_if_missing=False).data).astype(float)
    except OSError as error:
        yield f"MovieLens 1M: {error}."
        return
    train, test = split(X[np.random.default_rng(SEED).permutation(X.shape[0])], SEED)
    for size in (256, 1024):
        yield Case("MovieLens 1M", "shuffled", train, size, "zero", test)


def one_pass(model: Any, case: Case, n_rows: int | None = None) -> Any:
    """The model after all blocks."""
    for first in range(0, n_rows or case.X.shape[0], case.size):
        model.partial_fit(case.X[first : first + case.size])
    return model


def our_model(case: Case, loss: str) -> NMF:
    """With default settings."""
    K = COMPONENTS[case.data]
    return NMF(K, beta_loss=loss, missing=case.missing, random_state=SEED)


def rows_for(case: Case, loss: str, H: np.ndarray) -> np.ndarray:
    """The best rows of W for given components."""
    model = our_model(case, loss).set_params(row_prior=None, column_prior=None, max_iter=1, tol=0)
    return (
        model.fit(case.X, H=H, update_H=False).set_params(max_iter=200, tol=1e-4).transform(case.X)
    )


def objective(case: Case, loss: str, W: np.ndarray, H: np.ndarray) -> float:
    """The loss over all observed entries."""
    view = make_view(case.X, case.missing, 1)
    return get_loss(loss).value(view, np.ascontiguousarray(W), np.ascontiguousarray(H.T))


def rmse(case: Case, W: np.ndarray, H: np.ndarray) -> float:
    """Of the entries that were held out; NaN if there are none."""
    if case.test is None:
        return float("nan")
    rows, columns = case.test.coords
    found = np.einsum("ik,ik->i", W[rows], H.T[columns])
    return float(np.sqrt(np.mean((found - case.test.data) ** 2)))


def fit_of(case: Case, loss: str, done: dict[Any, Any]) -> tuple[float, float, float]:
    """A whole fit of ours, once for all streams of the same data: seconds, objective, RMSE."""
    key = case.data, loss
    if key not in done:
        seconds, model = cpu_seconds_of(lambda: our_model(case, loss).fit(case.X))
        W, H = model.embedding_, model.components_
        done[key] = seconds, objective(case, loss, W, H), rmse(case, W, H)
    return done[key]


def measure(case: Case, loss: str, repeats: int, whole: tuple[float, float, float]) -> dict:
    """A row of the table."""
    K = COMPONENTS[case.data]
    makers = {
        "ours": partial(our_model, case, loss),
        "theirs": partial(MiniBatchNMF, K, beta_loss=loss, random_state=SEED),
    }

    def once(make: Any, _: int) -> tuple[float, Any]:
        return cpu_seconds_of(lambda: one_pass(make(), case))

    one_pass(our_model(case, loss), case._replace(size=50), 100)  # warm-up
    runs = in_turn({name: partial(once, make) for name, make in makers.items()}, repeats)
    seconds = {name: median(s for s, _ in found) for name, found in runs.items()}
    H = {name: found[0][1].components_ for name, found in runs.items()}
    W = {name: rows_for(case, loss, H[name]) for name in H}
    values = {name: objective(case, loss, W[name], H[name]) for name in H}
    if case.test is not None:  # as a user gets them, pulled to the mean row
        W["ours"] = runs["ours"][0][1].transform(case.X)
    ratio, pace = values["ours"] / values["theirs"], seconds["ours"] / seconds["theirs"]
    row = {"data": case.data, "loss": loss, "order": case.order, "rows of a block": case.size}
    row |= {"ours": f"{values['ours']:.4g}", "theirs": f"{values['theirs']:.4g}"}
    row |= {"fit": f"{whole[1]:.4g}", "ratio": ratio, "within": within(ratio, LIMIT)}
    row |= {"s ours": seconds["ours"], "s theirs": seconds["theirs"], "s fit": whole[0]}
    row |= {"ratio of s": pace, "s within": within(pace, TIME_LIMIT)}
    row |= {f"RMSE {name}": rmse(case, W[name], H[name]) for name in H}
    return row | {"RMSE fit": whole[2]}


def main() -> None:
    quick, folder = start_process("stream")
    repeats = 1 if quick else 2
    measured = (
        "One pass of `partial_fit` over blocks of rows, default settings, one thread; CPU seconds, "
        f"medians of {repeats} passes in turn. Objective: the loss over all observed entries, with "
        "H as the stream left it and the best W for it, found alike for both; limit of the ratio: "
        f"{LIMIT:g}, of the ratio of seconds: {TIME_LIMIT:g}. fit: a whole fit of ours to all of "
        "the data. MovieLens: a fifth of the ratings held out, blocks of people; MiniBatchNMF has "
        "no missing entries and takes them for zeros; RMSE of ours with `transform` as it is."
    )
    report = Report(folder, "stream", "Blocks of rows beside MiniBatchNMF", measured)
    done: dict[Any, Any] = {}
    for make_cases in (plain_cases, rating_cases):
        for case in make_cases():
            if isinstance(case, str):
                report.note(case)
                continue
            if quick and (case.data == "TDT2" or case.size > 256 or case.order != "shuffled"):
                continue
            for loss in LOSSES:
                report.add(**measure(case, loss, repeats, fit_of(case, loss, done)))


if __name__ == "__main__":
    main()
