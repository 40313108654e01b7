"""Dependences of machine instructions: definitions of their operands, scoreboards they wait for, live registers.

Reaching definitions over all paths. Instructions of variable latency (loads, special functions, matrix products) set one
of six scoreboards, and the instruction that needs the result waits for it. Registers and their roles come from
`registers`, since SASS is undocumented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from pyptx._frozen import frozen
from pyptx.toolchain import SassLine
from pyptx.toolchain.sass_blocks import find_blocks, successors
from pyptx.toolchain.sass_registers import READ, WRITE, register_uses

__all__ = ["Dependences", "SassDataflow", "find_dependences", "register_holders"]

BARRIERS = range(6)
State = dict[str, frozenset[int]]  # register, or "SB2" -> the rows that wrote or set it


@frozen
class Dependences:
    """Rows that an instruction depends on, in ascending order.

    Attributes:
        operands: rows whose results it reads.
        barriers: rows that set a scoreboard it waits for.
    """

    operands: tuple[int, ...]
    barriers: tuple[int, ...]


class SassDataflow:
    """Reaching definitions of the functions of a listing, computed once for all questions.

    Args:
        sass: rows of one or more functions.
    """

    def __init__(self, sass: Sequence[SassLine]):
        self._functions = list(_functions(sass))

    def dependences(self) -> list[Dependences]:
        """Return the dependences of each instruction on others of its function."""
        return [found for function in self._functions for found in function.dependences()]

    def register_holders(self, row: int) -> Counter[int]:
        """Return the definitions of the general registers in use at `row`: defining row -> number of registers.

        In use are the registers live before it and those it writes. With several definitions of a register, the last
        one up to `row` counts, or the last of all.
        """
        function = next(one for one in self._functions if row < one.first + len(one.lines))
        return function.holders(row - function.first)


def find_dependences(sass: Sequence[SassLine]) -> list[Dependences]:
    """Return the dependences of each instruction on others of its function."""
    return SassDataflow(sass).dependences()


def register_holders(sass: Sequence[SassLine], row: int) -> Counter[int]:
    """Return the definitions of the general registers in use at `row`; see `SassDataflow.register_holders`."""
    return SassDataflow(sass).register_holders(row)


def _functions(sass: Sequence[SassLine]) -> Iterator[_Function]:
    first = 0
    for _, lines in groupby(sass, key=lambda line: line.entry):
        one = _Function(tuple(lines), first)
        yield one
        first += len(one.lines)


class _Function:
    def __init__(self, lines: Sequence[SassLine], first: int):
        self.lines, self.first = lines, first
        at = {line.address: row for row, line in enumerate(lines)}
        targets = [-1 if line.target_address is None else at.get(line.target_address, -1) for line in lines]
        self.words = [line.opcode.partition(".")[0] for line in lines]
        predicates = [line.predicate for line in lines]
        self.uses = [
            register_uses(line.opcode, tuple(line.operands), line.predicate, target >= 0)
            for line, target in zip(lines, targets, strict=True)
        ]
        self.starts, self.block = find_blocks(self.words, targets)
        self.follows = successors(
            self.words, predicates, [registers for registers, _ in self.uses], targets, self.starts, self.block
        )
        self.ends = [*self.starts[1:], len(lines)]
        self.waited = [self._waited(row) for row in range(len(lines))]
        self.sets = [
            [f"SB{n}" for n in BARRIERS if n in (line.control.write_barrier, line.control.read_barrier)]
            for line in lines
        ]
        self.entering = self._entering()

    def _entering(self) -> list[State]:
        """Return the reaching definitions at the entry of each block."""
        entering: list[State] = [{} for _ in self.starts]
        work, reached = [0] if self.starts else [], {0}
        while work:
            number = work.pop()
            state = dict(entering[number])
            for row in range(self.starts[number], self.ends[number]):
                self._step(state, row)
            for other in self.follows[number]:
                if _joined(entering[other], state) or other not in reached:
                    reached.add(other)
                    work.append(other)
        return entering

    def _step(self, state: State, row: int) -> None:
        """Update the state across a row."""
        own = frozenset((row,))
        for barrier in self.waited[row]:
            state[barrier] = frozenset()
        for barrier in self.sets[row]:
            state[barrier] = state.get(barrier, frozenset()) | own
        for name, role in zip(*self.uses[row], strict=True):
            if role == WRITE:
                state[name] = own
            elif role != READ:  # a guarded write may keep the old value
                state[name] = state.get(name, frozenset()) | own

    def _waited(self, row: int) -> list[str]:
        """Return the scoreboards that an instruction waits for."""
        line = self.lines[row]
        mask = line.control.wait_mask
        asked = [f"SB{barrier}" for barrier in BARRIERS if mask >> barrier & 1] if mask else []
        if self.words[row] == "DEPBAR" and line.operands and line.operands[0].startswith("SB"):
            asked.append(line.operands[0])
        return asked

    def dependences(self) -> Iterator[Dependences]:
        for number, start in enumerate(self.starts):
            state = dict(self.entering[number])
            for row in range(start, self.ends[number]):
                taken = {name for name, role in zip(*self.uses[row], strict=True) if role != WRITE}
                yield Dependences(self._rows(state, taken), self._rows(state, self.waited[row]))
                self._step(state, row)

    def _rows(self, state: Mapping[str, frozenset[int]], names: Iterable[str]) -> tuple[int, ...]:
        found = {self.first + row for name in names for row in state.get(name, ())}
        return tuple(sorted(found)) if found else ()

    def holders(self, row: int) -> Counter[int]:
        state = dict(self.entering[self.block[row]])
        for step in range(self.starts[self.block[row]], row + 1):
            self._step(state, step)
        found = Counter()
        written = {name for name, role in zip(*self.uses[row], strict=True) if role != READ and name.startswith("R")}
        for name in self._live(row) | written:
            if rows := state.get(name):
                found[self.first + max((at for at in rows if at <= row), default=max(rows))] += 1
        return found

    def _live(self, row: int) -> set[str]:
        """Return the general registers live before `row`."""
        live: list[set[str]] = [set() for _ in self.starts]
        before: list[set[int]] = [set() for _ in self.starts]
        for number, others in enumerate(self.follows):
            for other in others:
                before[other].add(number)
        work = set(range(len(self.starts)))
        while work:
            number = work.pop()
            found = self._back(self._behind(number, live), number, self.starts[number])
            if found != live[number]:
                live[number] = found
                work |= before[number]
        return self._back(self._behind(self.block[row], live), self.block[row], row)

    def _behind(self, number: int, live: Sequence[set[str]]) -> set[str]:
        return set().union(*(live[other] for other in self.follows[number]))

    def _back(self, live: set[str], number: int, first: int) -> set[str]:
        for row in range(self.ends[number] - 1, first - 1, -1):
            registers, roles = self.uses[row]
            if WRITE in roles:
                live.difference_update([name for name, role in zip(registers, roles, strict=True) if role == WRITE])
            live.update([name for name, role in zip(registers, roles, strict=True) if role != WRITE and name[0] == "R"])
        return live


def _joined(into: State, state: State) -> bool:
    """Merge a state into another; return True when it changed."""
    changed = False
    for name, rows in state.items():
        known = into.get(name, frozenset())
        if not rows <= known:
            into[name] = known | rows
            changed = True
    return changed
