"""Virtual environments of the peers whose pins may clash with ours.

`python benchmarks/environments.py [NAME ...]` makes `benchmarks/.environments/NAME`; one that
cannot be installed is named and left out. `run` calls a worker script in one of them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import HERE, MissingError, environment

FOLDER = HERE / ".environments"
NUMERIC = ("numpy==2.4.6", "scipy==1.17.1")
PACKAGES: dict[str, tuple[str, ...]] = {
    "nimfa": ("nimfa==1.4.0", "numpy==1.26.4", "scipy==1.13.1"),  # uses np.mat
    "tensorly": ("tensorly==0.10.0", *NUMERIC),
    "pyplanc": ("pyplanc==0.0.2", "numpy==2.2.6", "scipy==1.17.1"),
    "cmfrec": ("cmfrec==3.5.1.post14", *NUMERIC, "pandas==3.1.1", "threadpoolctl==3.8.0"),
    "surprise": ("scikit-surprise==1.1.5", *NUMERIC, "pandas==3.1.1"),
    "cornac": ("cornac==3.0.1", *NUMERIC),
    "implicit": ("implicit==0.7.3", *NUMERIC, "tqdm==4.70.1", "threadpoolctl==3.8.0"),
    "wnmf": ("wNMF==0.0.42", *NUMERIC),
    "cblearn": ("cblearn==0.4.0", "numpy==1.26.4", "scipy==1.17.1", "scikit-learn==1.9.1"),
}


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment."""
    return FOLDER / name / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def make(name: str) -> bool:
    """Make one environment; False, with a line that says so, if it cannot be installed."""
    marker = FOLDER / name / "complete"
    if marker.exists():
        print(f"{name}: is there")
        return True
    venv.create(FOLDER / name, with_pip=True, clear=True)
    command = [str(python_of(name)), "-m", "pip", "install", "-q", *PACKAGES[name]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        print(f"{name}: cannot be installed ({reason})")
        return False
    marker.write_text("\n".join(PACKAGES[name]) + "\n")
    print(f"{name}: installed")
    return True


def flat(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays for an .npz file: a sparse matrix as its three parts and its shape."""
    out: dict[str, Any] = {}
    for name, value in arrays.items():
        if sp.issparse(value):
            for part in ("data", "indices", "indptr", "shape"):
                out[f"{name}_{part}"] = getattr(value, part)
        else:
            out[name] = value
    return out


def run(name: str, timeout: float = 3600, worker: str | None = None, **inputs: Any) -> dict:
    """Call `workers/NAME_worker.py`, or another worker, in an environment: what it writes.

    Raises MissingError, with a sentence for the table, where that is not possible.
    """
    if not (FOLDER / name / "complete").exists():
        raise MissingError(f"{name} is not installed (benchmarks/environments.py installs it)")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "inputs.npz", Path(folder) / "outputs.npz"
        np.savez(source, **flat(inputs))
        script = HERE / "workers" / f"{worker or name}_worker.py"
        command = [str(python_of(name)), str(script), str(source), str(target)]
        try:
            done = subprocess.run(
                command,
                env=environment(),
                timeout=timeout,
                capture_output=True,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise MissingError(f"{name} was stopped after {timeout:.0f} s") from None
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise MissingError(f"{name} failed: {lines[-1][:200]}")
        with np.load(target) as outputs:
            return {key: outputs[key] for key in outputs.files}


def main() -> int:
    """Make all environments, or those that are named."""
    for name in sys.argv[1:] or PACKAGES:
        make(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
