"""Run experiments: what is done is not done again, what is finished is on disk."""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning

from rprnmf.datasets import MissingDataError
from rprnmf.experiments.base import Experiment, Row, Settings, Values
from rprnmf.experiments.drawing import need_matplotlib
from rprnmf.experiments.page import Page, Section
from rprnmf.experiments.progress import Progress
from rprnmf.experiments.store import Store, alone
from rprnmf.threads import available_threads


def reproduce(
    name: str = "all",
    *,
    quick: bool = False,
    out: Any = None,
    jobs: int | None = None,
    report_only: bool = False,
    verbose: int = 1,
) -> Page:
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
        The folder for results and report; None is ``results``, or ``results-quick``.
    jobs : int, default=None
        How many processes; None is one for every core. Each fit uses one thread.
    report_only : bool, default=False
        Run nothing: write the report from what is stored.
    verbose : int, default=1
        0 is silent; 1 shows a bar with the time left.

    Returns
    -------
    page : Page
        What was written to ``report.html``, ``report.md`` and the CSV files beside them.

    Examples
    --------
    >>> import tempfile
    >>> from rprnmf.experiments import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = reproduce("exp-approximation", quick=True, out=folder, verbose=0)
    >>> page.sections[0].title
    'Figure 3: a piecewise linear function in place of the exponential'
    """
    from rprnmf.experiments import EXPERIMENTS

    if name != "all" and name not in EXPERIMENTS:
        known = ", ".join([*EXPERIMENTS, "all"])
        raise ValueError(f"no experiment is called {name!r}; there are {known}.")
    if jobs is not None and jobs == 0:
        raise ValueError("jobs must be a number of processes, 1 or more (or -1 for all), got 0.")
    folder = Path(out if out is not None else "results-quick" if quick else "results")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"out must be a folder, {folder} is a file.")
    need_matplotlib()
    chosen = list(EXPERIMENTS) if name == "all" else [name]
    processes = available_threads(jobs)
    found: dict[str, Section] = {}
    with nullcontext() if report_only else alone(folder):
        for experiment in (EXPERIMENTS[one] for one in chosen):
            try:
                if not report_only:
                    experiment.prepare()
                    run_jobs(experiment, experiment.jobs(quick), folder, processes, verbose)
            except MissingDataError as error:
                if name != "all":
                    raise
                found[experiment.name] = Section(experiment.name, experiment.title, str(error))
                if verbose:
                    print(f"{experiment.name}: {error}", file=sys.stderr)
            page = written(folder, quick, chosen, found)
    return page


def written(folder: Path, quick: bool, chosen: list[str], found: dict[str, Section]) -> Page:
    """Write the report of all that is stored in a folder, by this run or an earlier one."""
    from rprnmf.experiments import EXPERIMENTS

    page = Page("The experiments of the paper" + (", quick" if quick else ""))
    for experiment in EXPERIMENTS.values():
        wanted = experiment.jobs(quick)
        rows = stored(experiment, wanted, folder)
        if experiment.name in found:
            page.sections.append(found[experiment.name])
        elif rows or (experiment.name in chosen and not wanted):
            section = experiment.section(rows)
            if len(rows) < len(wanted):
                section.text = f"Incomplete: {len(rows)} of {len(wanted)} fits. {section.text}"
            page.sections.append(section)
        elif experiment.name in chosen:
            text = "There are no results yet."
            page.sections.append(Section(experiment.name, experiment.title, text))
    page.write(folder)
    return page


def stored(experiment: Experiment, wanted: list[Settings], folder: Path) -> list[Row]:
    """The results that there are, in the order of the jobs."""
    store = Store(folder / f"{experiment.name}.jsonl")
    rows = [store.get(settings) for settings in wanted]
    return [row for row in rows if row is not None]


def run_jobs(
    experiment: Experiment, wanted: list[Settings], folder: Path, processes: int, verbose: int
) -> None:
    """Do what is not done yet."""
    store = Store(folder / f"{experiment.name}.jsonl")
    left = [settings for settings in wanted if store.get(settings) is None]
    if left:
        costs = sum(map(experiment.cost, left))
        bar = Progress(experiment.name, costs, len(left)) if verbose else None
        for settings, values in finished(experiment, left, processes):
            store.add(settings, values)
            if bar:
                bar.step(experiment.cost(settings))


def finished(experiment: Experiment, left: list[Settings], processes: int) -> Any:
    """Settings and values of jobs as they are done; their threads do not outnumber the cores."""
    if processes == 1 or len(left) == 1:
        for settings in left:
            yield one(experiment.name, settings)
        return
    with parallel_config("loky", n_jobs=processes, inner_max_num_threads=1):
        work = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
        yield from work(delayed(one)(experiment.name, settings) for settings in left)


def one(name: str, settings: Settings) -> tuple[Settings, Values]:
    """One job, in whatever process."""
    from rprnmf.experiments import EXPERIMENTS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of sweeps is asked for
        try:
            return settings, EXPERIMENTS[name].run(settings)
        except Exception as error:
            error.add_note(f"in {name}, {settings}")
            raise
