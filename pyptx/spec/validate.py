"""Compatibility alias: the checks of `pyptx.compat.spec`."""

from pyptx.compat.spec import (
    UnvalidatedInstructionWarning,
    ValidationError,
    ValidationIssue,
    validate_instruction,
    validate_or_raise,
)

__all__ = [
    "UnvalidatedInstructionWarning",
    "ValidationError",
    "ValidationIssue",
    "validate_instruction",
    "validate_or_raise",
]
