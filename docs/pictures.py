"""Make the pictures of docs/pictures.md by the code that stands above each of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib

from rprnmf.plotting.style import RC

PAGE = Path(__file__).with_name("pictures.md")
# code, and perhaps the file of the picture that it makes
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n!\[[^\]]*\]\(pictures/([\w.-]+)\))?", re.DOTALL)


def make(folder: Path) -> dict[str, object]:
    """Run the page; the Axes of every picture, by the name of its file."""
    matplotlib.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, object] = {"__name__": "pictures"}
    made = {}
    with matplotlib.rc_context(RC | {"axes.grid": False}):
        for code, file in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            exec(compile(code, PAGE.name, "exec"), names)
            if file:
                ax = made[file] = names.pop("ax")
                ax.figure.savefig(folder / file, metadata={"Date": None}, dpi=110)
                matplotlib.pyplot.close(ax.figure)
    return made


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.parent / "pictures")
