"""The near side of a connection: an ssh process, requests on its standard input, and answers from its output."""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pyptx.errors import InputError, RemoteError
from pyptx.remote import ssh
from pyptx.remote.address import Address
from pyptx.remote.codec import Decoder, Encoder
from pyptx.remote.framing import Bytes, Stream
from pyptx.remote.parts import LEAST_KEPT
from pyptx.remote.protocol import PING_S, REPORTS, build
from pyptx.remote.reply import Reply
from pyptx.remote.transfer_progress import TransferProgress

__all__ = ["Connection", "close_all", "connect"]

_Frame = tuple[Mapping[str, Any], Sequence[Bytes], threading.Event | None]  # message, parts, set when it is sent
_GREETING_S = 60.0
_POLL_S = 0.1
_AHEAD = 1  # parts in the outbox while another one is sent
_LONGEST_LINE = 1 << 16
_ENDING_S = 5.0  # for an interrupted request to end there
_INTERRUPTIBLE = "trap '' INT; exec \"$@\""  # Ctrl-C reaches this process only: ssh goes on


class Connection:
    """A connection to a far machine.

    Args:
        address: of the machine.
        command: the command that starts the far side; None: ssh.
    Attributes:
        about: what the far side said of itself: versions, CPUs, device.
        known: digests of the parts that the far side has.
    Raises:
        RemoteError: the machine cannot be reached, refuses the user, or has no suitable Python or pyptx.
    """

    def __init__(self, address: Address, command: list[str] | None = None):
        self.address, self.known = address, set[str]()
        self._said: deque[str] = deque(maxlen=50)
        self._replies: dict[int, Reply] = {}
        self._lock, self._last, self._error = threading.Lock(), 0, None
        given = command or ssh.command(address, ssh.far_python(address))
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _INTERRUPTIBLE, "sh", *given],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as missing:
            raise RemoteError(f"cannot connect to {address}: {missing}", hint="install the OpenSSH client") from None
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._hearing = threading.Thread(target=self._hear, daemon=True)
        self._hearing.start()
        try:
            self.about = self._greet()
        except BaseException:  # Ctrl-C, too
            self._process.kill()
            raise
        self.stream = Stream(self._process.stdout, self._process.stdin)  # pyright: ignore[reportArgumentType]
        self._outbox: queue.SimpleQueue[_Frame | None] = queue.SimpleQueue()
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._transmit, daemon=True).start()
        self._warn_of_other_build()

    # requests ---------------------------------------------------------------------------------------------------------

    def ask(self, message: Mapping[str, Any], value: Any = None) -> Reply:
        """Send a request; return its reply, which arrives later.

        Large parts are sent before, each in a frame of its own, which the far side keeps: Ctrl-C and a lost connection cost
        the part in transfer, and the next request sends the others only.

        Args:
            message: the request; `value` is encoded into it, and parts of it that the far side lacks are sent.
        Raises:
            RemoteError: the connection was lost.
            ArgumentTypeError: the value cannot be sent.
        """
        encoder = Encoder()
        tree = encoder.encode(value)
        unknown = [name for name in encoder.parts if name not in self.known]
        large = [name for name in unknown if encoder.parts[name].nbytes >= LEAST_KEPT]
        if large:
            reply = self._send({"op": "missing", "names": large}, {})
            reply.wait()
            self.known.update(set(large) - set(reply.message["names"]))
            self._upload({name: encoder.parts[name] for name in reply.message["names"] if name in encoder.parts})
        wanted = {name: encoder.parts[name] for name in unknown if name not in self.known}
        return self._send({**message, "value": tree}, wanted)

    def _upload(self, parts: Mapping[str, Bytes]) -> None:
        """Send parts, and wait until they are sent."""
        progress = TransferProgress(str(self.address), sum(map(len, parts.values())))
        ahead: deque[tuple[str, int, threading.Event]] = deque()
        try:
            for name, part in parts.items():
                ahead.append((name, len(part), threading.Event()))
                self._outbox.put(({"op": "part"}, [part], ahead[-1][2]))
                if len(ahead) > _AHEAD:
                    self._await_sent(*ahead.popleft(), progress)
            while ahead:
                self._await_sent(*ahead.popleft(), progress)
        finally:
            progress.end()

    def _await_sent(self, name: str, size: int, sent: threading.Event, progress: TransferProgress) -> None:
        while not sent.wait(_POLL_S):
            if self._error is not None:
                raise self._error
        self.known.add(name)
        progress.add(size)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message that has no answer."""
        self._outbox.put((message, (), None))

    def decoded(self, reply: Reply) -> Any:
        """Return the value of a reply.

        Raises:
            InputError: the far side sent something else.
        """
        return Decoder(reply.parts.get).decode(reply.message["value"])

    def _send(self, message: Mapping[str, Any], parts: Mapping[str, Any]) -> Reply:
        reply = Reply()
        with self._lock:
            if self._error is not None:
                raise self._error
            self._last += 1
            number = self._last
            self._replies[number] = reply
        self._outbox.put(({**message, "id": number, "parts": list(parts)}, list(parts.values()), None))
        self.known.update(parts)
        return reply

    # the process ------------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """True while requests can be sent."""
        return self._error is None

    def close(self) -> None:
        """End the connection, and everything that runs for it on the far side."""
        self._fail(RemoteError(f"the connection to {self.address} was closed"))
        self._outbox.put(None)
        with suppress(OSError):
            self._process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]
        try:
            self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _greet(self) -> dict[str, Any]:
        """Wait for the line with which the far side answers; what shells print before it is skipped."""
        timer = threading.Timer(_GREETING_S, self._process.kill)
        timer.start()
        started = time.monotonic()
        try:
            assert self._process.stdout is not None
            while line := self._process.stdout.readline(_LONGEST_LINE):
                if line.startswith(ssh.greeting()):
                    answer = json.loads(line[len(ssh.greeting()) :])
                    if (refused := ssh.refusal(self.address, answer)) is not None:
                        self._process.kill()
                        raise refused
                    return answer
        finally:
            timer.cancel()
        status = self._process.wait()
        self._hearing.join(1)
        if time.monotonic() - started >= _GREETING_S:
            raise RemoteError(f"{self.address} did not answer within {_GREETING_S:g} s", hint="try it in a terminal")
        raise ssh.failure(self.address, "\n".join(self._said), status)

    def _warn_of_other_build(self) -> None:
        if self.about.get("build") != build():
            print(
                f"pyptx: warning: {self.address} has the same version of pyptx, {self.about.get('pyptx')}, built from other "
                f"sources; pyptx remote setup {self.address.machine} --from WHEEL_OR_FOLDER installs these",
                file=sys.stderr,
            )

    def _hear(self) -> None:
        """Collect standard error: of ssh for messages, of the far side for the user."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode(errors="replace").rstrip()
            self._said.append(text)
            if getattr(self, "about", None) is not None and self._error is None:
                print(text, file=sys.stderr)

    def _transmit(self) -> None:
        """Send what is in the outbox, in a thread of its own: Ctrl-C must not cut a frame."""
        while True:
            try:
                frame = self._outbox.get(timeout=PING_S)
            except queue.Empty:
                frame = {"op": "ping"}, (), None
            if frame is None:
                return
            message, parts, sent = frame
            try:
                self.stream.send(message, parts)
                if sent is not None:
                    sent.set()
            except (OSError, ValueError):  # closed by either side
                self._lost()
                return

    def _receive(self) -> None:
        try:
            while True:
                message, parts = self.stream.receive()
                reply = self._replies.get(message["id"])
                if reply is None:
                    continue
                if message.get("op") in REPORTS:
                    reply.reports.put(message)
                    continue
                del self._replies[message["id"]]
                self.known.update(message.get("known", ()))
                reply.set(message, dict(zip(message.get("parts", ()), parts, strict=False)) if parts else {})
        except (InputError, KeyError, TypeError) as wrong:
            self._fail(RemoteError(f"{self.address} sent a malformed answer: {wrong}"))
            self._process.kill()
        except (OSError, ValueError):  # closed by either side
            self._lost()

    def _lost(self) -> RemoteError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._hearing.join(0.5)
        said = next((line for line in reversed(self._said) if line.strip()), "")
        error = RemoteError(
            f"the connection to {self.address} was lost" + (f": {said}" if said else ""),
            hint="the next launch connects again; a sweep keeps its finished trials and resumes with run()",
        )
        return self._fail(error)

    def _fail(self, error: RemoteError) -> RemoteError:
        with self._lock:
            self._error = self._error or error
            waiting, self._replies = list(self._replies.values()), {}
        for reply in waiting:
            reply.fail(self._error)
        return self._error


_open: dict[str, Connection] = {}
os.register_at_fork(after_in_child=_open.clear)  # the connections are those of the parent
_open_lock = threading.Lock()


def connect(address: Address) -> Connection:
    """Return the open connection to an address, or a new one."""
    with _open_lock:
        found = _open.get(str(address))
        if found is None or not found.is_open:
            found = _open[str(address)] = Connection(address)
        return found


@atexit.register
def close_all() -> None:
    """Close all connections; the next requests open new ones."""
    with _open_lock:
        found, _ = list(_open.values()), _open.clear()
    for connection in found:
        connection.close()
