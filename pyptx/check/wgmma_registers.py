"""Invalid uses of wgmma registers, by data-flow analysis: written without a wgmma.fence, or used while in flight.

A wgmma reads and writes its registers at any time between its issue and the wait for it, so that no other instruction may
access them in between. Other writes to them require a wgmma.fence before the next wgmma, and so does the first wgmma of a
kernel (PTX ISA, "wgmma.fence"). A run does not show either reliably, so the program is analyzed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pyptx.sim import Program
from pyptx.sim.actions import Action, Call, Reg, Wgmma, WgmmaGroup
from pyptx.sim.actions.dataflow import sources, targets
from pyptx.sim.program.per_program import per_program

__all__ = ["RegisterUse", "register_uses"]

MOST_GROUPS = 8  # groups that are distinguished; older ones are merged with the oldest


class RegisterUse(NamedTuple):
    """An invalid use of a register by an instruction.

    Attributes:
        product: the wgmma in flight that also uses the register; None if a fence is missing.
    """

    rule: str
    instruction: int
    register: str | None
    product: int | None


@dataclass(frozen=True, slots=True)
class _State:
    """Data-flow state before an instruction; sets of registers are bit masks.

    Attributes:
        written: registers written since the last fence.
        unfenced: True if a path without any fence leads here.
        sums, operands: registers written and read by wgmma in flight, by the number of groups committed since.
    """

    written: int = 0
    unfenced: bool = False
    sums: tuple[int, ...] = ()
    operands: tuple[int, ...] = ()

    def joined(self, other: _State) -> _State:
        return _State(
            self.written | other.written,
            self.unfenced or other.unfenced,
            _union(self.sums, other.sums),
            _union(self.operands, other.operands),
        )


def _union(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    n = max(len(a), len(b))
    return tuple((a[k] if k < len(a) else 0) | (b[k] if k < len(b) else 0) for k in range(n))


@per_program
def register_uses(program: Program) -> tuple[RegisterUse, ...]:
    """Return every invalid use; nothing for programs that call functions, which are not analyzed."""
    if not any(isinstance(kind, Wgmma) for kind in program.kinds):
        return ()
    actions = program.actions
    products = [action for action in actions if isinstance(action, Wgmma)]
    if any(isinstance(action, Call) for action in actions):
        return ()
    bits: dict[int, int] = {}
    names: dict[int, str] = {}
    for product in products:
        for register in (*product.data, *_operands(product)):
            bits.setdefault(register.index, 1 << len(bits))
            names[bits[register.index]] = register.name
    accesses = [  # (reads, writes) of other instructions
        None if isinstance(action, Wgmma | WgmmaGroup) else (_mask(sources(action), bits), _mask(targets(action), bits))
        for action in actions
    ]
    starts, after = program.flow.starts, program.flow.after
    states: dict[int, _State] = {0: _State(unfenced=True)}  # by block
    work = [0]
    while work:
        block = work.pop()
        state = states[block]
        for i in range(starts[block], starts[block + 1]):
            state = _step(actions[i], state, accesses[i], bits)
        for successor in after[block]:
            if successor == len(after):
                continue
            joined = state if successor not in states else states[successor].joined(state)
            if states.get(successor) != joined:
                states[successor] = joined
                work.append(successor)
    found = []
    for block in sorted(states):
        state = states[block]
        for i in range(starts[block], starts[block + 1]):
            found += _invalid_uses(program, i, state, accesses[i], bits, names)
            state = _step(actions[i], state, accesses[i], bits)
    return tuple(found)


def _operands(action: Wgmma) -> tuple[Reg, ...]:
    return tuple(r for r in action.a if isinstance(r, Reg)) if len(action.a) > 1 else ()


def _mask(registers: Iterable[Reg], bits: dict[int, int]) -> int:
    mask = 0
    for register in registers:
        mask |= bits.get(register.index, 0)
    return mask


def _step(action: Action, state: _State, access: tuple[int, int] | None, bits: dict[int, int]) -> _State:
    match action:
        case Wgmma():
            sums, operands = _mask(action.data, bits), _mask(_operands(action), bits)
            return _State(
                state.written, state.unfenced, _union(state.sums, (sums,)), _union(state.operands, (operands,))
            )
        case WgmmaGroup(mode="fence"):
            return _State(0, False, state.sums, state.operands)
        case WgmmaGroup(mode="commit_group"):
            return _State(state.written, state.unfenced, _older(state.sums), _older(state.operands))
        case WgmmaGroup(mode="wait_group", pending=pending):
            return _State(state.written, state.unfenced, state.sums[: pending + 1], state.operands[: pending + 1])
    written = access[1] if access is not None else 0
    return _State(state.written | written, state.unfenced, state.sums, state.operands) if written else state


def _older(groups: tuple[int, ...]) -> tuple[int, ...]:
    moved = (0, *groups)
    return moved if len(moved) <= MOST_GROUPS else (*moved[: MOST_GROUPS - 1], moved[-1] | moved[-2])


def _invalid_uses(
    program: Program, i: int, state: _State, access: tuple[int, int] | None, bits: dict[int, int], names: dict[int, str]
) -> Iterator[RegisterUse]:
    action = program.actions[i]
    if isinstance(action, Wgmma):
        accumulates = not (getattr(action.scale_d, "bits", None) == int(action.scale_d_negated))
        used = _mask(_operands(action), bits) | (_mask(action.data, bits) if accumulates else 0)
        if state.unfenced:
            yield RegisterUse("missing-wgmma-fence", i, None, None)
        elif used & state.written:
            yield RegisterUse("missing-wgmma-fence", i, _first(used & state.written, names), None)
        return
    if access is None:
        return
    (reads, writes), sums, operands = access, 0, 0
    for group in state.sums:
        sums |= group
    for group in state.operands:
        operands |= group
    bad = (reads | writes) & sums | writes & operands
    if bad:
        first = bad & -bad
        product = next(
            k
            for k, other in enumerate(program.actions)
            if isinstance(other, Wgmma) and first & _mask((*other.data, *_operands(other)), bits)
        )
        yield RegisterUse("accumulator-in-flight", i, names[first], product)


def _first(mask: int, names: dict[int, str]) -> str:
    return names[mask & -mask]
