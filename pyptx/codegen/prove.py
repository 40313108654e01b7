"""Proof that Python says what the PTX said: the source is executed, traced and compared."""

from __future__ import annotations

import linecache
import sys
from itertools import count

from pyptx.codegen.same import Differences, differences
from pyptx.errors import PtxError
from pyptx.ir.nodes import Module

__all__ = ["TranspileError", "proven", "traced"]

_NUMBERS = count(1)


class TranspileError(PtxError, RuntimeError):
    """The Python that was written does not trace back to the PTX: a bug of the transpiler."""


def traced(source: str) -> Module:
    """The module that generated Python traces to: of its unit, or of its only kernel.

    Raises:
        TranspileError: it defines neither.
    """
    name = f"<transpiled {next(_NUMBERS)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)         # for messages
    recursion = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(recursion, 20_000))
        space: dict[str, object] = {"__name__": name}
        exec(compile(source, name, "exec"), space)
        unit = space.get("unit")
        if unit is not None:
            return unit.module()
        kernels = [value for value in space.values() if hasattr(value, "module") and hasattr(value, "template_params")]
        if len(kernels) != 1:
            raise TranspileError(f"the generated file defines {len(kernels)} kernels and no unit")
        return kernels[0].module()
    finally:
        sys.setrecursionlimit(recursion)
        linecache.cache.pop(name, None)


def proven(source: str, module: Module, *, names: bool = True) -> Differences:
    """What the traced source does differently; empty when it is the same program. See same.differences."""
    return differences(module, traced(source), names=names)
