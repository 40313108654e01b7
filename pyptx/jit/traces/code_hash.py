"""Hashes of code objects, equal in all processes that run the same source."""

from __future__ import annotations

import hashlib
import os
from types import CodeType
from typing import Any

from pyptx.jit.per_code import per_code

__all__ = ["code_hash"]


@per_code
def code_hash(code: CodeType) -> str:
    """Return the hash of what determines the behavior of a code object, and the Python places of what it emits."""
    texts = (
        os.path.basename(
            code.co_filename
        ),  # in messages of `ptx.check_`; the folder of a notebook's cells is a new one
        code.co_firstlineno,
        code.co_flags,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_names,
        code.co_varnames,
        code.co_cellvars,
        code.co_freevars,
        tuple(_constant(constant) for constant in code.co_consts),
        len(code.co_code),
        len(code.co_linetable),
    )
    found = hashlib.sha256(repr(texts).encode(errors="surrogatepass"))
    for part in (code.co_code, code.co_linetable, code.co_exceptiontable):
        found.update(part)
    return found.hexdigest()


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return code_hash(value)
    if isinstance(value, tuple):
        return ("tuple", *map(_constant, value))
    if isinstance(value, frozenset):
        return ("frozenset", *sorted(repr(_constant(item)) for item in value))
    return type(value).__name__, repr(value)
