"""Files of recommenders with a right checksum that are wrong in another way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.persistence.forging import attribute, drop, put, refused
from tests.persistence.recommenders import fitted


def stacked(*keys):
    """A part of the stacked model."""
    return ("attributes", "_model", "object", 1, *keys)


def start(*keys):
    """A part of the users of the first start."""
    return stacked("starts", "list", 0, "tuple", 0, "object", 1, *keys)


def interest(*keys):
    """A part of the model of interest."""
    return ("attributes", "_interest", "object", 1, *keys)


def films(*keys):
    """A part of the metadata of items."""
    return stacked("metadata", "tuple", 1, "object", 1, *keys)


def part(keys, change):
    """Change an array."""

    def through(header, array):
        for key in keys:
            header = header[key]
        array(header, change(array(header)))

    return through


CHANGES = {
    "negative": ("ratings", part(start("F"), np.negative), r"F must be at least 0"),
    "rows": ("ratings", part(start("F"), lambda F: F[:-1]), r"n_clicks must .* \(n=23\)"),
    "rank": ("starts", part(start("F"), lambda F: F[:, :1]), r"shape \(F=0, K=1\)"),
    "coefficients": (
        "tables",
        part(start("by_known", "object", 1, "B"), lambda B: B[:-1]),
        r"B must have the shape \(F=3",
    ),
    "unit": ("ratings", put(*start("unit"), value=-1.0), "unit must be at least 0"),
    "no start": ("ratings", put(*stacked("starts"), value={"list": []}), "a list with entries"),
    "fit": (
        "ratings",
        put(*stacked("n_fitted"), value={"items": ["tuple", {"n": 0, "kinds": [], "codes": None,
                                                             "columns": []}]}),
        "n_fitted must be a tuple of 2",
    ),
    "clicks": ("ratings", part(stacked("n_clicks"), lambda n: -n), "n_clicks must be at least 0"),
    "weights": ("clicks", put(*stacked("weights", "object", 1, "alpha"), value=-1.0), "alpha must"),
    "mean": ("clicks", put(*stacked("clicks", "object", 1, "mean"), value=0.0), "must be above"),
    "huge mean": (
        "clicks",
        put(*stacked("clicks", "object", 1, "mean"), value=1e308),
        "user_factors_ must be finite",
    ),
    "no clicks": ("clicks", put(*stacked("clicks"), value=None), "and clicks no scale"),
    "no usual": ("ratings", put(*stacked("usual"), value=None), "must have usual ratings"),
    "told": (
        "ratings",
        part(stacked("usual", "object", 1, "told", "tuple", 1), np.negative),
        r"told\[1\] must be at least 0",
    ),
    "means": (
        "ratings",
        part(stacked("usual", "object", 1, "means", "tuple", 0), lambda means: means[1:]),
        r"means\[0\] must have the shape \(n=24",
    ),
    "shares": (
        "ratings",
        put(*stacked("usual", "object", 1, "most"), value={"list": [0.5, 2.0]}),
        "most must be a tuple",
    ),
    "share": (
        "ratings",
        put(*stacked("usual", "object", 1, "most"), value={"tuple": [0.5, 2.0]}),
        "shares of at most 1",
    ),
    "beta loss": (
        "clicks",
        put(*stacked("weights", "object", 1, "beta_loss"), value="x"),
        "beta_loss must be one of frobenius, kullback-leibler",
    ),
    "kind": ("ratings", put("attributes", "kind_", value="implicit"), "ratings must have a scale"),
    "no kind": ("ratings", put("attributes", "kind_", value="x"), "must be one of explicit"),
    "scale": ("ratings", put("attributes", "scale_", value=None), "must have a scale"),
    "offset": ("ratings", put("attributes", "_offset", value={"float": "inf"}), "must be finite"),
    "mean rows": (
        "ratings",
        put("attributes", "_strangers", value={"list": []}),
        "_strangers must be a list of 2",
    ),
    "errors": ("ratings", attribute("_errors", lambda e: e[1:]), "_errors must have the shape"),
    "lacking": ("ratings", drop("attributes", "_model"), "Recommender lacks _model"),
    "derived": ("ratings", put("attributes", "_ids", value=None), "attributes must be among"),
    "estimators": ("ratings", put("attributes", "estimators_", value=None), "must be among"),
    "parameter": ("ratings", put("parameters", "kind", value="x"), "'kind' parameter of Recomm"),
    "few ids": ("ratings", put("attributes", "user_ids_", value={"list": ["u1"]}), r"shape \(n=24"),
    "same ids": (
        "ratings",
        put("attributes", "user_ids_", value={"list": ["u1"] * 24}),
        "ids that are all different, got 1 of 24",
    ),
    "missing id": (
        "ratings",
        put("attributes", "user_ids_", value={"list": [None] * 24}),
        r"user_ids_\[0\] must be an id",
    ),
    "id of a kind": (
        "ratings",
        put("attributes", "user_ids_", value={"list": [{"list": []}] * 24}),
        "names that can be looked up",
    ),
    "no encoder": (
        "tables",
        put(*stacked("features", "tuple", 1, "object", 1, "parts", "list", 0, "object", 1,
                     "encoder"), value=None),
        "must be made from columns, got no encoder",
    ),
    "two tables": (
        "tables",
        put(*stacked("features", "tuple", 1, "object", 1, "n_known"), value=2),
        "must be 2 tables of metadata",
    ),
    "reader": (
        "tables",
        put(*films("readers"), value={"dict": [{"list": ["genre"]}, {"list": [
            {"list": ["genre", "eval"]}]}]}),
        "a column and one of number",
    ),
    "other columns": (
        "tables",
        put(*films("readers"), value={"dict": [{"list": []}, {"list": []}]}),
        "the columns of its readers",
    ),
    "what": ("tables", put(*films("what"), value="row"), "what must be one of user, item"),
    "object": (
        "tables",
        put(*stacked("metadata", "tuple", 1, "object", 0), value="Clicks"),
        "a Clicks must have mean, usual, alike, poisson",
    ),
    "trust": ("interest", put(*interest("trust"), value=-1.0), "trust must be at least 0"),
    "much trust": ("interest", put(*interest("trust"), value={"float": "inf"}), "must be finite"),
    "interest": (
        "interest",
        put(*interest("model", "object", 1, "starts"), value={"list": []}),
        "a list with entries",
    ),
    "interest in others": (
        "interest",
        part(
            interest("model", "object", 1, "starts", "list", 0, "tuple", 0, "object", 1, "F"),
            lambda F: F[1:],
        ),
        r"F must have the shape \(n=40",
    ),
    "interest of ratings": (
        "interest",
        put(*interest("model", "object", 1, "clicks"), value=None),
        "one start of clicks",
    ),
    "model": ("tables", put("attributes", "_model", "object", 0, value="Recommender"), "not known"),
    "of an estimator": ("tables", put("class", value="NMF"), "parameters must be among"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_parts_that_do_not_fit(name, forge):
    case, change, message = CHANGES[name]
    refused(forge(fitted(case), change), message)


def test_metadata_that_its_features_need(forge):
    def change(header, array):
        for key in stacked():
            header = header[key]
        header["metadata"]["tuple"][0] = header["metadata"]["tuple"][1]
        header["metadata"]["tuple"][1] = None

    refused(forge(fitted("starts"), change), "the metadata of its features")


@pytest.mark.parametrize(("place", "value"), [(0, 16), (0, -1)])
def test_ratings_of_items_out_of_range(place, value, forge):
    """Compiled loops would read what is not theirs."""

    def change(header, array):
        number = header["attributes"]["_X"]["sparse"]["arrays"][1]
        places = array({"array": number})
        places[place] = value
        array({"array": number}, places)

    refused(forge(fitted("ratings"), change), "index of a sparse matrix is not in")


def test_comparisons_of_users_out_of_range(forge):
    def change(header, array):
        node = header["attributes"]["_triplets"]["tuple"][1]["object"][1]["items"]
        array(node, array(node) + 14)

    refused(forge(fitted("comparisons"), change), "positions below 16")
