"""Functions of a program: what each declares, where its frame lies in local memory, who calls whom.

A frame holds, from its start: the results, the parameters, then `.param` and `.local` variables. Frames lie one behind
the other along the longest chain of calls, at addresses known when the program is loaded. Functions that may call
themselves, and those they call, have their frames where a stack pointer says; it is a register no program can name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyptx._value import value
from pyptx.errors import SimulationError
from pyptx.ir.nodes import Function, Param
from pyptx.sim.actions.basic import Address, Reg
from pyptx.sim.memory.args import slot_of

if TYPE_CHECKING:
    from pyptx.sim.symbols.names import Names
    from pyptx.sim.symbols.scope import Scope

__all__ = ["Body", "Slot", "lay_out", "slots_of"]

FRAME_ALIGNMENT = 16


@value
class Slot:
    """A result or parameter of a function in its frame; `register` says it is declared as a .reg."""

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    register: bool


def slots_of(results: Iterable[Param], params: Iterable[Param]) -> tuple[tuple[Slot, ...], tuple[Slot, ...], int]:
    """The slots of results and of parameters, and the bytes of all; the same for a function and its prototype."""
    made: list[list[Slot]] = []
    end = 0
    for group in (results, params):
        made.append([])
        for param in group:
            plain = slot_of(param, end)
            made[-1].append(Slot(plain.name, plain.type, plain.offset, plain.size, plain.alignment,
                                 param.state_space.value == "reg"))
            end = plain.offset + plain.size
    return tuple(made[0]), tuple(made[1]), end


@dataclass(eq=False)
class Body:
    """A function of the program.

    Attributes:
        start, end: its instructions in the program's list.
        scope: the names of its outermost braces.
        results, params: slots of its frame; empty for the entry, whose parameters lie in the parameter space.
        frame_bytes: bytes of its frame.
        base: where the frame starts in local memory, None when the stack pointer says.
        calls: names of functions it calls.     indirect: it calls through an address.
        vectors: it declares vector registers.
        stack_before: holds how much of the stack alloca took before, in functions that use it.
        cycle: a number shared by functions that may call each other; None for functions outside of such circles.
    """

    function: Function
    names: Names
    start: int = 0
    end: int = 0
    results: tuple[Slot, ...] = ()
    params: tuple[Slot, ...] = ()
    frame_bytes: int = 0
    base: int | None = 0
    calls: set[str] = field(default_factory=set)
    indirect: bool = False
    vectors: bool = False
    scope: Scope | None = None
    cycle: int | None = None
    stack_before: Reg | None = None
    registers: list[Reg] = field(default_factory=list)

    def new_register(self, name: str, type_name: str) -> Reg:
        register = self.names.new_register(name, type_name)
        self.registers.append(register)
        return register

    def allocate(self, size: int, alignment: int) -> int:
        """A place in the frame."""
        place = -(-self.frame_bytes // alignment) * alignment
        self.frame_bytes = place + size
        return place

    @property
    def pitch(self) -> int:
        """Bytes from the start of this frame to the next."""
        return -(-self.frame_bytes // FRAME_ALIGNMENT) * FRAME_ALIGNMENT

    def at(self, offset: int) -> Address:
        """A place of this frame, seen from its own function."""
        if self.base is None:
            return Address("local", self.names.stack_pointer(), offset)
        return Address("local", None, self.base + offset)

    def callee_at(self, base: int | None, offset: int) -> Address:
        """A place in the frame of a function it calls; `base`: where that starts, None where the stack pointer says."""
        return self.at(self.pitch + offset) if base is None else Address("local", None, base + offset)


def lay_out(bodies: dict[str, Body], entry: str, addressed: Sequence[str]) -> bool:
    """Give every frame its place; whether some lie where a stack pointer says.

    Functions whose address is taken (`addressed`) share one start, so that a caller through an address knows it.

    Raises:
        SimulationError: the entry is called like a function.
    """
    following = {name: sorted(body.calls | (set(addressed) if body.indirect else set()))
                 for name, body in bodies.items()}
    order = _components(entry, following)
    for number, names in enumerate(order):
        if len(names) > 1 or names[0] in following[names[0]]:
            for name in names:
                bodies[name].cycle = number
    if bodies[entry].cycle is not None:
        raise SimulationError(f"{entry} is an entry; a function cannot call it")
    moving = {name for name, body in bodies.items() if body.cycle is not None}
    if any(_reached(name, following) & set(addressed) for name in addressed):
        moving |= set(addressed)                            # one start for all, and yet one behind the other
    again = True
    while again:                                            # what these call moves with them, and so do its equals
        more = {callee for name in moving for callee in following[name]}
        if (moving | more) & set(addressed):
            more |= set(addressed)
        again = not more <= moving
        moving |= more
    for name in moving:
        bodies[name].base = None
    again = True
    while again:
        again = False
        for names in order:                                 # callers come before the functions they call
            caller = bodies[names[0]]
            if caller.base is None:
                continue
            for name in following[names[0]]:
                group = [name] if name not in addressed else addressed
                for callee in (bodies[n] for n in group):
                    if callee.base is not None and callee.base < caller.base + caller.pitch:
                        callee.base = caller.base + caller.pitch
                        again = True
    return bool(moving)


def _reached(name: str, following: dict[str, list[str]]) -> set[str]:
    """Functions a function calls, and those they call."""
    found: set[str] = set()
    waiting = [*following[name]]
    while waiting:
        callee = waiting.pop()
        if callee not in found:
            found.add(callee)
            waiting += following[callee]
    return found


def _components(root: str, following: dict[str, list[str]]) -> list[list[str]]:
    """Strongly connected components of what `root` reaches (Tarjan), callers before the functions they call."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    work = [(root, iter(following[root]))]
    number[root] = low[root] = 0
    stack.append(root)
    while work:
        name, rest = work[-1]
        for callee in rest:
            if callee not in number:
                number[callee] = low[callee] = len(number)
                stack.append(callee)
                work.append((callee, iter(following[callee])))
                break
            if callee in stack:
                low[name] = min(low[name], number[callee])
        else:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == number[name]:
                cut = stack.index(name)
                found.append(stack[cut:])
                del stack[cut:]
    return found[::-1]
