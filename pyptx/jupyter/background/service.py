"""The comm that compiles cells while they are typed: the newest request counts, and running a cell cancels it.

The front end opens the comm `pyptx-typing` and sends {"number", "source"} or {"cancel": true}. It receives
{"number", "diagnostics", "text", "note", "done"}: first without modeled times, then with them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from pyptx.errors import PtxError
from pyptx.jupyter.background.changes import change_text
from pyptx.jupyter.background.typed_cell import TypedCell, TypedKernel
from pyptx.jupyter.kernel_runs import CompiledKernel
from pyptx.kernel import Kernel

__all__ = ["TARGET", "TypingService"]

TARGET = "pyptx-typing"
MAX_MODEL_SECONDS = 5.0  # a kernel whose model took longer once is not modeled again

Send = Callable[[dict[str, Any]], Any]


class TypingService:
    """Compiles the cell that is typed, in a thread.

    Args:
        last: kernels by name, as the notebook ran them last.
    """

    def __init__(self, shell: InteractiveShell, last: dict[str, CompiledKernel]):
        self._shell, self._last = shell, last
        self._lock = threading.Lock()
        self._wanted: tuple[int, str, Send] | None = None
        self._number = 0  # of the newest request; 0: canceled
        self._thread: threading.Thread | None = None
        self._modeled: dict[int, tuple[CompiledKernel, float | None]] = {}  # id of the last run -> it, its time
        self._slow: set[str] = set()

    def connect(self) -> Callable[[], None]:
        """Register the comm with the kernel of the shell; the returned function undoes it."""
        manager = getattr(getattr(self._shell, "kernel", None), "comm_manager", None)
        if manager is None:  # a terminal
            return lambda: None
        manager.register_target(TARGET, self._opened)
        cancel = lambda *_: self.cancel()  # noqa: E731
        self._shell.events.register("pre_run_cell", cancel)

        def undo() -> None:
            manager.unregister_target(TARGET, self._opened)
            self._shell.events.unregister("pre_run_cell", cancel)
            self.cancel()

        return undo

    def _opened(self, comm: Any, message: Any) -> None:
        comm.on_msg(lambda sent: self._on_message(sent["content"]["data"], comm.send))

    def _on_message(self, data: dict[str, Any], send: Send) -> None:
        if data.get("cancel"):
            self.cancel()
        elif isinstance(data.get("source"), str):
            self.start(int(data.get("number", 1)), data["source"], send)

    def start(self, number: int, source: str, send: Send) -> None:
        """Compile a cell in the background, instead of one that is still being compiled."""
        with self._lock:
            self._wanted, self._number = (number, source, send), number
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="compile while typing", daemon=True)
                self._thread.start()

    def cancel(self) -> None:
        """Send nothing more for the current request."""
        with self._lock:
            self._wanted, self._number = None, 0

    def _work(self) -> None:
        while True:
            with self._lock:
                wanted, self._wanted = self._wanted, None
                if wanted is None:
                    self._thread = None
                    return
            number, source, send = wanted
            try:
                for answer in self._answers(number, source):
                    if self._number != number:
                        break
                    send({"number": number, **answer})
            except Exception as error:  # of the user's code or a tool: shown in the line, as no cell is running
                send(
                    {
                        "number": number,
                        "diagnostics": [],
                        "text": "",
                        "note": f"{type(error).__name__}: {error}",
                        "done": True,
                    }
                )

    def _answers(self, number: int, source: str) -> Any:
        """Yield the answers to a request: the code, then the modeled times."""
        cell, kernels = TypedCell(self._shell, source), []
        for one in cell.compiled(self._last):
            kernels.append(one)
            if self._number != number:
                return
        texts = {one.name: change_text(self._last.get(one.kernel.name), one.made) for one in kernels}
        yield {"diagnostics": cell.diagnostics, "text": _joined(texts), "note": cell.note, "done": not kernels}
        for one in kernels:
            if self._number != number:
                return
            before = self._last.get(one.kernel.name)
            texts[one.name] = change_text(
                before, one.made, (self._time_before(one, before), self._time(one.kernel, one))
            )
        if kernels:
            yield {"diagnostics": cell.diagnostics, "text": _joined(texts), "note": cell.note, "done": True}

    def _time_before(self, one: TypedKernel, before: CompiledKernel | None) -> float | None:
        """Return the modeled seconds of the last run, which are modeled once."""
        defined = self._shell.user_ns.get(one.name)
        if before is None or not isinstance(defined, Kernel):
            return None
        known = self._modeled.get(id(before))
        if known is None or known[0] is not before:
            self._modeled.clear()
            known = self._modeled[id(before)] = before, self._time(defined, one)
        return known[1]

    def _time(self, kernel: Kernel, one: TypedKernel) -> float | None:
        """Return the modeled seconds of a launch on random arrays; None if it took long or cannot be simulated."""
        if one.name in self._slow:
            return None
        started = time.perf_counter()
        try:
            return kernel.estimate(**one.params).seconds
        except PtxError:  # needs arrays of its own, or cannot be simulated
            return None
        finally:
            if time.perf_counter() - started > MAX_MODEL_SECONDS:
                self._slow.add(one.name)


def _joined(texts: dict[str, str]) -> str:
    return (
        next(iter(texts.values())) if len(texts) == 1 else "; ".join(f"{name}: {text}" for name, text in texts.items())
    )
