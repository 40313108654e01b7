"""Lines of machine code: instruction, scheduling, live registers, and origin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pyptx._frozen import frozen

__all__ = ["Control", "LiveRegisters", "SassLine", "from_columns", "to_columns"]


class Control(NamedTuple):
    """The scheduling bits of an instruction, sm_75 and later.

    Attributes:
        stall: cycles before the next instruction of the warp may issue, 0..15.
        yield_: the scheduler may switch to another warp.
        write_barrier, read_barrier: scoreboard 0..5 released when the result is written, and when the operands are
            read; None: none.
        wait_mask: scoreboards to wait for before issue, one bit each.
        reuse: operand slots kept in the operand cache, one bit each.
    Source: bits 105..125 of the 128-bit encoding; verified with nvdisasm's dependences on sm_75 to sm_120a.
    """

    stall: int
    yield_: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int

    @classmethod
    def decode(cls, high: int) -> Control:
        """Decode the upper 64 bits of an encoding."""
        bits = high >> 41
        write, read = bits >> 5 & 7, bits >> 8 & 7
        return cls(
            bits & 15,
            not bits >> 4 & 1,
            None if write == 7 else write,
            None if read == 7 else read,
            bits >> 11 & 63,
            bits >> 17 & 15,
        )

    def __str__(self) -> str:
        """ "wait 01---- R- W2 yield stall 4", in order of effect."""
        waits = "".join(str(n) if self.wait_mask >> n & 1 else "-" for n in range(6))
        read, write = ("-" if number is None else number for number in (self.read_barrier, self.write_barrier))
        return f"wait {waits} R{read} W{write} {'yield' if self.yield_ else '-----'} stall {self.stall}"


class LiveRegisters(NamedTuple):
    """Live registers at an instruction: general, predicate, uniform, uniform predicate."""

    gpr: int
    pred: int
    ugpr: int
    upred: int = 0


@frozen
class SassLine:
    """One machine instruction.

    Attributes:
        entry: its function.
        address: byte offset in that function, a multiple of 16.
        predicate: its guard, "P0", "!UP1"; empty without.
        opcode: opcode with modifiers, "LDG.E.128".
        operands: operands as printed by nvdisasm, e.g. ("R2", "desc[UR4][R2.64]"); branch targets as addresses.
        control: its scheduling bits.
        live: live registers; None if unknown.
        target_address: target of a branch or call within the function.
        ptx_line: 1-based line of the PTX text; the first line of the body for instructions added by ptxas.
        added_by_ptxas: it belongs to no PTX instruction: stack pointer, constant loads, the end of the code.
    """

    entry: str
    address: int
    predicate: str
    opcode: str
    operands: tuple[str, ...]
    control: Control
    live: LiveRegisters | None
    target_address: int | None
    ptx_line: int | None
    added_by_ptxas: bool

    @property
    def text(self) -> str:
        """The instruction as one line: "@P0 IADD3 R2, R2, R4, RZ"."""
        words = [f"@{self.predicate}"] if self.predicate else []
        words.append(self.opcode)
        if self.operands:
            words.append(", ".join(self.operands))
        return " ".join(words)


_PLAIN = ("entry", "address", "predicate", "opcode", "operands", "target_address", "ptx_line", "added_by_ptxas")


def to_columns(lines: Iterable[SassLine]) -> dict[str, list[Any]]:
    """Return the lines as columns of plain values, for JSON."""
    lines = tuple(lines)
    columns = {name: [getattr(line, name) for line in lines] for name in _PLAIN}
    return columns | {
        "control": [list(line.control) for line in lines],
        "live": [line.live and list(line.live) for line in lines],
    }


def from_columns(columns: dict[str, list[Any]]) -> tuple[SassLine, ...]:
    """Return the lines of columns made by `to_columns`.

    Raises:
        KeyError, TypeError, ValueError: the columns are malformed.
    """
    rows = zip(*(columns[name] for name in _PLAIN), columns["control"], columns["live"], strict=True)
    return tuple(
        SassLine(
            entry,
            address,
            predicate,
            opcode,
            tuple(operands),
            Control(*control),
            LiveRegisters(*live) if live else None,
            target,
            ptx_line,
            added,
        )
        for entry, address, predicate, opcode, operands, target, ptx_line, added, control, live in rows
    )
