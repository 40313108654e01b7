"""A cubin to SASS lines, by two runs of nvdisasm side by side.

One prints encodings and the PTX line of each instruction, the other the registers in use; nvdisasm does not do both at
once, and each run costs a third of a second whatever the size (counting: from 5,000 instructions on more).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pyptx.errors import ToolError
from pyptx.toolchain.elf import embedded_ptx
from pyptx.toolchain.process import TIME_LIMIT_S, run_tools, workspace
from pyptx.toolchain.sass import Control, LiveRegisters, SassLine

__all__ = ["disassemble"]

COUNTS_PATIENCE_S = 30.0                        # counting takes time with the square of the size: 10 s for 20,000 lines

_SECTION = re.compile(r"//-+ \.text\.(\S+) ")
_PTX_LINE = re.compile(r'\s*//## File "\.nv_debug_ptx_txt[^"]*", line (\d+)')
_LABEL = re.compile(r"(\S+):")
_CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?\w+)\s+)?([\w.]+)\s*(.*?)\s*;\s*/\* 0x([0-9a-f]{16}) \*/")
_HIGH = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_REFERENCE = re.compile(r"`\((\S+?)\)")
_LIVE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/.*;\s*// \|(.*)\|")
_HEADING = re.compile(r"\.(?:entry\s+|func\b\s*(?:\([^)]*\)\s*)?)([\w$%]+)[^{;]*([{;])")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_BRANCH = re.compile(r"BRA|BRX|JMP|CALL|BSSY|WARPSYNC|RET|BRXU|JMXU|CALLU")


def disassemble(cubin: bytes, *, limit_s: float = TIME_LIMIT_S) -> tuple[SassLine, ...]:
    """The machine code of every function of a cubin, in its order.

    The NOPs that fill the last 128 bytes of a function are left out; they are never reached.

    Args:
        cubin: from `assemble`, or any other ELF file with machine code of sm_75 or later. Without -lineinfo in it,
            `ptx_line` is None throughout.
        limit_s: time limit in seconds.
    Raises:
        ToolError: the bytes are no cubin, or nvdisasm refuses them; its message is included.
        MissingToolError: there is no nvdisasm.
    Warns:
        RuntimeWarning: nvdisasm lists the code and does not count registers; `live` is None then. Counting takes time
            with the square of the size, 10 s for 20,000 instructions; after 30 s it is given up.
    """
    openings = _openings(embedded_ptx(cubin) or ())
    with workspace() as name:
        folder = Path(name)
        (folder / "kernel.cubin").write_bytes(cubin)
        listing, counts = run_tools("nvdisasm", ("-c", "-hex", "-gp", "kernel.cubin"),
                                    ("-c", "-lrm", "count", "kernel.cubin"), folder=folder, limit_s=limit_s,
                                    patience_s=COUNTS_PATIENCE_S)
    if listing.status:
        raise ToolError(f"nvdisasm refused the cubin (status {listing.status}): {listing.log.strip()}")
    live = {}
    if counts.status:
        warnings.warn(f"the live registers are not known: nvdisasm -lrm count ended with status {counts.status}: "
                      f"{counts.log.strip()}", RuntimeWarning, stacklevel=2)
    else:
        live = _live_registers(counts.output)
    return tuple(line for function in _functions(listing.output) for line in function.lines(live, openings))


@dataclass
class _Function:
    """One function of the listing, as it is read."""

    name: str
    rows: list[tuple[int, str, str, str, Control, int | None]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    fresh: set[int] = field(default_factory=set)            # addresses with a line marker of their own

    def lines(self, live: dict[tuple[str, int], LiveRegisters], openings: dict[str, int]) -> Iterator[SassLine]:
        opening, added_lines = openings.get(self.name), set(openings.values())
        end = self._end_of_code()
        for address, predicate, opcode, operands, control, ptx_line in self.rows:
            if address > end:
                break
            closing = address == end and self._closes(address, opcode, operands)
            target = self._target(opcode, operands)
            added = closing or ptx_line is None or ptx_line in added_lines
            yield SassLine(self.name, address, predicate, opcode, self._operands(operands), control,
                           live.get((self.name, address)), target, opening if closing else ptx_line, added)

    def _end_of_code(self) -> int:
        """Address of the last instruction that is not padding."""
        return next((row[0] for row in reversed(self.rows) if row[2] != "NOP"), -1)

    def _closes(self, address: int, opcode: str, operands: str) -> bool:
        """Whether this is the endless branch that ptxas puts behind the code."""
        return opcode == "BRA" and address not in self.fresh and self._target(opcode, operands) == address

    def _target(self, opcode: str, operands: str) -> int | None:
        reference = _REFERENCE.search(operands)
        return self.labels.get(reference[1]) if reference and _BRANCH.match(opcode) else None

    def _operands(self, operands: str) -> tuple[str, ...]:
        def address_of(reference: re.Match[str]) -> str:
            return f"{self.labels[reference[1]]:#x}" if reference[1] in self.labels else reference[1]
        return tuple(_split(_REFERENCE.sub(address_of, operands)))


def _functions(listing: str) -> Iterator[_Function]:
    function: _Function | None = None
    pending: tuple | None = None
    ptx_line: int | None = None
    marked, labels = False, []
    for line in listing.splitlines():
        if pending and (high := _HIGH.fullmatch(line)):
            address, predicate, opcode, operands = pending
            assert function is not None
            function.rows.append((address, predicate, opcode, operands, Control.decode(int(high[1], 16)), ptx_line))
            function.labels.update(dict.fromkeys(labels, address))
            if marked:
                function.fresh.add(address)
            pending, marked, labels = None, False, []
        elif code := _CODE.fullmatch(line):
            pending = int(code[1], 16), code[2] or "", code[3], code[4]
        elif marker := _PTX_LINE.match(line):
            ptx_line, marked = int(marker[1]), True
        elif label := _LABEL.fullmatch(line):
            labels.append(label[1])
        elif section := _SECTION.match(line):
            if function:
                yield function
            function, ptx_line, marked, labels = _Function(section[1]), None, False, []
    if function:
        yield function


def _split(operands: str) -> Iterator[str]:
    """Operands between commas that stand in no bracket."""
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


def _live_registers(listing: str) -> dict[tuple[str, int], LiveRegisters]:
    """Counts by function and address. Columns are read by their heads; targets differ in which they have."""
    found: dict[tuple[str, int], LiveRegisters] = {}
    function, heads = "", []
    for line in listing.splitlines():
        if row := _LIVE.match(line):
            counts = {head: int(cell) if cell.strip() else 0
                      for head, cell in zip(heads, row[2].split("|"), strict=True) if head}
            found[function, int(row[1], 16)] = LiveRegisters(counts.get("GPR", 0), counts.get("PRED", 0),
                                                            counts.get("UGPR", 0), counts.get("UPRED", 0))
        elif section := _SECTION.match(line):
            function = section[1]
        elif "| GPR " in line:
            heads = [head.strip() for head in line.split("|")[1:-1]]
    return found


def _openings(lines: tuple[str, ...]) -> dict[str, int]:
    """Name of a function -> the line that opens its body, which ptxas names for what it adds itself.

    Left out where an instruction stands on that line too.
    """
    text = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), "\n".join(lines))
    found = {}
    for heading in _HEADING.finditer(text):
        end = text.find("\n", heading.end())
        if heading[2] == "{" and not text[heading.end():end if end >= 0 else len(text)].strip():
            found[heading[1]] = text.count("\n", 0, heading.end()) + 1
    return found
