"""A report as files: HTML, Markdown, CSV and pictures."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from pathlib import Path
from typing import Any

from rprnmf.atomic_file import atomic_file
from rprnmf.experiments.harness.metric import as_printed
from rprnmf.experiments.harness.report import Cell, Figure, Report, Section, Table


def write_report(report: Report, folder: Path) -> None:
    """Write report.html, report.md, and a file for every table and picture."""
    folder.mkdir(parents=True, exist_ok=True)
    for section in report.sections:
        for table in section.tables:
            _save(folder / f"{section.file_name(table)}.csv", csv_text(table))
        for figure in section.figures:
            _save(folder / f"{section.file_name(figure)}.svg", figure.svg)
            _save(folder / f"{section.file_name(figure)}.png", figure.png)
    _save(folder / "report.md", markdown(report))
    _save(folder / "report.html", html(report))


def _save(path: Path, content: str | bytes) -> None:
    with atomic_file(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def need_jinja2() -> Any:
    """The module, or what to install."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "the report needs jinja2 for its HTML page: pip install 'rprnmf[cli]'."
        ) from error
    return jinja2


def html(report: Report) -> str:
    """The report as one HTML file that needs no other."""
    jinja2 = need_jinja2()
    from markupsafe import Markup, escape

    def code(text: str) -> Any:
        """Escaped text, with code where there are backticks."""
        return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))

    def inline(figure: Figure, section: Section) -> Any:
        """The SVG element alone; ids get the name of the figure, so that they are unique."""
        svg = figure.svg[figure.svg.index("<svg") :]
        name = section.file_name(figure)
        return Markup(re.sub(r'( id="|"#|url\(#)', rf"\g<1>{name}-", svg))

    templates = jinja2.PackageLoader("rprnmf.experiments.harness")
    environment = jinja2.Environment(
        loader=templates, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(code=code, inline=inline, as_printed=as_printed)
    return environment.get_template("report.html").render(report=report) + "\n"


def markdown(report: Report) -> str:
    """The report as Markdown; pictures are the files beside it."""
    lines = [f"# {report.title}", "", report.text, ""]
    lines += [f"- {one.title}. {one.in_short}".rstrip() for one in report.sections] + [""]
    for section in report.sections:
        lines += [f"## {section.title}", "", section.text, ""]
        lines += [f"- {finding}" for finding in section.findings]
        lines += [""] if section.findings else []
        if section.notes:
            lines += ["How it was done:", "", *(f"- {note}" for note in section.notes), ""]
        for table in section.tables:
            name = f"{section.file_name(table)}.csv"
            lines += _table_lines(table) if table.shown else [f"{table.caption}: [{name}]({name})"]
            lines += [""]
        for figure in section.figures:
            name = f"{section.file_name(figure)}.svg"
            lines += [f"![{figure.caption}]({name})", "", figure.caption, ""]
    return "\n".join(lines)


def _table_lines(table: Table) -> list[str]:
    return [
        *(f"**{table.caption}**", ""),
        *(f"| {' | '.join(table.head)} |", "|" + "---|" * len(table.head)),
        *(f"| {' | '.join(map(_marked, row))} |" for row in table.rows),
    ]


def _marked(cell: Any) -> str:
    if not isinstance(cell, Cell):
        return str(cell).replace("|", "\\|")
    text = f"**{cell.text()}**" if cell.best else cell.text()
    return text + (f" ({as_printed(cell.published)})" if cell.published is not None else "")


def csv_text(table: Table) -> str:
    """A table as CSV; a cell has columns for its mean, standard deviation and published figure."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    columns = zip(*table.rows, strict=True) if table.rows else [()] * len(table.head)
    wide = [any(isinstance(cell, Cell) for cell in column) for column in columns]
    head = (
        [name, f"{name} sd", f"{name} published"] if three else [name]
        for name, three in zip(table.head, wide, strict=True)
    )
    writer.writerow(chain.from_iterable(head))
    for row in table.rows:
        writer.writerow(chain.from_iterable(map(_columns, row, wide)))
    return file.getvalue()


def _columns(cell: Any, three: bool) -> list[Any]:
    if not isinstance(cell, Cell):
        return [cell, "", ""] if three else [cell]
    found = (cell.value, cell.deviation, cell.published)
    return ["" if value is None else f"{value:.6g}" for value in found]
