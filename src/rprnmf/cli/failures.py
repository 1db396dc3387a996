"""Errors and warnings as sentences for people."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# What the library raises about input, settings, files and missing packages; anything else is a
# fault of the program.
EXPECTED = (OSError, ValueError, TypeError, RuntimeError, ImportError)


def explained(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, MemoryError):
        text = (
            f"there is not enough memory ({error})" if str(error) else "there is not enough memory"
        )
    elif isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    elif isinstance(error, EXPECTED) and str(error):
        text = str(error)
    else:
        text = (
            f"an error that should not happen ({type(error).__name__}: {error}); --debug shows "
            "where"
        )
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return " ".join(f"{text}{notes}".split())


@contextmanager
def warnings_as_notes(state: Any) -> Iterator[None]:
    """Within it a warning is a note of the run."""

    def note(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, DeprecationWarning | FutureWarning | ImportWarning):
            return  # they concern programmers
        state.keep(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = note
        yield


def say(text: str) -> None:
    """A line for the person at the terminal; results go elsewhere."""
    print(text, file=sys.stderr, flush=True)
