"""Compatibility alias: the instruction specs of the 0.1 API, defined in `pyptx.compat.spec`."""

from pyptx.compat.spec import (
    INSTRUCTIONS,
    InstructionSpec,
    ModifierGroup,
    PtxValidationError,
    UnvalidatedInstructionWarning,
    ValidationError,
    ValidationIssue,
    get_specs,
    is_strict,
    register_overload,
    set_strict,
    strict,
    validate_instruction,
    validate_or_raise,
)

__all__ = [
    "INSTRUCTIONS",
    "InstructionSpec",
    "ModifierGroup",
    "PtxValidationError",
    "UnvalidatedInstructionWarning",
    "ValidationError",
    "ValidationIssue",
    "get_specs",
    "is_strict",
    "register_overload",
    "set_strict",
    "strict",
    "validate_instruction",
    "validate_or_raise",
]
