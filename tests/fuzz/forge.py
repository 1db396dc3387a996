"""Files of `rprnmf.save` taken apart, changed, and put together again with a right checksum."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from rprnmf.array_file.layout import ALIGNED, CHECKSUM, MAGIC, PREFIX, VERSION, padded

JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**63), 2**64, 10**400, 0.5, -1e308),
    *("", "x", "nan", "inf", "row", "a" * 500, "\ud800", "../../etc/passwd", "__class__"),
    *("NMF", "RPRNMF", "Triplets", "KernelFeatures", "MaskFeatures", "GivenPart", "object"),
    *("Recommender", "StackedModel", "SideFeatures", "Metadata", "DataWeights", "bytes", "words"),
    *("csr_array", "coo_matrix", "category", "Int64", "float64", "int64", "bool", "datetime64"),
    *("timestamp[ns,Europe/Berlin]", "timestamp[ns,dateutil//etc/passwd]", "numpy[complex128]"),
    *([], [[]], {}, {"array": 0}, {"list": []}, {"float": "nan"}, {"scalar": None}),
    {"object": ["Chances", {}]},
    {"object": ["os.system", {"command": "true"}]},
]
DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "O", "V8"]
VALUES = [np.nan, np.inf, -1.0, -np.inf, 1e308, 1e-320, 0.0, 2.0**63, -(2.0**63), 3.0]


def taken_apart(blob: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The content of the header, and the bytes of each array."""
    text_length = PREFIX.unpack(blob[: PREFIX.size])[2]
    start = PREFIX.size + text_length
    content = json.loads(blob[PREFIX.size : start])
    parts = []
    for entry in content["arrays"]:
        size = int(np.prod(entry["shape"], dtype=np.int64)) * np.dtype(entry["dtype"]).itemsize
        parts.append(blob[start : start + size])
        start += padded(size)
    return content, parts


def forged(content: Any, parts: list[bytes]) -> bytes:
    """A file of any content, whose lengths and checksum are right."""
    text = (content if isinstance(content, str) else json.dumps(content)).encode()
    text += b" " * (-(PREFIX.size + len(text)) % ALIGNED)
    body = text + b"".join(part.ljust(padded(len(part)), b"\0") for part in parts)
    length = PREFIX.size + len(body) + CHECKSUM
    return signed(PREFIX.pack(MAGIC, VERSION, len(text), length) + body)


def signed(blob: bytes) -> bytes:
    """With its checksum."""
    return blob + hashlib.sha256(blob).digest()


def repaired(blob: bytes) -> bytes:
    """The stated length and the checksum of a file that was changed are made right."""
    if len(blob) < PREFIX.size + CHECKSUM:
        return blob
    blob = blob[:16] + len(blob).to_bytes(8, "little") + blob[24:-CHECKSUM]
    return signed(blob)


def mutated(rng: np.random.Generator, blobs: list[bytes]) -> bytes:
    """One of the files, changed in one to three places."""
    blob = blobs[rng.integers(len(blobs))]
    if rng.random() < 0.35:
        blob = change_bytes(rng, blob, blobs)
        return repaired(blob) if rng.random() < 0.5 else blob
    content, parts = taken_apart(blob)
    for _ in range(rng.integers(1, 4)):
        change = CHANGES[rng.integers(len(CHANGES))]
        change(rng, content, parts)
    return forged(content, parts)


def change_bytes(rng: np.random.Generator, blob: bytes, blobs: list[bytes]) -> bytes:
    """Flip bits, cut, insert, or put the end of another file behind the beginning of this one."""
    form, place = rng.integers(5), int(rng.integers(len(blob)))
    if form == 0:
        found = bytearray(blob)
        for _ in range(rng.integers(1, 9)):
            found[rng.integers(len(blob))] ^= 1 << int(rng.integers(8))
        return bytes(found)
    if form == 1:
        return blob[:place]
    if form == 2:
        return blob[:place] + rng.bytes(int(rng.integers(1, 100))) + blob[place:]
    if form == 3:
        found = bytearray(blob)
        found[rng.integers(min(1500, len(blob)))] = int(rng.integers(32, 127))  # in the header
        return bytes(found)
    other = blobs[rng.integers(len(blobs))]
    return blob[:place] + other[int(rng.integers(len(other))) :]


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of the header."""
    found, left = [], [content] if isinstance(content, dict | list) else []
    while left:
        node = left.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], dict | list):
                left.append(node[key])
    return found


def change_node(rng: np.random.Generator, content: Any, parts: list[bytes]) -> None:
    """Delete a part of the header, or put something else into its place."""
    inside = content.get("header") if isinstance(content, dict) else None
    every = places(inside if inside and rng.random() < 0.9 else content)
    if not every:
        return
    node, key = every[rng.integers(len(every))]
    form = rng.integers(6)
    if form == 0:
        del node[key]
    elif form == 1 and isinstance(node[key], int) and not isinstance(node[key], bool):
        node[key] += int(rng.integers(-2, 3))
    elif form == 2:
        other, name = every[rng.integers(len(every))]
        node[key] = copy.deepcopy(other[name])
    elif form == 3:
        other, name = every[rng.integers(len(every))]
        node[key], other[name] = copy.deepcopy(other[name]), copy.deepcopy(node[key])
    elif form == 4 and isinstance(node, dict):
        node[str(JUNK[rng.integers(len(JUNK))])] = node.pop(key)
    else:
        node[key] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])


def change_values(rng: np.random.Generator, content: Any, parts: list[bytes]) -> None:
    """Other numbers in an array."""
    number = _an_array(rng, content, parts)
    if number is None or not parts[number]:
        return
    dtype = content["arrays"][number]["dtype"]
    try:
        array = np.frombuffer(parts[number], dtype=dtype).copy()
    except (TypeError, ValueError):
        return
    with np.errstate(all="ignore"):
        value = np.array(VALUES[rng.integers(len(VALUES))]).astype(array.dtype)
    if len(array):
        array[rng.integers(len(array))] = value
    parts[number] = array.tobytes()


def change_array(rng: np.random.Generator, content: Any, parts: list[bytes]) -> None:
    """Another dtype or shape, fewer or more bytes, or no array at all."""
    number = _an_array(rng, content, parts)
    if number is None:
        return
    entry, form = content["arrays"][number], rng.integers(6)
    if form == 0:
        entry["dtype"] = DTYPES[rng.integers(len(DTYPES))]
    elif form == 1 and isinstance(entry.get("shape"), list):
        entry["shape"] = entry["shape"][::-1]
    elif form == 2:
        size = int(rng.integers(0, 4))
        entry["dtype"], entry["shape"], parts[number] = "float64", [size], bytes(8 * size)
    elif form == 3:
        entry["order"] = "F" if entry.get("order") == "C" else "C"
    elif form == 4:
        del content["arrays"][number], parts[number]
    else:
        entry["shape"] = [0, int(2 ** rng.integers(1, 62))]
        parts[number] = b""


def _an_array(rng: np.random.Generator, content: Any, parts: list[bytes]) -> int | None:
    listed = content.get("arrays") if isinstance(content, dict) else None
    if not isinstance(listed, list) or len(listed) != len(parts) or not parts:
        return None
    number = int(rng.integers(len(parts)))
    entry = listed[number]
    return number if isinstance(entry, dict) and {"dtype", "shape"} <= set(entry) else None


CHANGES: list[Callable[[np.random.Generator, Any, list[bytes]], None]] = [
    change_node,
    change_node,
    change_values,
    change_array,
]
