"""The tree against the table and the target.

    bind(instruction, type_of)      which form an instruction is; raises FormError
    check(module, target=None)      everything wrong with a module, as diagnostics
    check_ptx(text, target=None)    everything wrong with PTX text
    required_version(module)        the lowest `.version` its instructions need on its target
"""

from pyptx.validate._bind import Bound, bind
from pyptx.validate._check import check, required_version
from pyptx.validate._text import check_ptx

__all__ = ["Bound", "bind", "check", "check_ptx", "required_version"]
