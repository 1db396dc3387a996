"""What is to be done with the blocks: a list of instructions, run on each block where it lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rprnmf.remote.memory import Share


class BlocksLostError(RuntimeError):
    """A worker is gone, and what it held with it."""


class Span(NamedTuple):
    """A block of X: its number, its first row, and the row after its last."""

    block: int
    first: int
    stop: int

    def of(self, what: str) -> str:
        """For messages, where blocks of something else are meant."""
        return f"block {self.block} of {what} (rows {self.first} to {self.stop - 1})"

    def __str__(self) -> str:
        return self.of("X")


class Ref(NamedTuple):
    """Stands for a value of the block in the arguments of an instruction."""

    number: int


class Instruction(NamedTuple):
    """Keep ``function(*arguments)`` as the value ``number`` of the block."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Lazy:
    """A value that is made whenever it is used, because it would not fit in memory."""

    def __init__(self, make: Callable[..., Any], *arguments: Any):
        self.make, self.arguments = make, arguments

    def load(self) -> Any:
        """The value."""
        found = self.make(*(a.load() if isinstance(a, Lazy) else a for a in self.arguments))
        return found.load() if isinstance(found, Lazy) else found


class Deferred:
    """A function that makes something large: where one of its arguments is lazy, so is it."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        if any(isinstance(argument, Lazy) for argument in arguments):
            return Lazy(self.function, *arguments)
        return self.function(*arguments)


class Loaded:
    """A function that brings a block into memory: it is told the store that the block is for."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, store: Store, *arguments: Any) -> Any:
        """What is kept."""
        return self.function(store, *arguments)


class Store:
    """The values of one block.

    Parameters
    ----------
    span : Span
    share : Share or None
        What blocks may take of the memory of this place; None: any amount.
    """

    def __init__(self, span: Span, share: Share | None = None):
        self.values: dict[int, Any] = {}
        self.span, self.share, self.weight = span, share, 0

    def take(self, weight: int, anyway: bool = False) -> bool:
        """Count bytes for this block, as long as it is kept; whether they may be taken."""
        if self.share is not None:
            if not self.share.take(weight, anyway):
                return False
            self.weight += weight
        return True

    def __getstate__(self) -> dict[str, Any]:
        """For another process, whose memory is counted by nobody."""
        return {**self.__dict__, "share": None, "weight": 0}

    def __del__(self) -> None:
        if self.share is not None:
            self.share.give_back(self.weight)


@dataclass
class Program:
    """Instructions, a question whose answers are summed over the blocks, and what to forget.

    ``given`` are values that each block is handed, by number: one list with a value per block.
    """

    instructions: list[Instruction] = field(default_factory=list)
    question: Callable[..., Any] | None = None
    arguments: tuple[Any, ...] = ()
    forget: list[int] = field(default_factory=list)
    given: dict[int, list[Any]] = field(default_factory=dict)

    def of_blocks(self, numbers: list[int]) -> Program:
        """The program with what these blocks are handed, in their order."""
        given = {name: [values[b] for b in numbers] for name, values in self.given.items()}
        return Program(self.instructions, self.question, self.arguments, self.forget, given)


def run(store: Store, program: Program, place: int) -> Any:
    """Run a program on one block, the one at ``place`` of those that it was made for.

    An error says in which block it occurred.
    """
    try:
        return _run(store, program, place)
    except BlocksLostError:
        raise
    except Exception as error:
        remedy = " Smaller chunks need less memory." if isinstance(error, MemoryError) else ""
        error.add_note(f"This happened in {store.span}.{remedy}")
        raise


def _run(store: Store, program: Program, place: int) -> Any:
    values = store.values
    loaded: dict[int, Any] = {}

    def resolved(argument: Any, lazily: bool = False) -> Any:
        if not isinstance(argument, Ref):
            return argument
        value = values[argument.number]
        if isinstance(value, Lazy) and not lazily:
            if argument.number not in loaded:
                loaded.clear()  # one at a time: that is why they are lazy
                loaded[argument.number] = value.load()
            return loaded[argument.number]
        return value

    for number, parts in program.given.items():
        values[number] = parts[place]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for number, function, arguments in program.instructions:
            if isinstance(function, Loaded):
                values[number] = function(store, *map(resolved, arguments))
                continue
            lazily = isinstance(function, Deferred)
            values[number] = function(*(resolved(each, lazily) for each in arguments))
        answer = None
        if program.question is not None:
            answer = program.question(*map(resolved, program.arguments))
    for number in program.forget:
        values.pop(number, None)
    return answer


def added(one: Any, two: Any) -> Any:
    """The sum of two answers; of tuples part by part, of lists one after the other."""
    if one is None or two is None:
        return two if one is None else one
    if isinstance(one, set):
        return one | two
    if isinstance(one, tuple):
        return tuple(added(a, b) for a, b in zip(one, two, strict=True))
    return one + two
