"""Files with a right checksum that name classes of ours and are wrong in another way."""

from __future__ import annotations

import copy
import json
import pickle
import signal
import sys
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rprnmf
from rprnmf import NMF, Triplets
from rprnmf.persistence import FileFormatError
from tests.fuzz.files import originals, outcome
from tests.fuzz.forge import mutated
from tests.persistence.cases import TRIPLETS, fitted, named
from tests.persistence.forging import attribute, drop, put, refused


def inner(name, key):
    """The parts of an object of an attribute: _chances[0], for instance."""
    return ("attributes", name, key, 0, "object", 1)


CHANGES = {
    "negative": ("taught", attribute("components_", np.negative), "components_ must be at least 0"),
    "nan": ("taught", attribute("embedding_", lambda W: W * np.nan), "embedding_ must be finite"),
    "shape": ("taught", attribute("embedding_", lambda W: W[:, :2]), r"shape \(K=2, m\)"),
    "rows": ("taught", attribute("embedding_", lambda W: W[:5]), r"shape \(n=5"),
    "dtype": ("plain", attribute("components_", lambda H: H.astype(int)), "float64 or float32"),
    "dtypes": (
        "plain",
        attribute("components_", lambda H: H.astype(np.float32)),
        "must be of the same dtype",
    ),
    "rank": ("plain", put("attributes", "n_components_", value=7), "must have the shape"),
    "no rank": ("plain", put("attributes", "n_components_", value="3"), "must be a whole number"),
    "columns": ("plain", put("attributes", "n_features_in_", value=8), "n_features_in_"),
    "lacking": ("plain", drop("attributes", "_spread"), "NMF lacks _spread"),
    "no array": ("plain", drop("attributes", "components_"), "NMF lacks components_"),
    "unused": ("facts", put("parameters", "row_prior", value=None), "nothing uses its array"),
    "more": ("plain", put("attributes", "__class__", value=1), "attributes must be among"),
    "method": ("plain", put("attributes", "transform", value=1), r"attributes must be .*transform"),
    "parameter": ("plain", put("parameters", "self", value=1), "parameters must be among"),
    "bad parameter": ("plain", put("parameters", "solver", value="x"), "'solver' parameter of NMF"),
    "class": ("plain", put("class", value="RPRNMF"), "RPRNMF lacks graph_strength_"),
    "no class": ("plain", put("class", value="os.system"), "class 'os.system' are not known"),
    "list of classes": ("plain", put("class", value=["NMF"]), "are not known"),
    "newer": ("plain", put("state", value=2), "the version of its content is 2"),
    "no parts": ("plain", drop("requests"), "a model must have the parts"),
    "requests": ("plain", put("requests", value={"fit": {"x": True}}), "no such metadata"),
    "request": ("names", put("requests", value={"fit": {"row_names": 1.5}}), "must be a name"),
    "twice": ("plain", put("attributes", "components_", value={"array": 0}), "used twice"),
    "kind": ("plain", put("attributes", "components_", value={"pickle": 0}), "'pickle' are not"),
    "object in a parameter": (
        "plain",
        put("parameters", "row_prior", value={"object": ["Chances", {}]}),
        "an object cannot be here",
    ),
    "no number": ("plain", put("attributes", "_spread", value={"float": "nan"}), "at least 0"),
    "history": ("plain", put("attributes", "history_", value=None), "history_ must be a table"),
    "output": (
        "plain",
        put("attributes", "_sklearn_output_config", value={"dict": [{"list": ["transform"]},
                                                                    {"list": ["x"]}]}),
        "must be one of default, pandas",
    ),
    "chances": ("taught", put(*inner("_chances", "list"), "penalty", value="x"), "must be one of"),
    "other object": (
        "taught",
        put("attributes", "_chances", "list", 0, "object", 0, value="Belief"),
        "a Belief must have unit, precision, data, floor",
    ),
    "prior": ("taught", put(*inner("prior_", "tuple"), "ridge", value=-1.0), "ridge must be"),
    "no prior": ("taught", drop("attributes", "_pull_unit"), "must have _pull_unit"),
    "mask": ("mask", put(*inner("_features", "list"), "by_mask", value=False), "by_mask"),
    "wants": ("joined", put(*inner("_features", "list"), "wants", value=0), "as wide as its parts"),
    "distance": ("names", put("attributes", "distance_", value="x"), "distance_ must be one of"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_parts_that_do_not_fit(name, forge):
    case, change, message = CHANGES[name]
    refused(forge(fitted(case)[0], change), message)


def test_positions_out_of_range(forge):
    """Compiled loops would read what is not theirs."""

    def change(header, array):
        node = header["attributes"]["row_triplets_"]["object"][1]["items"]
        array(node, array(node) + 10)

    refused(forge(fitted("comparisons")[0], change), "row_triplets_ must be positions below 14")


def test_triplets_that_are_none(forge):
    def change(header, array):
        node = header["value"]["object"][1]["items"]
        array(node, np.zeros_like(array(node)))

    refused(forge(Triplets(TRIPLETS), change), "repeats")
    refused(forge(Triplets(named()), put("value", value=3)), "must hold triplets")
    weights = put("value", "object", 1, "weights", value=None)
    refused(forge(Triplets(named()), weights), "weights of triplets must be an array")


@pytest.mark.parametrize("size", [5, -1, 2**31])
def test_indices_of_sparse_matrices_out_of_range(size, forge):
    def change(header, array):
        number = header["parameters"]["row_graph"]["sparse"]["arrays"][1]
        places = array({"array": number})
        places[0] = size
        array({"array": number}, places)

    model = rprnmf.GNMF(row_graph=sp.csr_array(np.eye(5)).astype(float))
    model.row_graph.indices = model.row_graph.indices.astype(np.int64)
    model.row_graph.indptr = model.row_graph.indptr.astype(np.int64)
    refused(forge(model, change), "index of a sparse matrix is not in 0 to 4")


def test_numbers_out_of_the_range_of_their_column(forge):
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int8")})
    number = put("parameters", "row_prior", "frame", "data", 0, "values", "items", 1, "n", value=1)
    refused(forge(NMF(row_prior=frame), number), "must have 1 entries")

    def change(header, array):
        columns = header["parameters"]["row_prior"]["frame"]["data"][0]["values"]["items"][1]
        array({"array": columns["columns"][0]}, np.array([2**60]))

    refused(forge(NMF(row_prior=frame), change), "kind Int8 has the entry 1152921504606846976")
    rows = put("parameters", "row_prior", "frame", "index", "values", value=[0, 2**70, 1])
    refused(forge(NMF(row_prior=frame), rows), "cannot be read")


def test_a_pickle_is_not_read(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(NMF()))
    refused(path, "not an rprnmf file")
    np.savez(path, np.eye(2))
    refused(path.with_suffix(".npz"), "not an rprnmf file")


@pytest.mark.parametrize(
    "node",
    [
        {"list": [{"list": []}] * 200_000},
        {"list": [[]] * 300_000},
        {"dict": [{"list": ["x"] * 300_000}, {"list": []}]},
        {"items": ["list", {"n": 10**9, "kinds": ["none"], "codes": None, "columns": [0]}]},
        {"objects": [[10**9], {"n": 0, "kinds": [], "codes": None, "columns": []}]},
        {"frame": {"columns": None, "index": {"type": "range", "names": {"list": [None]},
                   "values": [0, 10**12, 1]}, "name": None, "data": [{"type": None, "values": 0}]}},
        {"sparse": {"type": "csr_array", "shape": [10**9, 10**9], "arrays": [0, 1, 2]}},
    ],
    ids=lambda node: json.dumps(node)[:40],
)  # fmt: skip
def test_a_small_file_does_not_ask_for_much_memory(node, forge):
    path = forge(NMF(), put("parameters", "row_prior", value=copy.deepcopy(node)))
    tracemalloc.start()
    try:
        rprnmf.load(path)
    except FileFormatError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2**22 + 60 * path.stat().st_size


@pytest.mark.skipif(sys.platform == "win32", reason="the fuzzer's clock needs SIGALRM")
def test_changed_files_are_read_or_refused(tmp_path):
    """Some hundreds; python -m tests.fuzz.files makes thousands."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    try:
        blobs = originals(tmp_path)
        found = [
            outcome(mutated(np.random.default_rng(seed), blobs), tmp_path / "changed")
            for seed in range(400)
        ]
    finally:
        signal.signal(signal.SIGALRM, before)
    assert [text for text in found if text.startswith("FAILED")] == []
    assert sum(text.startswith("refused") for text in found) > 200
    assert sum(text.startswith("read") for text in found) > 20
