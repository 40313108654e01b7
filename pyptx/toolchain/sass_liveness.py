"""Live registers of machine code: backward data flow over the control flow graph of a function.

A register counts at an instruction if it is live before it, or written by it, as in the counts of `nvdisasm -lrm count`,
which would take a second run of nvdisasm, and time in proportion to the square of the size. Tests compare the counts: they
are equal for 95 % of the instructions of the test corpus. Where they differ:

* Calls into the same section, such as the slow path of a division. nvdisasm assumes the calling convention of CUDA,
  which ptxas does not follow there: arguments are not live before such a call, and at it all registers that the
  convention does not save count. Here the data flow continues through the function that is called. (The 95 % do not
  include functions with such calls.)
* The operand PR of P2R and R2P, for which nvdisasm counts no predicates.
* Registers that are written and read under one guard: nvdisasm knows the value of some predicates, and that such a
  register is dead before it is written, mostly one register more or less.
* Textures on sm_100 and later, of whose four channels nvdisasm counts three.
* Calls out of the section: the registers that the convention does not save count only if the section uses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from pyptx.toolchain.sass import LiveRegisters
from pyptx.toolchain.sass_blocks import find_blocks, successors
from pyptx.toolchain.sass_registers import READ, predicates_of_mask, register_accesses

__all__ = ["ANALYSIS_VERSION", "count_live_registers"]

ANALYSIS_VERSION = 1  # of cached results: increment it when counts change

# A set of registers is an integer with a bit for each.
_BASE = {"R": 0, "P": 256, "UR": 264, "UP": 520}
_SIZE = {"R": 256, "P": 8, "UR": 256, "UP": 8}
_GPR, _PRED, _UGPR, _UPRED = (1 << 256) - 1, 0xFF << 256, ((1 << 256) - 1) << 264, 0xFF << 520
_ALL = (1 << 528) - 1
_STACK_POINTER = 1 << 1
_NONE = LiveRegisters(0, 0, 0)
_BITS = {f"{bank}{number}": 1 << base + number for bank, base in _BASE.items() for number in range(8)}

# CUDA's calling convention: registers 0, 3..15, 32..35, 40..43, ... are lost in a call
_ABI_REGISTERS = 24  # least registers of a function that can be called
_SCRATCH = 1 | sum(1 << n for n in range(3, 256) if n < 16 or (n >= 32 and n % 8 < 4))
_LOST = _SCRATCH | _PRED | ((1 << 32) - 1) << _BASE["UR"] + 4 | _UPRED


def count_live_registers(
    opcodes: Sequence[str],
    predicates: Sequence[str],
    operands: Sequence[Sequence[str]],
    targets: Sequence[int],
    tables: Mapping[int, Sequence[int]],
    unprinted: Mapping[int, Sequence[int]],
    labels: Sequence[int] = (),
) -> list[LiveRegisters]:
    """Return the live registers at each instruction of a section.

    Args:
        opcodes, predicates, operands: of each instruction, as in `SassLine`.
        targets: row that a branch, direct call or BSSY names; -1: none.
        tables: rows that an indirect branch goes to, where known.
        labels: rows with a label.
        unprinted: numbers of uniform registers that an instruction reads and nvdisasm does not print.
    """
    return _Section(opcodes, predicates, operands, targets, tables, unprinted, labels).counts()


class _Section:
    def __init__(
        self,
        opcodes: Sequence[str],
        predicates: Sequence[str],
        operands: Sequence[Sequence[str]],
        targets: Sequence[int],
        tables: Mapping[int, Sequence[int]],
        unprinted: Mapping[int, Sequence[int]],
        labels: Sequence[int],
    ):
        self.words = [opcode.partition(".")[0] for opcode in opcodes]
        self.targets = targets
        self.reads, self.writes = _accesses(opcodes, self.words, predicates, operands)
        # under a uniform predicate nvdisasm takes the old value of a result for dead
        self.guards = [
            predicate if predicate.lstrip("!")[:1] == "P" and predicate[-1] != "T" else "" for predicate in predicates
        ]
        for row, numbers in unprinted.items():
            for number in numbers:
                self.reads[row] |= 1 << _BASE["UR"] + number
        used = 0
        for reads, writes in zip(self.reads, self.writes, strict=True):
            used |= reads | writes
        for row, word in enumerate(self.words):
            if word == "EXIT" or (word == "BRA" and targets[row] == row):
                self.reads[row] |= _STACK_POINTER
        names = [_names(*one) for one in zip(opcodes, self.words, operands, strict=True)]
        self.starts, self.block = find_blocks(self.words, targets, tables, labels)
        self.ends = [*self.starts, len(self.words)][1:]
        self.guarded = [bool(predicates[end - 1]) for end in self.ends]
        self.needs: list[int] = []  # of each block: the registers it reads before it writes them,
        self.passes: list[int] = []  # and those live at its entry if all are at its end
        self.follows = successors(
            self.words, predicates, names, targets, self.starts, self.block, tables=tables, calls=False
        )
        self._follow_convention(used)

    def _follow_convention(self, used: int) -> None:
        """Add what calls out of the section, and returns from it, do by convention; find the calls within it."""
        self.calls: dict[int, int] = {}  # block that ends in a call -> first block of the called function
        for number, end in enumerate(self.ends):
            row = end - 1
            if self.words[row] != "CALL":
                continue
            if self.targets[row] >= 0:
                self.calls[number] = self.block[self.targets[row]]
            else:
                self.reads[row] |= _STACK_POINTER | 1
                self.writes[row] |= _LOST & used
        self.callees = {start: self._reachable(start) for start in sorted(set(self.calls.values()))}
        self.callers: dict[
            int, list[int]
        ] = {}  # block that ends in a return -> blocks that end in calls of its function
        for number, start in self.calls.items():
            for other in self.callees[start]:
                if self.words[self.ends[other] - 1] == "RET":
                    self.callers.setdefault(other, []).append(number)
        limit = (1 << max(_ABI_REGISTERS, (used & _GPR).bit_length())) - 1
        for number, end in enumerate(self.ends):
            if self.words[end - 1] == "RET" and number not in self.callers:
                self.reads[end - 1] |= ~_SCRATCH & limit

    def _reachable(self, start: int) -> list[int]:
        found, work = {start}, [start]
        while work:
            for other in self.follows[work.pop()]:
                if other not in found:
                    found.add(other)
                    work.append(other)
        return sorted(found)

    def counts(self) -> list[LiveRegisters]:
        blocks = range(len(self.starts))
        self.needs = [self._back(number, 0) for number in blocks]
        self.passes = [self._back(number, _ALL) for number in blocks]
        self._summarize()
        live = self._solve(blocks, None)
        found: list[LiveRegisters] = [_NONE] * len(self.words)
        for number in blocks:
            self._back(number, self._leaving(number, live, None), found)
        return found

    def _back(self, number: int, live: int, found: list[LiveRegisters] | None = None) -> int:
        """Return the registers live at the entry of a block, given those live at its end; put the counts into `found`.

        Two writes under opposite guards overwrite a register like one without a guard. A register that is read only
        under the guard of its write counts as live before the write, as for nvdisasm.
        """
        reads, writes, guards = self.reads, self.writes, self.guards
        under: dict[str, int] = {}  # guard -> registers live if it holds: the opposite guard overwrites them later
        for row in range(self.ends[number] - 1, self.starts[number] - 1, -1):
            written, guard = writes[row], guards[row]
            if under and written:
                for other in tuple(under):
                    if written & _BITS[other.lstrip("!")]:
                        live |= under.pop(other)
                    elif not guard or guard == other:
                        under[other] &= ~written
            if guard and written:
                opposite = guard[1:] if guard[0] == "!" else f"!{guard}"
                under[opposite] = under.get(opposite, 0) | written & live
            live = live & ~written | reads[row]
            if found is not None:
                now = live | written
                for mask in under.values():
                    now |= mask
                found[row] = _counted(now)
        for mask in under.values():
            live |= mask
        return live

    def _summarize(self) -> None:
        """Find which registers each called function reads, and which of those live after it are live before it."""
        self.summaries = {start: (0, 0) for start in self.callees}
        changed = True
        while changed:
            changed = False
            for start, blocks in self.callees.items():
                one = self._solve(blocks, 0)[start], self._solve(blocks, _ALL)[start]
                if one != self.summaries[start]:
                    self.summaries[start], changed = one, True

    def _solve(self, blocks: Sequence[int], returned: int | None) -> dict[int, int]:
        """Return the registers live at the entry of each of the blocks.

        Args:
            returned: registers live after a return; None: those live after the calls of the function.
        """
        live = dict.fromkeys(blocks, 0)
        before: dict[int, list[int]] = {number: [] for number in blocks}
        for number in blocks:
            for other in self.follows[number]:
                before[other].append(number)
        if returned is None:
            for number, call in ((number, call) for number, calls in self.callers.items() for call in calls):
                for other in self.follows[call]:
                    before[other].append(number)
        work, waiting = [-number for number in blocks], set(blocks)
        heapify(work)
        while work:
            number = -heappop(work)
            waiting.discard(number)
            mask = self.needs[number] | self._leaving(number, live, returned) & self.passes[number]
            if mask != live[number]:
                live[number] = mask
                for other in before[number]:
                    if other not in waiting:
                        waiting.add(other)
                        heappush(work, -other)
        return live

    def _leaving(self, number: int, live: Mapping[int, int], returned: int | None) -> int:
        """Return the registers live at the end of a block."""
        mask = 0
        for other in self.follows[number]:
            mask |= live[other]
        if number in self.calls:
            reads, keeps = self.summaries[self.calls[number]]
            mask = reads | mask & keeps | (mask if self.guarded[number] else 0)
        if number in self.callers:
            if returned is not None:
                return mask | returned
            for call in self.callers[number]:
                for other in self.follows[call]:
                    mask |= live[other]
        return mask


def _accesses(
    opcodes: Sequence[str], words: Sequence[str], predicates: Sequence[str], operands: Sequence[Sequence[str]]
) -> tuple[list[int], list[int]]:
    """Return the sets of registers that each instruction reads and writes."""
    reads, writes = [], []
    for opcode, word, predicate, own in zip(opcodes, words, predicates, operands, strict=True):
        read = write = 0
        for bank, number, width, role in register_accesses(opcode, own):
            if bank != "B":
                mask = (1 << min(width, _SIZE[bank] - number)) - 1 << _BASE[bank] + number
                if role == READ:
                    read |= mask
                else:
                    write |= mask
        if word in ("P2R", "R2P") and "PR" in own:
            mask = sum(_BITS[name] for name in predicates_of_mask(own))
            read, write = (read | mask, write) if word == "P2R" else (read, write | mask)
        if predicate:
            read |= _BITS.get(predicate.lstrip("!"), 0)
        reads.append(read)
        writes.append(write)
    return reads, writes


def _names(opcode: str, word: str, operands: Sequence[str]) -> list[str]:
    """Return the names of the registers that decide where control flow continues."""
    if word not in ("BSSY", "BSYNC", "BRA", "BRX", "BRXU"):
        return []
    return [f"{bank}{number}" for bank, number, _, _ in register_accesses(opcode, operands)]


def _counted(mask: int) -> LiveRegisters:
    return LiveRegisters(
        (mask & _GPR).bit_count(),
        (mask & _PRED).bit_count(),
        (mask & _UGPR).bit_count(),
        (mask & _UPRED).bit_count(),
    )
