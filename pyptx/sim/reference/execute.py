"""Execution of actions that neither branch nor wait: values, moves, memory."""

from __future__ import annotations

from pyptx.errors import UnsupportedError
from pyptx.sim import actions as act
from pyptx.sim.actions import Leaf
from pyptx.sim.arithmetic.bits import signed
from pyptx.sim.arithmetic.evaluator import evaluate
from pyptx.sim.memory.address_space import CONST_WINDOW, SHARED_WINDOW
from pyptx.sim.reference import access
from pyptx.sim.reference._registry import HANDLERS
from pyptx.sim.reference.lane_values import read, write
from pyptx.sim.reference.state import Runner
from pyptx.sim.value_types import width

__all__ = ["execute"]


def execute(runner: Runner, action: act.Action, mask: int) -> None:
    """Execute an action for the lanes of a mask."""
    match action:
        case act.Compute(assignments):
            results = [
                (r, _fitted(r, e, evaluate(e, lambda leaf: _leaf(runner, leaf, mask))))
                for r, e in assignments
                if r is not None
            ]
            for register, values in results:
                write(runner, register, mask, values)
        case act.Move():
            _move(runner, action, mask)
        case act.Load() | act.Store() | act.Atomic():
            access.run(runner, action, mask)
        case act.Clock(data, shift):
            write(runner, data, mask, [runner.turn_end - runner.left >> shift] * mask.bit_count())
        case act.ActiveMask(data):
            write(runner, data, mask, [mask] * mask.bit_count())
        case act.IsSpace(data, address, space):
            write(runner, data, mask, [int(_is_in(runner, v, space)) for v in read(runner, address, mask)])
        case act.Nop():
            pass
        case act.Handled():
            HANDLERS[type(action)](runner, action, mask)
        case _:
            raise UnsupportedError(type(action).__name__)


def _is_in(runner: Runner, address: int, space: str) -> bool:
    found = access.space_of(address)
    if found == "global" and 0 <= address - CONST_WINDOW < 1 << 32:
        found = "const"
    if space == "cluster" or found != "shared":
        return found == ("shared" if space == "cluster" else space)
    return space == "shared" and address - SHARED_WINDOW >> 24 == runner.cta.rank


def _leaf(runner: Runner, leaf: Leaf, mask: int) -> list[int]:
    """Read a source: the low bits of its type."""
    bits = width(leaf.type)
    cut = (1 << bits) - 1
    values = [v & cut for v in read(runner, leaf.value, mask)]
    return [v ^ 1 for v in values] if leaf.negated else values


def _fitted(register: act.Reg, expression, values: list[int]) -> list[int]:
    """Extend results to the width of the register, by sign for signed types."""
    type_name = expression.type if isinstance(expression, Leaf) else expression.result
    bits = width(type_name)
    if type_name[0] == "s" and register.width > bits:
        return [signed(v, bits) for v in values]
    return values


def _move(runner: Runner, action: act.Move, mask: int) -> None:
    data, source = action.data, action.source
    if len(source) == 1 and len(data) > 1:
        pitch = source[0].width // len(data)
        values = read(runner, source[0], mask)
        for k, register in enumerate(data):
            write(runner, register, mask, [v >> k * pitch & (1 << pitch) - 1 for v in values])
    elif len(data) == 1:
        assert data[0] is not None
        pitch = data[0].width // len(source)
        columns = [read(runner, v, mask) for v in source]
        write(
            runner,
            data[0],
            mask,
            [
                sum((part & (1 << pitch) - 1) << k * pitch for k, part in enumerate(parts))
                for parts in zip(*columns, strict=True)
            ],
        )
    else:
        for register, value in zip(data, source, strict=True):
            if register is not None:
                write(runner, register, mask, read(runner, value, mask))
