"""Specs of names, lists, tuples and dicts: see `specs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.persistence.specs import Sizes, Spec, check_shape, kind_of, refuse


def names(letter: str) -> Spec:
    """One name for each: whole numbers, or any values that can be looked up."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not np.ndarray or value.dtype not in (np.dtype(np.int64), np.dtype("O")):
            refuse(where, "an array of names", kind_of(value))
        check_shape(value.shape, (letter,), where, sizes)
        if value.dtype == object:
            _check_hashable(value, where)

    return check


def unmet(value: Any, where: str, sizes: Sizes) -> None:
    """Rows (q, r, s) of positions or names."""
    if type(value) is not np.ndarray or value.dtype not in (np.dtype(np.int64), np.dtype("O")):
        refuse(where, "an array of positions or names", kind_of(value))
    if value.ndim != 2 or value.shape[1] != 3:
        refuse(where, "of the shape (n_triplets, 3)", value.shape)
    if value.dtype == object:
        _check_hashable(value.ravel(), where)


def strings(letter: str) -> Spec:
    """A list of text."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not list or not all(type(name) is str for name in value):
            refuse(where, "a list of text", kind_of(value))
        check_shape((len(value),), (letter,), where, sizes)

    return check


def labels(letter: str) -> Spec:
    """A list of values that can be looked up."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not list:
            refuse(where, "a list", kind_of(value))
        check_shape((len(value),), (letter,), where, sizes)
        _check_hashable(value, where)

    return check


def places(letter: str) -> Spec:
    """A dict of labels to 0, 1, 2, ..."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not dict:
            refuse(where, "a dict", kind_of(value))
        check_shape((len(value),), (letter,), where, sizes)
        if list(value.values()) != list(range(len(value))):
            refuse(where, "places from 0 on", list(value.values())[:9])

    return check


def maybe(spec: Spec) -> Spec:
    """None, or what the spec says."""
    return lambda value, where, sizes: None if value is None else spec(value, where, sizes)


def each(kind: type[list] | type[tuple], *specs: Spec) -> Spec:
    """A list or tuple of these, in order."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not kind or len(value) != len(specs):
            refuse(where, f"a {kind.__name__} of {len(specs)}", kind_of(value))
        for place, (one, spec) in enumerate(zip(value, specs, strict=True)):
            spec(one, f"{where}[{place}]", sizes)

    return check


def several(spec: Spec) -> Spec:
    """A list of these, with sizes of their own."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not list:
            refuse(where, "a list", kind_of(value))
        for place, one in enumerate(value):
            spec(one, f"{where}[{place}]", dict(sizes))

    return check


def repeated(spec: Spec) -> Spec:
    """A list of these, at least one, all of the same sizes."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not list or not value:
            refuse(where, "a list with entries", kind_of(value))
        for place, one in enumerate(value):
            spec(one, f"{where}[{place}]", sizes)

    return check


def entries(**specs: Spec) -> Spec:
    """A dict with some of these entries."""

    def check(value: Any, where: str, sizes: Sizes) -> None:
        if type(value) is not dict or not set(value) <= set(specs):
            refuse(where, f"a dict with {', '.join(specs)}", kind_of(value))
        for name, one in value.items():
            specs[name](one, f"{where}[{name!r}]", sizes)

    return check


def _check_hashable(values: Any, where: str) -> None:
    for value in values:
        try:
            hash(value)
        except TypeError:
            refuse(where, "names that can be looked up", kind_of(value))
