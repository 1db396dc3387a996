"""What all commands have in common: how they are found, called and shown."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import click

from rprnmf.cli.failures import say

NOTHING_KEPT = "Nothing was written."


@dataclass
class Run:
    """One run of the program."""

    name: str = "rprnmf"
    debug: bool = False
    json: bool = False
    quiet: bool = False
    code: int = 0
    after_stop: str = NOTHING_KEPT
    notes: list[str] = field(default_factory=list)
    said: int = 0  # of the notes

    def note(self, text: str) -> None:
        """Say something beside the results, each sentence once."""
        self.keep(text)
        self.say_notes()

    def keep(self, text: str) -> None:
        """The same later: now it would run into a bar."""
        if text not in self.notes:
            self.notes.append(text)

    def say_notes(self) -> None:
        """Say what was kept."""
        for text in self.notes[self.said :] if not self.quiet else ():
            say(f"note: {text}")
        self.said = len(self.notes)


class Command(click.Command):
    """A function of the options that returns a `Report`, which is shown here.

    While the function works, what it prints goes to stderr: stdout is for the report alone.
    """

    def invoke(self, context: click.Context) -> None:
        """Call the function and show what it found."""
        from rprnmf.cli.report import show

        state = context.find_object(Run) or Run()
        state.name = context.command_path
        assert self.callback is not None
        try:
            with contextlib.redirect_stdout(sys.stderr), log_of(state):
                report = self.callback(SimpleNamespace(**context.params, run=state))
        finally:
            state.say_notes()
        show(report, state)
        state.code = report.code

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The example as it is typed: lines are not joined."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write("Example:\n")
            for line in self.epilog.strip().splitlines():
                formatter.write(f"  {line.strip()}\n")


@contextlib.contextmanager
def log_of(state: Run) -> Iterator[None]:
    """Within it the library's log is silent if the run is to be quiet."""
    log = logging.getLogger("rprnmf")
    before = log.level
    if state.quiet:
        log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def command(example: str) -> Callable[[Callable[..., Any]], Command]:
    """Turn a function with click's options into a command of its own name.

    Parameters
    ----------
    example : str
        Shown by ``--help``; a line per command.
    """

    def made(function: Callable[..., Any]) -> Command:
        params = list(reversed(getattr(function, "__click_params__", [])))
        name = function.__name__.rstrip("_").replace("_", "-")
        text = (function.__doc__ or "").strip()
        return Command(
            name,
            callback=function,
            params=[*params, JSON, QUIET, DEBUG, TRACEBACK],
            help=text,
            epilog=example,
        )

    return made


def _keep(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def keep(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        state = context.find_object(Run)
        if wanted and state is not None:
            setattr(state, name, True)

    return keep


def _flag(name: str, keeps: str, text: str | None) -> click.Option:
    return click.Option(
        [name],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_keep(keeps),
        hidden=text is None,
        help=text,
    )


JSON = _flag("--json", "json", "Print the result as one JSON document.")
QUIET = _flag("--quiet", "quiet", "No progress and no notes.")
DEBUG = _flag("--debug", "debug", "Show where in the program an error arose.")
TRACEBACK = _flag("--traceback", "debug", None)  # what it was called before


class Group(click.Group):
    """Commands that are loaded when they are called.

    Parameters
    ----------
    name : str
    home : str
        The package: the command ``a-b`` is the object ``a_b`` of its module ``a_b``.
    summaries : mapping of str to str
        The commands, and what each does.
    **settings : dict
        Go to `click.Group`.
    """

    def __init__(self, name: str, home: str, summaries: dict[str, str], **settings: Any):
        super().__init__(name, **settings)
        self.home, self.summaries = home, summaries

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Without a command: the help, which is not what was asked for."""
        if not arguments:
            click.echo(context.get_help(), err=True)
            context.exit(2)
        return super().parse_args(context, arguments)

    def list_commands(self, _: click.Context) -> list[str]:
        """In the order in which they are used."""
        return list(self.summaries)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """Load one."""
        if name not in self.summaries:
            return None
        name = name.replace("-", "_")
        found = getattr(import_module(f"{self.home}.{name}"), name)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """From the summaries: nothing is loaded for the help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))
