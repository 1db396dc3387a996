"""Two checkouts of this project side by side: a folder, or a revision in a temporary worktree."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from common import HERE, environment

PROJECT = HERE.parent


class Checkout(NamedTuple):
    """A folder with the source, and the revision that it holds."""

    folder: Path
    name: str

    def command(self, script: str, *arguments: Any) -> dict[str, Any]:
        """Arguments of `subprocess` that run a script of this folder with that source."""
        command = [sys.executable, str(HERE / script), *map(str, arguments)]
        source = str(self.folder / "src")
        return {"args": command, "env": environment() | {"PYTHONPATH": source}, "text": True}


def git(*arguments: str, folder: Path = PROJECT) -> str:
    """What a git command prints."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def named(folder: Path) -> Checkout:
    """A folder, named by its revision; changes that are not committed are said."""
    if not (folder / "src" / "rprnmf").is_dir():
        raise SystemExit(f"{folder} is no checkout of this project: it has no folder src/rprnmf.")
    try:
        revision = git("rev-parse", "--short=10", "HEAD", folder=folder)
        changed = git("status", "--porcelain", "src", folder=folder)
    except (OSError, subprocess.CalledProcessError):
        return Checkout(folder, "no revision known")
    return Checkout(folder, f"{revision} with changes" if changed else revision)


@contextlib.contextmanager
def checkout(where: str) -> Iterator[Checkout]:
    """A folder as it is; a git revision in a worktree that is removed in the end."""
    if Path(where).is_dir():
        yield named(Path(where).resolve())
        return
    try:
        revision = git("rev-parse", "--verify", "--quiet", f"{where}^{{commit}}")
    except subprocess.CalledProcessError:
        raise SystemExit(f"{where} is neither a folder nor a revision of this project.") from None
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "checkout"
        git("worktree", "add", "--detach", str(folder), revision)
        try:
            yield named(folder)
        finally:
            git("worktree", "remove", "--force", str(folder))


def check_source() -> None:
    """Called where a script runs: an installed package must not stand in for the checkout."""
    import rprnmf

    wanted = Path(sys.path[1]).resolve()  # after the folder of the script: PYTHONPATH
    found = Path(rprnmf.__file__).resolve().parent.parent
    if found != wanted:
        raise SystemExit(f"rprnmf comes from {found}, not from the checkout {wanted}.")
