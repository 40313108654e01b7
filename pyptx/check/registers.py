"""Registers of wgmma, followed along every path of a program: written without a wgmma.fence, used while in flight.

Asynchronous products read and write registers at any time from their start to the wait for them, so nothing else may
touch these meanwhile; and what other instructions wrote to them needs a wgmma.fence before the next product, as does
the first product of a kernel (PTX ISA, "wgmma.fence"). Both are read off the program; no run shows them surely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pyptx.sim import Program
from pyptx.sim.actions.basic import Action, Call, Reg
from pyptx.sim.actions.products import Wgmma, WgmmaGroup
from pyptx.sim.actions.uses import sources, targets

__all__ = ["RegisterUse", "register_uses"]

MOST_GROUPS = 8                 # groups told apart; older ones count as the oldest of these


class RegisterUse(NamedTuple):
    """`instruction` uses `register` against the rule; `product`: a wgmma it collides with, None: there was no fence."""

    rule: str
    instruction: int
    register: str | None
    product: int | None


@dataclass(frozen=True, slots=True)
class _State:
    """What may hold before an instruction: sets of registers as bits.

    Attributes:
        written: since the last fence.      unfenced: there was no fence yet.
        sums: written by products under way, by the number of groups committed since; `operands`: read by them.
    """

    written: int = 0
    unfenced: bool = False
    sums: tuple[int, ...] = ()
    operands: tuple[int, ...] = ()

    def joined(self, other: _State) -> _State:
        return _State(self.written | other.written, self.unfenced or other.unfenced, _either(self.sums, other.sums),
                      _either(self.operands, other.operands))


def _either(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    n = max(len(a), len(b))
    return tuple((a[k] if k < len(a) else 0) | (b[k] if k < len(b) else 0) for k in range(n))


def register_uses(program: Program) -> tuple[RegisterUse, ...]:
    """Every use against the rules; none where functions are called, whose registers are not followed."""
    if not any(isinstance(kind, Wgmma) for kind in program.kinds):
        return ()
    actions = program.actions
    products = [i for i, action in enumerate(actions) if isinstance(action, Wgmma)]
    if any(isinstance(action, Call) for action in actions):
        return ()
    bits: dict[int, int] = {}
    names: dict[int, str] = {}
    for i in products:
        for register in (*actions[i].data, *_operands(actions[i])):
            bits.setdefault(register.index, 1 << len(bits))
            names[bits[register.index]] = register.name
    plain = [None if isinstance(action, Wgmma | WgmmaGroup)
             else (_mask(sources(action), bits), _mask(targets(action), bits)) for action in actions]
    starts, after = program.flow.starts, program.flow.after
    states: dict[int, _State] = {0: _State(unfenced=True)}          # by block
    work = [0]
    while work:
        block = work.pop()
        state = states[block]
        for i in range(starts[block], starts[block + 1]):
            state = _step(actions[i], state, plain[i], bits)
        for to in after[block]:
            if to == len(after):
                continue
            joined = state if to not in states else states[to].joined(state)
            if states.get(to) != joined:
                states[to] = joined
                work.append(to)
    found = []
    for block in sorted(states):
        state = states[block]
        for i in range(starts[block], starts[block + 1]):
            found += _wrong(program, i, state, plain[i], bits, names)
            state = _step(actions[i], state, plain[i], bits)
    return tuple(found)


def _operands(action: Wgmma) -> tuple[Reg, ...]:
    return tuple(r for r in action.a if isinstance(r, Reg)) if len(action.a) > 1 else ()


def _mask(registers, bits: dict[int, int]) -> int:
    mask = 0
    for register in registers:
        mask |= bits.get(register.index, 0)
    return mask


def _step(action: Action, state: _State, plain: tuple[int, int] | None, bits: dict[int, int]) -> _State:
    match action:
        case Wgmma():
            sums, operands = _mask(action.data, bits), _mask(_operands(action), bits)
            return _State(state.written, state.unfenced, _either(state.sums, (sums,)),
                          _either(state.operands, (operands,)))
        case WgmmaGroup(mode="fence"):
            return _State(0, False, state.sums, state.operands)
        case WgmmaGroup(mode="commit_group"):
            return _State(state.written, state.unfenced, _older(state.sums), _older(state.operands))
        case WgmmaGroup(mode="wait_group", pending=pending):
            return _State(state.written, state.unfenced, state.sums[:pending + 1], state.operands[:pending + 1])
    written = plain[1]
    return _State(state.written | written, state.unfenced, state.sums, state.operands) if written else state


def _older(groups: tuple[int, ...]) -> tuple[int, ...]:
    moved = (0, *groups)
    return moved if len(moved) <= MOST_GROUPS else (*moved[:MOST_GROUPS - 1], moved[-1] | moved[-2])


def _wrong(program: Program, i: int, state: _State, plain: tuple[int, int] | None, bits: dict[int, int],
           names: dict[int, str]) -> Iterator[RegisterUse]:
    action = program.actions[i]
    if isinstance(action, Wgmma):
        accumulates = not (getattr(action.scale_d, "bits", None) == int(action.scale_d_negated))
        used = _mask(_operands(action), bits) | (_mask(action.data, bits) if accumulates else 0)
        if state.unfenced:
            yield RegisterUse("missing-wgmma-fence", i, None, None)
        elif used & state.written:
            yield RegisterUse("missing-wgmma-fence", i, _first(used & state.written, names), None)
        return
    if plain is None:
        return
    (reads, writes), sums, operands = plain, 0, 0
    for group in state.sums:
        sums |= group
    for group in state.operands:
        operands |= group
    bad = (reads | writes) & sums | writes & operands
    if bad:
        first = bad & -bad
        product = next(k for k, other in enumerate(program.actions) if isinstance(other, Wgmma)
                       and first & _mask((*other.data, *_operands(other)), bits))
        yield RegisterUse("accumulator-in-flight", i, names[first], product)


def _first(mask: int, names: dict[int, str]) -> str:
    return names[mask & -mask]
