"""What the README shows must run and be true."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import rprnmf

ROOT = Path(__file__).parents[1]


def block(number):
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[number]
    return compile(code, "README.md", "exec")


def test_the_example_runs_and_the_comparisons_hold(capsys):
    exec(block(0), {})
    met, unseen, error = map(float, capsys.readouterr().out.split())
    assert met > 0.99
    assert unseen > 0.95
    assert error > 0


def test_a_few_labels_tell_the_others(capsys):
    exec(block(1), {})
    assert float(capsys.readouterr().out) > 0.85


def test_the_recommender_runs(capsys):
    names: dict = {}
    exec(block(2), names)
    assert "without any rating one would expect" in capsys.readouterr().out
    liked = names["liking"][7, 0]  # the genre of items 3 and 60
    first, new = names["model"].predict(7, [3, 60])
    assert abs(new - (1 + 2.5 * liked + 0.75)) < 1
    assert 1 <= first <= 5


def test_comparisons_teach(capsys):
    names: dict = {}
    exec(block(3), names)
    taught, obeyed = map(float, capsys.readouterr().out.splitlines()[0].split())
    assert taught > obeyed + 0.03
    assert names["model"].predict_triplets(names["unseen"]).max() > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_example_of_triplets_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(block(4), names)
    text = capsys.readouterr().out
    assert "3 triplets, 2 of them in 1 conflicts" in text
    assert "<- recommended" in text
    assert names["Triplets"].read(tmp_path / "known.csv") == names["known"]


def test_the_example_of_asking_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(block(5), names)
    assert capsys.readouterr().out.startswith("80 calls: ")
    assert names["asked"].consistency == 1.0
    assert names["asked"].triplets.named
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 80


def test_blocks_are_learned_one_after_the_other(capsys):
    names: dict = {}
    exec(block(8), names)
    assert capsys.readouterr().out.split() == ["4000", "(3,", "4)"]
    X = names["rng"].random((50, 4)) @ names["H"]
    left = X - names["model"].transform(X) @ names["model"].components_
    assert np.sum(left**2) < 0.02 * np.sum(X**2)


WITHOUT = """
import importlib.abc, re, sys, warnings

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ImportError(name + " is hidden")

sys.meta_path.insert(0, Blocker())
warnings.simplefilter("ignore")
text = open({readme!r}, encoding="utf-8").read()
blocks = re.findall(r"```python\\n(.*?)```", text, re.DOTALL)
for code in blocks:
    exec(compile(code, "README.md", "exec"), {{"__name__": "example"}})
print(len(blocks), "blocks ran")
"""


def test_the_examples_need_the_required_dependencies_only(tmp_path):
    meta = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {
        re.match(r"[\w-]+", wanted)[0].replace("-", "_")
        for group in meta["optional-dependencies"].values()
        for wanted in group
    }
    blocked = (extras | {"pandas", "polars"}) - {"joblib"}  # scikit-learn brings joblib along
    script = tmp_path / "without.py"
    script.write_text(WITHOUT.format(blocked=blocked, readme=str(ROOT / "README.md")))
    source = str(Path(rprnmf.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert re.search(r"^[1-9]\d* blocks ran$", run.stdout, re.MULTILINE)


def test_the_files_that_it_names_exist():
    for name in re.findall(r"`([\w/.]+\.(?:py|md))`", (ROOT / "README.md").read_text()):
        assert (ROOT / name).exists(), name


def test_the_first_job(capsys):
    runpy.run_path(str(ROOT / "examples" / "first_job.py"), run_name="__main__")
    text = capsys.readouterr().out
    distance = {
        name: [float(number) for number in re.search(rf"{name} +([\d.]+) +([\d.]+)", text).groups()]
        for name in ("Star Trek", "Titanic")
    }
    plain, guided = zip(distance["Star Trek"], distance["Titanic"], strict=True)
    assert plain[0] > plain[1]  # what the paper's Figure 1 shows
    assert guided[0] < guided[1]  # what the comparisons ask for
    rows = re.findall(r"^   (NMF|RPRNMF, [a-z ]+?) +([\d.]+)% +([\d.]+)%", text, re.MULTILINE)
    met = {name: float(share) for name, share, _ in rows}
    assert met["NMF"] < 90 < 99 < min(met[name] for name in met if name != "NMF")
