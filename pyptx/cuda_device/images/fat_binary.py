"""Fat binaries: the container of PTX and machine code for several GPUs that nvcc and nvFatbin write.

A container starts with a header of 16 bytes (magic number, version, size of the header, size of what follows). Each part
has a header of 64 bytes or more, in little-endian order:

| offset | type | contents |
| --- | --- | --- |
| 0 | u16 | kind: 1 PTX, 2 cubin, 8 LTO-IR, 256 a group |
| 4 | u32 | size of the header |
| 8 | u64 | size of the contents, padded to 8 bytes |
| 16 | u32 | size of compressed contents without padding |
| 20 | u32 | offset of the options of ptxas in the header; there, u32 offset and u32 size of their text |
| 28 | u32 | architecture: 90 |
| 40 | u64 | flags: 0x2000 LZ4, 0x8000 Zstandard, 0x100000 architecture-specific (`a`), 0x200000 family-specific (`f`) |
| 56 | u64 | size of decompressed contents |

`--concat` compresses the parts of one kind together. Such a group has the headers of its members after its own: u32 count,
u32 size, then 64 bytes for each member, with the offset in the decompressed contents instead of the size of a header.

Source: files written by fatbinary 13.0 and 13.5 and nvFatbin 12.4, 12.9 and 13.5, compared with the output of cuobjdump.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pyptx.cuda_device.images.compression import decompress_lz4, decompress_zstd
from pyptx.errors import InputError

__all__ = ["MAGIC", "Part", "container_size", "parts"]

MAGIC = 0xBA55ED50
KINDS = {1: "PTX", 2: "cubin", 8: "LTO-IR"}
_GROUP = 256
_HEADER, _PART = struct.Struct("<IHHQ"), struct.Struct("<HHIQIIHHIIIQQQ")
_LZ4, _ZSTD, _ARCHITECTURE, _FAMILY = 0x2000, 0x8000, 0x100000, 0x200000
_COMPRESSIONS = 0xF000  # flags that change the encoding of the contents


@dataclass(frozen=True, eq=False)
class Part:
    """One image of a fat binary.

    Attributes:
        kind: "PTX", "cubin", "LTO-IR", or "kind 16" for others.
        target: "sm_90a".
    """

    kind: str
    target: str
    _read: Callable[[], bytes]

    @cached_property
    def data(self) -> bytes:
        """The image, decompressed on first use.

        Raises:
            InputError: it is damaged, or compressed in an unknown way.
            MissingToolError: the package that decompresses it is not installed.
        """
        return self._read()


def container_size(image: bytes) -> int:
    """Return the bytes of the container at the start of `image`, which may be shorter.

    Raises:
        InputError: no container starts there.
    """
    if len(image) < _HEADER.size:
        raise InputError(f"a fat binary of {len(image)} bytes is truncated: its header has {_HEADER.size} bytes")
    magic, version, header, size = _HEADER.unpack_from(image)
    if magic != MAGIC or header < _HEADER.size:
        raise InputError(f"not a fat binary: it starts with {image[:8].hex(' ')}")
    if version != 1:
        raise InputError(f"a fat binary of version {version}; only version 1 is known")
    return header + size


def parts(image: bytes) -> Iterator[Part]:
    """Yield the images in a fat binary, in their order.

    Raises:
        InputError: it is truncated or damaged.
    """
    end = container_size(image)
    if end > len(image):
        raise InputError(f"a fat binary of {end} bytes is truncated to {len(image)}")
    at = struct.unpack_from("<H", image, 6)[0]
    while at < end:
        if at + _PART.size > end:
            raise InputError(f"a fat binary of {end} bytes ends within the header at byte {at}")
        fields = _PART.unpack_from(image, at)
        header, size = fields[2], fields[3]
        if header < _PART.size or size > end - at or header > end - at - size:
            raise InputError(f"the part at byte {at} of a fat binary of {end} bytes exceeds it")
        body = image[at + header : at + header + size]
        if fields[0] == _GROUP:
            yield from _group(image[at : at + header], fields, body)
        else:
            yield Part(_kind(fields), _target(fields), _reader(fields, body))
        at += header + size


def _group(header: bytes, fields: tuple[int, ...], body: bytes) -> Iterator[Part]:
    """Yield the members of a group, which are compressed together."""
    whole = Part("group", "", _reader(fields, body))
    start = fields[5]
    if start + 8 > len(header):
        raise InputError("the header of a group in a fat binary is truncated")
    (count,) = struct.unpack_from("<I", header, start)
    at = start + 8
    for _ in range(count):
        if at + _PART.size > len(header):
            raise InputError("the header of a group in a fat binary is truncated")
        member = _PART.unpack_from(header, at)
        yield Part(_kind(member), _target(member), lambda begin=member[2], size=member[3]: _piece(whole, begin, size))
        at += _PART.size + (16 if member[5] else 0)


def _piece(whole: Part, begin: int, size: int) -> bytes:
    piece = whole.data[begin : begin + size]
    if len(piece) != size:
        raise InputError(f"a member of a group exceeds its {len(whole.data)} bytes of contents")
    return piece


def _kind(fields: tuple[int, ...]) -> str:
    return KINDS.get(fields[0], f"kind {fields[0]}")


def _target(fields: tuple[int, ...]) -> str:
    arch, flags = fields[8], fields[11]
    return f"sm_{arch}{'a' if flags & _ARCHITECTURE else 'f' if flags & _FAMILY else ''}"


def _reader(fields: tuple[int, ...], body: bytes) -> Callable[[], bytes]:
    compressed, flags, size = fields[4], fields[11], fields[13]

    def read() -> bytes:
        used = flags & _COMPRESSIONS
        if not used:
            return body
        if compressed > len(body):
            raise InputError(f"a part of a fat binary has {compressed} compressed bytes, but only {len(body)} follow")
        if used == _ZSTD:
            return decompress_zstd(body[:compressed], size)
        if used == _LZ4:
            return decompress_lz4(body[:compressed], size)
        raise InputError(
            f"a part of a fat binary is compressed in an unknown way (flags {flags:#x})",
            hint="build with nvcc --no-compress",
        )

    return read
