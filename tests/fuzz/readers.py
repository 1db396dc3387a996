"""Damaged files of every format: python -m tests.fuzz.readers --files 6000 --seed 0.

Each is read in a process with a limit on its memory; a crash or an endless read is one line of the
result. Allowed is a matrix of finite numbers of at least 0, or an `InputError`. Writes
`tests/fuzz/READERS.md`; exit code 1 if anything else came out.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from rprnmf.inputs import InputError, read_matrix

BATCH = 250
LONGEST = 60.0  # seconds for one file
MEMORY = 3 << 30  # bytes of address space beyond what the process starts with
HERE = Path(__file__).parent
RNG = np.random.default_rng(0)
X = np.round(RNG.random((9, 6)), 3) * (RNG.random((9, 6)) < 0.6)
ODD = [b"\0", b"\xff", b'"', b",", b"\n", b"\r", b"-", b"1e999", b"nan", b"999999999999999999999"]
ODD += [
    b"\x93NUMPY",
    b"PK\3\4",
    b"\x1f\x8b",
    b"(1000000000000, 9)",
    b"\xff\xff\xff\x7f",
    b"::",
    b"%%",
]
ODD += ["é\u2028".encode(), b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"cos\nsystem\n(S'id'\ntR."]


def written(save, array) -> bytes:
    """What a library writes."""
    file = io.BytesIO()
    save(file, array)
    return file.getvalue()


def seeds() -> dict[str, bytes]:
    """A sound file of every format, by name."""
    S = sp.csr_array(X)
    rows = [",".join(map(str, row)) for row in X.tolist()]
    table = "\n".join(["name,a,b,c,d,e,f"] + [f"r{k},{row}" for k, row in enumerate(rows)])
    long = "user,item,rating\n" + "".join(f"u{k % 7},i{k % 5},{k % 3}.5\n" for k in range(40))
    numbers = "".join(f"{k % 7},{k % 5 + 100},{k % 3},97830{k:04}\n" for k in range(40))
    texts = "id,text\n" + "".join(f'{k},"the cat, number {k} sat on a mat"\n' for k in range(9))
    found = {
        "table.csv": table.encode(),
        "bare.txt": "\n".join(row.replace(",", " ") for row in rows).encode(),
        "comma.csv": table.replace(",", ";").replace(".", ",").encode(),
        "latin.csv": table.replace("r", "é").encode("latin-1"),
        "wide.csv": table.encode("utf-16"),
        "ratings.csv": long.encode(),
        "u.data": numbers.replace(",", "\t").encode(),
        "ratings.dat": numbers.replace(",", "::").encode(),
        "texts.csv": texts.encode(),
        "X.npy": written(np.save, X),
        "X.npz": written(lambda file, array: np.savez_compressed(file, X=array), X),
        "S.npz": written(sp.save_npz, S),
        "X.mtx": written(scipy.io.mmwrite, X),
        "S.mtx": written(scipy.io.mmwrite, S),
        "X.mat": written(lambda file, array: scipy.io.savemat(file, {"X": array}), X),
        "P.mat": written(
            lambda file, array: scipy.io.savemat(file, {"S": array}, do_compression=True), S
        ),
        "old.mat": written(lambda file, array: scipy.io.savemat(file, {"X": array}, format="4"), X),
    }
    found["table.csv.gz"] = gzip.compress(found["table.csv"], mtime=0)
    found["S.mtx.gz"] = gzip.compress(found["S.mtx"], mtime=0)
    return found | images() | parquet_and_hdf5()


def images() -> dict[str, bytes]:
    """Images, each to be read as the one file of a folder."""
    from PIL import Image

    picture = Image.fromarray((X * 255).astype(np.uint8))
    found = {}
    for suffix in ("png", "jpeg", "bmp", "gif", "tiff", "ppm", "webp"):
        file = io.BytesIO()
        picture.save(file, suffix)
        found[f"folder/a.{suffix}"] = file.getvalue()
    return found


def parquet_and_hdf5() -> dict[str, bytes]:
    """Formats of other libraries."""
    import h5py
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({f"c{k}": X[:, k] for k in range(6)}), file)
    found = {"X.parquet": file.getvalue()}
    file = io.BytesIO()
    with h5py.File(file, "w") as h5:
        group, S = h5.create_group("X"), sp.csr_array(X)
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", X.shape
        group["data"], group["indices"], group["indptr"] = S.data, S.indices, S.indptr
        for axis, n in (("obs", 9), ("var", 6)):
            names = h5.create_group(axis)
            names.attrs["_index"] = "_index"
            names["_index"] = [f"{axis}{k}" for k in range(n)]
    found["X.h5ad"] = file.getvalue()
    return found


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The same with one to four changes."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(0, max(len(out), 1)))
        kind = int(rng.integers(0, 7))
        if kind == 0 and out:
            out[at % len(out)] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            odd = ODD[int(rng.integers(len(ODD)))]
            out[at:at] = odd
        elif kind == 2:
            odd = ODD[int(rng.integers(len(ODD)))]
            out[at : at + len(odd)] = odd
        elif kind == 3:
            del out[at:]
        elif kind == 4:
            del out[at : at + int(rng.integers(1, 40))]
        elif kind == 5:
            out[at:at] = out[at : at + int(rng.integers(1, 400))]
        else:
            out[at : at + 4] = rng.bytes(4)
    return bytes(out)


def one(seed: int, files: dict[str, bytes], folder: Path) -> str:
    """Damage a file, read it: "read", "refused: ..." or "FAILED: ..."."""
    rng = np.random.default_rng(seed)
    name = sorted(files)[seed % len(files)]
    data = damaged(files[name], rng)
    if rng.random() < 0.1:
        data = gzip.compress(data)
    for old in folder.rglob("*.*"):
        old.unlink()
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    target = path.parent if path.parent != folder else path
    try:
        found = read_matrix(target, n_jobs=1)
    except InputError as error:
        if len(str(error)) < 20 or not str(error).startswith(str(target)):
            return f"FAILED: {name}: a message that says nothing: {error}"
        return f"refused: {str(error).removeprefix(str(target))}"
    except BaseException as error:
        return f"FAILED: {name}: {type(error).__name__}: {error}"
    values = found.X.data if sp.issparse(found.X) else found.X
    sound = values.dtype == np.float64 and not (values < 0).any() and not np.isinf(values).any()
    sound &= found.X.ndim == 2 and bool(found.note)
    return "read" if sound else f"FAILED: {name}: a matrix that must not be"


def batch(start: int, stop: int) -> None:
    """Worker: a line for each seed, within the limit on memory."""
    files = seeds()
    with tempfile.TemporaryDirectory() as place:
        for name, data in files.items():  # compile and import all before memory is limited
            path = Path(place) / "warm" / Path(name).name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            read_matrix(path.parent if name.startswith("folder") else path, n_jobs=1)
            path.unlink()
        path.parent.rmdir()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        for seed in range(start, stop):
            print(json.dumps([seed, one(seed, files, Path(place))]), flush=True)


def follow(start: int, stop: int) -> list[tuple[int, str]]:
    """All outcomes of a range of seeds, in as many processes as it takes."""
    found: list[tuple[int, str]] = []
    while start < stop:
        command = [sys.executable, "-m", "tests.fuzz.readers", "--batch", str(start), str(stop)]
        limit = LONGEST + 2.0 * (stop - start)
        end = ""
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
            text, end = done.stdout, f"ended with exit code {done.returncode}"
        except subprocess.TimeoutExpired as error:
            text = (error.stdout or b"").decode()
            end = f"took more than {limit:.0f} s"
        lines = [tuple(json.loads(line)) for line in text.splitlines() if line.endswith("]")]
        found += lines
        start += len(lines)
        if start < stop:
            found.append((start, f"FAILED: the process {end}"))
            start += 1
    return found


def page(found: list[tuple[int, str]], files: int, seed: int, seconds: float) -> str:
    """The result."""
    kinds = Counter(text.split(":")[0] for _, text in found)
    failed = [(at, text) for at, text in found if text.startswith("FAILED")]
    command = f"python -m tests.fuzz.readers --files {files} --seed {seed}"
    lines = [
        "# Damaged files",
        "",
        f"`{command}`, {seconds:.0f} s, {len(seeds())} formats and variants; a process may use "
        f"{MEMORY >> 30} GB more than it begins with.",
        "",
        "| outcome | files |",
        "|---|---|",
        *(f"| {name} | {kinds[name]} |" for name in ("read", "refused", "FAILED")),
        "",
        "read: a matrix of numbers of at least 0. refused: an `InputError` that names the file and "
        "the reason.",
        "",
        *(f"- seed {at}: {text.removeprefix('FAILED: ')}" for at, text in failed),
    ]
    return "\n".join(lines if failed else [*lines, "Nothing else came out."]) + "\n"


def main() -> int:
    """Exit code 1 if something failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.readers")
    parser.add_argument("--files", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=HERE / "READERS.md")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch:
        batch(*arguments.batch)
        return 0
    started = time.perf_counter()
    last = arguments.seed + arguments.files
    found: list[tuple[int, str]] = []
    for start in range(arguments.seed, last, BATCH):
        found += follow(start, min(start + BATCH, last))
        wrong = [(seed, text) for seed, text in found if text.startswith("FAILED")]
        print(f"{len(found)} of {arguments.files} files, {len(wrong)} failed", flush=True)
    seconds = time.perf_counter() - started
    arguments.out.write_text(page(found, arguments.files, arguments.seed, seconds))
    for seed, text in wrong:
        print(f"seed {seed}: {text}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
