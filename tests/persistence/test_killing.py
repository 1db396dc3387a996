"""A process that is killed while it saves leaves the old file or the new one."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and kill -9")
def test_kill_minus_nine_leaves_a_whole_file():
    """A few times; `benchmarks/kill.py` does it hundreds of times."""
    command = [sys.executable, "-m", "tests.persistence.killing", "6"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = ast.literal_eval(done.stdout)
    assert found.get("small", 0) + found.get("large", 0) == 6, found
