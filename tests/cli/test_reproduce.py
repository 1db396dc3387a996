"""The command line's skeleton."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rprnmf.cli import main
from rprnmf.datasets import home
from rprnmf.experiments import EXPERIMENTS


def test_a_report_is_written(tmp_path, capsys):
    assert main(["reproduce", "exp-approximation", "--quick", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Figure 3" in out
    assert str(tmp_path / "report.html") in out
    assert (tmp_path / "exp-approximation.png").stat().st_size > 5000


def test_help_names_every_experiment(capsys):
    with pytest.raises(SystemExit) as found:
        main(["reproduce", "--help"])
    assert found.value.code == 0
    text = "".join(capsys.readouterr().out.split())  # lines break at hyphens too
    assert all(name in text for name in [*EXPERIMENTS, "all"])


@pytest.mark.parametrize("arguments", [[], ["fly"], ["reproduce", "figure-9"]])
def test_what_it_does_not_know_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as found:
        main(arguments)
    assert found.value.code == 2
    assert "usage: rprnmf" in capsys.readouterr().err


def test_missing_data_are_one_sentence_and_exit_1(tmp_path, monkeypatch, capsys):
    def refuse(*arguments, **options):
        raise OSError("no network here")

    monkeypatch.setenv("RPRNMF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(home.urllib.request, "urlopen", refuse)
    EXPERIMENTS["orl"].prepare.func.cache_clear()
    out = tmp_path / "out"
    assert main(["reproduce", "orl", "--quick", "--out", str(out)]) == 1
    text = capsys.readouterr().err.strip()
    assert text.startswith("rprnmf reproduce: ORL faces (32 x 32) is missing")
    assert "\n" not in text
    assert not (out / "report.html").exists()


def test_it_is_a_module_too():
    done = subprocess.run(
        [sys.executable, "-m", "rprnmf", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("rprnmf ")
