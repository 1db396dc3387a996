"""The command line: ``rprnmf COMMAND``; one file per command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

INSTALL = 'rprnmf: the command line needs click and rich: pip install "rprnmf[cli]"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code.

    That is 0; 1 after an error; 2 for arguments that are not understood; 3 if something was left
    out because a data set is not there; 130 after an interrupt (SIGINT or SIGTERM).

    Parameters
    ----------
    arguments : sequence of str, default=None
        None takes those of the program.
    """
    try:
        from rprnmf.cli.program import run
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print(INSTALL, file=sys.stderr)
        return 1
    return run(sys.argv[1:] if arguments is None else list(arguments))
