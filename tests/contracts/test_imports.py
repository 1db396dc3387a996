"""Data walk one way: a room may import only from rooms above it in this list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rprnmf

ROOT = Path(rprnmf.__file__).parent
ORDER = [
    {"split", "threads", "kernels", "checks", "atomic_file", "progress"},
    {"triplets", "observed"},
    {"losses", "penalties", "tying"},
    {"scale"},
    {"objective"},
    {"start", "metrics"},
    {"solvers"},
    {"estimators", "model_selection"},
    {"datasets"},
    {"experiments"},
    {"cli"},
    {"__init__"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "rprnmf" else []
            names = names or [module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("rprnmf.")}
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path):
    here = room(path)
    assert here in LEVEL, f"{here} has no place in the order of rooms"
    for other in imports(path) - {here}:
        assert LEVEL[other] < LEVEL[here], f"{path.name} of {here} imports {other}"


def test_only_the_required_dependencies_are_imported():
    required = {"numpy", "scipy", "sklearn", "numba", "rprnmf"}
    required |= {"threadpoolctl", "joblib", "llvmlite"}  # scikit-learn and numba bring them along
    for path in ROOT.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import):
                names = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").split(".")[0]}
            else:
                continue
            import sys

            assert names - set(sys.stdlib_module_names) <= required, path
