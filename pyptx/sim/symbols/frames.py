"""Stack frames: the local memory of each function, placed along the call graph.

A frame holds, from its start: the results, the parameters, then `.param` and `.local` variables. Frames are placed one
behind the other along the longest chain of calls, at addresses known when the program is loaded. Recursive functions
and their callees have their frames at a stack pointer, a register that no program can name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyptx._frozen import frozen
from pyptx.errors import SimulationError
from pyptx.ir.nodes import Param
from pyptx.sim.memory.arguments import slot_of

__all__ = ["Frame", "Slot", "place_frames", "slots_of"]

FRAME_ALIGNMENT = 16


@frozen
class Slot:
    """A result or parameter of a function in its frame; `register` is true if it is declared as a `.reg`."""

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    register: bool


def slots_of(results: Iterable[Param], params: Iterable[Param]) -> tuple[tuple[Slot, ...], tuple[Slot, ...], int]:
    """Lay out the results and parameters of a function or prototype.

    Returns:
        the slots of the results, the slots of the parameters, and the bytes of all of them.
    """
    groups: list[tuple[Slot, ...]] = []
    end = 0
    for group in (results, params):
        slots = []
        for param in group:
            plain = slot_of(param, end)
            is_register = param.state_space.value == "reg"
            slots.append(Slot(plain.name, plain.type, plain.offset, plain.size, plain.alignment, is_register))
            end = plain.offset + plain.size
        groups.append(tuple(slots))
    return groups[0], groups[1], end


@dataclass(eq=False)
class Frame:
    """Frame of a function, with the calls that determine its place.

    Attributes:
        results, params: slots; empty for an entry, whose parameters are in the parameter space.
        size: bytes.
        base: start in local memory; None for a frame at the stack pointer.
        calls: names of the functions it calls.
        indirect: whether it calls through an address.
        cycle: number of its strongly connected component in the call graph; None if it is not recursive.
    """

    results: tuple[Slot, ...] = ()
    params: tuple[Slot, ...] = ()
    size: int = 0
    base: int | None = 0
    calls: set[str] = field(default_factory=set)
    indirect: bool = False
    cycle: int | None = None

    def allocate(self, size: int, alignment: int) -> int:
        """Reserve bytes and return their offset."""
        offset = -(-self.size // alignment) * alignment
        self.size = offset + size
        return offset

    @property
    def pitch(self) -> int:
        """Bytes from the start of this frame to the frame of a callee."""
        return -(-self.size // FRAME_ALIGNMENT) * FRAME_ALIGNMENT


def place_frames(frames: Mapping[str, Frame], entry: str, addressed: Sequence[str]) -> bool:
    """Assign `base` and `cycle` of every frame, by name of the function.

    Functions whose address is taken (`addressed`) share one base, so that an indirect caller knows it.

    Returns:
        whether some frames are at the stack pointer.
    Raises:
        SimulationError: a function calls the entry.
    """
    callees = {
        name: sorted(frame.calls | (set(addressed) if frame.indirect else set())) for name, frame in frames.items()
    }
    order = _components(entry, callees)
    for number, names in enumerate(order):
        if len(names) > 1 or names[0] in callees[names[0]]:
            for name in names:
                frames[name].cycle = number
    if frames[entry].cycle is not None:
        raise SimulationError(f"{entry} is an entry; a function cannot call it")
    dynamic = _dynamic(frames, callees, addressed)
    for name in dynamic:
        frames[name].base = None
    changed = True
    while changed:
        changed = False
        for names in order:  # callers come before their callees
            caller = frames[names[0]]
            if caller.base is None:
                continue
            for name in callees[names[0]]:
                for callee in (frames[n] for n in ([name] if name not in addressed else addressed)):
                    if callee.base is not None and callee.base < caller.base + caller.pitch:
                        callee.base = caller.base + caller.pitch
                        changed = True
    return bool(dynamic)


def _dynamic(frames: Mapping[str, Frame], callees: dict[str, list[str]], addressed: Sequence[str]) -> set[str]:
    """Names of the functions whose frames are at the stack pointer: recursive ones and everything they call."""
    dynamic = {name for name, frame in frames.items() if frame.cycle is not None}
    if any(_reachable(name, callees) & set(addressed) for name in addressed):
        dynamic |= set(addressed)  # one calls another, so that they cannot share a fixed base
    grown = True
    while grown:
        more = {callee for name in dynamic for callee in callees[name]}
        if (dynamic | more) & set(addressed):
            more |= set(addressed)
        grown = not more <= dynamic
        dynamic |= more
    return dynamic


def _reachable(name: str, callees: dict[str, list[str]]) -> set[str]:
    """Functions that a function calls, directly or not."""
    found: set[str] = set()
    pending = [*callees[name]]
    while pending:
        callee = pending.pop()
        if callee not in found:
            found.add(callee)
            pending += callees[callee]
    return found


def _components(root: str, callees: dict[str, list[str]]) -> list[list[str]]:
    """Strongly connected components reachable from `root` (Tarjan), callers before their callees."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    work = [(root, iter(callees[root]))]
    number[root] = low[root] = 0
    stack.append(root)
    while work:
        name, rest = work[-1]
        for callee in rest:
            if callee not in number:
                number[callee] = low[callee] = len(number)
                stack.append(callee)
                work.append((callee, iter(callees[callee])))
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
