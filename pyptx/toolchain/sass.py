"""One line of machine code: what it does, how it is scheduled, which registers are alive, whence it came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pyptx._value import value

__all__ = ["Control", "LiveRegisters", "SassLine", "from_columns", "to_columns"]


class Control(NamedTuple):
    """The scheduling bits of an instruction, sm_75 and later.

    Attributes:
        stall: cycles before the next instruction of the warp may issue, 0..15.
        yield_: the scheduler may prefer another warp next.
        write_barrier, read_barrier: scoreboard 0..5 released when the result is written, when the operands are read;
            None: none.
        wait_mask: scoreboards waited for before issue, one bit each.
        reuse: operand slots kept in the operand cache, one bit each.
    Source: bits 105..125 of the 128-bit encoding; checked against nvdisasm's dependences on sm_75 to sm_120a.
    """

    stall: int
    yield_: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int

    @classmethod
    def decode(cls, high: int) -> Control:
        """From the upper 64 bits of an encoding."""
        bits = high >> 41
        write, read = bits >> 5 & 7, bits >> 8 & 7
        return cls(bits & 15, not bits >> 4 & 1, None if write == 7 else write, None if read == 7 else read,
                   bits >> 11 & 63, bits >> 17 & 15)

    def __str__(self) -> str:
        """ "wait 01---- R- W2 yield stall 4", the order in which they act."""
        waits = "".join(str(n) if self.wait_mask >> n & 1 else "-" for n in range(6))
        read, write = ("-" if number is None else number for number in (self.read_barrier, self.write_barrier))
        return f"wait {waits} R{read} W{write} {'yield' if self.yield_ else '-----'} stall {self.stall}"


class LiveRegisters(NamedTuple):
    """Registers in use at an instruction: general, predicate, uniform, uniform predicate."""

    gpr: int
    pred: int
    ugpr: int
    upred: int = 0


@value
class SassLine:
    """One machine instruction.

    Attributes:
        entry: the function it belongs to.
        address: byte offset in that function, a multiple of 16.
        predicate: its guard, "P0", "!UP1"; empty without.
        opcode: with its modifiers, "LDG.E.128".
        operands: as nvdisasm prints them, e.g. ("R2", "desc[UR4][R2.64]"); branch targets as addresses.
        control: its scheduling bits.
        live: registers in use, None where nvdisasm could not tell.
        target_address: where a branch or call goes, when that is in the same function.
        ptx_line: 1-based line of the PTX text; the line that opens the body for what ptxas added.
        added_by_ptxas: no PTX instruction asked for it: stack pointer, constant loads, the end of the code.
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
    """The lines as columns of plain values, for JSON."""
    lines = tuple(lines)
    columns = {name: [getattr(line, name) for line in lines] for name in _PLAIN}
    return columns | {"control": [list(line.control) for line in lines],
                      "live": [line.live and list(line.live) for line in lines]}


def from_columns(columns: dict[str, list[Any]]) -> tuple[SassLine, ...]:
    """The lines that `to_columns` gave.

    Raises:
        KeyError, TypeError, ValueError: the columns are not of that form.
    """
    rows = zip(*(columns[name] for name in _PLAIN), columns["control"], columns["live"], strict=True)
    return tuple(
        SassLine(entry, address, predicate, opcode, tuple(operands), Control(*control),
                 LiveRegisters(*live) if live else None, target, ptx_line, added)
        for entry, address, predicate, opcode, operands, target, ptx_line, added, control, live in rows)
