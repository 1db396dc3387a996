"""Run experiments: what is done is not done again, what is finished is on disk."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from rprnmf.datasets import DataError
from rprnmf.experiments.base import Experiment, Row, Settings, Values
from rprnmf.experiments.drawing import need_matplotlib
from rprnmf.experiments.page import Page, Section
from rprnmf.experiments.progress import Progress, clock
from rprnmf.experiments.store import Store, alone, key
from rprnmf.experiments.tables import counted
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
        The folder for results and report; None is ``results``, or ``results-quick``. Quick fits
        do not go where others are.
    jobs : int, default=None
        How many processes; None is one for every core that the process may use, or as many as
        OMP_NUM_THREADS says. Each fit uses one thread.
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
    if jobs is not None and (not isinstance(jobs, Integral) or jobs < -1 or jobs == 0):
        raise ValueError(
            f"jobs must be a number of processes, 1 or more (or -1 for all), got {jobs!r}."
        )
    folder = Path(out if out is not None else default_folder(quick))
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise ValueError(f"out must be a folder, {place} is a file.")
    stores = {one: Store(folder / f"{one}.jsonl") for one in EXPERIMENTS}  # all can be read
    if report_only and not any(store.keys() for store in stores.values()):
        raise ValueError(f"there is nothing to report: there are no results in {folder}.")
    refuse_a_mixture(stores, quick)
    need_matplotlib()
    chosen = [EXPERIMENTS[one] for one in (EXPERIMENTS if name == "all" else [name])]
    report = Report(folder, quick, [experiment.name for experiment in chosen])
    if report_only:
        return report.write()
    processes = available_threads(jobs)
    if name != "all" and unfinished(chosen[0].jobs(quick), stores[name]):
        chosen[0].prepare()  # where there are no data nothing is written
    failures: list[Exception] = []
    lacking: list[str] = []
    with alone(folder):
        for experiment in chosen:
            try:
                errors = run_jobs(
                    experiment, experiment.jobs(quick), folder, processes, verbose, failures
                )
            except DataError as error:
                if name != "all":
                    raise
                errors = [error]
            texts = [str(each) for each in errors]
            lacking += texts
            report.renew(experiment.name, texts)
            page = report.write()
            for text in texts if verbose else ():
                print(f"{experiment.name}: {text}", file=sys.stderr)
    if failures:
        raise RuntimeError(
            f"{counted(len(failures), 'fit')} failed, the others are stored and reported; the "
            f"first: {type(failures[0]).__name__}: {failures[0]} ({failures[0].__notes__[-1]}). "
            "The same command tries again what is not done."
        ) from failures[0]
    page.lacking = lacking
    return page


def default_folder(quick: bool) -> str:
    """Where results go if nothing is said."""
    return "results-quick" if quick else "results"


def refuse_a_mixture(stores: dict[str, Store], quick: bool) -> None:
    """A report of quick fits must not take the place of one of all, or the other way round."""
    from rprnmf.experiments import EXPERIMENTS

    for name, store in stores.items():
        wanted, others = (
            {whatever_edition(job) for job in EXPERIMENTS[name].jobs(kind)}
            for kind in (quick, not quick)
        )
        done = store.keys()
        if (others - wanted) & {whatever_edition(json.loads(one)) for one in done}:
            theirs, ours = ("not quick", "quick") if quick else ("quick", "full")
            raise ValueError(
                f"{store.path} holds results of runs that were {theirs}; give {ours} ones another "
                "folder."
            )


def whatever_edition(settings: Settings) -> str:
    """The key of a job in this edition of the algorithms or another."""
    return key({name: value for name, value in settings.items() if name != "edition"})


class Report:
    """The report of all that is stored in a folder, by this run or an earlier one.

    Parameters
    ----------
    folder : Path
    quick : bool
    chosen : list of str
        Experiments that are named even if there is nothing of them.
    """

    def __init__(self, folder: Path, quick: bool, chosen: list[str]):
        self.folder, self.quick, self.chosen = folder, quick, chosen
        self.errors: dict[str, list[str]] = {}
        self.sections: dict[str, Section | None] = {}

    def renew(self, name: str, errors: list[str]) -> None:
        """There are new results of an experiment, or reasons why there are not."""
        self.errors[name] = errors
        self.sections.pop(name, None)

    def write(self) -> Page:
        """Write it; sections with nothing new are as they were."""
        from rprnmf.experiments import EXPERIMENTS

        title = "The experiments of the paper" + (", quick" if self.quick else "")
        page = Page(title, text=f"{ABOUT} Made by rprnmf {version('rprnmf')}, `rprnmf reproduce`.")
        for experiment in EXPERIMENTS.values():
            if experiment.name not in self.sections:
                self.sections[experiment.name] = self.section(experiment)
            section = self.sections[experiment.name]
            if section is not None:
                page.sections.append(section)
        page.write(self.folder)
        return page

    def section(self, experiment: Experiment) -> Section | None:
        """That of one experiment, with what is missing in front."""
        wanted = experiment.jobs(self.quick)
        rows = stored(experiment, wanted, self.folder)
        before = list(self.errors.get(experiment.name, []))
        if not rows:
            if experiment.name not in self.chosen:
                return None
            text = " ".join(before or ["There are no results yet."])
            return Section(experiment.name, experiment.title, text)
        section: Section = experiment.section(rows)
        if len(rows) < len(wanted):
            before.append(f"Incomplete: {len(rows)} of {len(wanted)} fits.")
        section.text = " ".join([*before, section.text])
        if all("seconds" in row for row in rows):
            took = clock(sum(row["seconds"] for row in rows))
            section.text += f" The {counted(len(rows), 'fit')} alone took {took} of one core."
        return section


def stored(experiment: Experiment, wanted: list[Settings], folder: Path) -> list[Row]:
    """The results that there are, in the order of the jobs."""
    store = Store(folder / f"{experiment.name}.jsonl")
    rows = [store.get(settings) for settings in wanted]
    return [row for row in rows if row is not None]


def unfinished(wanted: list[Settings], store: Store) -> list[Settings]:
    """The jobs that are not done."""
    return [settings for settings in wanted if store.get(settings) is None]


def run_jobs(
    experiment: Experiment,
    wanted: list[Settings],
    folder: Path,
    processes: int,
    verbose: int,
    failures: list[Exception],
) -> list[DataError]:
    """Do what is not done yet; returns which data some of it lacked.

    Where nothing can be done without data that are not there, that is an error. What fails is
    added to ``failures`` and the others go on.
    """
    store = Store(folder / f"{experiment.name}.jsonl")
    left = unfinished(wanted, store)
    lacking: dict[str, DataError] = {}
    if not left:
        return []
    experiment.prepare()
    costs = sum(map(experiment.cost, left))
    bar = Progress(experiment.name, costs, len(left)) if verbose else None
    try:
        for settings, found in finished(experiment, left, min(processes, len(left))):
            if isinstance(found, DataError):
                lacking[str(found)] = found
            elif isinstance(found, Exception):
                failures.append(found)
            else:
                store.add(settings, found)
            if bar:
                bar.step(experiment.cost(settings))
    except BrokenProcessPool as error:
        killed = RuntimeError("one of the processes was killed; did memory run out? Try fewer")
        killed.add_note(f"in {experiment.name}")
        killed.__cause__ = error
        failures.append(killed)
    return list(lacking.values())


def finished(
    experiment: Experiment, left: list[Settings], processes: int
) -> Iterator[tuple[Settings, Values | Exception]]:
    """Jobs as they are done; their threads do not outnumber the cores."""
    if processes == 1 or len(left) == 1:
        with threadpool_limits(1):
            for settings in left:
                yield one(experiment.name, settings)
        return
    with parallel_config("loky", n_jobs=processes, inner_max_num_threads=1):
        work = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
        yield from work(delayed(one_of_many)(experiment.name, settings) for settings in left)


def one_of_many(name: str, settings: Settings) -> tuple[Settings, Values | Exception]:
    """One job, in a process that other ones are beside."""
    end_with_parent()
    return one(name, settings)


@cache
def end_with_parent() -> None:
    """If the program that wants the result is killed, do not go on without it."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def one(name: str, settings: Settings) -> tuple[Settings, Values | Exception]:
    """One job, in whatever process: what it gave, or what went wrong."""
    from rprnmf.experiments import EXPERIMENTS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # tables say who stopped early
        try:
            found: Values | Exception = EXPERIMENTS[name].run(settings)
        except Exception as error:
            error.add_note(f"in {name}, {settings}")
            found = error
    return settings, found
