"""Whether a text file has ratings or clicks in long form, and which column is what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from rprnmf.cli.tables import delimiter_of

MOST = 4  # columns: user, item, rating, timestamp
ROLES = ("user", "item", "rating")


class Lines(NamedTuple):
    """How the lines of a file are to be read; the roles of the layout are without a time.

    Attributes
    ----------
    sample : Sample
    layout : Layout
        With two roles the file has no ratings.
    time : int or None
        The column of times.
    """

    sample: Any
    layout: Any
    time: int | None

    def numbers(self) -> dict[str, int]:
        """The columns of numbers."""
        found = dict(zip(("rating",), self.layout.roles[2:], strict=False))
        return found if self.time is None else {**found, "timestamp": self.time}


def find_lines(source: Any, kind: str | None, options: Any) -> Lines | None:
    """Look at the first lines; None if they are not ratings or clicks in long form."""
    from rprnmf.inputs.layout import YEAR_1973, Columns, Layout, find_layout, has_header
    from rprnmf.inputs.parquet import MAGIC
    from rprnmf.inputs.text import take_sample

    if kind not in (None, "ratings") or source.is_folder or source.head.startswith(MAGIC):
        return None
    if options.transpose or not options.names or options.text is not None:
        return None
    options = with_delimiter(source, options)
    sample = take_sample(source, options)
    rows, decimal = sample.rows, sample.decimal
    first = [cell.strip() for cell in rows[0]]
    headed = options.header
    if headed is None:
        asked = [options.user, options.item, options.rating]
        headed = has_header(rows, decimal) or any(
            name in asked and not name.isdecimal() for name in first
        )
    header = first if headed else None
    if len(rows) == int(headed):
        return None
    columns = Columns(rows[int(headed) :], decimal)
    if header is not None and len(header) != columns.width:
        return None
    found = roles_of(header, columns, options, kind, source.fail)
    if found is not None:
        roles = tuple(found[role] for role in ROLES if role in found)
        layout = Layout("ratings", header, columns.width, None, roles)
        return Lines(sample, layout, found.get("timestamp"))
    layout = find_layout(rows, decimal, replace(options, header=headed), kind, source.fail)
    if layout.kind != "ratings":
        return None
    time = named(layout.header or []).get("timestamp")
    if layout.header is None and columns.width == MOST and MOST - 1 not in layout.roles:
        time = MOST - 1 if columns.largest(MOST - 1) > YEAR_1973 else None
    roles = tuple(place for place in layout.roles if place != time)
    return Lines(sample, replace(layout, roles=roles), time)


def with_delimiter(source: Any, options: Any) -> Any:
    """What separates the names of user and item separates cells, whatever texts have in them."""
    if options.delimiter is not None or options.header is False:
        return options
    delimiter = delimiter_of(source.head)
    first = source.head.lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0].decode("latin-1")
    known = {"user", "item"} <= named(first.split(delimiter)).keys()
    return replace(options, delimiter=delimiter) if known else options


def known_names() -> dict[str, set[str]]:
    """What columns are called: by the readers of matrices, and by `rprnmf.recommend`."""
    from rprnmf.inputs.layout import ITEMS, RATINGS, USERS
    from rprnmf.recommend.ratings import NAMES

    of_readers = {"user": USERS, "item": ITEMS, "rating": RATINGS, "timestamp": set[str]()}
    return {role: of_readers[role] | set(names) for role, names in NAMES.items()}


def named(header: list[str]) -> dict[str, int]:
    """The columns whose names tell their role, by role."""
    from rprnmf.inputs.layout import plain
    from rprnmf.recommend.ratings import NAMES

    names = [plain(name) for name in header]
    found: dict[str, int] = {}
    for role, known in known_names().items():
        order = NAMES[role]  # the library prefers its first names
        fits = [place for place, name in enumerate(names) if name in known]
        ranks = [order.index(names[k]) if names[k] in order else len(order) for k in fits]
        if fits:
            found[role] = fits[ranks.index(min(ranks))]
    return found


def roles_of(
    header: list[str] | None, columns: Any, options: Any, kind: str | None, fail: Any
) -> dict[str, int] | None:
    """The column of each role as options and names tell; None if they do not."""
    from rprnmf.inputs.layout import place_of, plain
    from rprnmf.recommend.ratings import NAMES

    width = columns.width
    asked = {role: getattr(options, role) for role in ROLES}
    places = {
        role: place_of(name, header, width, fail)
        for role, name in asked.items()
        if name is not None
    }
    found = named(header or [])
    found = {role: at for role, at in found.items() if at not in places.values()} | places
    dropped = [place_of(name, header, width, fail) for name in options.drop]
    found = {role: at for role, at in found.items() if at not in dropped}
    left = [k for k in range(width) if k not in found.values() and k not in dropped]
    sure = bool(places) or kind == "ratings"
    if sure and width == 2:
        for role in ("user", "item"):
            if role not in found and left:
                found[role] = left.pop(0)
    if not {"user", "item"} <= found.keys() or len(set(found.values())) < len(found):
        return None
    if (sure and "rating" in found) or not left:
        return found
    if "rating" in found:
        return found if columns.mostly_numeric(found["rating"]) else None
    names = [plain(name) for name in header or [""] * width]
    numeric = [k for k in left if columns.numeric(k)]
    if sure:
        return {**found, "rating": numeric[0]} if numeric else found
    plainly = all(names[found[role]] in NAMES[role] for role in ("user", "item"))
    another = any(names[k] in known_names()["item"] for k in numeric)  # one column for each item
    if width <= MOST and (not numeric or (plainly and not another and len(numeric) == 1)):
        odd = (header or [])[(numeric or left)[0]]
        hint = f"say --rating {odd!r}, or --drop {odd!r}" if numeric else f"say --drop {odd!r}"
        raise fail(f"the column {odd!r} has no name of ratings: {hint}.")
    return None
