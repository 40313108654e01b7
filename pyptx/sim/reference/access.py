"""Memory accesses: address resolution, checks and counters; loads, stores and atomics lane by lane (core/src/memory.c)."""

from __future__ import annotations

from bisect import bisect_right

from pyptx.sim import actions as act
from pyptx.sim.actions import Apply, Atomic, Const, Leaf
from pyptx.sim.arithmetic import evaluator
from pyptx.sim.arithmetic.bits import signed
from pyptx.sim.memory.address_space import (
    CONST_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_START,
    SHARED_WINDOW,
    Segment,
)
from pyptx.sim.reference import lane_values
from pyptx.sim.reference.state import Fault, Runner, lanes_of

__all__ = ["addresses_of", "apply_atomic", "place", "places", "run", "segment_at", "space_of"]

_WINDOW = 1 << 32
_CUT = (1 << 64) - 1


def space_of(address: int) -> str:
    """Return the space of a generic address; addresses outside the windows are global."""
    for space, start in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW)):
        if 0 <= address - start < _WINDOW:
            return space
    return "global"


def run(runner: Runner, action: act.Load | act.Store | act.Atomic, mask: int) -> None:
    """Execute an access for the lanes of a mask, in order."""
    lanes, bytes_ = lanes_of(mask), action.size * action.count
    addresses = addresses_of(runner, action.address, mask)
    memories, spaces = places(runner, action.address.space, lanes, addresses, bytes_, not isinstance(action, act.Load))
    match action:
        case act.Load():
            _load(runner, action, mask, memories)
        case act.Store():
            _store(runner, action, mask, memories)
        case act.Atomic():
            _atomic(runner, action, lanes, addresses, memories, spaces)


def places(
    runner: Runner, space: str, lanes: list[int], addresses: list[int], bytes_: int, stores: bool, counted: bool = True
) -> tuple[list[_Place], set[str]]:
    """Check an access, and count it unless it is counted elsewhere.

    Returns:
        the memory of each lane, and the spaces that are accessed.
    """
    for lane, address in zip(lanes, addresses, strict=True):
        if address % bytes_:
            raise Fault("alignment", lane, address, bytes_)
    spaces = {space_of(a) for a in addresses} if space == "generic" else {"shared" if space == "cluster" else space}
    memories = _resolve(runner, space, spaces, lanes, addresses, bytes_, stores)
    if counted:
        _count(runner, spaces, lanes, memories, addresses, bytes_)
    return memories, spaces


def addresses_of(runner: Runner, address: act.Address, mask: int) -> list[int]:
    """Return the address in each lane."""
    if address.base is None:
        base = runner.cta.base if address.space in ("shared", "cluster") else 0
        return [address.offset + base & _CUT] * mask.bit_count()
    cut = (1 << address.base.width) - 1
    return [v + address.offset & cut for v in lane_values.read(runner, address.base, mask)]


class _Place:
    """Memory that a lane accesses: bytes at an offset."""

    __slots__ = ("memory", "offset", "segment")

    def __init__(self, memory, offset: int, segment: Segment | None = None):
        self.memory, self.offset, self.segment = memory, offset, segment

    def get(self, at: int, size: int) -> int:
        return int.from_bytes(bytes(self.memory[self.offset + at : self.offset + at + size]), "little")

    def put(self, at: int, size: int, value: int) -> None:
        data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        self.memory[self.offset + at : self.offset + at + size] = data if self.segment is None else list(data)


def _resolve(
    runner: Runner, space: str, spaces: set[str], lanes: list[int], addresses: list[int], bytes_: int, stores: bool
) -> list[_Place]:
    """Resolve the memory of each lane; faults are raised in the order of the C core."""
    if len(spaces) == 1:
        [only] = spaces
        if only == "param" and stores:
            raise Fault("read_only", lanes[0], min(addresses), bytes_)
        if only in ("global", "const"):
            return _resolve_global(runner, only, lanes, addresses, bytes_, stores)
    return [place(runner, space, lane, address, bytes_, stores) for lane, address in zip(lanes, addresses, strict=True)]


def _resolve_global(
    runner: Runner, space: str, lanes: list[int], addresses: list[int], bytes_: int, stores: bool
) -> list[_Place]:
    shift = CONST_WINDOW if space == "const" else 0
    found = []
    for lane, address in zip(lanes, addresses, strict=True):
        segment = segment_at(runner, address + shift, bytes_)
        if segment is None:
            raise Fault("bounds", lane, address, bytes_)
        found.append(_Place(segment.buffer.bytes, address + shift - segment.address, segment))
    if stores:
        one = len({id(p.segment) for p in found}) == 1
        for lane, address, place in zip(lanes, addresses, found, strict=True):
            if place.segment.buffer.read_only:
                raise Fault("read_only", lanes[0] if one else lane, min(addresses) if one else address, bytes_)
    return found


def segment_at(runner: Runner, address: int, bytes_: int) -> Segment | None:
    """Return the segment that contains the bytes at an address."""
    table = runner.run.segments
    k = bisect_right(table, address, key=lambda s: s.address) - 1
    if k < 0:
        return None
    segment = table[k]
    return segment if address - segment.address + bytes_ <= segment.size else None


def _shared_place(runner: Runner, lane: int, address: int, at: int, bytes_: int, *, own: bool) -> _Place:
    """Resolve an address in the shared memory of the CTA or, unless `own`, of another CTA of the cluster."""
    ctas, offset = runner.cta.cluster.ctas, (at & 0xFFFFFF) - SHARED_START
    if at >> 24 >= len(ctas):
        raise Fault("bounds", lane, address, bytes_)
    cta = ctas[at >> 24]
    if own and cta is not runner.cta:
        raise Fault("remote", lane, address, bytes_)
    if offset < 0 or offset + bytes_ > len(cta.shared):
        raise Fault("bounds", lane, address, bytes_)
    return _Place(cta.shared, offset)


def place(runner: Runner, space: str, lane: int, address: int, bytes_: int, stores: bool) -> _Place:
    window, own = 0, space == "shared"
    if space == "generic":
        space = space_of(address)
        window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}.get(space, 0)
    if space == "global":
        return _resolve_global(runner, space, [lane], [address], bytes_, stores)[0]
    if space == "param" and stores:
        raise Fault("read_only", lane, address, bytes_)
    if space in ("shared", "cluster"):
        return _shared_place(runner, lane, address, address - window, bytes_, own=own)
    memory, start = {"local": (runner.warp.local[lane], 0), "param": (runner.run.params, 0)}[space]
    offset = address - window - start
    if offset < 0 or offset + bytes_ > len(memory):
        raise Fault("bounds", lane, address, bytes_)
    return _Place(memory, offset)


def _count(
    runner: Runner, spaces: set[str], lanes: list[int], places: list[_Place], addresses: list[int], bytes_: int
) -> None:
    counters, pc = runner.run.counters, runner.pc
    segments = {id(p.segment) for p in places}
    if len(spaces) > 1 or (spaces <= {"global"}) or (spaces == {"const"} and len(segments) > 1):
        counters.global_requests[pc] += 1
        sectors = len({a >> 5 for a in addresses}) * max(1, bytes_ // 32)
        counters.global_sectors[pc] += sectors
        counters.global_excess[pc] += max(0, sectors - -(-len(addresses) * bytes_ // 32))
    elif spaces == {"shared"}:
        counters.shared_conflicts[pc] += extra_wavefronts(lanes, addresses, bytes_)


def extra_wavefronts(lanes: list[int], addresses: list[int], bytes_: int) -> int:
    """Return the shared memory wavefronts of an access beyond the minimum (bank conflicts)."""
    unit = min(max(bytes_, 4), 16)
    per_phase, extra = 128 // unit, 0
    phases: dict[int, dict[int, set[int]]] = {}
    for lane, address in zip(lanes, addresses, strict=True):
        word = address // unit
        phases.setdefault(lane // per_phase, {}).setdefault(word % per_phase, set()).add(word)
    for columns in phases.values():
        extra += max(map(len, columns.values())) - 1
    return extra


def _load(runner: Runner, action: act.Load, mask: int, places: list[_Place]) -> None:
    for k, register in enumerate(action.data):
        values = [p.get(k * action.size, action.size) for p in places]
        if action.signed:
            bits = 8 * action.size
            values = [v - (1 << bits) if v >> (bits - 1) else v for v in values]
        lane_values.write(runner, register, mask, values)


def _store(runner: Runner, action: act.Store, mask: int, places: list[_Place]) -> None:
    columns = [lane_values.read(runner, value, mask) for value in action.data]
    for place, values in zip(places, zip(*columns, strict=True), strict=True):
        for k, value in enumerate(values):
            place.put(k * action.size, action.size, value)


def _atomic(
    runner: Runner, action: act.Atomic, lanes: list[int], addresses: list[int], places: list[_Place], spaces: set[str]
) -> None:
    for lane, address, place in zip(lanes, addresses, places, strict=True):
        one = 1 << lane
        ftz = not action.subnormal and (spaces == {"global"} or (len(spaces) > 1 and space_of(address) != "shared"))
        for k, source in enumerate(action.source):
            cut = (1 << 8 * action.size) - 1
            old = place.get(k * action.size, action.size)
            value = lane_values.read(runner, source, one)[0] & cut
            new = lane_values.read(runner, action.new[k], one)[0] & cut if action.new else 0
            place.put(k * action.size, action.size, apply_atomic(action, old, value, new, ftz=ftz))
            lane_values.write(runner, action.data[k], one, [old])


# What an atomic makes of the old value (core/atomic.c) -------------------------------------------------------------


def apply_atomic(action: Atomic, old: int, value: int, new: int, *, ftz: bool) -> int:
    """Return the new bits of an element."""
    bits = 8 * action.size
    cut = (1 << bits) - 1
    match action.operation:
        case "exch":
            return value
        case "cas":
            return new if old == value else old
        case "and":
            return old & value
        case "or":
            return old | value
        case "xor":
            return old ^ value
        case "inc":
            return 0 if old >= value else old + 1
        case "dec":
            return value if old == 0 or old > value else old - 1
    if action.type in ("f16", "bf16"):
        low = _float(action, old & 0xFFFF, value & 0xFFFF, ftz=False)
        return low | _float(action, old >> 16, value >> 16, ftz=False) << 16 if action.packed else low
    if action.type in ("f32", "f64"):
        return _float(action, old, value, ftz=ftz and action.type == "f32")
    if action.type[0] == "s":
        old, value = signed(old, bits), signed(value, bits)
    return {"add": old + value, "min": min(old, value), "max": max(old, value)}[action.operation] & cut


def _float(action: Atomic, old: int, value: int, *, ftz: bool) -> int:
    if action.operation != "add":
        return evaluator.minimum(old, value, action.type, largest=action.operation == "max")
    flags = frozenset({"ftz"} if ftz else ())
    none = Leaf(Const(0, 32), action.type)
    return evaluator.FLOAT["add"](Apply("add", (none, none), action.type, action.type, flags), old, value)
