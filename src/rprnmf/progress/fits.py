"""How far a job of several fits is."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from rprnmf.progress.bars import EVERY, can_show_bars, clock

BAR = "{desc:24} |{bar:28}| {percentage:3.0f}%{postfix}, {elapsed}, {remaining} left"


class Progress:
    """How many fits are done and how long the others will take, by their cost.

    On a terminal it is a bar of tqdm. In a file bars would run together, and tqdm may not be
    installed: then it is a line at the start, at the end, and every half minute between, for
    silence would look like a program that hangs.

    Parameters
    ----------
    label : str
    n_fits : int
    cost : float, default=None
        Of all fits; None: each costs 1.
    file : text file, default=None
        None is the standard error output.
    silent : bool, default=False
        True: show nothing.
    """

    def __init__(
        self,
        label: str,
        n_fits: int,
        cost: float | None = None,
        *,
        file: TextIO | None = None,
        silent: bool = False,
    ):
        self.label, self.n_fits = label, n_fits
        self.cost = max(n_fits if cost is None else cost, 1e-9)
        self.file = sys.stderr if file is None else file
        self.silent = silent or not n_fits
        self.done, self.count = 0.0, 0
        self.started = self.said = time.monotonic()
        self.bar = None if self.silent else self._bar()
        if self.bar is None and not self.silent:
            self._say()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the line of a bar; after the last fit that is done already."""
        if self.bar is not None:
            self.bar.close()

    def _bar(self) -> Any:
        if not can_show_bars(self.file):
            return None
        from tqdm import tqdm

        return tqdm(
            desc=self.label,
            total=self.cost,
            bar_format=BAR,
            file=self.file,
            smoothing=0.0,  # the time left is by the mean of all so far
            postfix=self._counts(),
        )

    def step(self, cost: float = 1.0) -> None:
        """One more fit is done."""
        self.done += cost
        self.count += 1
        if self.bar is not None:
            self.bar.set_postfix_str(self._counts(), refresh=False)
            self.bar.update(cost)
            if self.count == self.n_fits:
                self.close()
        elif not self.silent and (
            self.count == self.n_fits or time.monotonic() - self.said > EVERY
        ):
            self._say()

    def _counts(self) -> str:
        return f"{self.count} of {self.n_fits} fits"

    def _say(self) -> None:
        self.said = time.monotonic()
        seconds, share = self.said - self.started, min(self.done / self.cost, 1.0)
        text = f"{self.label:24} {share:4.0%}, {self._counts()}, {clock(seconds)}"
        if share > 0:
            text += f", {clock(seconds / share - seconds)} left"
        print(text, file=self.file, flush=True)
