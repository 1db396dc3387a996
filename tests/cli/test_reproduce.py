"""``rprnmf reproduce``: reports, exit codes, and what is said when something is missing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from rprnmf.cli import main
from rprnmf.datasets import DataError
from rprnmf.experiments import EXPERIMENTS
from rprnmf.experiments.dataset_table import FOUND
from tests.cli.running import run_program


def test_a_report_is_written(tmp_path, capsys):
    assert main(["reproduce", "exp-approximation", "--quick", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Figure 3" in out
    assert str(tmp_path / "report.html") in out
    assert (tmp_path / "exp-approximation.png").stat().st_size > 5000


def test_as_a_process_and_for_a_program(tmp_path):
    arguments = ["reproduce", "exp-approximation", "--quick", "--jobs", "1", "--json"]
    done = run_program(*arguments, "--out", tmp_path)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["report"] == str(tmp_path / "report.html")
    assert document["sections"][0]["name"] == "exp-approximation"


def test_help_names_every_experiment(capsys):
    assert main(["reproduce", "--help"]) == 0
    text = "".join(capsys.readouterr().out.split())  # lines break at hyphens too
    assert all(name in text for name in [*EXPERIMENTS, "all"])


def test_an_unknown_experiment_is_a_usage_error(capsys):
    assert main(["reproduce", "figure-9"]) == 2
    assert "Usage: rprnmf reproduce" in capsys.readouterr().err


def test_missing_data_are_one_sentence_and_exit_1(tmp_path, monkeypatch, capsys):
    def refuse(*arguments, **options):
        raise OSError("no network here")

    monkeypatch.setenv("RPRNMF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("requests.get", refuse)
    EXPERIMENTS["orl"].prepare.func.cache_clear()
    out = tmp_path / "out"
    assert main(["reproduce", "orl", "--quick", "--out", str(out)]) == 1
    text = capsys.readouterr().err.strip()
    assert text.startswith("rprnmf reproduce: ORL faces (32 x 32) is missing")
    assert "\n" not in text
    assert not (out / "report.html").exists()


def test_what_was_left_out_for_want_of_data_shows_in_the_exit_code(tmp_path, monkeypatch, capsys):
    def absent():
        raise DataError("Not there.")

    for name in FOUND:
        monkeypatch.setitem(FOUND, name, absent if name == "CMU PIE" else lambda: [np.ones((2, 3))])
    arguments = ["reproduce", "datasets", "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 3
    assert "datasets: Not there." in capsys.readouterr().err
    monkeypatch.setitem(FOUND, "CMU PIE", lambda: [np.ones((2, 3))])
    assert main(arguments) == 0
    assert main([*arguments, "--report-only"]) == 0


def test_an_interrupt_and_an_error_have_their_codes(tmp_path, monkeypatch, capsys):
    def stops(settings):
        raise KeyboardInterrupt

    usual = EXPERIMENTS["exp-approximation"]
    monkeypatch.setitem(EXPERIMENTS, "exp-approximation", replace(usual, run=stops))
    arguments = ["reproduce", "exp-approximation", "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 130
    assert "The same command goes on from here" in capsys.readouterr().err
    arguments[3] = "0"
    assert main(arguments) == 1
    assert "rprnmf reproduce: jobs must be" in capsys.readouterr().err
    for flag in ("--debug", "--traceback"):
        with pytest.raises(ValueError, match="jobs must be"):
            main([*arguments[:2], "--jobs", "0", flag])
