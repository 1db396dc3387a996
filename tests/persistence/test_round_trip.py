"""What was saved comes back, and all its methods say the same to the last bit."""

from __future__ import annotations

import datetime
import inspect
import os
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import rprnmf
from rprnmf import GNMF, LCNMF, NMF, RPRNMF, Triplets
from rprnmf.losses import LOSSES
from rprnmf.persistence import describe
from rprnmf.persistence.models import MODELS
from tests.fuzz.draw import draw_call
from tests.persistence.cases import (
    FITS,
    FRAMES,
    ROWS,
    TRIPLETS,
    answers,
    data,
    facts,
    fitted,
    named,
)
from tests.persistence.equality import bits


@pytest.fixture
def again(tmp_path):
    """Through a file."""

    def through(model):
        path = tmp_path / "model.rprnmf"
        rprnmf.save(model, path)
        assert os.listdir(tmp_path) == ["model.rprnmf"]
        return rprnmf.load(path)

    return through


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", FITS)
def test_a_fitted_model_is_the_same(name, again):
    model, X = fitted(name)
    loaded = again(model)
    assert type(loaded) is type(model)
    assert bits(vars(loaded)) == bits({key: vars(model)[key] for key in vars(loaded)})
    assert set(vars(loaded)) == set(vars(model))
    assert bits(answers(loaded, X)) == bits(answers(model, X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["joined", "taught by facts", "own graph"])
def test_a_loaded_model_can_be_fitted_again(name, again):
    model, X = fitted(name)
    arguments = FITS[name]()[2]
    first = clone(model).fit(X, **arguments)
    second = clone(again(model)).fit(X, **arguments)
    assert bits(second.components_) == bits(first.components_)


@pytest.mark.parametrize("kind", MODELS)
def test_an_unfitted_model_has_its_parameters(kind, again):
    assert bits(again(kind()).get_params()) == bits(kind().get_params())
    assert not hasattr(again(kind()), "components_")


def test_every_estimator_can_be_saved():
    public = {name for name in rprnmf.__all__ if inspect.isclass(getattr(rprnmf, name))}
    assert {kind.__name__ for kind in MODELS} == (public - {"Triplets"}) | {"Recommender"}


def test_random_calls(again):
    """Whatever combination was fitted."""
    saved = 0
    for seed in range(25):
        call = draw_call(seed, extreme=0.2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = call.model.fit(call.X, **call.arguments)
            except (ValueError, TypeError):
                continue
            loaded = again(model)
            assert bits(vars(loaded)) == bits({key: vars(model)[key] for key in vars(loaded)})
            assert bits(loaded.transform(call.X)) == bits(model.transform(call.X))
        saved += 1
    assert saved > 10


@pytest.mark.parametrize(
    "parameters",
    [
        {"row_prior": facts(), "column_prior": ["data", np.ones((3, 2))]},
        {"row_prior": [[1.0, 2.0], [3, None]], "random_state": np.random.RandomState(3)},
        {"n_components": np.int64(3), "tol": np.float32(0.1), "beta_loss": float("inf")},
        {"n_components": 2**70, "tol": float("nan"), "alpha_W": -0.0},
        {"row_prior": np.asfortranarray(np.arange(6.0).reshape(2, 3))},
        {"row_prior": np.arange(3, dtype=">i4"), "column_prior": np.zeros((0, 4))},
        {"row_prior": sp.csc_matrix(np.eye(3)), "column_prior": sp.coo_array(np.eye(2))},
        {"row_prior": np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "verbose": True},
        {"row_prior": {"a": (1, [2, np.ones(2)]), 3: None}},
    ],
    ids=lambda parameters: ", ".join(type(value).__name__ for value in parameters.values()),
)
def test_parameters_of_all_types(parameters, again):
    model = NMF(**parameters)
    loaded = again(model)
    native = {
        name: value.astype(value.dtype.newbyteorder("=")) if type(value) is np.ndarray else value
        for name, value in model.get_params(deep=False).items()
    }
    assert bits(loaded.get_params(deep=False)) == bits(native)


def test_a_random_state_goes_on_where_it_was(again):
    rng = np.random.RandomState(0)
    rng.normal(size=3)  # one normal number is kept for later
    loaded = again(NMF(random_state=rng)).random_state
    assert bits(loaded.normal(size=5)) == bits(rng.normal(size=5))


@pytest.mark.parametrize("name", FRAMES)
def test_tables_of_pandas(name, again):
    assert bits(again(NMF(row_prior=FRAMES[name])).row_prior) == bits(FRAMES[name])


names = st.one_of(
    st.text(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.dates(),
    st.datetimes().map(lambda time: time.replace(fold=0)),
    st.datetimes().map(lambda time: pd.Timestamp(time.replace(fold=0))),
    st.datetimes(datetime.datetime(1960, 1, 1), timezones=st.just(datetime.UTC)).map(
        lambda time: pd.Timestamp(time.replace(tzinfo=None)).tz_localize("Asia/Tokyo")
    ),
    st.floats(width=32).map(np.float32),
    st.integers(-100, 100).map(np.int8),
    st.text().map(np.str_),
    st.binary(),
    st.dates().map(np.datetime64),
    st.sampled_from([pd.NaT, pd.NA, np.datetime64("NaT", "s"), float("-inf"), "\ud800"]),
)
plain = st.recursive(
    names,
    lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple)),
    max_leaves=20,
)


@given(st.lists(plain))
def test_lists_of_any_names(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("lists") / "model.rprnmf"
    rprnmf.save(NMF(row_prior=values), path)
    assert bits(rprnmf.load(path).row_prior) == bits(values)


INDEXES = {
    "text": pd.Index(ROWS),
    "numbers": pd.Index(range(100, 114)),
    "floats": pd.Index(np.linspace(0, 1, 14)),
    "bools": pd.Index([True, False] * 7),
    "times": pd.date_range("2020-01-01", periods=14),
    "zones": pd.date_range("2020-01-01", periods=14, tz="UTC"),
    "spans": pd.to_timedelta(range(14), unit="h"),
    "intervals": pd.interval_range(0.0, 7.0, 14),
    "mixed": pd.Index([1, "b", 2.5, None, True, *range(10, 19)], dtype=object),
    "levels": pd.MultiIndex.from_product([["a", "b"], range(7)]),
    "numpy text": np.array(ROWS),
}


@pytest.mark.parametrize("name", INDEXES)
def test_names_of_all_types(name, again):
    model = NMF(2, tol=0.0, max_iter=2).fit(data(), row_names=INDEXES[name])
    assert bits(again(model).row_names_) == bits(model.row_names_)


@pytest.mark.parametrize("name", ["text", "times", "zones"])
def test_names_can_be_looked_up_after_loading(name, again):
    index = INDEXES[name]
    X = pd.DataFrame(data(), index=index)
    known = np.array(list(index), dtype=object)[TRIPLETS]
    model = RPRNMF(2, tol=0.0, max_iter=5).fit(X, row_triplets=known)
    assert again(model).score_triplets(known) == model.score_triplets(known)


@pytest.mark.parametrize(
    "triplets",
    [
        Triplets(TRIPLETS),
        Triplets(named(), weights=np.arange(1, 7), absent="drop"),
        Triplets(TRIPLETS, named=True),
        Triplets(np.fromiter(["a", 1, ("b", 2)], dtype=object).reshape(1, 3)),
        Triplets([]),
        Triplets(np.zeros((0, 3), dtype=int), named=True),
    ],
    ids=repr,
)
def test_triplets(triplets, again):
    loaded = again(triplets)
    assert bits(vars(loaded)) == bits(vars(triplets))
    assert loaded == triplets
    with pytest.raises(ValueError, match="read-only"):
        loaded.weights[:] = 2.0


def test_what_scikit_learn_was_told_is_kept(again):
    with sklearn.config_context(enable_metadata_routing=True):
        model = RPRNMF(2).set_output(transform="pandas")
        model.set_fit_request(row_triplets=True, row_names="labels")
        loaded = again(model)
        assert bits(loaded.get_metadata_routing()) == bits(model.get_metadata_routing())
    assert loaded._sklearn_output_config == {"transform": "pandas"}


def test_functions_are_left_out_with_a_warning(tmp_path):
    model = NMF(2, callback=print, tol=0.0, max_iter=2)
    model.note = "mine"
    with pytest.warns(UserWarning, match=r"note, callback of NMF cannot be saved") as said:
        rprnmf.save(model, tmp_path / "model")
    assert said[0].filename == __file__
    loaded = rprnmf.load(tmp_path / "model")
    assert loaded.callback is None
    assert not hasattr(loaded, "note")
    assert model.callback is print


class Own(NMF):
    """A class of a user."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Own(2), "a class derived from NMF"),
        (
            3,
            "NMF, LCNMF, GNMF, RPRNMF, Recommender, Triplets, got an object of the class int",
        ),
        (
            NMF(row_prior=[object()]),
            r"row_prior\[0\] cannot be saved: .* builtins.object",
        ),
        (NMF(random_state=np.random.default_rng(0)), "random_state cannot be saved: .*Generator"),
        (NMF(row_prior=np.ones(2, dtype=complex)), "row_prior cannot be saved: .* complex128"),
        (NMF(row_prior=sp.lil_array(np.eye(2))), "it is of the type scipy.sparse._lil.lil_array"),
        (NMF(row_prior=sp.csr_array(np.eye(2) * 1j)), "a sparse matrix of complex128"),
        (NMF(row_prior=np.array([1j], dtype=object)), "entry 0 is of the type complex"),
        (NMF(row_prior=pd.DataFrame({"a": pd.period_range("2020", periods=2)})), "period"),
        (
            NMF(random_state=np.random.RandomState(np.random.PCG64(0))),
            "random_state cannot be saved: a RandomState of PCG64",
        ),
    ],
)
def test_what_cannot_be_saved_is_said_and_the_file_stays(value, message, tmp_path):
    path = tmp_path / "model"
    rprnmf.save(LCNMF(7), path)
    before = path.read_bytes()
    with pytest.raises(TypeError, match=message):
        rprnmf.save(value, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = GNMF(2, max_iter=2, tol=0.0).fit(data())
    model.components_ = -model.components_
    with pytest.raises(ValueError, match=r"GNMF.components_ must be at least 0"):
        rprnmf.save(model, tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_the_place_must_be_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        rprnmf.save(NMF(), tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        rprnmf.load(tmp_path / "nowhere")


def test_a_file_tells_when_and_by_what_it_was_written(tmp_path):
    rprnmf.save(NMF(), str(tmp_path / "model"))
    about = describe(tmp_path / "model")
    assert about["class"] == "NMF"
    assert about["rprnmf"] == rprnmf.__version__
    assert about["numpy"] == np.__version__
    assert datetime.datetime.fromisoformat(about["date"]).tzinfo is not None


def test_many_names_fit_into_a_file(again):
    """They are not in the header, whose size is limited."""
    n = 200_000
    mixed = [item for k in range(n) for item in (f"name {k}", k, (k, "x"))]
    triplets = Triplets(np.fromiter(mixed, dtype=object).reshape(n, 3))
    assert again(triplets).items[-1].tolist() == [f"name {n - 1}", n - 1, (n - 1, "x")]


def test_a_sparse_matrix_with_room_to_spare(again):
    graph = sp.csr_array(np.eye(3))
    graph.data, graph.indices = np.append(graph.data, 9.0), np.append(graph.indices, 7)
    loaded = again(GNMF(row_graph=graph)).row_graph
    assert np.array_equal(loaded.toarray(), np.eye(3))


def test_categories_that_are_intervals(again):
    """As pandas.cut makes them."""
    ages = pd.DataFrame({"age": pd.cut(np.arange(14.0), 3)})
    model = NMF(2, row_prior=ages, tol=0.0, max_iter=5).fit(data())
    expected = model.transform(data(), row_features=ages)
    assert bits(again(model).transform(data(), row_features=ages)) == bits(expected)


def test_a_loss_of_a_users_own_must_be_there(again, monkeypatch):
    monkeypatch.setitem(LOSSES, "mine", LOSSES["kullback-leibler"])
    model = NMF(2, beta_loss="mine", tol=0.0, max_iter=5).fit(data())
    loaded = again(model)
    assert bits(loaded.transform(data())) == bits(model.transform(data()))
    monkeypatch.delitem(LOSSES, "mine")
    with pytest.raises(ValueError, match="The 'beta_loss' parameter of NMF must be"):
        again(model)


@pytest.mark.parametrize("value", [facts(), list(INDEXES["times"])])
def test_without_pandas_the_error_says_what_is_needed(value, tmp_path, monkeypatch):
    rprnmf.save(NMF(row_prior=value), tmp_path / "model")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs? pandas: pip install \"rprnmf\[data\]\""):
        rprnmf.load(tmp_path / "model")
