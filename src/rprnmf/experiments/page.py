"""A report: sections with text, tables and figures, as HTML, Markdown, CSV and pictures."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from rprnmf.atomic_file import atomic_file

STYLE = """
:root { color-scheme: light dark; --line: #d5d9de; --soft: #f5f6f8; --text: #1d2430;
  --quiet: #5c6675; --paper: #ffffff; --mark: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --line: #39414d; --soft: #222831; --text: #e6e9ee;
  --quiet: #a3adba; --paper: #181c22; --mark: #7db8f5; } .figure { background: #fff; } }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1.25rem 4rem; background: var(--paper);
  color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.3rem; margin-top: 3rem; padding-top: 1rem;
  border-top: 1px solid var(--line); } h3 { font-size: 1rem; margin: 1.75rem 0 .4rem; }
p, li { max-width: 46rem; } a { color: var(--mark); } nav ul { padding-left: 1.1rem; }
nav li { margin: .35rem 0; }
.scroll { overflow-x: auto; margin: 1rem 0 1.6rem; }
.quiet { color: var(--quiet); font-size: .86rem; }
.scroll .quiet { margin: 0 0 .3rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .45rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; vertical-align: top; }
th { background: var(--soft); font-weight: 600; white-space: normal; vertical-align: bottom; }
.published { display: block; color: var(--quiet); font-size: .92em; line-height: 1.25; }
th:first-child, td:first-child { text-align: left; } tbody tr:hover { background: var(--soft); }
.figure { margin: 1rem 0; border-radius: .4rem; } .figure svg { max-width: 100%; height: auto; }
"""


@dataclass
class Cell:
    """A number with how far it spreads, beside a published one, and whether it is the best.

    ``diverged`` counts the runs that gave no number and are not in it.
    """

    value: float | None
    spread: float | None = None
    published: float | None = None
    best: bool = False
    digits: int = 3
    diverged: int = 0

    def text(self) -> str:
        """As it stands in a table, without marks."""
        found = "-" if self.value is None else number(self.value, self.digits)
        if self.spread is not None:
            found += f" ± {number(self.spread, 2)}"
        return found + (f", {self.diverged} diverged" if self.diverged else "")


def number(value: float, digits: int) -> str:
    """So many significant digits, never more than the number needs before the point."""
    if value != value:
        return "-"
    size = abs(float(f"{value:.{digits}g}"))
    if size >= max(10, 10 ** (digits - 2)):
        return f"{value:.{1 if digits > 2 and size < 1000 else 0}f}"
    if 0 < size < 1e-3:
        return f"{value:.{digits - 1}e}".replace("e-0", "e-")
    return f"{value:#.{digits}g}" if size else "0"


def as_printed(value: float) -> str:
    """A published figure: no digit that is not there."""
    return f"{value:.4g}" if abs(value) >= 1e-3 or not value else number(value, 4)


@dataclass
class Table:
    """Rows of cells or plain text under a head."""

    name: str
    caption: str
    head: Sequence[str]
    rows: list[list[Any]]
    shown: bool = True  # else it is in a file only


@dataclass
class Figure:
    """A picture: SVG text and PNG bytes."""

    name: str
    caption: str
    svg: str
    png: bytes


@dataclass
class Section:
    """What one experiment has to say; in one sentence ``headline``, else its first finding.

    ``notes`` say how it was done.
    """

    name: str
    title: str
    text: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    headline: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def in_short(self) -> str:
        """For the list of all sections."""
        return self.headline or " ".join(self.findings[:1])


@dataclass
class Page:
    """The whole report."""

    title: str
    sections: list[Section] = field(default_factory=list)
    text: str = ""
    lacking: list[str] = field(default_factory=list)  # which data sets were not there, and why

    def write(self, folder: Any) -> None:
        """Write report.html, report.md, and a file for every table and picture.

        Parameters
        ----------
        folder : path-like
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for section in self.sections:
            for table in section.tables:
                save(folder / f"{table.name}.csv", csv_text(table))
            for figure in section.figures:
                save(folder / f"{figure.name}.svg", figure.svg)
                save(folder / f"{figure.name}.png", figure.png)
        save(folder / "report.md", self.markdown())
        save(folder / "report.html", self.html())

    def markdown(self) -> str:
        """As Markdown; pictures are the files beside it."""
        lines = [f"# {self.title}", "", self.text, ""]
        lines += [f"- {one.title}. {one.in_short}".rstrip() for one in self.sections] + [""]
        for section in self.sections:
            lines += [f"## {section.title}", "", section.text, ""]
            lines += [f"- {finding}" for finding in section.findings]
            lines += [""] if section.findings else []
            if section.notes:
                lines += ["How it was done:", "", *(f"- {note}" for note in section.notes), ""]
            for table in section.tables:
                if not table.shown:
                    lines += [f"{table.caption}: [{table.name}.csv]({table.name}.csv)", ""]
                    continue
                lines += [f"**{table.caption}**", "", "| " + " | ".join(table.head) + " |"]
                lines += ["|" + "---|" * len(table.head)]
                lines += ["| " + " | ".join(map(_marked, row)) + " |" for row in table.rows] + [""]
            for figure in section.figures:
                lines += [f"![{figure.caption}]({figure.name}.svg)", "", figure.caption, ""]
        return "\n".join(lines)

    def html(self) -> str:
        """As one file that needs no other."""
        parts = [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head><body>",
            f"<h1>{escape(self.title)}</h1><p>{_code(self.text)}</p><nav><ul>",
            *(
                f'<li><a href="#{s.name}">{escape(s.title)}</a>'
                f'<br><span class="quiet">{escape(s.in_short)}</span></li>'
                for s in self.sections
            ),
            "</ul></nav>",
        ]
        for section in self.sections:
            parts += [f'<h2 id="{section.name}">{escape(section.title)}</h2>']
            parts += [f"<p>{escape(section.text)}</p>"]
            parts += [
                f"<h3>{head}</h3><ul>{''.join(f'<li>{_code(text)}</li>' for text in texts)}</ul>"
                for head, texts in (("Found", section.findings), ("How it was done", section.notes))
                if texts
            ]
            parts += [_table_html(table) for table in section.tables if table.shown]
            parts += [
                f'<div class="figure">{_inline(figure)}</div>'
                f'<p class="quiet">{escape(figure.caption)}</p>'
                for figure in section.figures
            ]
        return "\n".join([*parts, "</body></html>\n"])


def _code(text: str) -> str:
    """Text with what stands between backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _table_html(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.head)
    body = "".join(
        "<tr>" + "".join(f"<td>{_bold(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    name = f"{table.name}-caption"  # no <caption>: it would be as wide as the table, or widen it
    return (
        f'<div class="scroll"><p class="quiet" id="{name}">{escape(table.caption)}</p>'
        f'<table aria-labelledby="{name}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _bold(cell: Any) -> str:
    if not isinstance(cell, Cell):
        return escape(str(cell))
    text = escape(cell.text())
    text = f"<strong>{text}</strong>" if cell.best else text
    if cell.published is not None:
        text += f' <span class="published">({as_printed(cell.published)})</span>'  # one below
    return text


def _marked(cell: Any) -> str:
    if not isinstance(cell, Cell):
        return str(cell).replace("|", "\\|")
    text = f"**{cell.text()}**" if cell.best else cell.text()
    return text + (f" ({as_printed(cell.published)})" if cell.published is not None else "")


def _inline(figure: Figure) -> str:
    """Without what may stand only at the head of a file; names are those of this figure alone."""
    svg = figure.svg[figure.svg.index("<svg") :]
    return re.sub(r'( id="|"#|url\(#)', rf"\g<1>{figure.name}-", svg)


def csv_text(table: Table) -> str:
    """Six digits: a column for the mean, the spread and the published figure of every cell."""
    import io

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    wide = [
        place
        for place in range(len(table.head))
        if any(isinstance(row[place], Cell) for row in table.rows)
    ]
    head: list[str] = []
    for place, name in enumerate(table.head):
        head += [name, f"{name} sd", f"{name} published"] if place in wide else [name]
    writer.writerow(head)
    for row in table.rows:
        cells: list[Any] = []
        for place, cell in enumerate(row):
            if place not in wide:
                cells.append(cell)
            elif isinstance(cell, Cell):
                cells += [_plain(cell.value), _plain(cell.spread), _plain(cell.published)]
            else:
                cells += [cell, "", ""]
        writer.writerow(cells)
    return file.getvalue()


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def save(path: Path, content: str | bytes) -> None:
    """Write a file at once, never in part."""
    with atomic_file(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
