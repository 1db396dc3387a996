"""The command line: ``rprnmf COMMAND``; one file per command."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version

COMMANDS = ("reproduce",)  # each is a module of this folder, with add_arguments and run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code.

    That is 0; 1 after an error; 2 for arguments that are not understood; 3 if something was left
    out because a data set is not there; 130 after an interrupt (SIGINT or SIGTERM).

    Parameters
    ----------
    arguments : sequence of str, default=None
        None takes those of the program.
    """
    parser = argparse.ArgumentParser(
        prog="rprnmf", description="Factorise a matrix and keep what is known about it."
    )
    parser.add_argument("--version", action="version", version=f"rprnmf {version('rprnmf')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = import_module(f"rprnmf.cli.{name}")
        summary = (module.__doc__ or "").strip().splitlines()[0]
        part = commands.add_parser(name, help=summary, description=summary)
        module.add_arguments(part)
        part.add_argument(
            "--traceback", action="store_true", help="show where in the program an error arose"
        )
        part.set_defaults(run=module.run)
    chosen = parser.parse_args(arguments)
    try:
        with asked_to_end():
            return chosen.run(chosen)
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here.", file=sys.stderr)
        return 130
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        if chosen.traceback:
            raise
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        print(f"rprnmf {chosen.command}: {error}{notes}", file=sys.stderr)
        return 1


@contextmanager
def asked_to_end() -> Iterator[None]:
    """Within it SIGTERM raises KeyboardInterrupt, so that the program ends in order."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
