"""The files of a folder, in the order of their names."""

from __future__ import annotations

from pathlib import Path

from rprnmf.inputs.source import Source


def files_in(source: Source, suffixes: tuple[str, ...], what: str) -> list[Path]:
    """All files below a folder with one of the suffixes; hidden ones are left out.

    Parameters
    ----------
    source : Source
        A folder.
    suffixes : tuple of str
        In small letters.
    what : str
        For the message if there are none.
    """
    found = visible_files(source)
    chosen = [path for path in found if path.suffix.lower() in suffixes]
    if not chosen:
        raise source.fail(
            f"is a folder with {len(found)} files, none of them {what}; expected files with "
            f"{', '.join(suffix for suffix in suffixes if suffix)}."
        )
    return chosen


def visible_files(source: Source) -> list[Path]:
    """All files below a folder that are not hidden, nor in hidden folders."""
    if not source.is_folder:
        raise source.fail("is a file; expected a folder.")
    with source.guard("a folder"):
        return sorted(
            path
            for path in source.path.rglob("*")
            if path.is_file()
            and not any(part.startswith(".") for part in path.relative_to(source.path).parts)
        )
