"""Disassembly of cubins to SASS lines: a run of nvdisasm that prints encodings and PTX lines.

Live registers are counted here: nvdisasm cannot print them in the same run, each run takes a third of a second, and its
count takes time in proportion to the square of the size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pyptx.errors import ToolError
from pyptx.toolchain.cubin_info import read_cubin_info
from pyptx.toolchain.elf import embedded_ptx
from pyptx.toolchain.process import TIME_LIMIT_S, ToolResult, run_tool, workspace
from pyptx.toolchain.sass import Control, LiveRegisters, SassLine
from pyptx.toolchain.sass_liveness import count_live_registers

__all__ = ["disassemble"]

_SECTION = re.compile(r"//-+ \.text\.(\S+) ")
_PTX_LINE = re.compile(r'\s*//## File "\.nv_debug_ptx_txt[^"]*", line (\d+)')
_LABEL = re.compile(r"(\S+):")
_CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?\w+)\s+)?([\w.]+)\s*(.*?)\s*;\s*/\* 0x([0-9a-f]{16}) \*/")
_HIGH = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_REFERENCE = re.compile(r"`\((\S+?)\)")
_ARCHITECTURE = re.compile(r"\s*\.target\s+sm_(\d+)")
_TABLE = re.compile(r'\(\*"BRANCH_TARGETS ([^"]*)"\*\)')
_BY_REGISTER = re.compile(r"(?<![\w.])U?R\d+\b")
_HEADING = re.compile(r"\.(?:entry\s+|func\b\s*(?:\([^)]*\)\s*)?)([\w$%]+)[^{;]*([{;])")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_MARKED = re.compile(r"\s(?:STL|LDL|BRXU?|JMXU?)\b")
_INDIRECT = ("BRX", "CALL", "JMX", "RET")
_MEMORY = {"ATOM", "ATOMG", "CCTL", "LD", "LDG", "LDGSTS", "RED", "ST", "STG"}  # with a descriptor of memory
_BRANCH = re.compile(r"BRA|BRX|JMP|CALL|BSSY|WARPSYNC|RET|BRXU|JMXU|CALLU")


def disassemble(cubin: bytes, *, limit_s: float = TIME_LIMIT_S) -> tuple[SassLine, ...]:
    """Return the machine code of all functions of a cubin, in order.

    The NOPs that pad a function to 128 bytes are omitted.

    Args:
        cubin: from `assemble`, or another ELF file with machine code for sm_75 or later. Without -lineinfo, `ptx_line`
            is None.
        limit_s: time limit in seconds.
    Raises:
        ToolError: the bytes are not a cubin, or nvdisasm refuses them; its message is included.
        MissingToolError: nvdisasm is not installed.
    """
    openings = _openings(embedded_ptx(cubin) or ())
    with workspace() as name:
        folder = Path(name)
        (folder / "kernel.cubin").write_bytes(cubin)
        listing = _listing(folder, limit_s, marks=_uses_stack(cubin))
    if listing.status:
        raise ToolError(f"nvdisasm refused the cubin (status {listing.status}): {listing.log.strip()}")
    return tuple(line for function in _functions(listing.output) for line in function.lines(openings))


def _uses_stack(cubin: bytes) -> bool:
    return any(resources.stack_bytes for resources in read_cubin_info(cubin).resources.values())


def _listing(folder: Path, limit_s: float, *, marks: bool) -> ToolResult:
    """Run nvdisasm; with marks of spills and of the targets of indirect branches if asked for or if there are any.

    They come from its analysis of the data flow, which is a quarter of its time; without it the listing is the same.
    """
    analysis = () if marks else ("-ndf",)
    listing = run_tool("nvdisasm", "-c", "-hex", "-gp", *analysis, "kernel.cubin", folder=folder, limit_s=limit_s)
    if analysis and not listing.status and _MARKED.search(listing.output):
        return _listing(folder, limit_s, marks=True)
    return listing


class _Row(NamedTuple):
    address: int
    predicate: str
    opcode: str
    operands: str
    low: int  # of the encoding, 64 bits each
    high: int
    ptx_line: int | None


@dataclass
class _Function:
    """A function of the listing."""

    name: str
    architecture: int
    rows: list[_Row] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    fresh: set[int] = field(default_factory=set)  # addresses directly after a line marker

    def lines(self, openings: dict[str, int]) -> Iterator[SassLine]:
        opening, added_lines = openings.get(self.name), set(openings.values())
        while self.rows and self.rows[-1].opcode == "NOP":  # padding
            self.rows.pop()
        operands = [self._operands(row.operands) for row in self.rows]
        live = self._live(operands)
        for number, (address, predicate, opcode, text, _, high, ptx_line) in enumerate(self.rows):
            target = self._target(opcode, text)
            closing = number == len(self.rows) - 1 and self._closes(address, opcode, target)
            added = closing or ptx_line is None or ptx_line in added_lines
            yield SassLine(
                self.name,
                address,
                predicate,
                opcode,
                operands[number],
                Control.decode(high),
                live[number],
                target,
                opening if closing else ptx_line,
                added,
            )

    def _closes(self, address: int, opcode: str, target: int | None) -> bool:
        """Return True for the endless branch that ptxas appends to the code."""
        return opcode == "BRA" and address not in self.fresh and target == address

    def _target(self, opcode: str, operands: str) -> int | None:
        reference = _REFERENCE.search(operands) if _BRANCH.match(opcode) else None
        return self.labels.get(reference[1]) if reference else None

    def _operands(self, operands: str) -> tuple[str, ...]:
        def address_of(reference: re.Match[str]) -> str:
            return f"{self.labels[reference[1]]:#x}" if reference[1] in self.labels else reference[1]

        return tuple(_split(_REFERENCE.sub(address_of, operands) if "`" in operands else operands))

    def _live(self, operands: list[tuple[str, ...]]) -> list[LiveRegisters]:
        row_at = {row.address: number for number, row in enumerate(self.rows)}
        targets, tables, unprinted = [-1] * len(self.rows), {}, {}
        for number, row in enumerate(self.rows):
            target = self._target(row.opcode, row.operands)
            if target is not None and not (row.opcode.startswith(_INDIRECT) and _BY_REGISTER.search(row.operands)):
                targets[number] = row_at.get(target, -1)
            if table := _TABLE.search(row.operands):
                labels = table[1].split(",")
                tables[number] = [row_at[at] for label in labels if (at := self.labels.get(label)) in row_at]
            if 80 <= self.architecture < 90 and (descriptor := _descriptor(row)) is not None:
                unprinted[number] = (descriptor, descriptor + 1)
        return count_live_registers(
            [row.opcode for row in self.rows],
            [row.predicate for row in self.rows],
            operands,
            targets,
            tables,
            unprinted,
            [row_at[at] for at in self.labels.values() if at in row_at],
        )


def _descriptor(row: _Row) -> int | None:
    """Return the first uniform register of the memory descriptor, which nvdisasm does not print for sm_80 to sm_89."""
    word = row.opcode.partition(".")[0]
    if word not in _MEMORY or not row.high >> 27 & 1:
        return None
    number = (row.low >> 32 if word in ("LD", "LDG") else row.high) & 63
    return None if number == 63 else number


def _functions(listing: str) -> Iterator[_Function]:
    function: _Function | None = None
    pending: tuple | None = None
    ptx_line: int | None = None
    marked, labels, architecture = False, [], 0
    for line in listing.splitlines():
        if pending and (high := _HIGH.fullmatch(line)):
            address, predicate, opcode, operands, low = pending
            assert function is not None
            function.rows.append(_Row(address, predicate, opcode, operands, low, int(high[1], 16), ptx_line))
            function.labels.update(dict.fromkeys(labels, address))
            if marked:
                function.fresh.add(address)
            pending, marked, labels = None, False, []
        elif code := _CODE.fullmatch(line):
            pending = int(code[1], 16), code[2] or "", code[3], code[4], int(code[5], 16)
        elif marker := _PTX_LINE.match(line):
            ptx_line, marked = int(marker[1]), True
        elif label := _LABEL.fullmatch(line):
            labels.append(label[1])
        elif section := _SECTION.match(line):
            if function:
                yield function
            function, ptx_line, marked, labels = _Function(section[1], architecture), None, False, []
        elif target := _ARCHITECTURE.match(line):
            architecture = int(target[1])
    if function:
        yield function


def _split(operands: str) -> Iterator[str]:
    """Split operands at commas outside brackets."""
    depth = start = 0
    for place, character in enumerate(operands):
        if character in "[({":
            depth += 1
        elif character in "])}":
            depth -= 1
        elif character == "," and depth == 0:
            yield operands[start:place].strip()
            start = place + 1
    if operands[start:].strip():
        yield operands[start:].strip()


def _openings(lines: tuple[str, ...]) -> dict[str, int]:
    """Return name of a function -> first line of its body, which ptxas uses for instructions it adds.

    Functions with an instruction on that line are omitted.
    """
    text = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), "\n".join(lines))
    found = {}
    for heading in _HEADING.finditer(text):
        end = text.find("\n", heading.end())
        if heading[2] == "{" and not text[heading.end() : end if end >= 0 else len(text)].strip():
            found[heading[1]] = text.count("\n", 0, heading.end()) + 1
    return found
