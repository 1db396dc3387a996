"""Names of the rows and columns of X: where they stand, and whether triplets can speak of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.checks import is_missing

BEHIND_A_VECTORIZER = {
    "row": "",
    "column": " (Sparse X has no names. Behind a vectorizer, whose words are the columns, pass "
    "column_names=vectorizer.get_feature_names_out(); in a Pipeline as rprnmf__column_names=, or "
    "by set_fit_request(column_names=True) if metadata are routed.)",
}


def check_there_are_names(names: Any, first: Any, side: str) -> None:
    """Refuse triplets by name, ``first`` being one of theirs, if X has no names."""
    if names is None:
        raise ValueError(
            f"{side}_triplets are given by name ({first!r}, ...), but X has no {side} names: pass "
            f"X as a DataFrame or {side}_names= to fit, or give the triplets as integer "
            f"positions.{BEHIND_A_VECTORIZER[side]}"
        )


def places_of(names: Any, side: str) -> dict[Any, int]:
    """The position of every name; each may occur once."""
    position: dict[Any, int] = {}
    for number, name in enumerate(names):
        if name in position:
            raise ValueError(
                f"{side}_triplets are given by name, but the {side} name {name!r} occurs "
                f"more than once in X ({side}s {position[name]} and {number})."
            )
        position[name] = number
    return position


def can_name(names: Any) -> bool:
    """Whether triplets can speak of these names, and say more with them than with positions."""
    kinds = {type(name) for name in names}
    if any(issubclass(kind, float | np.floating | bool | np.bool_) for kind in kinds):
        return False
    integers = all(issubclass(kind, int | np.integer) for kind in kinds)
    if integers and np.array_equal(names, np.arange(len(names))):
        return False
    try:
        return len(set(names)) == len(names) and not any(map(is_missing, names))
    except TypeError:  # not hashable
        return False
