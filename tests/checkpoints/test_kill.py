"""kill -9, for real; `benchmarks/kill.py` does it some hundred times."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rprnmf.array_file import read_arrays

PROGRAM = """
import sys
import warnings
import numpy as np
from rprnmf import RPRNMF
from rprnmf.checkpoints import digest
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.random((40, 3)) @ rng.random((3, 30))
X[rng.random(X.shape) < 0.3] = np.nan
triplets = [rng.choice(40, 3, replace=False) for _ in range(60)]
model = RPRNMF(4, missing="nan", max_iter=600, tol=0, n_init=2, random_state=0)
keep = {"checkpoint": sys.argv[1], "checkpoint_every": 0} if len(sys.argv) > 1 else {}
model.fit(X, row_triplets=triplets, **keep)
print(digest([model.embedding_, model.components_, model.history_["objective"]]))
"""


def started(*arguments):
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def iterations(path):
    """How many iterations a checkpoint has, all solves together."""
    _, arrays = read_arrays(path, kind="checkpoint")
    return sum(len(array) for array in arrays.values() if array.shape[1:] == (9,))


@pytest.mark.skipif(sys.platform == "win32", reason="it has other signals")
def test_kill_9_a_few_times(tmp_path):
    path, rng = tmp_path / "run.ckpt", np.random.default_rng(0)
    with started() as process:
        expected = process.communicate(timeout=300)[0]
    reached = []
    for _ in range(3):
        before = path.stat().st_mtime_ns if path.exists() else 0
        with started(path) as process:
            while not path.exists() or path.stat().st_mtime_ns == before:
                assert process.poll() is None, "it ended before it could be killed"
                time.sleep(0.005)
            time.sleep(rng.uniform(0.0, 0.15))
            os.kill(process.pid, signal.SIGKILL)
        if process.wait() == 0:
            break
        reached.append(iterations(path))
    assert len(reached) > 1
    assert reached[-1] > 0
    with started(path) as process:
        assert process.communicate(timeout=300)[0] == expected
    assert os.listdir(tmp_path) == [path.name], "nothing is left of what was not finished"
