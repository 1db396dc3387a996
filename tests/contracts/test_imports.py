"""The shape of the sources: data walk one way, functions are small, views speak for themselves."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import rprnmf

ROOT = Path(rprnmf.__file__).parent
#: a room may import only from rooms above it in this list
ORDER = [
    {"split", "threads", "kernels", "checks", "atomic_file", "progress"},
    {"array_file", "inputs"},
    {"remote"},
    {"checkpoints"},
    {"triplets", "observed", "graphs"},
    {"losses", "penalties", "priors", "tying"},
    {"scale", "labels"},
    {"objective"},
    {"remote_start"},
    {"start", "metrics"},
    {"solvers"},
    {"fitted"},
    {"estimators", "model_selection", "tops"},
    {"plotting"},
    {"datasets"},
    {"recommend"},
    {"persistence"},
    {"experiments"},
    {"cli"},
    {"__init__"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
FILES = sorted(ROOT.rglob("*.py"))
MOST_PARAMETERS, MOST_LINES = 8, 80


def ids(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def room(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(tree(path)):
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


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_imports_go_one_way(path):
    here = room(path)
    assert here in LEVEL, f"{here} has no place in the order of rooms"
    for other in imports(path) - {here}:
        assert LEVEL[other] < LEVEL[here], f"{path.name} of {here} imports {other}"


def test_only_the_required_dependencies_are_imported():
    required = {"numpy", "scipy", "sklearn", "numba", "rprnmf"}
    required |= {"threadpoolctl", "joblib", "llvmlite"}  # scikit-learn and numba bring them along
    for path in FILES:
        # the commands are made with click; who calls them without it is told what to install
        plain = room(path) != "cli" or path == ROOT / "cli" / "__init__.py"
        extra = set() if plain else {"click"}
        for node in tree(path).body:
            if isinstance(node, ast.Import):
                names = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").split(".")[0]}
            else:
                continue
            assert names - set(sys.stdlib_module_names) <= required | extra, path


def test_imports_inside_functions_are_seen(tmp_path):
    path = tmp_path / "lazy.py"
    path.write_text(
        "def f():\n    if True:\n        from rprnmf import cli\n    import rprnmf.start\n"
    )
    assert imports(path) == {"cli", "start"}


def exported(package: Path) -> set[str]:
    """The names in ``__all__`` of a package."""
    for node in tree(package / "__init__.py").body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


class Function(NamedTuple):
    """A function of the sources."""

    place: str  # file:name, or file:class.name
    node: ast.FunctionDef | ast.AsyncFunctionDef
    public: bool  # a function that a package exports, or a public method of its classes


def functions(path: Path) -> Iterator[Function]:
    """All functions of a file, those inside classes and functions included."""
    where = path.relative_to(ROOT).as_posix()
    estimators, here = exported(ROOT), exported(path.parent)

    def below(node, owner, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                public = child.name in here and not inside
                if owner in estimators | here and (
                    child.name == "__init__" or not child.name.startswith("_")
                ):
                    public = True
                name = f"{owner}.{child.name}" if owner else child.name
                yield Function(f"{where}:{name}", child, public)
                yield from below(child, None, True)
            elif isinstance(child, ast.ClassDef):
                yield from below(child, child.name, True)
            else:
                yield from below(child, owner, inside)

    yield from below(tree(path), None, False)


def n_parameters(node) -> int:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    every += [each for each in (node.args.vararg, node.args.kwarg) if each is not None]
    return len([each for each in every if each.arg not in ("self", "cls")])


def n_lines(node) -> int:
    """Without the docstring."""
    lines = node.end_lineno - node.lineno + 1
    if ast.get_docstring(node) is not None:
        lines -= node.body[0].end_lineno - node.body[0].lineno + 1
    return lines


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_functions_take_few_parameters_and_are_short(path):
    for place, node, public in functions(path):
        few = public or n_parameters(node) <= MOST_PARAMETERS
        assert few, f"{place} takes {n_parameters(node)} parameters, at most {MOST_PARAMETERS}"
        assert n_lines(node) <= MOST_LINES, f"{place} has {n_lines(node)} lines"


def test_the_limits_are_kept_by_what_they_count():
    text = """
def f(a, b, /, c, *d, e, **g):
    '''Two
    lines.'''
    return a

class C:
    def __init__(self, a): ...
"""
    body = ast.parse(text).body
    assert (n_parameters(body[0]), n_lines(body[0])) == (6, 2)
    assert n_parameters(body[1].body[0]) == 1


def views() -> set[str]:
    """The classes of `observed`, by what they derive from."""
    known = {"BaseView"}
    while True:
        found = {
            node.name
            for path in (ROOT / "observed").glob("*.py")
            for node in ast.walk(tree(path))
            if isinstance(node, ast.ClassDef)
            and known & {getattr(base, "id", "") for base in node.bases}
        }
        if found <= known:
            return known
        known |= found


def test_nobody_asks_for_the_class_of_a_view():
    """Missing entries live in `observed` and nowhere else: others ask the view itself."""
    known = views()
    assert {"FullDense", "FullSparse", "Masked"} <= known
    for path in FILES:
        if room(path) == "observed":
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                named = {getattr(leaf, "id", "") for leaf in ast.walk(node.args[1])}
                named |= {getattr(leaf, "attr", "") for leaf in ast.walk(node.args[1])}
                assert not named & known, f"{path.name}: {ast.unparse(node)}"
            if isinstance(node, ast.MatchClass):
                assert getattr(node.cls, "id", "") not in known, f"{path.name}: match of a view"
