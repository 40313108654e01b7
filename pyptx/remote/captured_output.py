"""Output of a launch, of Python and of the driver, collected or passed on while it is written."""

from __future__ import annotations

import codecs
import ctypes
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper

__all__ = ["CapturedOutput"]

_PIECE = 1 << 16


class CapturedOutput:
    """A context that redirects standard output of this process.

    Args:
        say: called with pieces of the output as they are written, in a thread; None: `text` returns all of it.
    """

    def __init__(self, say: Callable[[str], None] | None = None):
        self._say, self._pieces = say or self._keep, list[str]()

    def __enter__(self) -> CapturedOutput:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)
        source, target = os.pipe()
        self._out = os.dup(1)
        os.dup2(target, 1)
        os.close(target)
        self._reader = threading.Thread(target=self._read, args=(source,), daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)
        os.dup2(self._out, 1)  # closes the pipe, which ends the reader
        os.close(self._out)
        self._reader.join()

    def text(self) -> str:
        """Return the output, after the context; "" if it was passed on."""
        return "".join(self._pieces)

    def _keep(self, piece: str) -> None:
        self._pieces.append(piece)

    def _read(self, source: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while piece := os.read(source, _PIECE):
            if text := decoder.decode(piece):
                self._say(text)
        os.close(source)
