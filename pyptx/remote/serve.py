"""The far side: `python -m pyptx.remote.serve` answers requests on its standard input until that is closed.

It runs no launch itself: each client process of a connection has a process of its own here, which is killed when a
request exceeds its time limit or is stopped, and restarted by the next request.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from pyptx._version import __version__
from pyptx.errors import InputError, PtxError
from pyptx.remote import ssh
from pyptx.remote.codec import Decoder, Encoder
from pyptx.remote.device_queue import DeviceQueue
from pyptx.remote.framing import Stream
from pyptx.remote.parts import ON_DISK, PartStore, files, folder
from pyptx.remote.protocol import DEVICE_REQUESTS, PROTOCOL, REQUESTS, SILENT_S, WORKER, build
from pyptx.tune.clusters import available_cpus
from pyptx.tune.isolation import Child, ChildError, SweepStopped, TrialFault

__all__ = ["Server", "main"]

_NO_LIMIT_S = 1e9
_GRACE_S = 3.0  # for an interrupted launch to end before its process is killed

Send = Callable[[Mapping[str, Any], Any], None]


class Server:
    """Answers the requests of one connection.

    Args:
        stream: to the near side.
        store: binary parts.
    """

    def __init__(self, stream: Stream, store: PartStore):
        self._stream, self._store = stream, store
        self._children: dict[str, FarChild] = {}

    def run(self) -> None:
        """Answer requests until the near side is gone; then end all processes."""
        threading.Thread(target=self._end_in_silence, daemon=True).start()
        try:
            while True:
                message, parts = self._stream.receive()
                self._handle(message, parts)
        except OSError:
            pass
        finally:
            for child in self._children.values():
                child.close()

    def _end_in_silence(self) -> None:
        """Exit when nothing arrives any more: networks fail without a word, and the GPU must not stay reserved."""
        received, since = -1, time.monotonic()
        while time.monotonic() - since < SILENT_S:
            time.sleep(1)
            if self._stream.received != received:
                received, since = self._stream.received, time.monotonic()
        for child in list(self._children.values()):
            child.close()
        os._exit(1)

    def _handle(self, message: dict[str, Any], parts: list[bytes]) -> None:
        for part in parts:
            self._store.put(part)
        match message.get("op"):
            case "missing":
                self._stream.send({"id": message["id"], "names": self._store.missing(message["names"])})
            case "status":
                queue = message.get("queue")
                about = {"queue": DeviceQueue(queue).holders() if isinstance(queue, str) else []}
                used = sum(stat.st_size for _, stat in files(self._store.folder))
                self._stream.send({"id": message["id"], **about, "cache_bytes": used, "cache_limit": ON_DISK})
            case "ask":
                self._child(message["child"]).put(message)
            case "interrupt" | "stop" | "end" as what if message.get("child") in self._children:
                getattr(self._children[message["child"]], what)()
            case "interrupt" | "stop" | "end" | "ping" | "part":
                pass
            case other:
                raise InputError(f"unknown request {other!r}")

    def _child(self, name: str) -> FarChild:
        if name not in self._children:
            self._children[name] = FarChild(self._reply, self._store)
        return self._children[name]

    def _reply(self, message: Mapping[str, Any], value: Any = None) -> None:
        encoder = Encoder()
        tree = encoder.encode(value)
        for data in encoder.parts.values():
            self._store.put(bytes(data), keep=False)  # an output is often an input of the next launch
        with suppress(OSError):  # the near side is gone
            self._stream.send({**message, "value": tree, "parts": list(encoder.parts)}, list(encoder.parts.values()))


class FarChild:
    """A process for one child of the near side, and the thread that waits for it."""

    def __init__(self, reply: Send, store: PartStore):
        self._reply, self._store = reply, store
        self._child, self._token = Child(module=WORKER), ""
        self._child.heard = lambda text: self._report("printed", text=text)
        self._number = 0  # of the request in progress
        self._requests: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._held = ExitStack()
        self._stopped = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def put(self, message: dict[str, Any]) -> None:
        """Add a request."""
        self._stopped.clear()
        self._requests.put(message)

    def interrupt(self) -> None:
        """Stop the request in progress; the process keeps its state if it stops in time."""
        self._stopped.set()
        pid = self._child.pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)
        generation = self._child.generation
        timer = threading.Timer(_GRACE_S, lambda: self._child.generation == generation and self._kill_if_busy())
        timer.daemon = True
        timer.start()

    def stop(self) -> None:
        """Kill the process; a request in progress is answered with "SweepStopped"."""
        self._stopped.set()
        self._child.stop()

    def end(self) -> None:
        """Kill the process, and give the device back, after the requests so far."""
        self._requests.put({"op": "end"})

    def close(self) -> None:
        """Kill the process for good."""
        self.stop()
        self._requests.put(None)
        self._child.end()
        self._held.close()

    _busy = False

    def _kill_if_busy(self) -> None:
        if self._busy:
            self._child.stop()

    def _run(self) -> None:
        while (message := self._requests.get()) is not None:
            if message["op"] == "end":
                self._child.end()
                self._token = ""
                self._held.close()
                continue
            self._busy = True
            try:
                self._answer(message)
            finally:
                self._busy = False

    def _answer(self, message: dict[str, Any]) -> None:
        """Answer one request as `isolation.Child.ask` would: a value, or the kind of a ChildError and its message."""
        queued, self._number = 0.0, message["id"]

        def reply(kind: str, value: Any = None, **more: Any) -> None:
            about = {"id": message["id"], "kind": kind, "generation": self._child.generation, "queued": queued}
            self._reply({**about, **more}, value)

        try:
            wanted = Decoder(self._store.get).decode(message["value"])
            setup, request = wanted["setup"], wanted["request"]
            for one in (*(setup or ()), request):
                _require_known(one)
            with ExitStack() as once:
                queued = self._reserve(message, once)
                self._child.allow()
                if self._token != message["token"]:
                    if setup is None:
                        raise InputError("the setup of a process was not sent")
                    self._child.prepare(("device", message["device"]), *setup)
                    self._token = message["token"]
                answer = self._child.ask(*request, limit_s=message["limit"] or _NO_LIMIT_S)
            reply("answer", answer)
        except KeyError as missing:
            reply("missing", names=[missing.args[0]])
        except TrialFault as fault:
            reply("Fault", {"fault": fault.fault, "message": str(fault), **fault.more})
        except ChildError as error:
            reply(type(error).__name__, str(error))
        except PtxError as error:
            reply("Fault", {"fault": "error", "message": str(error)})
        except Exception as error:  # the near side waits for an answer, whatever happens
            reply("Fault", {"fault": "error", "message": f"{type(error).__name__}: {error}"})

    def _reserve(self, message: dict[str, Any], once: ExitStack) -> float:
        """Wait for the device as far as the request asks for it; return the seconds waited."""
        exclusive, device = message["exclusive"], message["queue"]
        if exclusive == "no" or not device or (exclusive == "hold" and self._is_held):
            return 0.0

        def waiting(ahead: int, holder: str) -> None:
            if self._stopped.is_set():
                raise SweepStopped("stopped while waiting for the device")
            self._tell_position(device, ahead, holder)

        kept = self._held if exclusive == "hold" else once
        seconds = kept.enter_context(DeviceQueue(device).reserved(waiting))
        if exclusive == "hold":
            self._is_held = True
            self._held.callback(lambda: setattr(self, "_is_held", False))
        return seconds

    _is_held = False
    _told: tuple[int, float] = (-1, 0.0)

    def _tell_position(self, device: str, ahead: int, holder: str) -> None:
        if self._told[0] == ahead and time.monotonic() - self._told[1] < 1:
            return
        self._told = ahead, time.monotonic()
        self._report("waiting", position=ahead, holder=holder, device=device)

    def _report(self, what: str, **about: Any) -> None:
        """Send a message about the request in progress."""
        self._reply({"id": self._number, "op": what, **about}, None)


def _require_known(request: Any) -> None:
    """Refuse requests for other methods than those meant for other machines."""
    if not isinstance(request, list | tuple) or not request or request[0] not in REQUESTS:
        raise InputError(f"unknown request {request!r:.80}")
    if request[0] == "on_gpu" and request[1] not in DEVICE_REQUESTS:
        raise InputError(f"unknown request {request[1]!r:.80} to a GPU")


def about() -> dict[str, Any]:
    """Return what a near side must know of this machine."""
    return {
        "protocol": PROTOCOL,
        "pyptx": __version__,
        "build": build(),
        "python": platform.python_version(),
        "host": platform.node(),
        "cpus": available_cpus(),
        "executable": sys.executable,
    }


def main() -> None:
    """Serve the near side of this process's standard input and output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is not part of the protocol
    target.write(b"\n" + ssh.greeting() + json.dumps(about()).encode() + b"\n")
    target.flush()
    stream = Stream(os.fdopen(os.dup(0), "rb"), target)
    Server(stream, PartStore(folder())).run()
    os._exit(0)  # threads may wait for processes that are gone


if __name__ == "__main__":
    main()
