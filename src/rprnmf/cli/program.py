"""The program: its commands, and what happens around each of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from rprnmf.cli.command import Group, Run
from rprnmf.cli.failures import explained, warnings_as_notes
from rprnmf.cli.signals import asked_to_end

#: every command is the object of its own name in a module of its own name
COMMANDS = {
    "demo": "Show what comparisons change, on built-in data.",
    "fit": "Factorise a matrix, with what is known about it.",
    "transform": "Place new rows with the components of a model.",
    "evaluate": "Say how well a model explains data and comparisons.",
    "recommend": "Recommend items to users, from ratings or clicks.",
    "recommend-test": "Say how well recommendations do on held-out ratings.",
    "cluster": "Group the rows, or columns, of a model.",
    "top": "List what the components of a model are made of.",
    "plot": "Draw a picture of a model.",
    "rank": "Find the number of components by held-out entries.",
    "strength": "Find the strength of comparisons by held-out ones.",
    "triplets": "Make, check, repair, convert, split and ask for comparisons.",
    "info": "Say what is in the file of a model.",
    "reproduce": "Run an experiment of the paper and write its report.",
}
ABOUT = """Factorise a non-negative matrix, X = W H, and keep what you know about it:
"q is closer to r than to s".

\b
From a file to an answer and a picture:
  rprnmf fit ratings.csv --column-triplets triplets.csv --out model.rprnmf
  rprnmf top model.rprnmf
  rprnmf plot map model.rprnmf --side column --out map.png
"""
CODES = """Exit codes: 0 done, 1 error, 2 arguments not understood, 3 something left out because a
data set is missing, 130 interrupted."""


def show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        import rprnmf

        click.echo(f"rprnmf {rprnmf.__version__}")
        context.exit()


def program() -> Group:
    """The program with all its commands, none of which is loaded yet."""
    version = click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show_version,
        help="Show the version and end.",
    )
    return Group("rprnmf", "rprnmf.cli", COMMANDS, help=ABOUT, epilog=CODES, params=[version])


def run(arguments: Sequence[str]) -> int:
    """Run the program; returns the exit code."""
    state = Run()
    try:
        with asked_to_end(), warnings_as_notes(state):
            end = program().main(
                list(arguments), prog_name="rprnmf", standalone_mode=False, obj=state
            )
            sys.stdout.flush()
        return state.code or int(end or 0)  # --help and the like end with a code of their own
    except click.UsageError as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):  # which writes an empty line first
        print(f"{state.name} was stopped. {state.after_stop}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if state.debug:
            raise
        print(f"{state.name}: {explained(error)}", file=sys.stderr)
        return 1
