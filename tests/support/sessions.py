"""A debugging session without a simulator that records its requests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from views.debugging import document, sources

from pyptx.errors import PtxError


class FakeSession:
    """Steps count; `resume` runs until it is interrupted; "wrong" is refused."""

    def __init__(self):
        self.state, self.asked, self.told = document(), [], []
        self.interrupted = threading.Event()

    def sources(self) -> dict[str, Any]:
        return sources()

    def document(self) -> dict[str, Any]:
        return dict(self.state)

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        self.told.append(call)
        return lambda: self.told.remove(call)

    def interrupt(self) -> None:
        self.interrupted.set()

    def step(self, n: int = 1) -> None:
        self.state = self.state | {"step": self.state["step"] + n}
        for call in self.told:
            call()

    def command(self, name: str, **values: Any) -> dict[str, Any]:
        self.asked.append((name, values))
        match name:
            case "step":
                self.step(**values)
            case "resume":
                assert self.interrupted.wait(20)
                self.state = self.state | {"stop": {"reason": "interrupt", "text": "", "breakpoint": None}}
            case "watch":
                return {"error": f"{values['text']}: no register is called so"}
            case "run_to":
                raise PtxError("there is no line 99")
            case "rewind":
                raise KeyError("lost")
        return self.document()
