"""Changes of a saved model, for the fixture ``forge``."""

from __future__ import annotations

import pytest

import rprnmf
from rprnmf.persistence import FileFormatError


def refused(path, message):
    with pytest.raises(FileFormatError, match=message) as found:
        rprnmf.load(path)
    assert str(path) in str(found.value)


def attribute(name, change):
    """Change the array of an attribute."""

    def through(header, array):
        node = header["attributes"][name]
        array(node, change(array(node)))

    return through


def put(*keys, value):
    """Put something into the header."""

    def through(header, array):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return through


def drop(*keys):
    """Take something out of the header."""

    def through(header, array):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return through
