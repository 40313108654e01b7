"""Reasons why instructions are not simulated; tests/sim/test_forms.py checks that the list is complete."""

from __future__ import annotations

from pyptx.isa import form_needs
from pyptx.isa.targets import ALL
from pyptx.validate import Bound

__all__ = ["REASONS", "TARGETS", "refusal_reason"]

# Targets whose instructions are simulated. sm_107 is a chip of its own that was not available for tests.
TARGETS = tuple(t for t in ALL if t.number >= 80 and t.number != 107)

REASONS = {
    "fabric": "it accesses memory by handles from the driver of a multi-node fabric, and a simulated launch has none",
    "addresses": "32-bit addressing is no longer supported: no target assembles a program that uses the result",
    "sampler": "CUDA has no separate sampler objects; a pyptx.Texture is both texture and sampler: [texture, {...}]",
    "depth": "depth comparison is a property of sampler objects, which CUDA cannot create",
    "cube": "the level of detail of gradients on a cube is not documented; use .level",
    "old": "it does not exist on sm_70 or later",
    "sm_107": "it exists on sm_107 only",
}


def refusal_reason(bound: Bound) -> str | None:
    """Return the reason why a form without an action is not simulated; None if it is missing from the list."""
    form, choices = bound.form, bound.choices
    assert form.op is not None, "a bound form belongs to an op"
    if form.op.opcode == "fabric":
        return REASONS["fabric"]
    if form.op.opcode == "cvta" and choices.get("type") == "u32":
        return REASONS["addresses"]
    if form.op.opcode in ("tex", "tld4", "txq"):
        return _texture_reason(bound)
    having = [t.number for t in ALL if any(n.on(t) for n in form_needs(form, choices))]
    if having and max(having) < 70:
        return REASONS["old"]
    if having and set(having) == {107}:
        return REASONS["sm_107"]
    return None


def _texture_reason(bound: Bound) -> str | None:
    if "smp" in bound.form.operands:
        return REASONS["sampler"]
    if bound.operands.get("f") is not None:
        return REASONS["depth"]
    return REASONS["cube"] if "dx" in bound.form.operands else None
