"""The versions that `make test-minimum` runs on are the lowest ones that are declared."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lowest():
    """Declared lower bounds, of the package and of its extras; exact pins are for tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    found = (re.fullmatch(r"([\w-]+)>=([\d.]+)", line) for line in lines)
    return sorted({match.groups() for match in found if match})


@pytest.mark.parametrize(("package", "version"), lowest())
def test_the_minimum_is_what_is_tested(package, version):
    lines = (ROOT / "tests" / "minimum.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    assert package in pins, f"{package} has no line in tests/minimum.txt"
    tested = [int(part) for part in pins[package].split(".")]
    declared = [int(part) for part in version.split(".")]
    assert tested[: len(declared)] == declared
    assert not any(tested[len(declared) :])  # 1.26.0 is the lowest 1.26
