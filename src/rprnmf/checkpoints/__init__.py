"""Checkpoints: what a long computation has done so far, in a file that it can go on from."""

from rprnmf.checkpoints.entry import Entry
from rprnmf.checkpoints.fingerprint import digest
from rprnmf.checkpoints.journal import Journal

__all__ = ["Entry", "Journal", "digest"]
