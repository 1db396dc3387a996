"""The parts of a `Recommender`: what each must be, and what follows from them.

Letters of sizes: n users and m items, of which a and b had ratings in the fit; K components of one
start. The estimators of the starts are not in files: no answer needs them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.checks import is_missing
from rprnmf.persistence.columns import EXPECTED
from rprnmf.persistence.containers import each, labels, maybe, repeated, several, strings
from rprnmf.persistence.objects import Saved, an
from rprnmf.persistence.schemas import FACTOR, part, positions
from rprnmf.persistence.specs import (
    Sizes,
    Spec,
    check_shape,
    check_values,
    flag,
    floats,
    integers,
    kind_of,
    number,
    one_of,
    refuse,
    size,
    whole,
)
from rprnmf.persistence.writing import all_plain
from rprnmf.priors.features import DataPart, GivenPart
from rprnmf.recommend.clicks import Clicks
from rprnmf.recommend.far import FarRows
from rprnmf.recommend.features import SideFeatures
from rprnmf.recommend.ids import Ids
from rprnmf.recommend.interest import Interest
from rprnmf.recommend.metadata import LABELS, READERS, Metadata
from rprnmf.recommend.row_model import Coefficients, DataWeights, RowModel
from rprnmf.recommend.stacked import ITEMS, USERS, StackedModel
from rprnmf.recommend.usual import Usual


def ids(letter: str) -> Spec:
    """A list of ids, all different, of types that can be saved."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        labels(letter)(value, where, sizes)
        for place, one in enumerate(value):
            if is_missing(one):
                refuse(f"{where}[{place}]", "an id", kind_of(one))
            if not all_plain([one]):
                raise TypeError(
                    f"{where}[{place}] cannot be saved: it is of the type {type(one).__name__}; "
                    f"ids may be {EXPECTED}."
                )
        if len(set(value)) < len(value):
            refuse(where, "ids that are all different", f"{len(set(value))} of {len(value)}")

    return check


def observed(*letters: str) -> Spec:
    """Ratings or counts, sparse by rows."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not sp.csr_array or value.dtype != np.float32:
            refuse(where, "a csr_array of float32", kind_of(value))
        check_shape(value.shape, letters, where, sizes)
        check_values(value.data, where, 0.0)

    return check


def _readers(value: Any, where: str, sizes: Sizes) -> None:
    """Column of the table -> (what it was made of, how)."""
    if type(value) is not dict or not all(type(name) is str for name in value):
        refuse(where, "a dict of text", kind_of(value))
    for name, pair in value.items():
        good = type(pair) is tuple and len(pair) == 2 and all(type(one) is str for one in pair)
        if not good or pair[1] not in READERS:
            refuse(f"{where}[{name!r}]", f"a column and one of {', '.join(READERS)}", pair)


def _columns(value: Any, where: str, sizes: Sizes) -> None:
    """Numbers, or tuples of labels."""
    if type(value) is not dict:
        refuse(where, "a dict", kind_of(value))
    for name, cells in value.items():
        if type(cells) is not np.ndarray or cells.dtype not in (np.float64, np.dtype("O")):
            refuse(f"{where}[{name!r}]", "an array of float64 or of labels", kind_of(cells))
        check_shape(cells.shape, ("ids",), f"{where}[{name!r}]", sizes)
        if cells.dtype == object and not all(one is None or type(one) is tuple for one in cells):
            refuse(f"{where}[{name!r}]", "tuples of labels, or None", cells)
        for label in (label for cell in cells if type(cell) is tuple for label in cell):
            if not all_plain([label]):
                raise TypeError(
                    f"metadata column {name!r} cannot be saved: it has a label of the type "
                    f"{type(label).__name__}; labels may be {EXPECTED}."
                )


def _check_metadata(found: Metadata, where: str) -> None:
    if list(found.columns) != list(found.readers):
        refuse(where, "a table with the columns of its readers", list(found.columns))
    for name, (_, reader) in found.readers.items():
        if (reader in LABELS) != (found.columns[name].dtype == object):
            refuse(f"{where}.columns[{name!r}]", f"what {reader} makes", found.columns[name].dtype)


def _check_side(side: SideFeatures, where: str) -> None:
    """At most one table of metadata, which comes first; then features of the data."""
    n = side.n_known
    kinds = [type(one) for one in side.parts]
    if n > 1 or kinds != [GivenPart] * n + [DataPart] * (len(kinds) - n):
        names = ", ".join(kind.__name__ for kind in kinds)
        refuse(where, f"{n} tables of metadata and features of ratings", names)
    if n and getattr(side.parts[0], "encoder", None) is None:
        refuse(f"{where}.parts[0]", "made from columns", "no encoder")


def _check_stacked(model: StackedModel, where: str) -> None:
    for side, known in zip(model.features, model.metadata, strict=True):
        keys = side.parts[0].encoder.keys if side.n_known else []  # type: ignore[attr-defined]
        if side.n_known and (known is None or not set(keys) <= set(known.columns)):
            refuse(where, "a model with the metadata of its features", keys)
    n, m = (len(factor.F) for factor in model.starts[0])
    if model.n_fitted[USERS] > n or model.n_fitted[ITEMS] > m:
        refuse(where, f"a model of at most {n} users and {m} items in the fit", model.n_fitted)


def _check_usual(usual: Usual, where: str) -> None:
    if not math.isfinite(usual.overall) or max(usual.most) > 1.0:
        refuse(where, "a finite mean and shares of at most 1", (usual.overall, usual.most))


def _check_interest(interest: Interest, where: str) -> None:
    model = interest.model
    if model.clicks is None or model.usual is not None or len(model.starts) != 1:
        refuse(where, "one start of clicks", f"{len(model.starts)} starts")
    if not math.isfinite(interest.trust):
        refuse(f"{where}.trust", "finite", interest.trust)


COEFFICIENTS: dict[type, Saved] = {
    Coefficients: Saved({"B": floats("F", "K", dtypes=FACTOR), "b": floats("K", dtypes=FACTOR)}),
}
ROWS: dict[type, Saved] = {
    RowModel: Saved(
        {
            "F": floats("n", "K", least=0.0, dtypes=FACTOR),
            "by_known": an(COEFFICIENTS, Coefficients, F="known", K="K"),
            "by_all": an(COEFFICIENTS, Coefficients, F="all", K="K"),
            "unit": number(0.0),
        }
    ),
}
KNOWLEDGE: dict[type, Saved] = {
    Metadata: Saved(
        {
            "what": one_of(("user", "item")),
            "ids": ids("ids"),
            "readers": _readers,
            "columns": _columns,
        },
        _check_metadata,
        derived=("_place",),
    ),
    SideFeatures: Saved(
        {"parts": several(part), "n_known": whole()}, _check_side, derived=("names", "rows")
    ),
    DataWeights: Saved(
        {
            **dict.fromkeys(("missing_weight", "alpha", "alpha_power"), number(0.0)),
            "beta_loss": one_of(("frobenius", "kullback-leibler")),
        }
    ),
    Usual: Saved(
        {
            "overall": number(0.0),
            "means": each(tuple, floats("n", least=0.0), floats("m", least=0.0)),
            "told": each(tuple, floats("n", least=0.0), floats("m", least=0.0)),
            "most": each(tuple, number(0.0), number(0.0)),
        },
        _check_usual,
    ),
    Clicks: Saved(
        {
            "mean": number(0.0, above=True),
            "usual": number(0.0, above=True),
            "alike": flag,
            "poisson": flag,
        }
    ),
}


def side_features(n: str, m: str, what: str) -> Spec:
    """What is known of one side; tells how many features that are."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        an(KNOWLEDGE, SideFeatures, n=n, m=m)(value, where, sizes)
        wide = [one.phi.shape[1] for one in value.parts]
        sizes[f"known of {what}"], sizes[f"all of {what}"] = sum(wide[: value.n_known]), sum(wide)

    return check


def rows(n: str, what: str) -> Spec:
    """One factor of a start. Rows that are pulled to zero use the metadata alone."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        pulled = type(value) is RowModel and value.unit != 0
        widths = {"known": f"known of {what}", "all": f"{'all' if pulled else 'known'} of {what}"}
        an(ROWS, RowModel, n=n, K="K", **widths)(value, where, sizes)

    return check


STACKED: dict[type, Saved] = {
    StackedModel: Saved(
        {
            "n_fitted": each(tuple, size("a"), size("b")),
            "features": each(
                tuple, side_features("a", "b", "users"), side_features("b", "a", "items")
            ),
            "starts": repeated(each(tuple, rows("n", "users"), rows("m", "items"))),
            "metadata": each(tuple, *[maybe(an(KNOWLEDGE, Metadata))] * 2),
            "weights": an(KNOWLEDGE, DataWeights),
            "clicks": maybe(an(KNOWLEDGE, Clicks)),
            "n_clicks": integers("n", least=0),
            "usual": maybe(an(KNOWLEDGE, Usual, n="n", m="m")),
            "n_jobs": maybe(whole(-(1 << 31))),
        },
        _check_stacked,
    ),
}
INTEREST: dict[type, Saved] = {
    Interest: Saved(
        {"model": an(STACKED, StackedModel, n="n", m="m", a="a", b="b"), "trust": number(0.0)},
        _check_interest,
    ),
}


def _lies_far(starts: Any) -> bool:
    """Whether users lie with workers; starts of a file may be anything."""
    pairs = [one for one in starts if isinstance(one, tuple)] if isinstance(starts, list) else []
    return any(isinstance(getattr(side, "F", None), FarRows) for one in pairs for side in one)


def stacked(value: Any, where: str, sizes: Sizes) -> None:
    """The factors, here and not on workers."""
    if isinstance(value, StackedModel) and _lies_far(value.starts):
        raise TypeError(
            "a Recommender of a Dask collection cannot be saved: its users lie with the workers. "
            "Keep its lists, or fit users.compute()."
        )
    an(STACKED, StackedModel, **SIZES)(value, where, sizes)


#: classes whose objects may be part of a recommender, beside those of `schemas`
KNOWN = COEFFICIENTS | ROWS | KNOWLEDGE | STACKED | INTEREST
SIZES = {letter: letter for letter in ("n", "m", "K", "a", "b")}
INTEREST_SIZES = {letter: letter for letter in ("n", "m", "a", "b")}
FITTED: dict[str, Spec] = {
    "_model": stacked,
    "kind_": one_of(("explicit", "implicit")),
    "scale_": maybe(each(tuple, number(), number())),
    "notes_": strings("notes"),
    "user_ids_": ids("n"),
    "item_ids_": ids("m"),
    "n_components_": size("K"),
    "user_satisfied_rate_": number(0.0, missing=True),
    "item_satisfied_rate_": number(0.0, missing=True),
    "_offset": number(),
    "_mean": number(0.0),
    "n_iter_": whole(),
    "_triplets": each(tuple, positions("n"), positions("m")),
    "_X": observed("n", "m"),
    "_strangers": each(list, *[floats("scored", least=0.0, dtypes=FACTOR)] * 2),
    "_errors": floats("m", least=0.0, dtypes=FACTOR),
}
#: what files of versions before it lack: their lists are by ratings alone
SOMETIMES: dict[str, Spec] = {"_interest": maybe(an(INTEREST, Interest, **INTEREST_SIZES))}
#: attributes that are not in files: what `complete` sets, and the estimators
LEFT_OUT = (
    *("_ids", "_scored", "user_factors_", "item_factors_", "estimators_"),
    *("_listing", "trust_"),
)


def check_together(found: dict[str, Any]) -> None:
    """What no attribute tells alone."""
    model, scale = found["_model"], found["scale_"]
    explicit = found["kind_"] == "explicit"
    if (scale is not None) != explicit or (model.clicks is None) != explicit:
        raise ValueError("ratings must have a scale and no clicks, and clicks no scale.")
    if scale is not None and not (all(map(math.isfinite, scale)) and scale[0] <= scale[1]):
        raise ValueError(f"scale_ must be (lowest, highest), got {scale}.")
    if not math.isfinite(found["_offset"]):
        raise ValueError(f"_offset must be finite, got {found['_offset']}.")
    if (model.usual is None) == explicit:
        raise ValueError("ratings must have usual ratings, and clicks none.")
    if found.get("_interest") is not None and not explicit:
        raise ValueError("clicks must have no model of interest beside them.")
    wide = len(model.starts) * found["n_components_"] + 2 * explicit
    if any(len(row) != wide for row in found["_strangers"]):
        raise ValueError(f"_strangers must have {wide} entries each.")


def complete(model: Any) -> None:
    """Set what follows from the attributes of a file; they were checked, what follows is here."""
    stacked = model._model
    if "_interest" not in vars(model):  # a file of before: lists are by ratings
        model._interest = None
        model.order = "rating" if model.kind_ == "explicit" else model.order
    interest = model._interest
    for one in [stacked] if interest is None else [stacked, interest.model]:
        for known in one.metadata:
            if known is not None:
                known.set_places()
        for features, n in zip(one.features, one.n_fitted, strict=True):
            features.join_rows(n)
    model._ids = Ids(model.user_ids_, "user"), Ids(model.item_ids_, "item")
    with np.errstate(all="ignore"):
        model.user_factors_, model.item_factors_ = stacked.factor(USERS), stacked.factor(ITEMS)
        model._scored = stacked.scored(USERS), stacked.scored(ITEMS)
        model._set_listing()
    for name in ("user_factors_", "item_factors_"):
        check_values(getattr(model, name), name, 0.0)
