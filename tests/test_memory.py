"""An incomplete matrix never becomes a dense one, and a label costs no more than the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from pathlib import Path
import numpy as np, scipy.sparse as sp
from rprnmf import RPRNMF

solver, beta_loss, missing_weight = sys.argv[1:]
rng = np.random.default_rng(0)
n, entries = 20_000, 1_000_000
rows, columns = rng.integers(n, size=(2, entries))
X = sp.csr_array((rng.integers(1, 6, size=entries).astype(float), (rows, columns)), shape=(n, n))
triplets = np.array([rng.choice(n, 3, replace=False) for _ in range(300)])
model = RPRNMF(20, solver=solver, beta_loss=beta_loss, missing="zero", max_iter=2, tol=0.0)
model.set_params(missing_weight=float(missing_weight))
model.fit(X, row_triplets=triplets, column_triplets=triplets)
assert np.isfinite(model.reconstruction_err_)
model.transform(X[:1000])
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")))
"""


TIED = """
from pathlib import Path
import numpy as np
from rprnmf import LCNMF

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))

X = np.random.default_rng(0).random((2000, 1200))
y = np.where(np.arange(2000) < 1000, 0, -1)  # one large label
model = LCNMF(50, beta_loss="kullback-leibler", init="random", max_iter=1, tol=0.0, random_state=0)
model.fit(X[:40, :30], y=y[:40])  # compiles
before = peak()
model.fit(X, y=y)
print(peak() - before)
"""


reads_proc = pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="peak memory is read from /proc: elsewhere it starts at that of the parent process",
)


@reads_proc
@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize(
    ("solver", "missing_weight"), [("cd", 0), ("mu", 0), ("paper", 0), ("cd", 0.1), ("mu", 0.1)]
)
def test_a_large_incomplete_matrix_stays_below_one_gigabyte(solver, missing_weight, beta_loss):
    arguments = [solver, beta_loss, str(missing_weight)]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1000  # MB; the dense matrix alone would take 3200


@reads_proc
def test_one_large_label_costs_no_more_than_a_few_times_the_data():
    done = subprocess.run([sys.executable, "-c", TIED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 200  # MB; X takes 18, one entry per component and value 460
