"""`solver="paper"` against results of the authors' own program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rprnmf import GNMF, LCNMF, NMF, RPRNMF
from rprnmf.metrics import constraint_satisfied_rate, mean_divergence, mean_squared_loss

FOLDER = Path(__file__).parent / "reference"
INPUTS = dict(np.load(FOLDER / "inputs_small.npz"))
FULL = INPUTS["V_full"], None
MASKED = np.where(INPUTS["Mask"] > 0, INPUTS["V_masked"], np.nan), "nan"
TRIPLETS = {"row_triplets": INPUTS["L1"], "column_triplets": INPUTS["L2"]}
LABELS = {"y": INPUTS["A"].argmax(axis=1), "column_labels": INPUTS["B"].argmax(axis=0)}
START = {"W": INPUTS["W0"], "H": INPUTS["H0"]}
TIED_START = {"W": INPUTS["A"] @ INPUTS["X0"], "H": INPUTS["Y0"] @ INPUTS["B"]}
KL = {"beta_loss": "kullback-leibler"}
# the program's divergence strength multiplies the sum over triplets, ours the mean
SUM_2 = {"row_strength": 2.0 * len(INPUTS["L1"]), "column_strength": 2.0 * len(INPUTS["L2"])}

CASES = {
    "RPRNMF_euc_full": (
        RPRNMF(row_strength=10.0, column_strength=10.0),
        FULL,
        {**TRIPLETS, **START},
    ),
    "RPRNMF_euc_masked": (
        RPRNMF(row_strength=10.0, column_strength=10.0),
        MASKED,
        {**TRIPLETS, **START},
    ),
    "RPRNMF_div_full_lam2": (RPRNMF(**KL, **SUM_2), FULL, {**TRIPLETS, **START}),
    "NMF_euc_masked": (NMF(), MASKED, START),
    "NMF_div_full": (NMF(**KL), FULL, START),
    "GNMF_euc_full": (
        GNMF(row_graph=INPUTS["Sw"], column_graph=INPUTS["Sh"]),
        FULL,
        START,
    ),
    "LCNMF_euc_full": (LCNMF(), FULL, {**LABELS, **TIED_START}),
    "LCNMF_div_masked": (LCNMF(**KL), MASKED, {**LABELS, **TIED_START}),
}


def fit(name, iterations):
    model, (X, missing), arguments = CASES[name]
    model.set_params(solver="paper", init="custom", missing=missing, max_iter=iterations)
    return model.fit(X, **arguments)


@pytest.mark.parametrize("iterations", [1, 5, 50])
@pytest.mark.parametrize("name", sorted(CASES))
def test_equals_the_authors_program(name, iterations):
    model = fit(name, iterations)
    expected = np.load(FOLDER / f"{name}.npz")
    for ours, theirs in (
        (model.embedding_, expected[f"W_it{iterations}"]),
        (model.components_, expected[f"H_it{iterations}"]),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * theirs.max())
    divergence = "div" in name
    X, missing = CASES[name][1]
    error = (mean_divergence if divergence else mean_squared_loss)(
        X, model.embedding_, model.components_, missing=missing
    )
    assert error == pytest.approx(float(expected[f"err_it{iterations}"]), rel=1e-9)
    rate = constraint_satisfied_rate(
        model.embedding_,
        model.components_,
        **TRIPLETS,
        distance="divergence" if divergence else "euclidean",
        floor=np.finfo(float).eps,
    )
    assert rate == pytest.approx(float(expected[f"csr_it{iterations}"]), abs=1e-12)


def test_the_trace_of_strengths_and_objectives():
    history = fit("RPRNMF_div_full_lam2", 50).history_
    trace = np.load(FOLDER / "RPRNMF_div_full_lam2.npz")["trace_it50"]
    accepted = trace[trace[:, 7] == 0]
    assert len(accepted) < len(trace)  # at least one sweep was rolled back
    np.testing.assert_allclose(history["row_strength"], 8 * accepted[:, 1], rtol=1e-12)
    np.testing.assert_allclose(history["column_strength"], 10 * accepted[:, 1], rtol=1e-12)
    np.testing.assert_allclose(history["row_penalty"], accepted[:, 4], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(history["column_penalty"], accepted[:, 5], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(history["objective"], accepted[:, 6], rtol=1e-9)
    rates = (history["row_satisfied_rate"] + history["column_satisfied_rate"]) / 2
    np.testing.assert_allclose(rates, accepted[:, 3], atol=1e-12)
