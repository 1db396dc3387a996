"""scikit-learn's own tests of NMF, run against ours.

Its test file is loaded from where it is installed, with our NMF in the place of its own, and
every test in it that is not excluded below runs here: new ones of later versions as well.
"""

from __future__ import annotations

import importlib.util
from types import ModuleType
from unittest import mock

import pytest
import sklearn.decomposition

from rprnmf import NMF

PRIVATE = "tests private functions of scikit-learn and nothing of an estimator"
MINI_BATCH = "is about MiniBatchNMF"
EXCLUDED = {
    "test_initialize_nn_output": PRIVATE,
    "test_initialize_close": PRIVATE,
    "test_initialize_variants": PRIVATE,
    "test_beta_divergence": PRIVATE,
    "test_special_sparse_dot": PRIVATE,
    "test_nmf_underflow": PRIVATE,
    "test_minibatch_nmf_transform": MINI_BATCH,
    "test_mbnmf_inverse_transform": MINI_BATCH,
    "test_minibatch_nmf_negative_beta_loss": MINI_BATCH,
    "test_minibatch_nmf_partial_fit": MINI_BATCH,
    "test_minibatch_nmf_verbose": MINI_BATCH,
    "test_nmf_minibatchnmf_equivalence": MINI_BATCH,
    "test_NMF_inverse_transform_Xt_deprecation": "is about an argument that 1.7 no longer has",
    "test_nmf_n_components_auto": "reads the private attribute _n_components",
    "test_parameter_checking": "wants solver='cd' to refuse beta_loss=1, which ours minimises",
    "test_non_negative_factorization_consistency": (
        "wants update_H=False and transform to be one computation; ours find the same minimum by "
        "two ways, and with its tol of 1e-2 stop at different points"
    ),
    "test_nmf_float32_float64_consistency": (
        "its 50 x 7 matrix with 7 components has many exact factorisations: scikit-learn stops "
        "far from them, ours reaches one, and rounding decides which"
    ),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:The multiplicative update"),
]


def non_negative_factorization(
    X, W=None, H=None, n_components="auto", *, update_H=True, **settings
):
    """scikit-learn's function with our estimator inside."""
    model = NMF(n_components, **settings)
    W = model.fit_transform(X, W=W, H=H, update_H=update_H)
    return W, model.components_, model.n_iter_


def load() -> ModuleType:
    """scikit-learn's test file, which imports NMF while ours stands in its place."""
    spec = importlib.util.find_spec("sklearn.decomposition.tests.test_nmf")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    ours = {"NMF": NMF, "non_negative_factorization": non_negative_factorization}
    with mock.patch.multiple(sklearn.decomposition, **ours):
        spec.loader.exec_module(module)
    return module


def without_mini_batches(test):
    """The test, without the parameters that are MiniBatchNMF."""
    kept = []
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values, *rest = mark.args
            values = [v for v in values if not mentions_mini_batches(v)]
            mark = getattr(pytest.mark, mark.name)(names, values, *rest, **mark.kwargs).mark
        kept.append(mark)
    test.pytestmark = kept
    return test


def mentions_mini_batches(value) -> bool:
    values = value if isinstance(value, list | tuple) else (value,)
    return sklearn.decomposition.MiniBatchNMF in values


THEIRS = load()
globals().update(
    {
        name: without_mini_batches(test)
        for name, test in vars(THEIRS).items()
        if name.startswith("test_") and name not in EXCLUDED
    }
)


def test_our_nmf_is_what_they_test():
    assert THEIRS.NMF is NMF
    assert sklearn.decomposition.NMF is not NMF
