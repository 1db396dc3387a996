"""A process that is killed while it saves leaves the old file or the new one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and kill -9")
def test_kill_minus_nine_leaves_a_whole_file():
    """A few times; python -m tests.persistence.killing does it hundreds of times."""
    command = [sys.executable, "-m", "tests.persistence.killing", "--kills", "6"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 kills" in done.stdout
    assert "BROKEN" not in done.stdout
