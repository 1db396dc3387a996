"""Python's garbage collector rests while kernels are compiled or read from disk.

The compiler makes a million small objects that stay until it is done. They would call the
collector again and again, which then looks at all objects of the process: that took a quarter
of the time.
"""

from __future__ import annotations

import gc
import os
from typing import Any

from numba.core import event


def is_kernel(event: Any) -> bool:
    """Whether a compilation is for this package."""
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    module = getattr(function, "__module__", None) or ""
    return module.startswith(f"{__package__}.")


class CollectorRest(event.Listener):
    """A context within which nothing is collected, also entered by what numba does for kernels.

    numba lets one thread at a time compile, so a plain count will do.
    """

    depth = 0
    was_on = False

    def __enter__(self) -> None:
        if self.depth == 0:
            self.was_on = gc.isenabled()
            gc.disable()
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth = max(self.depth - 1, 0)  # it is 0 in a child that was forked in between
        if self.depth == 0 and self.was_on:
            gc.enable()

    def on_start(self, event: Any) -> None:
        if self.depth or is_kernel(event):  # or a function that a kernel calls
            self.__enter__()

    def on_end(self, event: Any) -> None:
        if self.depth:
            self.__exit__()

    def after_fork(self) -> None:
        """A forked child does not have the thread that would end the rest."""
        if self.depth:
            self.depth = 1
            self.__exit__()


collector_rest = CollectorRest()
event.register("numba:compile", collector_rest)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=collector_rest.after_fork)
