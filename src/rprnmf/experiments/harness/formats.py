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
    for name in ("report.md", "report.html"):
        _save(folder / name, render(name, report))


def _save(path: Path, content: str | bytes) -> None:
    with atomic_file(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def need_jinja2() -> Any:
    """The module, or what to install."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "the report needs jinja2 for its pages: pip install 'rprnmf[cli]'."
        ) from error
    return jinja2


def render(template: str, report: Report) -> str:
    """A report by a template: report.html, which needs no other file, or report.md."""
    page = template.endswith(".html")
    jinja2 = need_jinja2()
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rprnmf.experiments.harness"),
        autoescape=page,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(code=_code, inline=_inline, as_printed=as_printed, cell=_markdown)
    return environment.get_template(template).render(report=report).rstrip() + "\n"


def _code(text: str) -> Any:
    """Escaped text, with code where there are backticks."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def _inline(figure: Figure, section: Section) -> Any:
    """The SVG element alone; ids get the name of the figure, so that they are unique."""
    from markupsafe import Markup

    svg = figure.svg[figure.svg.index("<svg") :]
    return Markup(re.sub(r'( id="|"#|url\(#)', rf"\g<1>{section.file_name(figure)}-", svg))


def _markdown(cell: Any) -> str:
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
