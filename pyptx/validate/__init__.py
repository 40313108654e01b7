"""Validation of modules against the ISA table and a target.

bind(instruction, type_of)      select the form of an instruction; raises FormError
require_form(instruction, type_of)  raise the same FormError, and nothing else
check(module, target=None)      return the diagnostics of a module
check_ptx(text, target=None)    return the diagnostics of PTX text
mnemonic_problem(opcode, modifiers)  return the problem of a mnemonic that no instruction has
required_version(module)        return the lowest `.version` its instructions need on its target
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyptx._lazy import from_modules

if TYPE_CHECKING:
    from pyptx.validate._bind import Bound, bind, require_form
    from pyptx.validate._checker import check
    from pyptx.validate._form_errors import mnemonic_problem
    from pyptx.validate._required_version import required_version
    from pyptx.validate._text_checker import check_ptx

__all__ = ["Bound", "bind", "check", "check_ptx", "mnemonic_problem", "require_form", "required_version"]

if not TYPE_CHECKING:
    __getattr__ = from_modules(
        __name__,
        {  # declaring a kernel does not need the checks
            "Bound": "_bind",
            "bind": "_bind",
            "require_form": "_bind",
            "check": "_checker",
            "mnemonic_problem": "_form_errors",
            "check_ptx": "_text_checker",
            "required_version": "_required_version",
        },
    )
