"""Many changed files: python -m tests.fuzz.files --files 20000 --seed 0.

Every file is given to `rprnmf.load`, most with a right checksum. It must be read, or refused with
a FileFormatError; in bounded time and memory; and nothing may run that a file names. What was
read is used, for compiled code trusts what `load` checked. Batches run in processes of their
own, so that a crash is one line of the result. Writes `tests/fuzz/FILES.md`; exit code 1 if a
promise is broken.
"""

from __future__ import annotations

import argparse
import json
import pkgutil
import re
import signal
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import rprnmf
from rprnmf.persistence import FileFormatError
from rprnmf.recommend import Recommender
from tests.fuzz.forge import mutated
from tests.persistence import recommenders
from tests.persistence.cases import FITS, FRAMES, TRIPLETS, answers, fitted, named

HERE = Path(__file__).parent
BATCH = 500
SECONDS = 20
MEMORY = 1 << 22, 60  # bytes: so many, and so many per byte of the file
#: what Python tells before it runs code, opens a connection or starts a program
FORBIDDEN = ("exec", "compile", "pickle.", "os.system", "os.exec", "subprocess.", "socket.")
USES = (ValueError, TypeError, KeyError)  # what methods of a changed model may raise

watching: list[str] | None = None


def audit(event: str, arguments: Any) -> None:
    """Note what must not happen while a file is read."""
    if watching is not None and event.startswith(FORBIDDEN):
        watching.append(event)


def import_zones() -> None:
    """Python reads time zones from a package of data, whose parts are imported when first read."""
    try:
        import tzdata
    except ImportError:  # the system has them
        return
    for part in pkgutil.walk_packages(tzdata.__path__, "tzdata."):
        import_module(part.name)


def originals(folder: Path) -> list[bytes]:
    """Files of models of all sorts, of recommenders and of triplets."""
    import_zones()
    path, found = folder / "original", []
    models = [fitted(name)[0] for name in FITS]
    models += [recommenders.fitted(name) for name in recommenders.FITS]
    models += [recommenders.with_ids(kind) for kind in ("mixed", "numpy bytes")]
    models.append(rprnmf.NMF(row_prior=list(FRAMES.values())))
    models += [rprnmf.NMF(row_prior=frame) for frame in FRAMES.values()]
    models.append(rprnmf.NMF(row_prior=["data", np.eye(2)], random_state=np.random.RandomState(0)))
    for model in (*models, rprnmf.Triplets(TRIPLETS), rprnmf.Triplets(named())):
        rprnmf.save(model, path)
        rprnmf.load(path)  # what is imported late is imported now
        found.append(path.read_bytes())
    return found


def outcome(blob: bytes, path: Path) -> str:
    """ "refused: ...", "read", "read, then ...", or "FAILED: ..."."""
    global watching
    path.write_bytes(blob)
    tracemalloc.start()
    signal.alarm(SECONDS)
    watching = []
    try:
        model = rprnmf.load(path)
    except FileFormatError as error:
        found = f"refused: {str(error).removeprefix(str(path))}"
        if str(path) not in str(error):
            found = f"FAILED: the error does not name the file: {error}"
    except Exception as error:
        found = f"FAILED: {type(error).__name__}: {error}"
    else:
        found = "read"
    signal.alarm(0)
    peak, ran = tracemalloc.get_traced_memory()[1], watching
    watching = None
    tracemalloc.stop()
    if ran:
        found = f"FAILED: {ran[0]} while it was read"
    if peak > MEMORY[0] + MEMORY[1] * len(blob):
        found = f"FAILED: {peak} bytes of memory for {len(blob)} of the file"
    return found + used(model) if found == "read" else found


def used(model: Any) -> str:
    """Call the methods of what was read."""
    if isinstance(model, rprnmf.Triplets):
        model.summary()
        return ""
    if not hasattr(model, "components_") and not hasattr(model, "item_factors_"):
        return ""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if isinstance(model, Recommender):
                recommenders.answers(model)
                recommenders.taught(model)
            else:
                model.set_params(max_iter=3, n_jobs=1)
                n, m = len(model.embedding_), model.n_features_in_
                answers(model, np.random.default_rng(0).random((n, m)))
        except USES:
            return ", and its methods refuse"
        except Exception as error:
            return f", then {type(error).__name__}"
    return ", and used"


def one(seed: int, blobs: list[bytes], path: Path) -> str:
    """The outcome of a seed."""
    return outcome(mutated(np.random.default_rng(seed), blobs), path)


def batch(start: int, stop: int) -> None:
    """Worker: a line for each seed."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    sys.addaudithook(audit)
    signal.signal(signal.SIGALRM, late)
    with tempfile.TemporaryDirectory() as folder:
        blobs = originals(Path(folder))
        for seed in range(start, stop):
            print(json.dumps([seed, one(seed, blobs, Path(folder, "changed"))]), flush=True)


def summary(found: list[tuple[int, str]], command: str) -> str:
    """The result as a page."""
    kinds = Counter(re.split(r"[:]", text)[0] for _, text in found)
    reasons = Counter(
        re.sub(r"'[^']*'|[-+]?\d[\d.e+-]*", "#", text.removeprefix("refused:  cannot be read: "))[
            :80
        ]
        for _, text in found
        if text.startswith("refused")
    )
    lines = ["# Changed files", "", f"`{command}`", "What is checked: see `files.py`.", ""]
    lines += ["| outcome | files |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in kinds.most_common()]
    lines += ["", "The commonest reasons, numbers and names left out:", ""]
    lines += [f"- {count}: {text}" for text, count in reasons.most_common(40)]
    failed = [(seed, text) for seed, text in found if text.startswith("FAILED")]
    lines += ["", "Broken promises:" if failed else "No promise is broken.", ""]
    lines += [f"- seed {seed}: {text.removeprefix('FAILED: ')}" for seed, text in failed]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Exit code 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.files")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="the first; file i has seed + i")
    parser.add_argument("--out", type=Path, default=HERE / "FILES.md")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch:
        batch(*arguments.batch)
        return 0
    started, found = time.perf_counter(), []
    last, start = arguments.seed + arguments.files, arguments.seed
    while start < last:
        stop = min(start + BATCH, last)
        command = [sys.executable, "-m", "tests.fuzz.files", "--batch", str(start), str(stop)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        part = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
        found += part
        start += len(part)
        if done.returncode:
            found.append((start, f"FAILED: the process ended with exit code {done.returncode}"))
            start += 1
        wrong = sum(text.startswith("FAILED") for _, text in found)
        print(f"{len(found)} of {arguments.files} files, {wrong} failed", flush=True)
    minutes = (time.perf_counter() - started) / 60
    command = f"python -m tests.fuzz.files --files {arguments.files} --seed {arguments.seed}"
    page = summary(found, command).replace(f"`{command}`", f"`{command}`, {minutes:.0f} minutes.")
    arguments.out.write_text(page)
    return int(any(text.startswith("FAILED") for _, text in found))


if __name__ == "__main__":
    sys.exit(main())
