"""What went wrong, in words: the instruction, the thread, the address and what lies near it."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.errors import SimulationError
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    Instruction,
    LabelOperand,
    NegatedOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.sim.actions.basic import Load
from pyptx.sim.faults import textures as texture_faults
from pyptx.sim.faults import waits as wait_faults
from pyptx.sim.faults.tensor_copies import explain
from pyptx.sim.layouts import tmem_problems as tmem_faults
from pyptx.sim.memory.spaces import LOCAL_WINDOW, SHARED_START, SHARED_WINDOW, Segment
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
        return (f"thread ({t % x}, {t // x % y}, {t // (x * y)}) of CTA {cta_name(self.plan, self.cta)} "
                f"(warp {self.warp}, lane {self.lane})")


def cta_name(plan: Plan, cta: int) -> str:
    x, y, _ = plan.grid
    return f"({cta % x}, {cta // x % y}, {cta // (x * y)})"


def text_of(instruction: Instruction) -> str:
    """The instruction as PTX."""
    guard = ""
    if instruction.predicate is not None:
        guard = f"@{'!' if instruction.predicate.negated else ''}{instruction.predicate.register} "
    return f"{guard}{instruction.mnemonic} {', '.join(map(_operand, instruction.operands))}".strip() + ";"


def _operand(operand) -> str:
    match operand:
        case RegisterOperand(name) | LabelOperand(name):
            return name
        case ImmediateOperand(text):
            return text
        case NegatedOperand(inner):
            return "!" + _operand(inner)
        case AddressOperand(base, offset):
            return f"[{base}{'' if not offset or offset[0] == ',' else '+'}{offset or ''}]"
        case VectorOperand(elements):
            return "{" + ", ".join(map(_operand, elements)) + "}"
        case _:
            left, right = getattr(operand, "left", None), getattr(operand, "right", None)
            return f"{_operand(left)}|{_operand(right)}" if left is not None else str(operand)


def _near(address: int, size: int, segments: list[Segment], plan: Plan) -> str:
    """What an address is close to."""
    if 0 <= address < 1 << 31 or SHARED_WINDOW <= address < SHARED_WINDOW + (1 << 32):
        offset = address - SHARED_WINDOW if address >= SHARED_WINDOW else address
        return (f"shared memory of the CTA is 0x{SHARED_START:x}..0x{plan.shared_end:x} ({plan.shared_bytes} bytes); "
                f"this is 0x{offset:x}")
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + (1 << 32):
        return f"local offset {address - LOCAL_WINDOW}"
    candidates = [s for s in segments if s.space == "global"]
    if not candidates:
        return "the kernel was given no buffer"
    nearest = min(candidates, key=lambda s: max(s.address - address, address - (s.address + s.size - 1), 0))
    distance = max(nearest.address - address, address - (nearest.address + nearest.size), 0)
    if distance > 1 << 30:
        return "no buffer is anywhere near"
    where = nearest.buffer.element(address - nearest.address)
    if 0 <= address - nearest.address < nearest.size:
        where += f", of which {nearest.size - (address - nearest.address)} bytes are left"
    return where


def fault(kind: str, where: Where, instruction: int | None, address: int, extra: int,
          segments: list[Segment], text: str = "") -> SimulationError:
    """The error for a fault of the core or the reference; `text` is what a function of the driver said."""
    node = where.program.instructions[instruction]
    action = where.program.actions[instruction]
    verb = "reads" if isinstance(action, Load) else "writes"
    hint = None
    if kind == "bounds":
        what = f"{verb} {extra} bytes at 0x{address:x}, outside every buffer"
        if address < SHARED_START and getattr(action, "address",
                                              None) is not None and action.address.space in ("generic", "global"):
            what = f"{verb} {extra} bytes at 0x{address:x}, a null pointer"
            hint = "an argument is 0 or an address was not computed"
        elif getattr(action, "address", None) is not None and action.address.space in ("shared", "local", "param",
            "const"):
            what = f"{verb} {extra} bytes at 0x{address:x} of {action.address.space} memory, outside of it"
            hint = _space_hint(action.address.space, address, where.plan, where.program)
        else:
            hint = _near(address, extra, segments, where.plan)
    elif kind == "alignment":
        what = f"{verb} {extra} bytes at 0x{address:x}, which is not a multiple of {extra}"
        hint = _near(address, extra, segments, where.plan) if address >= 1 << 31 else None
    elif kind == "read_only":
        what, hint = f"writes {extra} bytes at 0x{address:x}, which is read-only", _near(address, extra, segments,
            where.plan)
    elif kind == "trap":
        what = "executed trap"
    elif kind == "barrier_count":
        mine, others = extra & 0xFFFFFFFF, extra >> 32
        what = f"came to barrier {address} with thread count {mine or 'all'}, the others with {others or 'all'}"
        hint = "all threads of one phase name the same count, a multiple of 32"
        if mine == others:
            what = f"came to barrier {address} with thread count {mine}, which is not a positive multiple of 32"
            hint = None
    elif kind == "barrier_id":
        what = f"names barrier {address}; a CTA has 0..15"
    elif kind == "membermask":
        what = f"executes it, but is not in its membermask 0x{address:08x}"
        hint = f"lanes 0x{extra:08x} execute it together"
    elif kind == "tensor":
        what, hint = explain(extra, address)
    elif kind == "texture":
        what, hint = texture_faults.explain(extra, address, segments)
    elif kind == "uniform":
        what = f"has the matrix descriptor 0x{address:x} where lane 0 has 0x{extra:x}; all lanes must have the same"
    elif kind == "tmem":
        what, hint = tmem_faults.explain(extra, address)
    elif kind == "warp":
        what = f"executes it with lanes 0x{address:08x} only; it needs all 32 lanes of the warp together (.aligned)"
        hint = "is the number of threads a multiple of 32, and is it outside of branches that lanes take differently?"
    elif kind == "jump":
        what = f"jumps through a table of {extra} with index {address}"
    elif kind == "function":
        what = f"calls 0x{address:x}, which is no address of a function"
        hint = "functions have addresses in this module only: mov.u64 %rd, f; or an initializer that names them"
    elif kind == "host":
        what = text
    else:
        what, hint = wait_faults.explain(kind, address, extra) or (kind, None)
    return SimulationError(f"{text_of(node)} {where} {what}", at=node.place, hint=hint, kind=kind,
                           instructions=[instruction])


def _space_hint(space: str, address: int, plan: Plan, program: Program) -> str:
    if space == "shared":
        static = plan.shared_bytes - plan.dynamic_bytes
        return (f"shared memory of the CTA is 0x{SHARED_START:x}..0x{plan.shared_end:x}: {static} bytes "
                f"static and {plan.dynamic_bytes} dynamic (smem_bytes=)")
    if space == "local":
        return f"a thread has {program.names.local_bytes} bytes of local memory"
    if space == "const":
        return f"the module has {len(program.names.const_bytes)} bytes of constant memory"
    params = program.names.params
    return f"the parameters take {params[-1].offset + params[-1].size if params else 0} bytes"
