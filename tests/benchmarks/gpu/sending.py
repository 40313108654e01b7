"""Send cases to a worker process and replace a lost worker: a candidate that hangs or faults costs only itself.

A piece of work is {"case": number, "without": names of candidates, "timed": bool}; the worker says {"at": name} before
each candidate, "times" before the race, and {"rows": [...]} when it is done. No other packages.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from workers import Lost, Worker

__all__ = ["Sender", "send"]

LEAST, AGAIN = 5.0, 4  # seconds that a case must have; how often a case is sent


def send(
    cases: Sequence[tuple[int, Any]],
    command: list[str],
    told: Callable[[dict[str, Any], list], None],
    *,
    limit: float,
    until: float,
    start_limit: float = 300.0,
    small: bool = False,
) -> bool:
    """Send cases to a worker; whether there was time for all.

    Args:
        cases: with their numbers.
        command: of the worker.
        told: called with what the worker says of the GPU and the rows of a case, after every case.
        limit: seconds of a candidate; until: of time.monotonic(), when no further case is begun.
        small: rows of candidates that were lost name the small sizes.
    """
    sender = Sender(command, start_limit)
    try:
        for number, case in cases:
            if time.monotonic() + LEAST > until:
                return False
            sizes = dict(case.dry if small else case.sizes)
            rows = sender.rows_of(number, {"case": case.name, "sizes": sizes}, limit, until)
            if rows is None:
                return False
            told(sender.found, rows)
        return True
    finally:
        sender.close()


class Sender:
    """A worker, which it starts when there is none; `found` is what it said of the GPU."""

    def __init__(self, command: list[str], start_limit: float):
        self.command, self.start_limit = command, start_limit
        self.worker: Worker | None = None
        self.found: dict[str, Any] = {}
        self.at = ""

    def rows_of(self, number: int, row: dict[str, Any], limit: float, until: float) -> list[dict[str, Any]] | None:
        """The rows of a case, also of candidates that were lost; None where there was no time to know.

        Args:
            row: what they have in common.
        """
        lost: list[dict[str, Any]] = []
        without: list[str] = []
        timed = True
        for _ in range(AGAIN):
            try:
                return lost + self._ask({"case": number, "without": without, "timed": timed}, limit, until)
            except Lost as why:
                if time.monotonic() + LEAST > until and "no answer" in f"{why}":
                    return None  # it had no time: it is no fault of the case
                who = self.at or "all"
                lost.append(row | {"candidate": who, "failed": f"{why}"[-1000:]})
                if who == "times" and timed:
                    timed = False
                elif who in ("all", "times", "wanted"):
                    break
                else:
                    without.append(who)
        return lost

    def _ask(self, piece: dict[str, Any], limit: float, until: float) -> list[dict[str, Any]]:
        """The rows of a piece of work.

        Raises:
            Lost: there was no answer, or no worker any more; the next call starts another one.
        """
        self.at = ""
        try:
            if self.worker is None:
                self.worker = Worker(self.command)
                self.found = self.worker.answer(min(self.start_limit, until - time.monotonic())) or self.found
            self.worker.send(json.dumps(piece))
            while "rows" not in (answer := self.worker.answer(min(limit, max(10.0, until - time.monotonic())))):
                self.at = answer["at"]
        except Lost:
            self.worker = None
            raise
        return answer["rows"]

    def close(self) -> None:
        """End the worker, if there is one."""
        if self.worker is not None:
            self.worker.close()
            self.worker = None
