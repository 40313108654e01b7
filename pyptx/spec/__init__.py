"""Checking single instructions against the table, and whether typed wrappers do so while tracing."""

from pyptx.errors import PtxValidationError
from pyptx.spec.ptx import INSTRUCTIONS, InstructionSpec, ModifierGroup, get_specs, register_overload
from pyptx.spec.strictness import is_strict, set_strict, strict
from pyptx.spec.validate import (
                                 UnvalidatedInstructionWarning,
                                 ValidationError,
                                 ValidationIssue,
                                 validate_instruction,
                                 validate_or_raise,
)

__all__ = ["INSTRUCTIONS", "InstructionSpec", "ModifierGroup", "PtxValidationError", "UnvalidatedInstructionWarning",
           "ValidationError", "ValidationIssue", "get_specs", "is_strict", "register_overload", "set_strict", "strict",
           "validate_instruction", "validate_or_raise"]
