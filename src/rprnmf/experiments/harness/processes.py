"""Jobs in this process or in several, one thread each."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache

from joblib import Parallel, delayed, parallel_config
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from rprnmf.experiments.harness.experiment import Experiment, Settings, Values

Outcome = tuple[Settings, Values | Exception]


def finished(experiment: Experiment, jobs: list[Settings], processes: int) -> Iterator[Outcome]:
    """The outcome of each job as soon as it is done; every process uses one thread."""
    processes = min(processes, len(jobs))
    if processes == 1:
        with threadpool_limits(1):
            for settings in jobs:
                yield run_one(experiment.name, experiment.run, settings)
        return
    with parallel_config("loky", n_jobs=processes, inner_max_num_threads=1):
        work = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
        yield from work(
            delayed(run_as_child)(experiment.name, experiment.run, settings) for settings in jobs
        )


def run_one(name: str, run: Callable[[Settings], Values], settings: Settings) -> Outcome:
    """One job, in whatever process: what it gave, or what went wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # tables say who stopped early
        try:
            return settings, run(settings)
        except Exception as error:
            error.add_note(f"in {name}, {settings}")
            return settings, error


def run_as_child(name: str, run: Callable[[Settings], Values], settings: Settings) -> Outcome:
    """One job, in a process that does not go on if its parent is killed."""
    end_with_parent()
    return run_one(name, run, settings)


@cache
def end_with_parent() -> None:
    """End this process when its parent is gone, for nobody would take the result."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
