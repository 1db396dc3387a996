"""The commands of docs/command-line.md and of README.md run as they are written there."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import pytest

from rprnmf.cli import main
from tests.cli.conftest import FILMS, write_documents, write_files
from tests.cli.running import run_program
from tests.cli.test_program import COMMANDS, Group

ROOT = Path(__file__).parents[2]


def blocks(path):
    """The commands of a page."""
    return re.findall(r"```sh\n(.*?)```", (ROOT / path).read_text(), re.DOTALL)


BLOCKS = blocks("docs/command-line.md")


def commands(block):
    """The arguments of each line."""
    for line in block.strip().splitlines():
        program, *arguments = shlex.split(line)
        assert program == "rprnmf"
        yield arguments


def outputs(arguments):
    """The files that a command says it writes."""
    flags = ("--out", "--test-out", "--picture", "--checkpoint", "--save")
    return [value for flag, value in itertools.pairwise(arguments) if flag in flags]


def write_others(folder):
    """What the page names beside ratings and comparisons."""
    kinds = [f"{film},{'SF' if k < 3 else 'Love'}\n" for k, film in enumerate(FILMS)]
    (folder / "labels.csv").write_text("film,label\n" + "".join(kinds))
    tags = ["SF|Action"] * 3 + ["Love"] * 3
    films = [f"{film},{tags[k]},{1977 + k}\n" for k, film in enumerate(FILMS)]
    (folder / "films-table.csv").write_text("film,genres,year\n" + "".join(films))
    (folder / "mine.csv").write_text("film,rating\nAlien,5\nTitanic,1\n")
    (folder / "links.csv").write_text("a,b,link\nAlien,Star Wars,must\nAlien,Titanic,cannot\n")
    (folder / "new.csv").write_text("user,film,rating\nzoe,Alien,5\nzoe,Titanic,1\nyan,Alien,2\n")
    (folder / "test.csv").write_text("q,r,s\nAlien,Star Trek,Titanic\nTitanic,Notting Hill,Alien\n")
    header, *lines = (folder / "table.csv").read_text().splitlines(keepends=True)
    (folder / "tables").mkdir(exist_ok=True)
    for number, part in enumerate((lines[:12], lines[12:])):
        (folder / "tables" / f"part-{number}.csv").write_text(header + "".join(part))
    answers = "Alien,Star Trek,Titanic,r\nAlien,Titanic,Star Wars,\n"
    (folder / "answered.csv").write_text(f"q,r,s,answer\n{answers}")


def test_the_first_page_has_the_same_three_commands():
    assert blocks("README.md") == BLOCKS[:2]


@pytest.mark.parametrize(("number", "write"), [(0, write_files), (1, write_documents)])
def test_three_commands_from_files_to_a_picture(number, write, tmp_path):
    write(tmp_path)
    block = list(commands(BLOCKS[number]))
    assert len(block) == 3
    answers = []
    for arguments in block:
        done = run_program(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout)
    picture = tmp_path / outputs(block[2])[0]
    assert picture.read_bytes().startswith(b"\x89PNG")
    if number == 0:
        assert "83.3 % of 6" in answers[0]
        assert "Unmet comparisons: 1" in answers[0]
        assert all(line in answers[0] for line in ("30 x 6", "RPRNMF, 3 components"))
    else:
        assert "rocket" in answers[1]


def command_of(arguments):
    """["triplets", "check", "t.csv"] -> "triplets check"."""
    words = 2 if arguments[0] in ("triplets", "plot") else 1
    words += arguments[:2] == ["triplets", "make"]
    return " ".join(arguments[:words])


@pytest.fixture(scope="module")
def whole_page(tmp_path_factory):
    """All commands of the page, in a folder where they were run one after the other."""
    folder = tmp_path_factory.mktemp("page")
    write_files(folder)
    write_others(folder)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(next(commands(BLOCKS[0]))) == 0
        for arguments in (each for block in BLOCKS[2:] for each in commands(block)):
            found[command_of(arguments)] = arguments
            if arguments[0] in ("demo", "reproduce"):  # tested elsewhere
                continue
            assert main(arguments) == 0, arguments
            assert all((folder / name).exists() for name in outputs(arguments)), arguments
    return folder, found


def test_the_page_has_every_command(whole_page):
    known = {" ".join(words) for words, found in COMMANDS if not isinstance(found, Group)}
    assert known == set(whole_page[1])


@pytest.mark.parametrize(
    "command",
    [
        *(f"plot {kind}" for kind in ("components", "history", "learning", "reliability")),
        *(f"triplets make {kind}" for kind in ("answers", "features", "links", "metadata")),
        *("plot triplets", "triplets convert"),
    ],
)
def test_the_program_does_what_the_page_says(command, whole_page):
    """Others run as processes in the tests of their own."""
    folder, found = whole_page
    arguments = found[command]
    written = [folder / name for name in outputs(arguments)]
    for path in written:
        path.unlink()
    done = run_program(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert written
    assert all(path.stat().st_size > 0 for path in written)
    for path in written:
        path.unlink()
    given = next(each for each in arguments if (folder / each).is_file())
    bad = ["nothing.csv" if each == given else each for each in arguments]
    done = run_program(*bad, cwd=folder)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "nothing.csv" in done.stderr
    assert not any(path.exists() for path in written)
