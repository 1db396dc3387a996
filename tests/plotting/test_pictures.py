"""The page of pictures: its code runs, and the pictures are there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    axes = runpy.run_path(str(DOCS / "pictures.py"))["make"](folder)
    return folder, axes


def test_the_pictures_that_the_page_shows_are_kept(made):
    shown = re.findall(r"\(pictures/([\w.-]+)\)", (DOCS / "pictures.md").read_text())
    assert sorted(shown) == sorted(made[1])
    others = {"recommend.svg"}  # by examples/recommend.py, from data that are not ours
    kept = {path.name for path in (DOCS / "pictures").iterdir()}
    assert {*shown, *others} == kept
    for name in shown:
        assert (DOCS / "pictures" / name).stat().st_size < 150_000
        assert (made[0] / name).stat().st_size > 5_000


def test_the_pictures_show_what_the_page_says(made):
    axes = made[1]
    maps = axes["map.svg"].figure.axes
    counts = [[text.get_text() for text in ax.get_legend().get_texts()][:2] for ax in maps]
    assert counts == [["met: 3", "unmet: 1"], ["met: 4", "unmet: 0"]]
    assert len(axes["components.svg"].images) == 10
    words = [text.get_text() for text in axes["words.svg"].texts]
    first = [words[place] for place in (0, 6, 12)]
    assert not {"the", "and"} & set(first)
    unmet = axes["triplets.svg"].get_legend().get_texts()[0].get_text()
    assert 30 < int(unmet.removeprefix("unmet: ")) < 120  # 60 answers are wrong
    accuracy = axes["learning.svg"].lines[0].get_ydata()
    assert accuracy[-1] > accuracy[0] + 0.1
