"""The program as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any


def run_program(
    *arguments: Any, stdin: str | None = None, env: dict[str, str] | None = None, cwd: Any = None
) -> subprocess.CompletedProcess[str]:
    """``python -m rprnmf`` with the given arguments; warnings do not end it, as for users."""
    command = [sys.executable, "-m", "rprnmf", *map(str, arguments)]
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8", **(env or {})}
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, env=settings, cwd=cwd, check=False
    )
