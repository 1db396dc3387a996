"""What the parts of a model must be: types, sizes, signs.

A spec is a function of a value, its place and the sizes that are known so far. Sizes have letters:
the first array that has one says how large it is, all others must agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.remote import is_chunked

Sizes = dict[str, int]
Spec = Callable[[Any, str, Sizes], None]


def check_fields(
    found: Mapping[str, Any], expected: Mapping[str, Spec], where: str, sizes: Sizes
) -> None:
    """All attributes, of which none may lack and none be more."""
    for name in expected:
        if name not in found:
            raise ValueError(f"{where} lacks {name}.")
    for name in found:
        if name not in expected:
            raise ValueError(f"{where} has {str(name)[:40]}, which is not known.")
    for name, spec in expected.items():
        spec(found[name], f"{where}.{name}" if where else name, sizes)


def refuse(where: str, expected: str, found: Any) -> None:
    """Raise the error."""
    raise ValueError(f"{where} must be {expected}, got {str(found)[:60]}.")


def check_shape(
    shape: tuple[int, ...], letters: tuple[str | int, ...], where: str, sizes: Sizes
) -> None:
    """Bind the letters, or compare."""
    expected = [letter if isinstance(letter, int) else sizes.get(letter) for letter in letters]
    same = len(shape) == len(letters) and all(
        size is None or size == n for size, n in zip(expected, shape, strict=True)
    )
    if not same:
        text = ", ".join(
            f"{letter}={size}" if isinstance(letter, str) and size is not None else str(letter)
            for letter, size in zip(letters, expected, strict=True)
        )
        raise ValueError(f"{where} must have the shape ({text}), got {shape}.")
    for letter, n in zip(letters, shape, strict=True):
        if isinstance(letter, str) and sizes.setdefault(letter, n) != n:
            raise ValueError(f"{where} must have the same size {letter} twice, got {shape}.")


def check_values(values: np.ndarray, where: str, least: float | None = None) -> None:
    """Signs, NaN and infinity."""
    if not np.isfinite(values).all():
        refuse(where, "finite", values[~np.isfinite(values)].ravel()[0])
    if least is not None and values.size and values.min() < least:
        refuse(where, f"at least {least:g}", values.min())


def floats(
    *letters: str | int, least: float | None = None, dtypes: tuple[str, ...] = ("float64",)
) -> Spec:
    """An array of finite floats."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        lazy = is_chunked(value)  # its rows lie in files of their own and are read when used
        if not (lazy or type(value) is np.ndarray) or value.dtype.name not in dtypes:
            refuse(where, f"an array of {' or '.join(dtypes)}", kind_of(value))
        check_shape(value.shape, letters, where, sizes)
        if not lazy:
            check_values(value, where, least)

    return check


def integers(*letters: str, least: int) -> Spec:
    """An array of whole numbers."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.dtype.name not in ("int32", "int64"):
            refuse(where, "an array of int32 or int64", kind_of(value))
        check_shape(value.shape, letters, where, sizes)
        check_values(value, where, least)

    return check


def table(*letters: str) -> Spec:
    """Numbers, dense or sparse by rows."""
    dense = floats(*letters)

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) not in (sp.csr_array, sp.csr_matrix):
            return dense(value, where, sizes)
        check_shape(value.shape, letters, where, sizes)
        if value.dtype != np.float64:
            refuse(where, "of float64", value.dtype)
        return check_values(value.data, where)

    return check


def records(*names: str) -> Spec:
    """A table with columns of floats, these at least."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        fields = getattr(getattr(value, "dtype", None), "fields", None) or {}
        if type(value) is not np.ndarray or value.ndim != 1 or not set(names) <= set(fields):
            refuse(where, f"a table with the columns {', '.join(names)}", kind_of(value))
        if any(field[0] != np.float64 for field in fields.values()):
            refuse(where, "of float64", value.dtype)

    return check


def size(letter: str) -> Spec:
    """A whole number that is a size."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        whole()(value, where, sizes)
        check_shape((int(value),), (letter,), where, sizes)

    return check


def whole(least: int = 0) -> Spec:
    """A whole number."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is bool or not isinstance(value, int | np.integer) or value < least:
            refuse(where, f"a whole number, at least {least}", kind_of(value))

    return check


def number(least: float = -math.inf, *, above: bool = False, missing: bool = False) -> Spec:
    """A float of Python or numpy; ``above``: more than the least; ``missing``: or NaN.

    It may be infinite: factors of tiny entries have a scale out of range.
    """

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) not in (float, np.float64, np.float32):
            refuse(where, "a float", kind_of(value))
        if missing and math.isnan(value):
            return
        if math.isnan(value) or value < least or (above and value == least):
            refuse(where, f"{'above' if above else 'at least'} {least:g}", value)

    return check


def flag(value: Any, where: str, sizes: Sizes) -> None:
    """True or False."""
    if type(value) not in (bool, np.bool_):
        refuse(where, "True or False", kind_of(value))


def one_of(options: Collection[str | None]) -> Spec:
    """One of some texts, looked up when it is checked."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if not (value is None or type(value) is str) or value not in options:
            refuse(where, f"one of {', '.join(map(str, options))}", kind_of(value))

    return check


def kind_of(value: Any) -> str:
    """A value for a message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    plain = value is None or isinstance(value, bool | int | float | str)
    return repr(value) if plain else type(value).__name__
