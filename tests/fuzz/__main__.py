"""Many random calls: python -m tests.fuzz --calls 6000 --seed 0.

They run in processes of their own, so that a crash or an endless call is one line of the result
and not its end. Writes `tests/fuzz/RESULT.md`; exit code 1 if a promise is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from typing import Any

BATCH = 100
LONGEST = 120.0  # seconds for one call, with all that it compiles
HERE = Path(__file__).parent


def one(seed: int, extreme: float) -> str:
    """The outcome of a seed; every fifth call is broken on purpose."""
    from tests.fuzz.check import Broken, check_broken, check_call
    from tests.fuzz.damage import break_call
    from tests.fuzz.draw import draw_call

    call = draw_call(seed, extreme)
    try:
        return check_broken(break_call(call)) if seed % 5 == 4 else check_call(call)
    except Broken as error:
        return f"FAILED: expected {error}. {call}"
    except Exception as error:
        return f"FAILED: {type(error).__name__}: {error}. {call}"


def batch(start: int, stop: int, extreme: float) -> None:
    """Worker: a line for each seed."""
    for seed in range(start, stop):
        print(json.dumps([seed, one(seed, extreme)]), flush=True)


def follow(start: int, stop: int, extreme: float) -> list[tuple[int, str]]:
    """All outcomes of a range of seeds, in as many processes as it takes."""
    found: list[tuple[int, str]] = []
    while start < stop:
        command = [sys.executable, "-m", "tests.fuzz", "--batch", str(start), str(stop)]
        command += ["--extreme", str(extreme)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        lines: Queue[str | None] = Queue()
        reader = threading.Thread(target=read, args=(process, lines))
        reader.start()
        end = "ended with exit code {}"
        while start < stop:
            try:
                line = lines.get(timeout=LONGEST)
            except Empty:
                process.kill()
                end = f"took more than {LONGEST:.0f} s"
                line = None
            if line is None:
                found.append((start, f"FAILED: the process {end.format(process.wait())}"))
                start += 1
                break
            found.append(tuple(json.loads(line)))
            start += 1
        process.wait()
        reader.join()
    return found


def read(process: subprocess.Popen, lines: Queue) -> None:
    """Hand its lines on, None at the end."""
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def summary(found: list[tuple[int, str]], arguments: Any, seconds: float) -> str:
    """The result as a page."""
    kinds = Counter(text.split(":")[0] for _, text in found)
    failed = sorted((seed, text) for seed, text in found if text.startswith("FAILED"))
    refusals = Counter(
        re.sub(r"[-+]?\d[\d.e+-]*", "#", text.removeprefix("refused: "))[:90]
        for _, text in found
        if text.startswith("refused")
    )
    lines = ["# Random calls", ""]
    lines += [f"`python -m tests.fuzz --calls {arguments.calls} --seed {arguments.seed}"]
    lines[-1] += f" --extreme {arguments.extreme:g}`, {seconds / 60:.0f} minutes."
    lines += ["What is checked: see `check.py`.", "", "| outcome | calls |", "|---|---|"]
    lines += [f"| {name} | {kinds[name]} |" for name in ("fitted", "refused", "broken", "FAILED")]
    lines += ["", "fitted: all promises hold. refused: a valid call that asks for what cannot be "]
    lines[-1] += "combined. broken: a bad input, refused, and nothing has changed."
    lines += ["", "Refusals, numbers left out:", ""]
    lines += [f"- {count}: {text}" for text, count in refusals.most_common()]
    lines += ["", "Broken promises:" if failed else "No promise is broken.", ""]
    lines += [f"- seed {seed}: {text.removeprefix('FAILED: ')}" for seed, text in failed]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Exit code 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Random calls.")
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0, help="the first; call i has seed + i")
    parser.add_argument("--extreme", type=float, default=0.05, help="share of huge or tiny X")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=HERE / "RESULT.md")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch:
        batch(*arguments.batch, arguments.extreme)
        return 0
    started = time.perf_counter()
    last = arguments.seed + arguments.calls
    starts = range(arguments.seed, last, BATCH)
    found: list[tuple[int, str]] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for part in pool.map(
            lambda start: follow(start, min(start + BATCH, last), arguments.extreme), starts
        ):
            found += part
            for seed, text in part:
                if text.startswith("FAILED"):
                    print(f"\nseed {seed}: {text}", flush=True)
            wrong = sum(text.startswith("FAILED") for _, text in found)
            seconds = time.perf_counter() - started
            print(f"{len(found)} of {arguments.calls} calls, {wrong} failed, {seconds:.0f} s")
    arguments.out.write_text(summary(found, arguments, time.perf_counter() - started))
    return int(any(text.startswith("FAILED") for _, text in found))


if __name__ == "__main__":
    sys.exit(main())
