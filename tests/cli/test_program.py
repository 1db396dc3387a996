"""The program around its commands: help, lazy loading, exit codes, errors, output."""

from __future__ import annotations

import importlib
import inspect
import json
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest

import rprnmf
from rprnmf.checkpoints import CheckpointWarning
from rprnmf.cli import INSTALL, choices, files, main, program
from rprnmf.cli.command import Group, Run
from rprnmf.cli.failures import explained, warnings_as_notes
from rprnmf.cli.report import Report, Table, plain, show
from tests.cli.running import run_program


def commands():
    """Every command with the words that call it."""
    left = [([], program.program())]
    while left:
        words, found = left.pop()
        if isinstance(found, Group):
            context = click.Context(found)
            names = found.list_commands(context)
            left += [([*words, name], found.get_command(context, name)) for name in names]
        yield words, found


COMMANDS = list(commands())


@pytest.mark.parametrize("words", [words for words, _ in COMMANDS], ids=" ".join)
def test_every_command_has_help_with_an_example(words, capsys):
    assert main([*words, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"Usage: {' '.join(['rprnmf', *words])}")
    found = {" ".join(each): one for each, one in COMMANDS}[" ".join(words)]
    if not isinstance(found, Group):
        assert f"Example:\n  rprnmf {' '.join(words)} " in text
        assert "--debug" in text
    assert all(len(line) <= 90 for line in text.splitlines())


def test_summaries_are_those_of_the_commands():
    for words, found in COMMANDS:
        if isinstance(found, Group):
            for name, summary in found.summaries.items():
                child = {tuple(w): one for w, one in COMMANDS}[(*words, name)]
                if not isinstance(child, Group):
                    assert child.name == name
                assert child.help.strip()
                assert summary.endswith(".")


def test_help_loads_neither_numba_nor_scikit_learn():
    code = (
        "import sys; from rprnmf.cli import main; code = main(sys.argv[1:]);"
        "heavy = {'numba', 'sklearn', 'scipy', 'numpy', 'matplotlib', 'pandas', 'rich'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    for arguments in (["--help"], ["--version"], ["fit", "--help"], ["triplets", "make", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == "[]", arguments


def test_the_package_is_lazy_and_complete():
    code = (
        "import sys, rprnmf; assert 'numpy' not in sys.modules;"
        "assert set(rprnmf.__all__) <= set(dir(rprnmf));"
        "from rprnmf import NMF; assert rprnmf.NMF is NMF;"
        "assert rprnmf.metrics.rmse; assert rprnmf.triplets.ask; import rprnmf.solvers;"
        "print(len([getattr(rprnmf, name) for name in rprnmf.__all__]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(rprnmf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rprnmf.nothing
    with pytest.raises(ImportError):
        importlib.import_module("rprnmf.nothing")


def test_it_is_a_module_too():
    done = run_program("--version")
    assert (done.returncode, done.stdout) == (0, f"rprnmf {rprnmf.__version__}\n")


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    monkeypatch.delitem(sys.modules, "rprnmf.cli.program", raising=False)
    for name in list(sys.modules):
        if name.startswith("rprnmf.cli.") or name == "rprnmf.cli.program":
            monkeypatch.delitem(sys.modules, name)
    assert main(["--help"]) == 1
    assert capsys.readouterr().err.strip() == INSTALL
    assert 'pip install "rprnmf[cli]"' in INSTALL


@pytest.mark.parametrize("arguments", [[], ["fly"], ["triplets"], ["fit"], ["fit", "--fly"]])
def test_what_it_does_not_know_is_a_usage_error(arguments, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert "Usage: rprnmf" in captured.err
    assert captured.out == ""


def test_choices_are_those_of_the_registries():
    from rprnmf import estimators
    from rprnmf.experiments import EXPERIMENTS
    from rprnmf.losses import LOSSES
    from rprnmf.penalties import DISTANCES, PENALTIES
    from rprnmf.solvers import SOLVERS
    from rprnmf.triplets.consistency import METHODS

    assert {name.upper() for name in choices.ESTIMATORS} == set(estimators.__all__)
    assert set(choices.LOSSES) == set(LOSSES)
    assert set(choices.SOLVERS) == set(SOLVERS)
    assert set(choices.PENALTIES) == {"auto", *PENALTIES}
    assert set(choices.DISTANCES) == {"auto", *DISTANCES}
    assert set(choices.RESOLVE_METHODS) == set(METHODS)
    assert list(choices.EXPERIMENTS) == list(EXPERIMENTS)
    options = estimators.NMF._parameter_constraints["init"][0].options
    assert {*choices.INITS, "custom"} == options
    graphs = estimators.GNMF._parameter_constraints["row_graph"]
    names = next(each.options for each in graphs if hasattr(each, "options"))
    assert set(choices.GRAPHS) == names


def test_errors_are_one_line():
    assert explained(ValueError("two\n  lines")) == "two lines"
    assert explained(FileNotFoundError(2, "No such file", "a.csv")) == "a.csv: No such file"
    assert "should not happen (KeyError" in explained(KeyError("x"))
    assert "memory" in explained(MemoryError())
    noted = ValueError("bad")
    noted.add_note("in fit 3")
    assert explained(noted) == "bad (in fit 3)"


def test_reports_for_programs_are_json_and_nothing_else(capsys):
    import numpy as np

    state = Run(json=True, notes=["mind this"])
    values = {"nan": np.float64("nan"), "list": np.arange(2), 3: (True, None, "é")}
    show(Report(values), state)
    found = json.loads(capsys.readouterr().out)
    assert found == {"nan": None, "list": [0, 1], "3": [True, None, "é"], "notes": ["mind this"]}
    assert plain(np.datetime64("2020-01-01")) == "2020-01-01"


def test_tables_for_people(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    rows = [["[red]x[/red]", 0.123456, True], ["\x1b[31m" + "long " * 30, float("nan"), None]]
    show(Report({}, [Table("A title", ("name", "share", "met"), rows), "Done."]), Run())
    text = capsys.readouterr().out
    assert "[red]x[/red]" in text  # names are no markup
    assert "\x1b" not in text  # and steer no terminal
    assert "0.1235" in text
    assert text.count("long") == 30  # nothing is cut
    assert max(map(len, text.splitlines())) <= 60
    assert text.endswith("Done.\n")


def test_sigterm_ends_in_order(tmp_path):
    code = (
        "import os, signal, sys; from rprnmf.cli import main, command;"
        "import rprnmf.triplets as t;"
        "t.check_consistency = lambda *_: os.kill(os.getpid(), signal.SIGTERM);"
        "sys.exit(main(sys.argv[1:]))"
    )
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\na,b,c\n")
    done = subprocess.run(
        [sys.executable, "-c", code, "triplets", "check", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert "rprnmf triplets check was stopped. Nothing was written." in done.stderr
    assert "Traceback" not in done.stderr
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_reader_that_goes_away_is_no_traceback(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("q,r,s\na,b,c\na,c,b\n")
    program = [sys.executable, "-m", "rprnmf", "triplets", "check", str(path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
    assert process.returncode == 1


def test_commands_say_what_they_take():
    for words, found in COMMANDS:
        if not isinstance(found, Group):
            assert len(inspect.signature(found.callback).parameters) == 1, words
            for option in found.params:
                if isinstance(option, click.Option) and not option.hidden:
                    assert option.help, (words, option.name)


def test_the_installed_program_starts():
    program = Path(sys.executable).with_name("rprnmf")
    if not program.exists():
        pytest.skip("the program is not installed beside this Python")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("rprnmf ")


def test_a_checkpoint_that_cannot_be_written_is_said_at_once(capsys):
    class State:
        def keep(self, text):
            raise AssertionError("it would be said at the end only")

    with warnings_as_notes(State()):
        warnings.warn("the disk is full", CheckpointWarning, stacklevel=1)
    assert "the disk is full" in capsys.readouterr().err


def test_what_a_pattern_or_a_folder_means_is_no_output(tmp_path):
    """What lies in a folder and is not read, as the model of a first run, is written again."""
    shards, texts = tmp_path / "shards", tmp_path / "texts"
    for folder in (shards, texts):
        folder.mkdir()
    for name in ("a.npy", "b.npy", "model.rprnmf", "map.png"):
        (shards / name).write_bytes(b"")
    for name in ("a.txt", "model.rprnmf"):
        (texts / name).write_bytes(b"")
    for given in (str(shards / "*.npy"), str(shards), str(shards / "b.npy")):
        assert files.is_read(shards / "b.npy", given)
        assert not files.is_read(shards / "model.rprnmf", given)
        assert not files.is_read(shards / "map.png", given)
    assert files.is_read(texts / "a.txt", str(texts))
    assert not files.is_read(texts / "model.rprnmf", str(texts))
    assert not files.is_read(shards / "b.npy", "-")
    code = main(["fit", str(shards), "-k", "2", "--out", str(shards / "b.npy")])
    assert code != 0
    assert (shards / "b.npy").read_bytes() == b""
