"""Where a bar can be shown, and what is written elsewhere."""

from __future__ import annotations

import sys
from typing import TextIO

EVERY = 30.0  # seconds between lines, where there is no bar


def can_show_bars(file: TextIO) -> bool:
    """Whether a line of this file can be written over, and tqdm is there to do it."""
    if not (file.isatty() or in_notebook()):
        return False
    try:
        import tqdm  # noqa: F401
    except ImportError:
        return False
    return True


def in_notebook() -> bool:
    """Whether a notebook shows what is printed."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def clock(seconds: float) -> str:
    """1:02:03, or 2:03."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
