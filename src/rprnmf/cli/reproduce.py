"""``rprnmf reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rprnmf.cli.choices import EXPERIMENTS
from rprnmf.cli.command import command
from rprnmf.cli.report import Report


@command("rprnmf reproduce movie-example --quick --out results")
@click.argument("name", type=click.Choice([*EXPERIMENTS, "all"]), metavar="NAME")
@click.option("--quick", is_flag=True, help="Fewer and smaller fits, to see that all works.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for results and report (default: results, or results-quick).",
)
@click.option("--report-only", is_flag=True, help="Run nothing: report what is stored in DIR.")
@click.option(
    "--jobs",
    type=int,
    metavar="N",
    help="Processes (default: one for every core, or OMP_NUM_THREADS).",
)
def reproduce(given: Any) -> Report:
    """Run an experiment of the paper and write its report.

    NAME is one of movie-example, four-points, exp-approximation, synthetic-constraints,
    synthetic-size, parameters, datasets, orl, pie, movielens and all. Every finished fit is on
    disk at once: a run that was stopped goes on where it was. Exit code 3: all is done except
    what needs data sets that are not there.
    """
    from rprnmf.experiments import reproduce as run_experiment
    from rprnmf.experiments.harness.runner import default_folder

    given.run.after_stop = "The same command goes on from here."
    out = given.out or Path(default_folder(given.quick))
    report = run_experiment(
        given.name,
        quick=given.quick,
        out=out,
        jobs=given.jobs,
        report_only=given.report_only,
        verbose=0 if given.run.quiet else 1,
    )
    # an earlier run may have left others, which are in the report too
    sections = [each for each in report.sections if given.name in ("all", each.name)]
    parts = []
    for section in sections:
        parts.append("\n".join([f"\n{section.title}", *(f"  - {f}" for f in section.findings)]))
    page = out / "report.html"
    document = {
        "report": str(page),
        "sections": [
            {"name": each.name, "title": each.title, "findings": list(each.findings)}
            for each in sections
        ],
        "lacking": list(report.lacking),
    }
    return Report(document, [*parts, f"\nReport: {page}"], code=3 if report.lacking else 0)
