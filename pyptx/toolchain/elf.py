"""The little of ELF that a cubin's reader needs: names and contents of its sections."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pyptx._value import value
from pyptx.errors import ToolError

__all__ = ["Section", "constant_bytes", "embedded_ptx", "sections"]

NOBITS = 8


@value
class Section:
    name: str
    kind: int
    size: int
    data: bytes                                 # empty for sections that only reserve room


def sections(cubin: bytes) -> Iterator[Section]:
    """The sections of a 64-bit little-endian ELF file.

    Raises:
        ToolError: the bytes are not such a file, or end too early.
    """
    try:
        if cubin[:6] != b"\x7fELF\x02\x01":
            raise ToolError("not a cubin: the bytes do not begin as a 64-bit ELF file does")
        start, = struct.unpack_from("<Q", cubin, 40)
        entry, count, names = struct.unpack_from("<HHH", cubin, 58)
        headers = [struct.unpack_from("<IIQQQQ", cubin, start + number * entry) for number in range(count)]
        base = headers[names][4]
        for name, kind, _flags, _address, offset, size in headers:
            end = cubin.index(b"\0", base + name)
            yield Section(cubin[base + name:end].decode(), kind, size,
                          b"" if kind == NOBITS else bytes(cubin[offset:offset + size]))
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise ToolError(f"not a whole cubin: {len(cubin)} bytes end before what they announce") from error


def constant_bytes(cubin: bytes) -> dict[str, int]:
    """Bytes of constant banks of each entry, its parameters among them."""
    used: dict[str, int] = {}
    for section in sections(cubin):
        bank, _, entry = section.name.removeprefix(".nv.constant").partition(".")
        if section.name.startswith(".nv.constant") and bank.isdigit() and entry:
            used[entry] = used.get(entry, 0) + section.size
    return used


def embedded_ptx(cubin: bytes) -> tuple[str, ...] | None:
    """The lines of the PTX text it was assembled from, which -lineinfo leaves in it; None when it was not used."""
    for section in sections(cubin):
        if section.name.startswith(".nv_debug_ptx_txt"):
            return tuple(line.decode(errors="replace") for line in section.data.split(b"\0"))
    return None
