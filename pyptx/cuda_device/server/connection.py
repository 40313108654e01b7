"""The socket to the client: requests, replies, and actions that the client carries out in its own memory.

Source of the format: src/connection.c.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pyptx.cuda_device.server.errors import DriverError

__all__ = ["ClosedError", "Connection", "Request"]

REPLY, COPY, COPY_AND_RETURN, WRITE, READ, CALL, CALL_STREAM, REMAP, PROTECT, SHARE, UNSHARE = range(11)
MAP_FILE, OPEN_FILE, CALL_LOG = range(11, 14)
ACKNOWLEDGE = 0xFFFFFFFF
_REQUEST = struct.Struct("<IIQQ4Q")
_REPLY = struct.Struct("<IiQ")
_CHUNK = 1 << 16
_PART = 1 << 26  # bytes that are read at a time


class ClosedError(Exception):
    """The client has ended."""


class Request(NamedTuple):
    """A call of the client; `context` and `thread` are those of the calling thread.

    `sites` are return addresses, innermost first, 0 where there is none; without `pyptx exec --check` all are 0.
    """

    function: int
    context: int
    thread: int
    payload: memoryview
    sites: tuple[int, ...]


def _inaccessible(address: int, size: int, verb: str) -> DriverError:
    return DriverError(
        "INVALID_VALUE", f"{size:,} bytes at 0x{address:x}, a pointer among the arguments, cannot be {verb}"
    )


class Connection:
    """One client.

    Args:
        stream: the connected socket.
        nested: handles a request that arrives while the client carries out an action: a call of another thread, or of
            a host function.
    """

    def __init__(self, stream: socket.socket, nested: Callable[[Request], None]):
        self._socket, self._nested = stream, nested
        self._pending = b""
        self._acknowledged: dict[int, bytes] = {}  # by thread, of actions that another thread's calls interrupted

    def receive(self) -> Request:
        """Return the next request.

        Raises:
            ClosedError: the client has ended.
        """
        data = self._pending or self._read()
        while len(data) < _REQUEST.size:
            data += self._read()
        function, size, context, thread, *sites = _REQUEST.unpack_from(data)
        end = _REQUEST.size + size
        if len(data) < end:
            parts, count = [data], len(data)
            while count < end:
                parts.append(self._read(end - count))
                count += len(parts[-1])
            data = b"".join(parts)
        self._pending = data[end:]
        return Request(function, context, thread, memoryview(data)[_REQUEST.size : end], tuple(sites))

    def reply(self, status: int, payload: bytes = b"") -> None:
        """Answer the request."""
        self._send(_REPLY.pack(REPLY, status, len(payload)) + payload)

    # actions of the client

    def copy(self, thread: int, box: Sequence[int], *, last: bool = False) -> None:
        """Have the client copy a box of bytes in its memory.

        Args:
            thread: the thread whose request this is.
            box: destination, source, width in bytes, height, depth; destination pitch, source pitch, destination
                slice, source slice.
            last: this is also the reply of a call that returns nothing.
        """
        if last:
            self._send(_REPLY.pack(COPY_AND_RETURN, 0, 72) + struct.pack("<9Q", *box))
        else:
            self._act(thread, COPY, struct.pack("<9Q", *box))

    def write(self, thread: int, address: int, data: bytes) -> None:
        """Write into the client's memory.

        Raises:
            DriverError: it is not writable there.
        """
        if address + len(data) > 1 << 64 or self._act(thread, WRITE, address.to_bytes(8, "little") + data):
            raise _inaccessible(address, len(data), "written")

    def read(self, thread: int, address: int, size: int) -> bytes:
        """Read the client's memory.

        Raises:
            DriverError: it is not readable there.
        """
        if address + size > 1 << 64:
            raise _inaccessible(address, size, "read")
        parts = []
        for start in range(address, address + size, _PART):
            count = min(_PART, address + size - start)
            parts.append(self._act(thread, READ, struct.pack("<2Q", start, count)))
            if len(parts[-1]) != count:
                raise _inaccessible(start, count, "read")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def remap(self, thread: int, address: int, size: int, offset: int) -> None:
        """Have the client map bytes of the shared memory at an address of the device."""
        self._act(thread, REMAP, struct.pack("<3Q", address, size, offset))

    def map_file(self, thread: int, address: int, size: int, offset: int, process: int, file: int) -> None:
        """Have the client map bytes of the memory of another device, a file of another process.

        Raises:
            DriverError: the client cannot open it.
        """
        if self._act(thread, MAP_FILE, struct.pack("<5Q", address, size, offset, process, file)):
            raise DriverError("INVALID_VALUE", f"the program cannot open the memory of process {process}")

    def open_file(self, thread: int, process: int, file: int) -> int:
        """Have the client open a file of another process; return its descriptor there.

        Raises:
            DriverError: the client cannot open it.
        """
        found = self._act(thread, OPEN_FILE, struct.pack("<2Q", process, file))
        if not found:
            raise DriverError("OPERATING_SYSTEM", f"the program cannot open the memory of process {process}")
        return int.from_bytes(found, "little")

    def protect(self, thread: int, address: int, size: int, access: int) -> None:
        """Have the client let its host code access pages of the device: 0 not at all, 1 to read, 3 to read and write."""
        self._act(thread, PROTECT, struct.pack("<3Q", address, size, access))

    def share(self, thread: int, address: int, size: int, offset: int) -> None:
        """Have the client replace its pages by pages of the shared memory, with the same contents."""
        self._act(thread, SHARE, struct.pack("<3Q", address, size, offset))

    def unshare(self, thread: int, address: int, size: int) -> None:
        """Have the client replace its pages by private ones, with the same contents."""
        self._act(thread, UNSHARE, struct.pack("<2Q", address, size))

    def call_host(self, thread: int, function: int, data: int, stream: int | None = None) -> None:
        """Have the calling thread call a host function; with a stream, one of `cuStreamAddCallback`."""
        self._act(thread, CALL if stream is None else CALL_STREAM, struct.pack("<3Q", function, data, stream or 0))

    def call_log(self, thread: int, function: int, data: int, level: int, text: bytes) -> None:
        """Have the calling thread call a function with a log message."""
        self._act(thread, CALL_LOG, struct.pack("<4Q", function, data, level, len(text)) + text)

    def _act(self, thread: int, kind: int, payload: bytes) -> bytes:
        self._send(_REPLY.pack(kind, 0, len(payload)) + payload)
        while thread not in self._acknowledged:
            request = self.receive()
            if request.function == ACKNOWLEDGE:
                self._acknowledged[request.thread] = bytes(request.payload)
            else:
                self._nested(request)
        return self._acknowledged.pop(thread)

    def _send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise ClosedError from error

    def _read(self, size: int = 0) -> bytes:
        try:
            data = self._socket.recv(max(size, _CHUNK))
        except OSError as error:
            raise ClosedError from error
        if not data:
            raise ClosedError
        return data
