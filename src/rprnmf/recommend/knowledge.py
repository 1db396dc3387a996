"""Metadata and comparisons, as users give them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rprnmf.recommend.ids import Ids
from rprnmf.recommend.metadata import Metadata
from rprnmf.triplets import Triplets, as_triplets, triplets_from_metadata


class Told(NamedTuple):
    """What ``fit`` is given beside ratings, of users and of items."""

    triplets: tuple[Any, Any]
    metadata: tuple[Any, Any]


class Known(NamedTuple):
    """The same, read.

    Attributes
    ----------
    fitted : (Ids, Ids)
        Users and items with ratings.
    ids : (Ids, Ids)
        All: those with ratings come first.
    metadata : (Metadata or None, Metadata or None)
    triplets : (Triplets, Triplets)
        By position.
    notes : list of str
    """

    fitted: tuple[Ids, Ids]
    ids: tuple[Ids, Ids]
    metadata: tuple[Metadata | None, Metadata | None]
    triplets: tuple[Triplets, Triplets]
    notes: list[str]


def known_of(
    told: Told, rated: tuple[list[Any], list[Any]], given: tuple[Ids, Ids], random_state: Any
) -> Known:
    """What is known of users and items.

    Parameters
    ----------
    told : Told
    rated : (list, list)
        The ids of those with ratings.
    given : (Ids, Ids)
        Of all in the data.
    random_state : int, RandomState or None
    """
    fitted = Ids(rated[0], "user"), Ids(rated[1], "item")
    user_facts, item_facts = map(read_metadata, told.metadata, ("user", "item"))
    metadata = user_facts, item_facts
    notes, ids = [], []
    for one, both, known in zip(fitted, given, metadata, strict=True):
        every = one.plus(both.names).plus([] if known is None else known.ids)
        n_cold = len(every) - len(one)
        if n_cold:
            many = f"{n_cold} {one.what}s have" if n_cold > 1 else f"1 {one.what} has"
            notes.append(f"{many} no ratings.")
        check_metadata_ids(known, one)
        if alike := look_alikes(known, one):
            notes.append(alike)
            warnings.warn(alike, UserWarning, stacklevel=3)
        ids.append(every)
    of_users, of_items = (
        read_triplets(*each, random_state)
        for each in zip(told.triplets, ids, metadata, strict=True)
    )
    return Known(fitted, (ids[0], ids[1]), metadata, (of_users, of_items), notes)


def read_metadata(given: Any, what: str) -> Metadata | None:
    """Facts about users or items, or None."""
    if given is None or isinstance(given, Metadata):
        return given
    return Metadata(given, what)


def check_metadata_ids(known: Metadata | None, ids: Ids) -> None:
    """Facts of which none speaks of anything rated are a mistake."""
    if known is None or not known.columns or any(one in ids for one in known.ids):
        return
    one, other = known.ids[0], ids.names[0]
    raise ValueError(
        f"no id of {ids.what}_metadata is among the rated {ids.what}s: {one!r} "
        f"({type(one).__name__}) and the like there, {other!r} ({type(other).__name__}) here."
    )


def look_alikes(known: Metadata | None, ids: Ids) -> str:
    """What is said of ids that look like one that is rated and are another: 1 and "1"."""
    if known is None:
        return ""
    rated = {plain_id(name): name for name in ids.names}
    for one in known.ids:
        other = rated.get(plain_id(one), one)
        if one not in ids and other != one:
            return (
                f"{ids.what}_metadata has the id {one!r} ({type(one).__name__}), and the ratings "
                f"{other!r} ({type(other).__name__}): these are two {ids.what}s."
            )
    plain: dict[str, Any] = {}
    for one in known.ids:
        other = plain.setdefault(plain_id(one), one)
        if other != one:
            return f"{ids.what}_metadata has the ids {other!r} and {one!r}, which differ by type."
    return ""


def plain_id(name: Any) -> str:
    """An id as text: the same for 1, 1.0, "1" and "1.0"."""
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return text.strip().removesuffix(".0")


def with_facts(known: Metadata | None, given: Any, what: str) -> Metadata:
    """What was known in the fit, and further facts."""
    if known is None:
        raise ValueError(
            f"the fit had no {what}_metadata, so that facts about {what}s cannot be used: fit "
            "again with them."
        )
    return known.plus(given)


def read_triplets(given: Any, ids: Ids, metadata: Metadata | None, random_state: Any) -> Triplets:
    """Comparisons of ids, as positions; a number: so many from the metadata."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return drawn_triplets(int(given), ids, metadata, random_state)
    triplets = as_triplets(given)
    if triplets.n_triplets == 0:
        return Triplets(np.zeros((0, 3), dtype=np.int64))
    if not triplets.named:  # integers are ids here
        triplets = Triplets(triplets, named=True)
    return triplets.positions(len(ids), ids.names, ids.what)


def with_known_triplets(
    given: Mapping[str, Any], users: list[Any], items: list[Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Arguments of a fit to some ratings without the comparisons of ids that it would not know.

    Returns
    -------
    left : dict
    told : dict of str to str
        By the name of an argument what was left out of it.
    """
    left, told = dict(given), {}
    for what, names in (("user", users), ("item", items)):
        argument = f"{what}_triplets"
        comparisons = given.get(argument)
        if comparisons is None or isinstance(comparisons, int | np.integer):
            continue
        metadata = read_metadata(given.get(f"{what}_metadata"), what)
        ids = set(names).union([] if metadata is None else metadata.ids)
        every = Triplets(as_triplets(comparisons), named=True)
        here = np.array([all(name in ids for name in one) for one in every.items], dtype=bool)
        left[argument] = every.take(here)
        if not here.all():
            told[argument] = (
                f"{int((~here).sum())} of {len(here)} {argument} name {what}s that a training part "
                "does not have: they are left out there."
            )
    return left, told


def drawn_triplets(
    n_triplets: int, ids: Ids, metadata: Metadata | None, random_state: Any
) -> Triplets:
    """Comparisons of alike and unlike metadata."""
    if metadata is None or not metadata.columns:
        raise ValueError(
            f"{ids.what}_triplets={n_triplets} asks for comparisons drawn from "
            f"{ids.what}_metadata, which were not given."
        )
    table = metadata.table(ids.names)
    tags, ordered = {}, {}
    for name in table.columns:
        values = table[name]
        if values.dtype.kind == "f":
            ordered[name] = values
        else:
            # text: tuples of numbers would be taken for rows of a table of 0 and 1
            tags[name] = [() if cell is None else tuple(map(str, cell)) for cell in values]
    return triplets_from_metadata(n_triplets, tags=tags, ordered=ordered, random_state=random_state)
