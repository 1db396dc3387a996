"""What a user waits for at first: importing, the first fit, and the very first fit.

All in fresh processes. Writes `results/first_call.*`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

LOSSES = ("frobenius", "kullback-leibler")
CASES = [
    *((data, loss) for data in ("dense", "sparse", "masked") for loss in LOSSES),
    *((data, loss) for data in ("dense + triplets", "masked + triplets") for loss in LOSSES),
]
IMPORT_LIMIT, WARM_LIMIT, COLD_LIMIT = 0.3, 0.5, 8.0
BASE = "import sklearn.decomposition, numba"


def import_seconds(statement: str) -> float:
    """Wall seconds of an import in a fresh process."""
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def one(data: str, loss: str) -> dict[str, float]:
    """Seconds of the first small fit in this process, and the median of five later ones."""
    import numpy as np
    import scipy.sparse as sp

    from rprnmf import NMF, RPRNMF

    data, _, knows = data.partition(" + ")
    rng = np.random.default_rng(0)
    X = rng.random((60, 40))
    if data != "dense":
        X[rng.random(X.shape) < 0.7] = 0
        X = sp.csr_matrix(X)
    seconds = []
    for _ in range(6):
        missing = "zero" if data == "masked" else None
        settings = {"beta_loss": loss, "missing": missing, "max_iter": 5, "tol": 0}
        started = time.perf_counter()
        if knows:
            RPRNMF(5, **settings, random_state=0).fit(X, row_triplets=[[0, 1, 2], [3, 4, 5]])
        else:
            NMF(5, **settings, random_state=0).fit(X)
        seconds.append(time.perf_counter() - started)
    return {"first": seconds[0], "later": median(seconds[1:])}


def in_process(data: str, loss: str, cache: str) -> dict[str, float]:
    """`one` in a fresh process whose compiled code is kept in the folder `cache`."""
    command = [sys.executable, __file__, "--one", data, loss]
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    from common import in_turn, start_process
    from report import Report, within

    quick, folder = start_process("first_call")
    repeats, cold_repeats = (2, 1) if quick else (7, 5)
    measured = (
        f"Fresh processes, medians of {repeats} ({cold_repeats} for the very first fit). import: "
        "import rprnmf, beside importing sklearn.decomposition and numba, in turn. first fit: of a "
        "60 x 40 matrix, compiled code in numba's cache, beside the median of five later fits in "
        "the same process; very first fit: with an empty cache. Difference: what the first costs "
        "more."
    )
    report = Report(folder, "first_call", "First calls", measured)

    def add(what: str, case: str, first: float, beside: float, difference: float, limit: float):
        row = {"what": what, "case": case, "seconds": first, "beside": beside}
        row |= {"ratio": first / beside, "difference": difference, "limit": limit}
        report.add(**row, within=within(difference, limit))

    import_seconds("import rprnmf")  # files are in the system's cache from here on
    programs = {"base": BASE, "ours": "import rprnmf"}
    runs = in_turn(
        {name: lambda _, code=code: import_seconds(code) for name, code in programs.items()},
        repeats,
    )
    ours, base = median(runs["ours"]), median(runs["base"])
    add("import", "rprnmf", ours, base, ours - base, IMPORT_LIMIT)
    for data, loss in CASES[::3] if quick else CASES:
        with tempfile.TemporaryDirectory() as root:
            caches = [os.path.join(root, str(i)) for i in range(cold_repeats)]
            cold = [in_process(data, loss, cache) for cache in caches]
            warm = [in_process(data, loss, caches[0]) for _ in range(repeats)]
        for what, done, limit in (
            ("first fit", warm, WARM_LIMIT),
            ("very first fit", cold, COLD_LIMIT),
        ):
            difference = median(run["first"] - run["later"] for run in done)
            first, later = (median(run[key] for run in done) for key in ("first", "later"))
            add(what, f"{data}, {loss}", first, later, difference, limit)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:4])))
    else:
        main()
