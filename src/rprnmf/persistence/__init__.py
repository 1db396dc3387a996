"""Models and triplets that outlive the process: files without code, checked when they are read."""

from rprnmf.array_file import FileFormatError
from rprnmf.persistence.files import describe, load, save

__all__ = ["FileFormatError", "describe", "load", "save"]
