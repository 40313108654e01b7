"""Files of tests, each in a process; where that does not end or loses the GPU, what is left of it in another one.

Standard library only, and pytest in the processes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

__all__ = ["GOOD", "TestFiles"]

GOOD = "passed", "skipped"
TEST_S, MOST_AGAIN = 90, 25  # seconds of a test; how often others go on after a fault
TOLD = re.compile(r"^(tests/\S+?::.+?) (PASSED|FAILED|ERROR|SKIPPED)\b", re.MULTILINE)  # by pytest -v
FAULT = re.compile(
    r"ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|MISALIGNED|LAUNCH_FAILED|LAUNCH_TIMEOUT|HARDWARE_STACK|"
    r"INVALID_ADDRESS_SPACE|INVALID_PC|illegal memory access|unspecified launch failure|misaligned"
)


class TestFiles:
    """Runs them.

    Args:
        python: runs Python with arguments, `limit` and `quiet` seconds; its status, None where it was ended, and text.
        left: the seconds that are left.
        marked: which tests, as of `pytest -m`.
    """

    __test__ = False  # pytest takes it for a class of tests

    def __init__(self, python: Callable[..., tuple[int | None, str]], left: Callable[[], float], marked: str):
        self._python, self.left, self._marked = python, left, marked

    def rows(self, file: str, only: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Rows of all tests of a file, or of some; of one that was run again, the last counts."""
        rows = self._file(file, only)
        return [*rows, *self._after_a_fault(file, rows)]

    def _file(self, file: str, only: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Rows of all tests of a file, or of some. Where the process does not end, the test it was at is to blame."""
        rows, text = self._tests_of(file, only or [file])
        if rows:
            return rows
        collected = self._python(
            "-m",
            "pytest",
            "-q",
            "--collect-only",
            "-m",
            self._marked,
            "-p",
            "no:cacheprovider",
            *(only or [file]),
            limit=TEST_S,
        )[1]
        left = [line for line in collected.splitlines() if line.startswith("tests/") and "::" in line]
        while left and self.left() > 10:
            told = {test: outcome.lower() for test, outcome in TOLD.findall(text)}
            rows += [
                _row(file, test, told[test], text[-1500:] * (told[test] not in GOOD)) for test in left if test in told
            ]
            left = [test for test in left if test not in told]
            if left:
                rows.append(_row(file, left.pop(0), "ended", f"it did not end, or died: {text[-1000:]}"))
            if left:
                more, text = self._tests_of(file, left)
                if more:
                    return rows + more
        return rows or [_row(file, f"{file}::(all)", "error", collected[-2000:])]

    def _tests_of(self, file: str, ids: Sequence[str]) -> tuple[list[dict[str, Any]], str]:
        """Rows of tests, none where they did not all end, and what was printed."""
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch) / "junit.xml"
            status, text = self._python(
                "-m",
                "pytest",
                "-v",
                "--no-header",
                "-m",
                self._marked,
                f"--junitxml={report}",
                "-p",
                "no:cacheprovider",
                *ids,
                limit=self.left(),
                quiet=TEST_S,
            )
            if not report.is_file() or status is None:
                return [], text
            rows = []
            for case in ElementTree.parse(report).getroot().iter("testcase"):
                fault = next(
                    (found for kind in ("failure", "error", "skipped") if (found := case.find(kind)) is not None), None
                )
                outcome = "passed" if fault is None else {"failure": "failed"}.get(fault.tag, fault.tag)
                why = "" if fault is None else f"{fault.get('message', '')}\n{fault.text or ''}"[-3000:]
                rows.append(_row(file, f"{file}::{case.get('name')}", outcome, why, float(case.get("time", 0))))
        return rows or [_row(file, f"{file}::(none)", "skipped" if status in (0, 5) else "error", text[-300:])], text

    def _after_a_fault(self, file: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Tests that failed because a fault before them had ended the GPU's context, again in another process."""
        found: list[dict[str, Any]] = []
        for _ in range(MOST_AGAIN):
            failed = [row for row in rows if row["outcome"] in ("failed", "error")]
            first = next((k for k, row in enumerate(failed) if FAULT.search(row["why"])), len(failed))
            if first + 1 >= len(failed) or self.left() < 20:
                break
            rows = self._file(file, [row["test"] for row in failed[first + 1 :]])
            found += rows
        return found


def _row(file: str, test: str, outcome: str, why: str, seconds: float = 0.0) -> dict[str, Any]:
    return {"file": file, "test": test, "seconds": seconds, "outcome": outcome, "why": why}
