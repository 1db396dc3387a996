"""One part of a computation: its outcome, or how far it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rprnmf.array_file import FileFormatError
from rprnmf.checkpoints.tree import copied


@dataclass
class Entry:
    """One part of the computation.

    Attributes
    ----------
    name : str
    values : Any
        As `tree.packed` takes them, or a function that gives them; None: nothing is known yet.
    finished : bool
        Whether ``values`` are the outcome.
    parts : list of Entry
        Of what it consists of, until it is finished.
    """

    name: str
    values: Any = None
    finished: bool = False
    parts: list[Entry] = field(default_factory=list)

    def finish(self, values: Any = None) -> None:
        """Keep the outcome, and nothing else; copies, for the computation may change its arrays."""
        self.values, self.finished, self.parts = copied(values), True, []

    def tree(self) -> dict[str, Any]:
        """As `tree.packed` takes it."""
        values = self.values() if callable(self.values) else self.values
        parts = [part.tree() for part in self.parts]
        return {"name": self.name, "values": values, "finished": self.finished, "parts": parts}

    @classmethod
    def of_tree(cls, tree: Any) -> Entry:
        """What `tree` gave."""
        match tree:
            case {"name": str(name), "values": v, "finished": bool(done), "parts": list(parts)}:
                return cls(name, v, done, [cls.of_tree(part) for part in parts])
        raise FileFormatError(f"an entry is not in order: {str(tree)[:80]}.")


@dataclass
class Place:
    """How many parts of an entry were asked for."""

    entry: Entry
    asked: int = 0
