"""Run experiments: what is done is not done again, what is finished is on disk."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning

from rprnmf.datasets import MissingDataError
from rprnmf.experiments.base import Experiment, Row, Settings, Values
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
    folder = Path(out if out is not None else "results-quick" if quick else "results")
    chosen = list(EXPERIMENTS.values()) if name == "all" else [EXPERIMENTS[name]]
    processes = available_threads(jobs)
    page = Page("The experiments of the paper" + (", quick" if quick else ""))
    with alone(folder):
        for experiment in chosen:
            try:
                if not report_only:
                    experiment.prepare()
            except MissingDataError as error:
                if name != "all":
                    raise
                page.sections.append(Section(experiment.name, experiment.title, str(error)))
                if verbose:
                    print(f"{experiment.name}: {error}", file=sys.stderr)
                continue
            wanted = experiment.jobs(quick)
            if not report_only:
                run_jobs(experiment, wanted, folder, processes, verbose)
            rows = stored(experiment, wanted, folder)
            page.sections.append(
                experiment.section(rows)
                if rows or not wanted
                else Section(experiment.name, experiment.title, "There are no results yet.")
            )
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
        return settings, EXPERIMENTS[name].run(settings)
