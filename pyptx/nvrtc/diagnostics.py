"""Errors and warnings of NVRTC, each with its file, line and column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pyptx._loc import SourceLocation, StoredCode
from pyptx.errors import CompileError, Diagnostic
from pyptx.nvrtc.headers import missing_header_hint

__all__ = ["CudaError", "diagnostics_of"]

_HEAD = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): (?P<kind>error|warning|catastrophic error)(?: #[\w-]+)?: (?P<text>.*)$"
)
_PLAIN = re.compile(r"^(?:.*?: )?(?P<kind>error|warning)\s*:\s*(?P<text>.*)$")
_MISSING = re.compile(r'cannot open source file "([^"]+)"')
_END = re.compile(r"^(?:\d+ (?:errors?|warnings?|catastrophic errors?)\b.*detected|Remark: |Compilation terminated)")
_EXPRESSION = "__nv_name_map"
_WORD = re.compile(r"\w+")


class CudaError(CompileError):
    """The compiler refused CUDA C++; each diagnostic has its place in the source."""

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.message, *map(_with_column, self.diagnostics)]))


def _with_column(found: Diagnostic) -> str:
    text = str(found)
    column = None if found.place is None else found.place.position.column
    if column is None or not text.startswith(f"{found.place}: "):
        return text
    return f"{found.place}:{column + 1}: {text.removeprefix(f'{found.place}: ')}"


def diagnostics_of(log: str, file_of: Callable[[str], str]) -> list[Diagnostic]:
    """Return the errors and warnings in the compiler's output.

    Args:
        file_of: the name of a file for `linecache`, by its name in the log.
    """
    rows = log.split("\n")
    found: list[Diagnostic] = []
    k = 0
    while k < len(rows):
        head, row = _HEAD.match(rows[k]), rows[k]
        k += 1
        if head is None:
            plain = _PLAIN.match(row)
            if plain and not _END.match(row):
                found.append(Diagnostic(plain["kind"], plain["text"]))
            continue
        details = []
        while k < len(rows) and rows[k].strip() and not _HEAD.match(rows[k]) and not _END.match(rows[k]):
            details.append(rows[k])
            k += 1
        if head["file"] == _EXPRESSION:  # the name of an instantiation has no place in the source
            if not head["text"].startswith("Error in parsing name expression"):
                found.append(Diagnostic("error", head["text"]))
            continue
        found.append(_diagnostic(head, details, file_of))
    return found


def _diagnostic(head: re.Match[str], details: Sequence[str], file_of: Callable[[str], str]) -> Diagnostic:
    marks = [k for k, row in enumerate(details) if row.strip() == "^"]
    column = end = None
    rest = [row for k, row in enumerate(details) if not marks or k > marks[0]]
    if marks and marks[0] > 0:
        source = details[marks[0] - 1]
        at = details[marks[0]].index("^")
        word = _WORD.match(source, at)
        column, end = max(0, at - 2), (word.end() if word else at + 1) - 2
        column, end = (len(source[2 : 2 + c].encode()) for c in (column, end))
    line = int(head["line"])
    code = StoredCode(file_of(head["file"]), "<ptx>", "<ptx>", line, ((line, line, column, end),))
    missing = _MISSING.search(head["text"])
    text = "\n".join([head["text"], *(row.strip() for row in rest if row.strip())])
    return Diagnostic(
        "warning" if head["kind"] == "warning" else "error",
        text,
        hint=missing_header_hint(missing[1]) if missing else None,
        place=SourceLocation(code, 0),
    )
