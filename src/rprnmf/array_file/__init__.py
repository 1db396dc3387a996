"""One file with a JSON header and named arrays, which can be read without trusting it.

Pickle runs what it reads. A `.npz` is a zip file: sizes are stated twice, entries can be
compressed to a bomb, repeated, or named like paths, and there is no checksum over the whole.
safetensors is safe, but has no checksum, no version and no memory order, and is one more package.
So this layout, in which little can be stated wrongly, in this order:

    magic           8 bytes
    version         4 bytes, an unsigned number, as all of them little-endian
    header length   4 bytes
    file length     8 bytes
    header          JSON: {"kind": ..., "header": {...}, "arrays": [...]}
    arrays          raw, each from the next multiple of 64 bytes on, zeros between
    checksum        32 bytes, SHA-256 of all before

An array is listed by name, dtype, shape and memory order. Where it begins follows from the list:
no offset can point elsewhere, and the sizes must add up to the length of the file before memory
is asked for. A reader needs no more memory than the file has bytes, and a header of a fixed size.
"""

from rprnmf.array_file.layout import FileFormatError
from rprnmf.array_file.reading import read_arrays
from rprnmf.array_file.writing import write_arrays

__all__ = ["FileFormatError", "read_arrays", "write_arrays"]
