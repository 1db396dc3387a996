"""Checkpoints: what a long computation has done so far, in a file that it can go on from."""

from rprnmf.checkpoints.entry import Entry
from rprnmf.checkpoints.fingerprint import digest
from rprnmf.checkpoints.journal import CheckpointWarning, Journal
from rprnmf.checkpoints.remote_journal import RemoteJournal

__all__ = ["CheckpointWarning", "Entry", "Journal", "RemoteJournal", "digest"]
