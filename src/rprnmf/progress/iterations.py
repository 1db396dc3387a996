"""How far one fit is."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, NamedTuple, TextIO

from rprnmf.progress.bars import EVERY, can_show_bars, clock

LONG = 2.0  # seconds that a fit takes before it shows a bar
OFTEN = 0.1  # seconds between two changes of the bar
SIZE = 100, 24  # of a terminal that does not tell


class Told(NamedTuple):
    """What an iteration of a fit says of itself."""

    iteration: int
    objective: float
    loss: float
    rates: tuple[float, float]  # of triplets met, rows and columns; NaN: there are none
    seconds: float

    @property
    def met(self) -> list[str]:
        """How many triplets are met, in words."""
        both = zip(("row", "column"), self.rates, strict=True)
        return [f"{side} triplets met {100 * rate:.1f} %" for side, rate in both if rate == rate]

    def __str__(self) -> str:
        parts = [f"iteration {self.iteration:4d}", f"objective {self.objective:.6g}"]
        parts += [f"loss {self.loss:.6g}", *self.met, f"{self.seconds:.1f} s"]
        return "  ".join(parts)


class FitProgress:
    """How far one fit is: its iterations, the objective, triplets met, and the time left.

    On a terminal or in a notebook it is one bar of tqdm, from the third second on. It does not go
    back: solves that only find strengths do not move it, and one that stops early makes it jump
    ahead. Elsewhere, or without tqdm, it is a line every 10 iterations on the standard output, and
    every half minute where iterations take longer.

    Parameters
    ----------
    label : str
    max_iter : int
        Of one solve.
    n_solves : int
        That lead to the factors of the fit.
    verbose : int
        2 or more: a line for every iteration, and no bar.
    file : text file, default=None
        None: the standard error output for a bar, and the standard output for lines.
    """

    def __init__(
        self,
        label: str,
        max_iter: int,
        n_solves: int = 1,
        verbose: int = 1,
        file: TextIO | None = None,
    ):
        self.label, self.max_iter, self.n_solves = label, max_iter, n_solves
        self.verbose, self.file = verbose, file
        self.bars = verbose == 1 and can_show_bars(sys.stderr if file is None else file)
        self.bar: Any = None
        self.done = 0  # solves
        self.aside = 0  # iterations of other solves
        self.count, self.spent = 0, 0.0  # iterations of the fit in this process, and their time
        self.last: Told | None = None  # of the fit
        self.started = self.said = self.ticked = time.monotonic()

    def __enter__(self) -> FitProgress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def iteration(self, told: Told, main: bool = True) -> None:
        """One more iteration is done; ``main``: of a solve that leads to the factors of the fit."""
        now = time.monotonic()
        if main:
            self.last = told
            self.count += 1
            if self.count > 1:  # the first has to compile, or to load what was compiled
                self.spent += now - self.ticked
        else:
            self.aside += 1
        self.ticked = now
        if self.bars:
            if now - self.started > LONG and (self.bar is None or now - self.said > OFTEN):
                self._show(told, main)
        elif main:
            often = self.verbose > 1 or told.iteration % 10 == 0
            if often or now - self.said > EVERY:
                left = self._left(told.iteration) if now - self.started > LONG else []
                self._say("  ".join([str(told), *left]))
        elif now - self.said > EVERY:
            self._say(f"{self._preparing()}, {clock(now - self.started)}")

    def solved(self) -> None:
        """One of the solves has ended, maybe early."""
        self.done = min(self.done + 1, self.n_solves)
        if self.bar is not None and self.last is not None:
            self._draw(self._values(self.last), 0)

    def compiling(self) -> None:
        """Loops are being compiled, which takes seconds: the bar says so at once."""
        if self.bars:
            self._draw(["compiling, once on this machine"])

    def _preparing(self) -> str:
        return f"finding strengths, {self.aside} iterations"

    def _left(self, iteration: int) -> list[str]:
        """The time left, if no solve stops early; nothing where it is not known."""
        if self.count < 2:
            return []
        left = self.max_iter * (self.n_solves - self.done) - iteration
        return [f"at most {clock(left * self.spent / (self.count - 1))} left"]

    @staticmethod
    def _values(told: Told) -> list[str]:
        return [f"objective {told.objective:.6g}", *told.met]

    def _show(self, told: Told, main: bool) -> None:
        if main:
            # what matters most comes first: a narrow terminal cuts the line off
            self._draw([*self._left(told.iteration), *self._values(told)], told.iteration)
        else:
            self._draw([self._preparing()])

    def _draw(self, parts: list[str], iteration: int | None = None) -> None:
        """The bar with these texts; None: where it is."""
        self.said = time.monotonic()
        if self.bar is None:
            from tqdm import tqdm

            size = shutil.get_terminal_size(SIZE)
            self.bar = tqdm(
                desc=self.label,
                total=self.max_iter * self.n_solves,
                bar_format="{desc} |{bar:10}| {n_fmt} of {total_fmt}{postfix}",
                file=self.file,
                ncols=size.columns,
                nrows=size.lines,
                mininterval=0.0,
            )
        if iteration is not None:
            self.bar.n = max(self.bar.n, self.done * self.max_iter + iteration)
        self.bar.set_postfix_str(", ".join([clock(self.said - self.started), *parts]))

    def _say(self, text: str) -> None:
        self.said = time.monotonic()
        print(text, file=self.file, flush=True)
