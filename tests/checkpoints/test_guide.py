"""What `docs/long_runs.md` shows must run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "long_runs.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of the package")
@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
def test_the_examples_run(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    names: dict = {}
    exec(first, names)
    assert (tmp_path / "run.ckpt").exists()
    assert names["model"].row_satisfied_rate_ > 0.5
    assert "row triplets met" in capsys.readouterr().out
    n_iter = names["model"].n_iter_
    exec(second, names)  # the file is read, and nothing is printed for iterations
    assert names["model"].n_iter_ == n_iter
    assert capsys.readouterr().out == ""

    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    (tmp_path / "run.ckpt").unlink()
    names["model"].callback = interrupt
    exec(second, names)
    assert "stopped after 3 iterations" in capsys.readouterr().out
