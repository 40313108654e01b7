"""Values of registers and other operands in each lane."""

from __future__ import annotations

from pyptx.sim import actions as act
from pyptx.sim.abi import CTA_SPECIALS
from pyptx.sim.memory.address_space import shared_offset
from pyptx.sim.reference.state import Runner, lanes_of
from pyptx.sim.special_registers import value as special_value

__all__ = ["read", "read_lane", "write"]


def read(runner: Runner, value: act.Value, mask: int) -> list[int]:
    """Return the bits of a value in each lane of the mask."""
    match value:
        case act.Reg(index):
            row = runner.warp.registers[index]
            return [row[i] for i in lanes_of(mask)]
        case act.Const(bits):
            return [bits] * mask.bit_count()
        case act.Special(name):
            if name in CTA_SPECIALS:
                return [runner.cta.specials[name]] * mask.bit_count()
            if (offset := shared_offset(name)) is not None:
                return [offset + runner.cta.base] * mask.bit_count()
            key = name, runner.warp.index
            row = runner.run.specials.get(key)
            if row is None:
                found = special_value(name, runner.run.plan, runner.warp.index)
                assert found is not None, f"{name} was decoded but has no value"
                row = runner.run.specials[key] = [int(v) for v in found]
            return [row[i] for i in lanes_of(mask)]
        case act.Sum(register, constant):
            cut = (1 << register.width) - 1
            return [v + constant & cut for v in read(runner, register, mask)]


def read_lane(runner: Runner, value: act.Value, lane: int) -> int:
    """Return the bits of a value in one lane."""
    return read(runner, value, 1 << lane)[0]


def write(runner: Runner, register: act.Reg | None, mask: int, values: list[int]) -> None:
    """Write bits to a register, truncated to its width; None discards them."""
    if register is None:
        return
    row, cut = runner.warp.registers[register.index], (1 << register.width) - 1
    for lane, value in zip(lanes_of(mask), values, strict=True):
        row[lane] = value & cut
