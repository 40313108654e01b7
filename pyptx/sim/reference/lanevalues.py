"""The bits of registers and other values, lane by lane."""

from __future__ import annotations

from pyptx.sim.actions import basic as act
from pyptx.sim.memory.spaces import shared_offset
from pyptx.sim.reference.state import lanes_of
from pyptx.sim.special import CTA_ROWS
from pyptx.sim.special import value as special_value

__all__ = ["read", "write"]


def read(runner, value: act.Value, mask: int) -> list[int]:
    """The bits of a value in each lane of the mask."""
    match value:
        case act.Reg(index):
            row = runner.warp.registers[index]
            return [row[i] for i in lanes_of(mask)]
        case act.Const(bits):
            return [bits] * mask.bit_count()
        case act.Special(name):
            if name in CTA_ROWS:
                return [runner.cta.specials[name]] * mask.bit_count()
            if (offset := shared_offset(name)) is not None:
                return [offset + runner.cta.base] * mask.bit_count()
            key = name, runner.warp.index
            if key not in runner.run.place_specials:
                runner.run.place_specials[key] = [int(v) for v in special_value(name, runner.run.plan,
                    runner.warp.index)]
            row = runner.run.place_specials[key]
            return [row[i] for i in lanes_of(mask)]


def write(runner, register: act.Reg | None, mask: int, values: list[int]) -> None:
    """Write bits to a register, cut to its width."""
    if register is None:
        return
    row, cut = runner.warp.registers[register.index], (1 << register.width) - 1
    for lane, value in zip(lanes_of(mask), values, strict=True):
        row[lane] = value & cut
