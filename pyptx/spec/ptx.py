"""Compatibility alias: the tables of `pyptx.compat.spec`."""

from pyptx.compat.spec import (
    INSTRUCTIONS,
    InstructionSpec,
    ModifierGroup,
    get_specs,
    register_overload,
)

__all__ = [
    "INSTRUCTIONS",
    "InstructionSpec",
    "ModifierGroup",
    "get_specs",
    "register_overload",
]
