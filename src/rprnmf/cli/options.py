"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def several(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Several options as one decorator, shown in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class Numbers(click.ParamType):
    """Numbers with commas between them, and perhaps words."""

    name = "numbers"

    def __init__(self, *words: str, whole: bool = False):
        self.words, self.kind = words, int if whole else float

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """A list."""
        if not isinstance(value, str):
            return value
        parts = [part.strip() for part in value.split(",") if part.strip()]
        try:
            found = [part if part in self.words else self.kind(part) for part in parts]
        except ValueError:
            found = []
        if not found:
            kind = "whole numbers" if self.kind is int else "numbers"
            words = "".join(f" or {word}" for word in self.words)
            self.fail(f"expected {kind}{words} with commas between, got {value!r}.", param, ctx)
        return found


seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    default=0,
    show_default=True,
    help="The same seed gives the same result.",
)
side = click.option(
    "--side",
    type=click.Choice(("row", "column")),
    default="row",
    show_default=True,
    help="Rows of X (the factor W) or columns (the factor H).",
)
show = click.option(
    "--show",
    type=click.IntRange(0),
    metavar="N",
    default=10,
    show_default=True,
    help="Rows of the longest table.",
)
folds = click.option(
    "--folds",
    type=click.IntRange(2),
    metavar="N",
    default=5,
    show_default=True,
    help="Parts to hold out.",
)
