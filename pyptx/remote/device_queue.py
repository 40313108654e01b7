"""The queue for a GPU that several users share: numbered tickets in a folder that all users can write to.

The live ticket with the lowest number has the GPU. A process holds a lock on its ticket for as long as it waits for the
GPU or uses it, so tickets of processes that have ended are recognized, whoever owns them.
"""

from __future__ import annotations

import errno
import fcntl
import getpass
import json
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pyptx.errors import RemoteError

__all__ = ["DeviceQueue", "user_name"]

_POLL_S = 0.1
_FOLDER = "pyptx-queue"


class DeviceQueue:
    """The queue for one device of this machine.

    Args:
        device: name of the device.
        root: folder of all queues; None: one in the folder for temporary files.
    """

    def __init__(self, device: str, root: Path | None = None):
        self.device = device
        self._folder = (root or Path(tempfile.gettempdir())) / _FOLDER
        self._prefix = "".join(c if c.isalnum() else "-" for c in device) + "."

    @contextmanager
    def reserved(self, waiting: Callable[[int, str], None] = lambda ahead, holder: None) -> Iterator[float]:
        """Wait for the device and keep it; yields the seconds waited.

        Args:
            waiting: called while waiting with the number of tickets ahead and who has the device; what it raises ends the
                wait.
        Raises:
            RemoteError: the folder cannot be used.
        """
        started = time.monotonic()
        ticket = self._take()
        try:
            while ahead := self._ahead(ticket):
                waiting(len(ahead), ahead[0])
                time.sleep(_POLL_S)
            yield time.monotonic() - started
        finally:
            with suppress(OSError):
                os.unlink(ticket.name)
            ticket.close()

    def holders(self) -> list[str]:
        """Return who has the device, and who waits for it, in order."""
        return [text for _, text in self._live()]

    def _take(self) -> IO[str]:
        """Return a new ticket, locked, with a number above all others."""
        self._make_folder()
        with open(self._open(self._folder / f"{self._prefix}lock", os.O_RDWR | os.O_CREAT, 0o666), "r+") as mutex:
            with suppress(OSError):
                os.fchmod(mutex.fileno(), 0o666)  # whatever the umask
            fcntl.flock(mutex, fcntl.LOCK_EX)
            number = max([number for number, _ in self._tickets()], default=0) + 1
            path = self._folder / f"{self._prefix}{number:08d}"
            unlocked = path.with_name(f"{path.name}-{os.getpid()}-{threading.get_ident()}")  # not yet a ticket
            ticket = open(self._open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644), "r+")
            fcntl.flock(ticket, fcntl.LOCK_EX)
            json.dump({"user": user_name(), "pid": os.getpid(), "since": time.time()}, ticket)
            ticket.flush()
            os.rename(unlocked, path)
        return _Named(ticket, str(path))  # pyright: ignore[reportReturnType]

    def _ahead(self, ticket: IO[str]) -> list[str]:
        number = int(ticket.name.rpartition(".")[2])
        return [text for other, text in self._live() if other < number]

    def _live(self) -> list[tuple[int, str]]:
        """Return number and owner of the tickets whose processes are alive, in order."""
        found = []
        for number, path in self._tickets():
            try:
                file = open(self._open(path, os.O_RDONLY))
            except OSError:
                continue  # given back meanwhile
            with file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError as locked:
                    if locked.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                        raise
                    found.append((number, _text(file)))
                    continue
                with suppress(OSError):  # its process has ended; only its user can remove it
                    path.unlink()
        return found

    def _tickets(self) -> list[tuple[int, Path]]:
        found = []
        for path in self._folder.glob(f"{self._prefix}*"):
            number = path.name.rpartition(".")[2]
            if number.isdigit():
                found.append((int(number), path))
        return sorted(found)

    def _make_folder(self) -> None:
        """Create the folder, writable by all users, who cannot remove each other's files."""
        try:
            os.mkdir(self._folder, 0o1777)
            os.chmod(self._folder, 0o1777)
        except FileExistsError:
            pass
        except OSError as refused:
            raise RemoteError(f"the queue for {self.device} cannot be created: {refused}") from None
        about = os.lstat(self._folder)
        if not stat.S_ISDIR(about.st_mode) or (
            about.st_uid not in (0, os.getuid()) and not about.st_mode & stat.S_ISVTX
        ):
            raise RemoteError(f"{self._folder} is not a folder for queues", hint="remove it")

    def _open(self, path: Path, flags: int, mode: int = 0) -> int:
        try:
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        except PermissionError:
            if not flags & os.O_CREAT:
                raise
            # Linux does not open another user's file in such a folder with O_CREAT (fs.protected_regular).
            return os.open(path, flags & ~os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC)


class _Named:
    """An open ticket with its path as the name."""

    def __init__(self, file: IO[str], name: str):
        self._file, self.name = file, name

    def close(self) -> None:
        self._file.close()


def _text(file: IO[str]) -> str:
    try:
        about = json.load(file)
        return f"in use by {about['user']} (process {about['pid']}) for {max(0, time.time() - about['since']):.0f} s"
    except (ValueError, KeyError, TypeError):
        return "in use"


def user_name() -> str:
    """Return the name of the user, or their number."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
