"""Run the benchmarks: python benchmarks/run.py [--quick] [--only NAME ...].

Each is a process of its own with one thread for every library. Results are written to
`benchmarks/results/` (with --quick to `benchmarks/results/quick/`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from common import HERE, environment

NAMES = (
    "first_call",
    "plain",
    "divergence",
    "ratings",
    "triplets",
    "synthetic",
    "growth",
    "large",
    "paper_speed",
    "figure5_speed",
    "toolkit",
    "reading",
    "questions",
    "learning_peers",
    "learning",
    "learning_speed",
    "choosing",
    "auto_strength",
    "new_rows",
    "stream",
    "few_labels",
    "graph_points",
    "graph_strength",
    "ratings_priors",
    "clicks_search",
    "clicks",
    "clicks_sparse",
    "recommend_tuning",
    "recommend_peers_search",
    "recommend_explicit",
    "recommend_cold",
    "recommend_time",
    "recommend_fold_in",
    "recommend_order",
    "recommend_speed",
    "face_settings",
    "kill",
    "dask_scaling",
    "dask_memory",
    "dask_kill",
)


def main() -> int:
    """Run what is asked for; the exit code is the number of benchmarks that failed."""
    parser = argparse.ArgumentParser(description="Run the benchmarks.")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.only:
        print(f"== {name}", flush=True)
        command = [sys.executable, str(HERE / f"{name}.py"), *["--quick"] * arguments.quick]
        started = time.perf_counter()
        code = subprocess.run(command, env=environment(), check=False).returncode
        print(f"== {name}: {time.perf_counter() - started:.0f} s, exit code {code}", flush=True)
        failed += code != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
