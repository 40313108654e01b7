"""Frames on a pair of byte streams: a JSON message and binary parts, each compressed if that makes it smaller."""

from __future__ import annotations

import json
import struct
import threading
import zlib
from collections.abc import Sequence
from typing import Any, BinaryIO

from pyptx.errors import InputError, RemoteError

__all__ = ["Bytes", "Stream"]

Bytes = bytes | bytearray | memoryview

_HEAD = struct.Struct("!IIB")  # bytes of the message, number of parts, 1 if the message is compressed
_PART = struct.Struct("!QQ")  # bytes of a part, and as transferred; equal if it is not compressed
_MAX_MESSAGE, _MAX_PARTS, _MAX_PART = 1 << 28, 1 << 16, 1 << 38
_SAMPLE = 1 << 16
_LEAST = 128  # smaller parts are not compressed
_WORTH = 0.85  # compression must leave less of a sample
_LEVEL = 1  # the fastest: networks are slow, but not that slow
_PIECE = 1 << 20


class Stream:
    """Frames over two files; several threads may send.

    Attributes:
        sent, received: bytes transferred so far.
    """

    sent: int
    received: int

    def __init__(self, source: BinaryIO, target: BinaryIO):
        self._source, self._target, self._lock = source, target, threading.Lock()
        self.sent = self.received = 0

    def send(self, message: Any, parts: Sequence[Bytes] = ()) -> None:
        """Send a frame.

        Raises:
            OSError: the peer is gone.
        """
        text = json.dumps(message, separators=(",", ":")).encode()
        packed = _compressed(memoryview(text))
        with self._lock:
            self._write(_HEAD.pack(len(packed), len(parts), len(packed) < len(text)))
            self._write(packed)
            for part in parts:
                view = memoryview(part).cast("B")
                packed = _compressed(view)
                self._write(_PART.pack(len(view), len(packed)))
                self._write(packed)
            self._target.flush()

    def _write(self, piece: Bytes) -> None:
        self._target.write(piece)
        self.sent += len(memoryview(piece))

    def receive(self) -> tuple[Any, list[bytes]]:
        """Wait for a frame; return its message and parts.

        Raises:
            RemoteError: the peer has closed the stream.
            InputError: the bytes are not a frame.
        """
        size, count, is_compressed = _HEAD.unpack(self._read(_HEAD.size))
        if size > _MAX_MESSAGE or count > _MAX_PARTS or is_compressed > 1:
            raise InputError("the peer sent bytes that are not a frame")
        text = self._read(size)
        if is_compressed:
            text = _expanded(text, _MAX_MESSAGE)
        parts = []
        for _ in range(count):
            size, transferred = _PART.unpack(self._read(_PART.size))
            if size > _MAX_PART or transferred > size:
                raise InputError("the peer sent a part of an impossible size")
            data = self._read(transferred)
            if transferred < size:
                data = _expanded(data, size)
            if len(data) != size:
                raise InputError("the peer sent a damaged part")
            parts.append(data)
        try:
            return json.loads(text), parts
        except (ValueError, RecursionError):
            raise InputError("the peer sent a message that is not JSON") from None

    def _read(self, count: int) -> bytes:
        pieces, left = [], count
        while left:
            piece = self._source.read(min(left, _PIECE))
            if not piece:
                raise RemoteError("the stream has ended")
            pieces.append(piece)
            left -= len(piece)
            self.received += len(piece)
        return b"".join(pieces)


def _compressed(data: memoryview) -> Bytes:
    """Return the data compressed, or as it is if a sample of it does not become smaller."""
    if len(data) < _LEAST or len(zlib.compress(data[:_SAMPLE], _LEVEL)) > _WORTH * len(data[:_SAMPLE]):
        return data
    found = zlib.compress(data, _LEVEL)
    return found if len(found) < len(data) else data


def _expanded(data: bytes, most: int) -> bytes:
    expander = zlib.decompressobj()
    try:
        found = expander.decompress(data, most + 1)
    except zlib.error:
        raise InputError("the peer sent damaged data") from None
    if len(found) > most or not expander.eof:
        raise InputError("the peer sent damaged data")
    return found
