"""Messages for faults: the instruction, the thread, the address and the memory near it."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.emitter import operand_text
from pyptx.errors import SimulationError
from pyptx.ir.nodes import Instruction
from pyptx.sim.actions import Address, Call, Load
from pyptx.sim.faults import mbarriers as wait_faults
from pyptx.sim.faults import textures as texture_faults
from pyptx.sim.faults import tmem as tmem_faults
from pyptx.sim.faults.tensor_copies import explain
from pyptx.sim.memory.address_space import LOCAL_WINDOW, NO_FUNCTION, SHARED_START, SHARED_WINDOW, Segment
from pyptx.sim.memory.pointers import POINTERS
from pyptx.sim.plan import Plan
from pyptx.sim.program.program import Program

__all__ = ["Where", "cta_name", "fault", "text_of"]


@dataclass(frozen=True)
class Where:
    """A lane of a warp of a CTA."""

    program: Program
    plan: Plan
    cta: int
    warp: int
    lane: int

    def __str__(self) -> str:
        x, y = self.plan.block[0], self.plan.block[1]
        t = self.warp * 32 + self.lane
        return (
            f"thread ({t % x}, {t // x % y}, {t // (x * y)}) of CTA {cta_name(self.plan, self.cta)} "
            f"(warp {self.warp}, lane {self.lane})"
        )


def cta_name(plan: Plan, cta: int) -> str:
    """Return the index of a CTA in the grid, as `(x, y, z)`."""
    x, y, _ = plan.grid
    return f"({cta % x}, {cta // x % y}, {cta // (x * y)})"


def text_of(instruction: Instruction) -> str:
    """Return an instruction as PTX text."""
    guard = ""
    if instruction.predicate is not None:
        guard = f"@{'!' if instruction.predicate.negated else ''}{instruction.predicate.register} "
    return f"{guard}{instruction.mnemonic} {', '.join(map(operand_text, instruction.operands))}".strip() + ";"


def _near(address: int, size: int, segments: list[Segment], plan: Plan) -> str:
    """Describe the memory near an address."""
    if 0 <= address < 1 << 31 or SHARED_WINDOW <= address < SHARED_WINDOW + (1 << 32):
        offset = address - SHARED_WINDOW if address >= SHARED_WINDOW else address
        return (
            f"shared memory of the CTA is 0x{SHARED_START:x}..0x{plan.shared_end:x} ({plan.shared_bytes} bytes); "
            f"this is 0x{offset:x}"
        )
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + (1 << 32):
        return f"local offset {address - LOCAL_WINDOW}"
    candidates = [s for s in segments if s.space == "global"]
    if not candidates:
        return "the kernel has no buffers"
    nearest = min(candidates, key=lambda s: max(s.address - address, address - (s.address + s.size - 1), 0))
    distance = max(nearest.address - address, address - (nearest.address + nearest.size), 0)
    if distance > 1 << 30:
        return (
            "no buffer is near; an address that a kernel reads from memory is pyptx.pointer(array) there, and the array is "
            "in reachable="
        )
    where = nearest.buffer.element(address - nearest.address)
    if 0 <= address - nearest.address < nearest.size:
        where += f", {nearest.size - (address - nearest.address)} bytes before its end"
    return where


def _fixed(address: int, segments: list[Segment]) -> tuple[str, str] | None:
    """Describe an address that `pyptx.pointer` gave to an array which the launch does not have; None for others."""
    found = POINTERS.find(address)
    if found is None or any(s.address <= address < s.address + s.size for s in segments):
        return None
    allocation, is_there = found
    offset = f"byte {address - allocation.address} of " if address != allocation.address else ""
    text = f"{offset}{allocation.text}, whose address pyptx.pointer returned at {allocation.place}"
    if is_there:
        return f"the launch was not given {text}", "pass the array: reachable=[...]"
    return f"it was {text}; the array was freed or resized since", "take its address again"


def fault(
    kind: str, where: Where, instruction: int, address: int, extra: int, segments: list[Segment], text: str = ""
) -> SimulationError:
    """Make the error for a fault of either engine.

    Args:
        kind, address, extra: the fault, see `abi.FAULTS`.
        text: message of a driver function.
    """
    node = where.program.instructions[instruction]
    action = where.program.actions[instruction]
    verb = "reads" if isinstance(action, Load) else "writes"
    hint = None
    if kind == "bounds":
        target = getattr(action, "address", None)
        space = target.space if isinstance(target, Address) else ""
        what = f"{verb} {extra} bytes at 0x{address:x}, outside every buffer"
        if address < SHARED_START and space in ("generic", "global"):
            what = f"{verb} {extra} bytes at 0x{address:x}, a null pointer"
            hint = "an argument is 0, or an address was not computed"
        elif space in ("shared", "local", "param", "const"):
            what = f"{verb} {extra} bytes at 0x{address:x} of {space} memory, out of bounds"
            hint = _space_hint(space, where.plan, where.program)
        elif (fixed := _fixed(address, segments)) is not None:
            what, hint = f"{what}: {fixed[0]}", fixed[1]
        else:
            hint = _near(address, extra, segments, where.plan)
    elif kind == "alignment":
        what = f"{verb} {extra} bytes at 0x{address:x}, which is not a multiple of {extra}"
        hint = _near(address, extra, segments, where.plan) if address >= 1 << 31 else None
    elif kind == "read_only":
        what, hint = (
            f"writes {extra} bytes at 0x{address:x}, which is read-only",
            _near(address, extra, segments, where.plan),
        )
    elif kind == "trap":
        what = "executed trap"
    elif kind == "barrier_count":
        mine, others = extra & 0xFFFFFFFF, extra >> 32
        what = f"arrives at barrier {address} with thread count {mine or 'all'}, other threads with {others or 'all'}"
        hint = "all threads of a phase must name the same count, a multiple of 32"
        if mine == others:
            what = f"arrives at barrier {address} with thread count {mine}, which is not a positive multiple of 32"
            hint = None
    elif kind == "barrier_id":
        what = f"uses barrier {address}; the barriers of a CTA are 0..15"
    elif kind == "membermask":
        what = f"executes it, but is not in the membermask 0x{address:08x}"
        hint = f"lanes 0x{extra:08x} execute it together"
    elif kind == "tensor":
        what, hint = explain(extra, address)
    elif kind == "texture":
        what, hint = texture_faults.explain(extra, address, segments)
    elif kind == "uniform":
        what = f"has the matrix descriptor 0x{address:x} where lane 0 has 0x{extra:x}; all lanes of a warp must have the same"
    elif kind == "tmem":
        what, hint = tmem_faults.explain(extra, address)
    elif kind == "warp":
        what = f"executes it with lanes 0x{address:08x} only; it requires all 32 lanes of the warp together (.aligned)"
        hint = "make the number of threads a multiple of 32, and execute it outside of divergent branches"
    elif kind == "jump":
        what = f"has index {address} into a branch table of {extra} entries"
    elif kind == "function":
        if isinstance(action, Call) and action.mismatch:
            address = address - NO_FUNCTION & (1 << 64) - 1
        name = where.program.symbols.function_at(address)
        what = f"calls 0x{address:x}, which is not the address of a function"
        if name is not None:
            what = f"calls {name}, whose signature differs from its prototype {getattr(action, 'mismatch', '')}"
        hint = "take the address of a function of this module: mov.u64 %rd, f; or an initializer that names it"
    elif kind == "call_depth":
        what = f"calls a function with {address} calls active in its warp: the call stack exceeds 512 KiB a thread"
        hint = "make the recursion end, or replace it by a loop"
    elif kind == "host":
        what = text
    else:
        what, hint = wait_faults.explain(kind, address, extra) or (kind, None)
    return SimulationError(
        f"{text_of(node)} {where} {what}", at=node.place, hint=hint, kind=kind, instructions=[instruction]
    )


def _space_hint(space: str, plan: Plan, program: Program) -> str:
    if space == "shared":
        static = plan.shared_bytes - plan.dynamic_bytes
        return (
            f"shared memory of the CTA is 0x{SHARED_START:x}..0x{plan.shared_end:x}: {static} bytes "
            f"static and {plan.dynamic_bytes} dynamic (smem_bytes=)"
        )
    if space == "local":
        return f"a thread has {program.symbols.local_bytes} bytes of local memory"
    if space == "const":
        return f"the module has {len(program.symbols.const_bytes)} bytes of constant memory"
    params = program.symbols.params
    return f"the parameters take {params[-1].offset + params[-1].size if params else 0} bytes"
