"""Sections of ELF files, as far as cubins need them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pyptx._frozen import frozen
from pyptx.errors import ToolError

__all__ = ["Section", "constant_bytes", "embedded_modules", "embedded_ptx", "sections", "string_at"]

NOBITS = 8


@frozen
class Section:
    """A section; `size` is its size in memory."""

    name: str
    kind: int
    size: int
    data: bytes  # empty for sections without contents


def sections(cubin: bytes) -> Iterator[Section]:
    """Yield the sections of a 64-bit little-endian ELF file.

    Raises:
        ToolError: the bytes are not such a file, or are truncated.
    """
    try:
        if cubin[:6] != b"\x7fELF\x02\x01":
            raise ToolError("not a cubin: the bytes do not start with a 64-bit ELF header")
        (start,) = struct.unpack_from("<Q", cubin, 40)
        entry, count, names = struct.unpack_from("<HHH", cubin, 58)
        headers = [struct.unpack_from("<IIQQQQ", cubin, start + number * entry) for number in range(count)]
        base = headers[names][4]
        for name, kind, _flags, _address, offset, size in headers:
            end = cubin.index(b"\0", base + name)
            yield Section(
                cubin[base + name : end].decode(errors="replace"),
                kind,
                size,
                b"" if kind == NOBITS else bytes(cubin[offset : offset + size]),
            )
    except (struct.error, ValueError, IndexError, OverflowError) as error:
        raise ToolError(f"not a complete cubin: its headers refer beyond its {len(cubin)} bytes") from error


def string_at(table: bytes, offset: int) -> str:
    """Return the string that starts at `offset` of a string table.

    Raises:
        ToolError: no string starts there, or it does not end.
    """
    end = table.find(b"\0", offset)
    if end < 0:
        raise ToolError(f"not a complete cubin: no string at offset {offset} of a table of {len(table)} bytes")
    return table[offset:end].decode(errors="replace")


def constant_bytes(cubin: bytes) -> dict[str, int]:
    """Return the bytes of constant banks of each entry, including its parameters."""
    used: dict[str, int] = {}
    for section in sections(cubin):
        bank, _, entry = section.name.removeprefix(".nv.constant").partition(".")
        if section.name.startswith(".nv.constant") and bank.isdigit() and entry:
            used[entry] = used.get(entry, 0) + section.size
    return used


def embedded_ptx(cubin: bytes) -> tuple[str, ...] | None:
    """Return the lines of the PTX text, which -lineinfo embeds; None without it. The first text of a linked cubin."""
    return next(iter(embedded_modules(cubin)), None)


def embedded_modules(cubin: bytes) -> tuple[tuple[str, ...], ...]:
    """Return the lines of each embedded PTX text; a linked cubin has one for each of its modules."""
    return tuple(
        tuple(line.decode(errors="replace") for line in section.data.split(b"\0"))
        for section in sections(cubin)
        if section.name.startswith(".nv_debug_ptx_txt")
    )
