"""Run experiments: what is done is not done again, what is finished is on disk."""

from __future__ import annotations

import sys
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any

from rprnmf.experiments.harness.drawing import matplotlib_for_report
from rprnmf.experiments.harness.formats import need_jinja2, write_report
from rprnmf.experiments.harness.metric import counted
from rprnmf.experiments.harness.report import Report
from rprnmf.experiments.harness.results import Results
from rprnmf.experiments.harness.store import only_writer
from rprnmf.threads import available_threads

ABOUT = (
    "S. Jiang, K. Li and R. Y. D. Xu, Relative Pairwise Relationship Constrained Non-negative "
    "Matrix Factorisation, IEEE TKDE: its tables and figures, by the authors' rules and by this "
    "library's own solver on the same data. Figures in brackets are the published ones; the "
    "sentences are written from the numbers."
)


def reproduce(
    name: str = "all",
    *,
    quick: bool = False,
    out: Any = None,
    jobs: int | None = None,
    report_only: bool = False,
    verbose: int = 1,
) -> Report:
    """Run an experiment of the paper and write its report.

    Every finished fit is stored at once in ``out``; a run that was stopped goes on from there and
    ends in the same tables.

    Parameters
    ----------
    name : str, default="all"
        One of `rprnmf.experiments.EXPERIMENTS`, or "all".
    quick : bool, default=False
        Fewer and smaller fits: to see that everything works, not what the paper says.
    out : path-like, default=None
        The folder for results and report; None is ``results``, or ``results-quick``. Quick fits
        do not go where others are.
    jobs : int, default=None
        How many processes; None is one for every core that the process may use, or as many as
        OMP_NUM_THREADS says. Each fit uses one thread.
    report_only : bool, default=False
        Run nothing: write the report from what is stored.
    verbose : int, default=1
        0 is silent; 1 shows how far it is and the time left.

    Returns
    -------
    report : Report
        What was written to ``report.html``, ``report.md`` and the CSV files beside them.

    Examples
    --------
    >>> import tempfile
    >>> from rprnmf.experiments import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = reproduce("exp-approximation", quick=True, out=folder, verbose=0)
    >>> report.sections[0].title
    'Figure 3: a piecewise linear function in place of the exponential'
    """
    from rprnmf.experiments import EXPERIMENTS

    if name != "all" and name not in EXPERIMENTS:
        known = ", ".join([*EXPERIMENTS, "all"])
        raise ValueError(f"no experiment is called {name!r}; there are {known}.")
    if jobs is not None and (not isinstance(jobs, Integral) or jobs < -1 or jobs == 0):
        raise ValueError(
            f"jobs must be a number of processes, 1 or more (or -1 for all), got {jobs!r}."
        )
    folder = Path(out if out is not None else default_folder(quick))
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise ValueError(f"out must be a folder, {place} is a file.")
    results = {
        each: Results(experiment, folder, quick)
        for each, experiment in EXPERIMENTS.items()
        if name in (each, "all") or (folder / f"{each}.jsonl").exists()  # of an earlier run
    }
    if report_only and not any(each.store.done for each in results.values()):
        raise ValueError(f"there is nothing to report: there are no results in {folder}.")
    for each in results.values():
        each.refuse_mixture()
    matplotlib_for_report()  # before hours of work, not after
    need_jinja2()
    chosen = list(results.values()) if name == "all" else [results[name]]
    if report_only:
        return report_of(results, chosen, folder, quick)
    if name != "all" and chosen[0].left:
        chosen[0].experiment.prepare()  # so that without data nothing is written
    failures = []
    with only_writer(folder):
        for each in chosen:
            failures += each.run(available_threads(jobs), verbose)
            report = report_of(results, chosen, folder, quick)
            for text in each.lacking if verbose else ():
                print(f"{each.experiment.name}: {text}", file=sys.stderr)
    if failures:
        raise RuntimeError(
            f"{counted(len(failures), 'fit')} failed, the others are stored and reported; the "
            f"first: {type(failures[0]).__name__}: {failures[0]} ({failures[0].__notes__[-1]}). "
            "The same command tries again what is not done."
        ) from failures[0]
    return report


def default_folder(quick: bool) -> str:
    """The folder for results if none is given."""
    return "results-quick" if quick else "results"


def report_of(
    results: dict[str, Results], chosen: list[Results], folder: Path, quick: bool
) -> Report:
    """Write the report of all that is stored in a folder, by this run or an earlier one.

    Experiments that were asked for are named even if there is nothing of them.
    """
    report = Report(
        "The experiments of the paper" + (", quick" if quick else ""),
        [each.section() for each in results.values() if each in chosen or each.rows],
        f"{ABOUT} Made by rprnmf {version('rprnmf')}, `rprnmf reproduce`.",
        [text for each in chosen for text in each.lacking],
    )
    write_report(report, folder)
    return report
