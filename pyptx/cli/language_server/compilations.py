"""Compilations: costs of PTX texts, each from a process that is stopped when its text has changed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import OrderedDict
from contextlib import suppress

from pyptx.errors import ToolError
from pyptx.workbench.line_costs import LineCosts

__all__ = ["Compilations"]

MOST_KEPT = 32  # texts whose costs are kept
LIMIT_S = 300.0


class Compilations:
    """Costs of PTX texts by text; one text is compiled at a time.

    Args:
        target: compile for this target instead of the one in the text.
    """

    def __init__(self, target: str | None):
        self._target = target
        self._known: OrderedDict[str, LineCosts | str] = OrderedDict()
        self._one = asyncio.Lock()

    def costs(self, text: str) -> LineCosts | str | None:
        """Return the costs of a text, the message of the tool that refused it, or None if it was not compiled."""
        return self._known.get(text)

    async def compile(self, text: str, *, again: bool = False) -> LineCosts | str:
        """Compile a text that was not compiled; canceling stops the process.

        Args:
            again: also a text that was refused, because ptxas may have been installed meanwhile.
        Returns:
            The costs, or the message of the tool that refused the text.
        """
        async with self._one:
            known = self._known.get(text)
            if known is None or (again and isinstance(known, str)):
                known = self._known[text] = await self._run(text)
            self._known.move_to_end(text)
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
            return known

    async def _run(self, text: str) -> LineCosts | str:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "pyptx.workbench.line_costs", *([self._target] if self._target else [])),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # so that its assembler is stopped with it
        )
        try:
            data = text.encode("utf-8", "surrogatepass")
            output, log = await asyncio.wait_for(process.communicate(data), LIMIT_S)
        except TimeoutError:
            return f"the assembler was stopped after {LIMIT_S:g} s"
        finally:
            if process.returncode is None:
                _stop(process)
        try:
            answer = json.loads(output)
        except ValueError:
            raise ToolError(f"the compilation failed: {log.decode(errors='replace')[-2000:]}") from None
        return answer["message"] if "message" in answer else LineCosts.from_json(answer)


def _stop(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
