"""Logs of a program: the diagnoses of failed calls, which it reads or is called with.

Source: CUDA Driver API, "Error Log Management Functions".
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Session

__all__ = ["log"]

_MOST_BYTES = 25600  # that are kept
_ERROR = 0  # CUlogLevel


@dataclass(eq=False)
class LogListener:
    """A function of the host that is called with each message."""

    function: int
    data: int
    missing = "INVALID_VALUE"


@dataclass(eq=False)
class Logs:
    """Messages of calls that failed.

    Attributes:
        end: number of the next message.
    """

    kept: deque[tuple[int, bytes]] = field(default_factory=deque)
    end: int = 0

    def add(self, text: bytes) -> None:
        self.kept.append((self.end, text))
        self.end += 1
        while sum(len(one) + 1 for _, one in self.kept) > _MOST_BYTES:
            self.kept.popleft()

    def since(self, number: int) -> list[bytes]:
        """Return the messages from a number on; the first one says so if earlier ones are lost."""
        found = [text for k, text in self.kept if k >= number]
        return [b"[pyptx] earlier messages are lost", *found] if len(found) < self.end - number else found


def _logs(session: Session) -> Logs:
    return next((logs for _, logs in session.all(Logs)), None) or session.get(session.add(Logs()), Logs)


def log(session: Session, symbol: str, error: DriverError) -> None:
    """Keep the diagnosis of a failed call, and call the program with it."""
    stamp = time.strftime("%H:%M:%S")
    text = f"[{stamp}][{session.process}][pyptx][E] {symbol}: CUDA_ERROR_{error.name}: {error.diagnosis}".encode()
    _logs(session).add(text)
    for _, listener in session.all(LogListener):
        session.call_log(listener.function, listener.data, _ERROR, text)


@handles("cuLogsRegisterCallback")
def register(session: Session, function: int, data: int) -> int:
    if not function:
        raise DriverError("INVALID_VALUE", "cuLogsRegisterCallback: the function is a null pointer")
    return session.add(LogListener(function, data))


@handles("cuLogsUnregisterCallback")
def unregister(session: Session, handle: int) -> None:
    session.remove(handle, LogListener)


def _check_flags(flags: int) -> None:
    if flags:
        raise DriverError("INVALID_VALUE", f"flags of logs are 0, got 0x{flags:x}")


@handles("cuLogsCurrent")
def current(session: Session, flags: int) -> int:
    _check_flags(flags)
    return _logs(session).end & 0xFFFFFFFF


def _from(session: Session, iterator: int) -> list[bytes]:
    start = int.from_bytes(session.read(iterator, 4), "little") if iterator else 0
    return _logs(session).since(start)


def _advance(session: Session, iterator: int) -> None:
    if iterator:
        session.write(iterator, (_logs(session).end & 0xFFFFFFFF).to_bytes(4, "little"))


@handles("cuLogsDumpToFile")
def dump_to_file(session: Session, iterator: int, name: bytes, flags: int) -> None:
    _check_flags(flags)
    try:
        with session.path(name).open("ab") as file:
            file.write(b"".join(text + b"\n" for text in _from(session, iterator)))
    except OSError as error:
        raise DriverError("INVALID_VALUE", f"cuLogsDumpToFile: {error}") from error
    _advance(session, iterator)


@handles("cuLogsDumpToMemory")
def dump_to_memory(session: Session, iterator: int, buffer: int, size: int, flags: int) -> None:
    _check_flags(flags)
    room = int.from_bytes(session.read(size, 8), "little")
    texts, shortened = (
        [text + b"\n" for text in _from(session, iterator)],
        b"[pyptx] the buffer holds not all messages\n",
    )
    if sum(map(len, texts)) >= room:
        kept: list[bytes] = []
        while texts and len(shortened) + sum(map(len, kept)) + len(texts[-1]) < room:
            kept.insert(0, texts.pop())
        if not kept:
            session.write(size, bytes(8))
            raise DriverError("INVALID_VALUE", f"cuLogsDumpToMemory: {room} bytes hold no message")
        texts = [shortened, *kept]
    data = b"".join(texts)
    session.write(buffer, data + b"\0")
    session.write(size, len(data).to_bytes(8, "little"))
    _advance(session, iterator)
