"""The parts of models: what each attribute must be, in a file and before it is saved.

Letters of sizes: n rows (of a stream: of its last block), m columns and K components of the fit;
F features of a prior, p landmarks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.estimators.prior import LearnedPrior
from rprnmf.estimators.stream import Stream
from rprnmf.estimators.stream_level import POWERS
from rprnmf.estimators.teaching import Chances
from rprnmf.penalties import PENALTIES
from rprnmf.persistence.containers import labels, maybe, places, several, strings
from rprnmf.persistence.objects import Saved, an
from rprnmf.persistence.specs import Sizes, Spec, flag, floats, number, one_of, table, whole
from rprnmf.priors.encoding import FrameEncoder, Labels, Numbers
from rprnmf.priors.features import DataPart, GivenPart, Joined, MeanPart
from rprnmf.priors.kernel import KernelFeatures
from rprnmf.priors.mask import MaskFeatures
from rprnmf.solvers.running_sums import RUNNING_SUMS
from rprnmf.triplets import Triplets
from rprnmf.triplets.posterior import Belief

FACTOR = ("float64", "float32")
COLUMNS: dict[type, Saved] = {
    Numbers: Saved({"mean": number(), "scale": number(0.0, above=True), "names": strings("F")}),
    Labels: Saved({"place": places("F"), "names": strings("F")}),
}


def _check_encoder(encoder: Any, where: str) -> None:
    """The columns of numbers are those of all columns of the table, one after the other."""
    expected = [name for column in encoder.columns for name in column.names]
    if encoder.names != expected or len(encoder.keys) != len(encoder.columns):
        raise ValueError(f"{where} must have the names of its columns.")
    if any(type(one) is Numbers and len(one.names) != 1 for one in encoder.columns):
        raise ValueError(f"{where} has a column of numbers with more than one name.")


ENCODERS: dict[type, Saved] = {
    FrameEncoder: Saved(
        {
            "columns": several(an(COLUMNS, Numbers, Labels)),
            "keys": labels("columns"),
            "names": strings("F"),
        },
        _check_encoder,
    ),
}
MAPS: dict[type, Saved] = {
    KernelFeatures: Saved(
        {
            "landmarks": table("p", "m"),
            "width": number(0.0, above=True),
            "root": floats("p", "F"),
            "center": floats("F"),
            "unit": number(0.0, above=True),
        }
    ),
    MaskFeatures: Saved(
        {
            "column_weights": floats("m", least=0.0),
            "vectors": floats("m", "F"),
            "center": floats("F"),
            "unit": number(0.0, above=True),
        }
    ),
}


def _check_data(part: Any, where: str) -> None:
    if type(part.map) is not (MaskFeatures if part.by_mask else KernelFeatures):
        raise ValueError(f"{where}.map must be the one that by_mask={part.by_mask} asks for.")


def _check_joined(joined: Any, where: str) -> None:
    """Parts side by side are as wide, and want as much, as all of them together."""
    wide = sum(part.phi.shape[1] for part in joined.parts)
    if joined.phi.shape[1] != wide or joined.wants != sum(part.wants for part in joined.parts):
        raise ValueError(f"{where} must be as wide as its parts, {wide}, and want what they want.")


PARTS: dict[type, Saved] = {
    MeanPart: Saved({"phi": floats("n", 0), "names": strings("F")}),
    DataPart: Saved(
        {
            "by_mask": flag,
            "fill": floats("m", dtypes=FACTOR),
            "map": an(MAPS, KernelFeatures, MaskFeatures, m="m", F="F"),
            "phi": table("n", "F"),
            "names": strings("F"),
        },
        _check_data,
    ),
    GivenPart: Saved(
        {
            "encoder": maybe(an(ENCODERS, FrameEncoder, F="F")),
            "side": one_of(("row", "column", "user", "item")),
            "unit": number(0.0, above=True),
            "phi": table("n", "F"),
            "names": strings("F"),
        }
    ),
}


def part(value: Any, where: str, sizes: Sizes) -> None:
    """Features of one side."""
    inner: Sizes = {letter: sizes[letter] for letter in ("n", "m") if letter in sizes}
    an(PARTS, *PARTS, n="n", m="m", F="F")(value, where, inner)
    sizes["F"] = inner["F"]


PARTS[Joined] = Saved(
    {
        "parts": several(part),
        "phi": table("n", "F"),
        "names": strings("F"),
        "wants": whole(),
    },
    _check_joined,
)


def features(n: str, m: str, F: str) -> Spec:
    """What is known of the rows of one side."""
    return maybe(an(PARTS, *PARTS, n=n, m=m, F=F))


LEARNED: dict[type, Saved] = {
    LearnedPrior: Saved(
        {
            "names": strings("F"),
            "coefficients": floats("F", "K"),
            "intercept": floats("K"),
            "means": floats("n", "K"),
            "weights": floats("n", least=0.0),
            "ridge": number(0.0),
        }
    ),
    Chances: Saved({"penalty": one_of(PENALTIES), "unit": number(0.0), "sharpness": number(0.0)}),
    Belief: Saved(
        {
            "unit": number(0.0),
            "precision": floats("n", least=0.0),
            "data": floats("K", "K"),
            "floor": maybe(number(0.0)),
        }
    ),
}


def _check_sums(sums: Any, where: str) -> None:
    """The curvature is that of all columns or one for each, and of the type of the rest."""
    m, K = sums.numerator.shape
    own = (K,) * type(sums).own_axes
    found = sums.curvature
    if found.shape not in (own, (m, *own)):
        raise ValueError(f"{where}.curvature must have the shape {own} or {(m, *own)}.")
    if found.dtype != sums.numerator.dtype:
        raise ValueError(f"{where} must have one dtype, got {found.dtype} beside another.")


def _any_floats(value: Any, where: str, sizes: Sizes) -> None:
    """Numbers of any shape, of which a rule says more."""
    letters = "" if np.ndim(value) > 3 else "abc"[: np.ndim(value)]
    floats(*letters, dtypes=FACTOR)(value, where, {})


SUMS: dict[type, Saved] = {
    kind: Saved(
        {
            "numerator": floats("m", "K", least=0.0, dtypes=FACTOR),
            "curvature": _any_floats,
            "counts": floats("m", least=0.0),
        },
        _check_sums,
    )
    for kind in RUNNING_SUMS.values()
}
STREAMS: dict[type, Saved] = {
    Stream: Saved(
        {
            "sums": an(SUMS, *SUMS, m="m", K="K"),
            "pulled": number(0.0),
            "column_unit": number(0.0),
            "errors": floats(len(POWERS) + 1, least=0.0),
        }
    ),
}
TRIPLETS: dict[type, Saved] = {
    # a Triplets checks itself when it is made
    Triplets: Saved({name: lambda *_: None for name in ("items", "weights", "absent")})
}
KNOWN = COLUMNS | ENCODERS | MAPS | PARTS | LEARNED | SUMS | STREAMS | TRIPLETS


def positions(letter: str) -> Spec:
    """Triplets of rows or columns of the fit."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        an(TRIPLETS, Triplets)(value, where, sizes)
        if value.named or value.items.max(initial=-1) >= sizes[letter]:
            raise ValueError(f"{where} must be positions below {sizes[letter]}.")

    return check
