"""What is to be done with the blocks: a list of instructions, run on each block where it lies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class BlocksLostError(RuntimeError):
    """A worker is gone, and what it held with it."""


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


class Store:
    """The values of one block."""

    def __init__(self, values: dict[int, Any]):
        self.values = values


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
    """Run a program on one block, the one at ``place`` of those that it was made for."""
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
