"""Decompression of the parts of fat binaries.

CUDA 12 compresses with LZ4, CUDA 13 with Zstandard (LZ4 with `--compress-mode=speed`). The format does not depend on the
compiled code, and its sizes come from the file: nothing is decompressed beyond the size that it declares.
"""

from __future__ import annotations

from pyptx.errors import InputError, MissingToolError

__all__ = ["MAX_BYTES", "decompress_lz4", "decompress_zstd"]

MAX_BYTES = 1 << 30  # of one part of a fat binary


def decompress_lz4(data: bytes, size: int) -> bytes:
    """Decompress one LZ4 block.

    Args:
        size: bytes of the result.
    Raises:
        InputError: the block is damaged, or is not of this size.
    """
    if size > min(MAX_BYTES, 255 * len(data) + 64):  # one byte of a block extends a match by 255 bytes at most
        raise InputError(f"an LZ4 block of {len(data)} bytes cannot have {size} bytes of contents")
    out = bytearray()
    at = 0
    try:
        while at < len(data):
            token = data[at]
            literals, at = _length(data, at + 1, token >> 4)
            if at + literals > len(data):
                raise InputError(f"an LZ4 block ends within the literals at byte {at}")
            out += data[at : at + literals]
            at += literals
            if at >= len(data):
                break
            distance = data[at] | data[at + 1] << 8
            if not 0 < distance <= len(out):
                raise InputError(f"an LZ4 block refers {distance} bytes back at byte {at}, after {len(out)} bytes")
            count, at = _length(data, at + 2, token & 15)
            count += 4
            if len(out) + count > size:
                break
            start = len(out) - distance
            if distance >= count:
                out += out[start : start + count]
            else:  # the match overlaps itself: a pattern that repeats
                out += (out[start:] * (count // distance + 1))[:count]
    except IndexError:
        raise InputError(f"an LZ4 block of {len(data)} bytes is truncated") from None
    if len(out) != size:
        raise InputError(f"an LZ4 block has {len(out)} bytes of contents or more; expected {size}")
    return bytes(out)


def _length(data: bytes, at: int, length: int) -> tuple[int, int]:
    """Return a length, which continues in further bytes if its first part is 15, and where it ends."""
    if length == 15:
        while data[at] == 255:
            length += 255
            at += 1
        length += data[at]
        at += 1
    return length, at


def decompress_zstd(data: bytes, size: int) -> bytes:
    """Decompress Zstandard frames.

    Args:
        size: bytes of the result.
    Raises:
        InputError: the data is damaged, or is not of this size.
        MissingToolError: before Python 3.14, the package backports.zstd is not installed.
    """
    if size > MAX_BYTES:
        raise InputError(f"a part of a fat binary declares {size} bytes; at most {MAX_BYTES} are read")
    zstd = _zstd()
    reader = zstd.ZstdDecompressor()
    try:
        out = reader.decompress(data, max_length=size + 1)
    except (zstd.ZstdError, EOFError) as error:
        raise InputError(f"damaged Zstandard data: {error}") from error
    if len(out) != size:
        raise InputError(
            f"Zstandard data has {len(out)} bytes of contents{' or more' * (len(out) > size)}; expected {size}"
        )
    return out


def _zstd():
    try:
        from compression import zstd  # pyright: ignore[reportAttributeAccessIssue, reportMissingImports]
    except ModuleNotFoundError:
        try:
            from backports import zstd  # pyright: ignore[reportAttributeAccessIssue, reportMissingImports]
        except ModuleNotFoundError:
            raise MissingToolError(
                "the fat binary is compressed with Zstandard, which Python reads from version 3.14",
                hint="pip install backports.zstd, or build with nvcc --compress-mode=speed",
            ) from None
    return zstd
