"""Why an instruction is not simulated. What stands here is all there is; tests/sim/test_forms.py holds it to that."""

from __future__ import annotations

from pyptx.isa._schema import combined_needs
from pyptx.isa.targets import ALL
from pyptx.validate import Bound

__all__ = ["REASONS", "TARGETS", "why"]

# Targets whose instructions are simulated. sm_107 is a chip of its own, with hardware no one can try.
TARGETS = tuple(t for t in ALL if t.number >= 80 and t.number != 107)

REASONS = {
    "fabric": "what it reads and writes is named by handles that the driver of a fabric of several machines gives out, "
              "and a launch here has none",
    "addresses": "ptxas has ended 32-bit addressing: a program that uses the result is assembled for no target",
    "sampler": "CUDA makes no samplers of their own; a pyptx.Texture is texture and sampler in one, [texture, {...}]",
    "depth": "which comparison with a depth is made belongs to a sampler that CUDA cannot make",
    "cube": "which level of detail gradients on a cube give is not documented; .level says which",
    "old": "no target from sm_70 on has it",
    "sm_107": "only sm_107 has it",
}


def why(bound: Bound) -> str | None:
    """The reason an instruction that has no action is refused for; None: there is none, it has been forgotten."""
    form, choices = bound.form, bound.choices
    if form.op.opcode == "fabric":
        return REASONS["fabric"]
    if form.op.opcode == "cvta" and choices.get("type") == "u32":
        return REASONS["addresses"]
    if form.op.opcode in ("tex", "tld4", "txq"):
        return _of_textures(bound)
    having = [t.number for t in ALL if any(n.on(t) for n in combined_needs(form, choices))]
    if having and max(having) < 70:
        return REASONS["old"]
    if having and set(having) == {107}:
        return REASONS["sm_107"]
    return None


def _of_textures(bound: Bound) -> str | None:
    if "smp" in bound.form.operands:
        return REASONS["sampler"]
    if bound.operands.get("f") is not None:
        return REASONS["depth"]
    return REASONS["cube"] if "dx" in bound.form.operands else None
