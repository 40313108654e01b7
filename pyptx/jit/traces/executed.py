"""The functions that a trace executes, which must all be functions that the key of the trace covers."""

from __future__ import annotations

import sys
import warnings
from types import CodeType, FrameType
from typing import Any

from pyptx.jit.traces.known import is_deterministic_module, is_library, is_of_pyptx

__all__ = ["Executed"]


class Executed:
    """Records the code that the current thread executes in a `with` block, other than that of pyptx and of Python's library.

    Attributes:
        codes: code objects by id.
        obstacle: why the record is not complete, as a clause; None if it is.
    """

    def __init__(self) -> None:
        self.codes: dict[int, CodeType] = {}
        self._known: dict[int, CodeType] = {}
        self.obstacle: str | None = None
        self._start: FrameType | None = None

    def __enter__(self) -> Executed:
        self._start = sys._getframe(1)
        if sys.getprofile() is not None:
            self.obstacle = "a profiler is active"
        else:
            sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._start = None
        if sys.getprofile() == self._note:
            sys.setprofile(None)
        elif self.obstacle is None:
            self.obstacle = "it sets a profiler"

    def _note(self, frame: FrameType, event: str, value: Any) -> None:
        if event == "call":
            code = frame.f_code
            if id(code) not in self._known:
                self._known[id(code)] = code
                if not (is_library(code.co_filename) or _is_generated(frame) or self._is_importing(frame)):
                    self.codes[id(code)] = code
        elif event == "c_call" and value is warnings.warn:
            self.obstacle = "it warns"

    def _is_importing(self, frame: FrameType) -> bool:
        """Return True in an import by the trace; a kernel that imports anything but pyptx has been refused."""
        outer: FrameType | None = frame
        while outer is not None and outer is not self._start:
            if outer.f_code.co_filename == "<frozen importlib._bootstrap>":
                return True
            outer = outer.f_back
        return False

    def outside(self, covered: dict[int, CodeType]) -> CodeType | None:
        """Return a recorded code object that is not covered; None if there is none."""
        return next((code for number, code in self.codes.items() if number not in covered), None)


def _is_generated(frame: FrameType) -> bool:
    """Return True for a method that Python or pyptx compiles for a class of their own, or for a named tuple."""
    home = str(frame.f_globals.get("__name__"))
    return is_of_pyptx(home) or is_deterministic_module(home) or home.startswith("namedtuple_")
