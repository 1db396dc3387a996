"""Run an experiment of the paper and write its report."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    from rprnmf.experiments import EXPERIMENTS

    parser.epilog = "Exit code 3: all is done except what needs data sets that are not there."
    parser.add_argument(
        "name", choices=[*EXPERIMENTS, "all"], metavar="NAME", help=", ".join([*EXPERIMENTS, "all"])
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer and smaller fits, to see that all works"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for results and report (default: results, or results-quick)",
    )
    parser.add_argument(
        "--report-only", action="store_true", help="run nothing: report what is stored in DIR"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="processes (default: one for every core, or OMP_NUM_THREADS)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    from rprnmf.experiments import reproduce
    from rprnmf.experiments.harness.runner import default_folder

    out = arguments.out or Path(default_folder(arguments.quick))
    report = reproduce(
        arguments.name,
        quick=arguments.quick,
        out=out,
        jobs=arguments.jobs,
        report_only=arguments.report_only,
    )
    for section in report.sections:
        if arguments.name not in ("all", section.name):
            continue  # an earlier run found it; it is in the report
        print(f"\n{section.title}")
        for finding in section.findings:
            print(f"  - {finding}")
    print(f"\nReport: {out / 'report.html'}")
    return 3 if report.lacking else 0
