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
    having = [t.number for t in ALL if any(n.on(t) for n in combined_needs(form, choices))]
    if having and max(having) < 70:
        return REASONS["old"]
    if having and set(having) == {107}:
        return REASONS["sm_107"]
    return None
