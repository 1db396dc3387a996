"""The jobs of one experiment, and what a folder holds of them."""

from __future__ import annotations

import json
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

from rprnmf.datasets import DataError
from rprnmf.experiments.harness import processes
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, column
from rprnmf.experiments.harness.metric import counted
from rprnmf.experiments.harness.report import Section
from rprnmf.experiments.harness.store import Store, key
from rprnmf.progress import Progress, clock


class Results:
    """The jobs of one experiment, and what a folder holds of them.

    Stored values that the experiment cannot have written raise an error here.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
    quick : bool
        Which jobs it is about.
    """

    def __init__(self, experiment: Experiment, folder: Path, quick: bool):
        self.experiment, self.quick = experiment, quick
        self.jobs = experiment.jobs(quick)
        self.store = Store(folder / f"{experiment.name}.jsonl")
        self.lacking: list[str] = []  # which data sets were not there for some jobs
        self._section: Section | None = None
        for job in self.jobs:
            self.store.check(job, experiment.example(job))

    def refuse_mixture(self) -> None:
        """Raise if the folder holds full results and these are quick, or the other way round."""
        done = (json.loads(name) for name in self.store.done)
        others = set(map(without_edition, done)) - set(map(without_edition, self.jobs))
        if others and others & set(map(without_edition, self.experiment.jobs(not self.quick))):
            theirs, ours = ("not quick", "quick") if self.quick else ("quick", "full")
            raise ValueError(
                f"{self.store.path} holds results of runs that were {theirs}; give {ours} ones "
                "another folder."
            )

    @property
    def rows(self) -> list[Row]:
        """The results that there are, in the order of the jobs."""
        return [row for job in self.jobs if (row := self.store.get(job)) is not None]

    @property
    def left(self) -> list[Settings]:
        """The jobs that are not done."""
        return [job for job in self.jobs if self.store.get(job) is None]

    def run(self, n_processes: int, verbose: int) -> list[Exception]:
        """Do and store the jobs that are left; those that fail do not stop the others."""
        experiment, left = self.experiment, self.left
        failures: list[Exception] = []
        self.lacking, self._section = [], None
        if not left:
            return failures
        cost = sum(map(experiment.cost, left))
        try:
            experiment.prepare()
            with Progress(experiment.name, len(left), cost, silent=not verbose) as progress:
                for job, found in processes.finished(experiment, left, n_processes):
                    if isinstance(found, DataError):
                        self.lacking += [str(found)] if str(found) not in self.lacking else []
                    elif isinstance(found, Exception):
                        failures.append(found)
                    else:
                        self.store.add(job, found)
                    progress.step(experiment.cost(job))
        except DataError as error:  # nothing can be done without it
            self.lacking = [str(error)]
        except BrokenProcessPool as error:
            killed = RuntimeError("one of the processes was killed; did memory run out? Try fewer")
            killed.add_note(f"in {experiment.name}")
            killed.__cause__ = error
            failures.append(killed)
        return failures

    def section(self) -> Section:
        """The section of the report, made anew after a run; its text first says what is missing."""
        if self._section is None:
            self._section = self._new_section()
        return self._section

    def _new_section(self) -> Section:
        rows, texts = self.rows, list(self.lacking)
        found = self.experiment.section(rows) if rows else Section("")
        if not rows:
            texts = texts or ["There are no results yet."]
        elif len(rows) < len(self.jobs):
            texts.append(f"Incomplete: {len(rows)} of {len(self.jobs)} fits.")
        texts += [found.text] if rows else []
        seconds = column(rows, "seconds")
        if seconds:
            took = clock(sum(seconds))
            texts.append(f"The {counted(len(rows), 'fit')} alone took {took} of one core.")
        name, title = self.experiment.name, self.experiment.title
        return replace(found, name=name, title=title, text=" ".join(texts))


def without_edition(settings: Settings) -> str:
    """The key of a job, the same for all editions of the algorithms."""
    return key({name: value for name, value in settings.items() if name != "edition"})
