"""Parser for the log of ptxas: errors and warnings with their PTX lines, and resource usage of entries.

ptxas, also within nvJitLink, writes
    ptxas k.ptx, line 31; error   : Unknown modifier '.foo'
    ptxas info    : (C7508) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ...
    ptxas info    : Compiling entry function 'k' for 'sm_90'
    ptxas info    : Function properties for k
        0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
    ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from pyptx.errors import Diagnostic

__all__ = ["Resources", "parse_diagnostics", "parse_resources"]

_MESSAGE = re.compile(r"(?:\w+ )?(?:.*?, line (?P<line>\d+); )?(?P<kind>error|fatal|warning|info)\s*: (?P<text>.*)")
_CODE = re.compile(r"\([A-Z]\d+\)")  # an advisory: an info with a number
_LINE_IN_TEXT = re.compile(r"\b(?:on|at|in|around|near) line (\d+)\b")  # "... is injected in around line 42 by ..."
_SUMMARY = "Ptx assembly aborted due to errors"
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")


@dataclass(frozen=True, slots=True)
class Resources:
    """Resource usage of an entry.

    Attributes:
        registers: 32-bit registers per thread.
        spill_stores, spill_loads: bytes of spills per thread.
        shared_bytes: static shared memory per block.
        constant_bytes: bytes of constant banks, including parameters.
        stack_bytes: stack frame per thread.
        barriers: named barriers.
    """

    registers: int
    spill_stores: int = 0
    spill_loads: int = 0
    shared_bytes: int = 0
    constant_bytes: int = 0
    stack_bytes: int = 0
    barriers: int = 0


def parse_diagnostics(log: str) -> tuple[Diagnostic, ...]:
    """Return errors and warnings in the order of the log; numbered advisories such as C7508 are warnings."""
    found: dict[Diagnostic, None] = {}
    for line in log.splitlines():
        message = _MESSAGE.fullmatch(line.strip())
        if message is None or message["text"] == _SUMMARY:
            continue
        kind, number = message["kind"], message["line"]
        if number is None and (named := _LINE_IN_TEXT.search(message["text"])):
            number = named[1]
        if kind == "info" and not _CODE.match(message["text"]):
            continue
        severity = "error" if kind in ("error", "fatal") else "warning"
        found[Diagnostic(severity, message["text"].strip(), int(number) if number else None)] = None
    return tuple(found)


def parse_resources(log: str) -> dict[str, Resources]:
    """Return the resources of each entry, in the order of the log; `constant_bytes` is 0, as newer logs omit it."""
    used: dict[str, Resources] = {}
    frames: dict[str, tuple[int, int, int]] = {}
    entry = function = None
    for line in log.splitlines():
        if found := re.search(r"Compiling entry function '(.+)' for '", line):
            entry = found[1]
        elif found := re.search(r"Function properties for '?([^\s']+)", line):
            function = found[1]
        elif function and (found := _FRAME.search(line)):
            frames[function] = int(found[1]), int(found[2]), int(found[3])
        elif entry and (found := _USED.search(line)):
            used[entry] = Resources(
                int(found[1]),
                shared_bytes=_number(line, r"(\d+) bytes smem"),
                barriers=_number(line, r"used (\d+) barriers"),
                stack_bytes=_number(line, r"(\d+) bytes cumulative stack size"),
            )
            entry = None
    for name, (stack, stores, loads) in frames.items():
        if name in used:
            used[name] = replace(
                used[name], spill_stores=stores, spill_loads=loads, stack_bytes=max(stack, used[name].stack_bytes)
            )
    return used


def _number(line: str, pattern: str) -> int:
    found = re.search(pattern, line)
    return int(found[1]) if found else 0
