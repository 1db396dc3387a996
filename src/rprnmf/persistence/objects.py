"""Classes whose objects may be part of a model: how they are taken apart and put together.

No method of theirs runs when they are put together but those that check: a class that checks its
input itself (`Triplets`) is called, all others get their attributes as they are. Then
`specs` says what these must be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from rprnmf.persistence.containers import unmet
from rprnmf.persistence.specs import Spec, check_fields, floats
from rprnmf.triplets import Triplets


class Saved(NamedTuple):
    """One class.

    Attributes
    ----------
    fields : dict
        What its attributes must be, by name.
    rule : callable, default=None
        Called with an object and its place: what no attribute tells alone. Raises ValueError.
    derived : tuple of str, default=()
        Attributes that follow from the others: not in files, set when all has been checked.
    """

    fields: dict[str, Spec]
    rule: Callable[[Any, str], None] | None = None
    derived: tuple[str, ...] = ()


class Objects:
    """The classes that may be part of a model.

    Parameters
    ----------
    known : dict of type to Saved
    """

    def __init__(self, known: Mapping[type, Saved]):
        self.known = known
        self.types = {kind.__name__: kind for kind in known}

    def knows(self, kind: type) -> bool:
        """Whether objects of exactly this class can be saved."""
        return kind in self.known

    def parts(self, value: Any) -> dict[str, Any]:
        """What a file keeps of an object."""
        return attributes(value, self.known[type(value)].derived)

    def check(self, name: Any, parts: dict[str, Any]) -> None:
        """Refuse classes that are not known, and other attributes than they have."""
        if not isinstance(name, str) or name not in self.types:
            raise ValueError(f"objects of the class {str(name)[:40]!r} are not known.")
        fields = self.known[self.types[name]].fields
        if set(parts) != set(fields):
            raise ValueError(f"a {name} must have {', '.join(fields)}; got {sorted(parts)}.")

    def build(self, name: str, parts: dict[str, Any]) -> Any:
        """An object of a class that `check` found to be known."""
        kind = self.types[name]
        if kind is Triplets:
            return triplets_of(parts)
        if issubclass(kind, tuple):
            return kind(**parts)
        found = object.__new__(kind)
        found.__dict__.update(parts)
        return found


def attributes(value: Any, derived: tuple[str, ...] = ()) -> dict[str, Any]:
    """The attributes of an object, also of a named tuple, but for those that are derived."""
    if isinstance(value, Triplets):
        return {"items": value.items, "weights": value.weights, "absent": value.absent}
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    return {name: part for name, part in vars(value).items() if name not in derived}


def triplets_of(parts: dict[str, Any]) -> Triplets:
    """Triplets, which check themselves."""
    items, weights = parts["items"], parts["weights"]
    unmet(items, "the items of triplets", {})
    floats("n")(weights, "the weights of triplets", {"n": len(items)})
    named = items.dtype.kind == "O"
    return Triplets(items, weights=weights, absent=parts["absent"], named=named)


def an(objects: dict[type, Saved], *kinds: type, **sizes: str) -> Spec:
    """An object of one of some classes; ``sizes`` says which of its sizes are which of ours."""

    def check(value: Any, where: str, known: dict[str, int]) -> None:
        if type(value) not in kinds:
            names = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{where} must be a {names}, got {type(value).__name__}.")
        saved = objects[type(value)]
        inner = {its: known[ours] for its, ours in sizes.items() if ours in known}
        check_fields(attributes(value, saved.derived), saved.fields, where, inner)
        if saved.rule is not None:
            saved.rule(value, where)
        for its, ours in sizes.items():
            if its in inner:
                known[ours] = inner[its]

    return check
