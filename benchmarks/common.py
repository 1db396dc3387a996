"""What the benchmarks share: environment, data, start factors, timing, memory."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).parent
THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA")
MARK = "RPRNMF_BENCHMARK_PROCESS"


class MissingError(Exception):
    """A data set or a peer is not there; the text says why, for the table."""


def environment(threads: int = 1) -> dict[str, str]:
    """The environment of a benchmark process: so many threads each, set before numpy loads."""
    counts = {f"{name}_NUM_THREADS": str(threads) for name in THREADS}
    return {**os.environ, **counts, MARK: "1"}


def start_process(name: str) -> tuple[bool, Path]:
    """Whether the run is quick, and the folder for its results; one thread from here on."""
    quick, folder, _ = start_parts(name, ())
    return quick, folder


def start_parts(name: str, parts: Sequence[str]) -> tuple[bool, Path, list[str]]:
    """The same for a benchmark in parts, and which of these to run: all unless --parts says."""
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    if parts:
        parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    given = parser.parse_args()
    if MARK not in os.environ:  # called directly and not by run.py
        os.execve(sys.executable, [sys.executable, *sys.argv], environment())
    warnings.simplefilter("ignore")  # stopping at max_iter is what is asked for here
    folder = HERE / "results" / "quick" if given.quick else HERE / "results"
    folder.mkdir(parents=True, exist_ok=True)
    return given.quick, folder, given.parts if parts else []


def data_file(name: str) -> Mapping[str, np.ndarray]:
    """The arrays of one file in the folder that RPRNMF_DATA names."""
    folder = os.environ.get("RPRNMF_DATA")
    if not folder or not (Path(folder) / name).exists():
        raise MissingError(f"{name} is not in the folder that RPRNMF_DATA names")
    return np.load(Path(folder) / name)


def load(name: str) -> tuple[Any, np.ndarray]:
    """X and the labels of "ORL", "PIE" (dense) or "TDT2" (CSR), in float64."""
    if name == "TDT2":
        data = data_file("tdt2_top30.npz")
        parts = data["data"].astype(float), data["indices"].astype(np.int32), data["indptr"]
        return sp.csr_matrix(parts, shape=tuple(data["shape"])), data["labels"].astype(int)
    data = data_file({"ORL": "orl_32x32.npz", "PIE": "pie_pose27_32x32.npz"}[name])
    return data["images"].astype(float), data["labels"].astype(int)


def random_start(X: Any, K: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """W and H of scikit-learn's init="random", read-only, so that nobody moves the start."""
    from sklearn.decomposition._nmf import _initialize_nmf

    W, H = _initialize_nmf(X, K, init="random", random_state=seed)
    W.flags.writeable = H.flags.writeable = False
    return W, H


def without_priors(model: Any) -> dict[str, None]:
    """Parameters that turn default priors off, in versions that have any."""
    return {name: None for name in model.get_params() if name.endswith("_prior")}


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Wall seconds of a call, and what it returns."""
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def cpu_seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns: other programs on the machine do not count."""
    started = time.process_time()
    result = call()
    return time.process_time() - started, result


def in_turn(programs: Mapping[str, Callable[[int], Any]], repeats: int) -> dict[str, list]:
    """Results of each program: repeat 0 of all of them, then repeat 1 of all, and so on."""
    results: dict[str, list] = {name: [] for name in programs}
    for repeat in range(repeats):
        for name, program in programs.items():
            results[name].append(program(repeat))
    return results


def median(values: Iterable[float]) -> float:
    """The median; NaN if any of them is not known."""
    values = list(values)
    known = values and not any(v is None or np.isnan(v) for v in values)
    return statistics.median(values) if known else float("nan")


def log_slope(sizes: Sequence[float], seconds: Sequence[float], last: int = 4) -> float:
    """Exponent of the growth over the largest steps, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes[-last:]), np.log(seconds[-last:]), 1)[0])


def reset_peak() -> None:
    """Give free memory back and forget the process's highest memory, where the system can."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """The highest resident memory, in MB, since `reset_peak` or the start of the program.

    `ru_maxrss` is the fallback: it starts at the size of the process that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
