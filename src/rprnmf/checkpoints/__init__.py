"""Checkpoints: what a long computation has done so far, in a file that it can go on from."""

from rprnmf.checkpoints.fingerprint import digest
from rprnmf.checkpoints.journal import Entry, Journal

__all__ = ["Entry", "Journal", "digest"]
