"""Cells that the panel writes for a kernel: a sweep of its parameters, a check of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyptx.history import Version
from pyptx.kernel import Kernel

__all__ = ["cells"]

SIZE = 1024                                             # of a kernel that was never compiled


def cells(kernel: Kernel, variable: str, versions: Iterable[Version] = ()) -> dict[str, str]:
    """Source of the cells that start something for a kernel: "check", and "sweep" when it has parameters to vary.

    Args:
        variable: what the notebook calls it.
        versions: of the kernel, oldest first; the last one says which sizes are used.
    Returns:
        Empty for a kernel that is launched by hand: nobody knows its arrays.
    """
    if not kernel.in_specs:
        return {}
    last = list(versions)[-1:]
    known: Mapping[str, Any] = last[0].params if last else {}
    sizes = {name: known.get(name, SIZE) for name in kernel.symbolic_dims if name not in kernel.template_params}
    template = {**kernel.template_params, **{name: known[name] for name in kernel.template_params if name in known}}
    fixed = {name: value for name, value in template.items() if name in known}
    given = "".join(f", {name}={value!r}" for name, value in fixed.items())
    found = {"check": f"from pyptx.tune.problem import Problem\n\n"
                      f"inputs = Problem({variable}, {_call(sizes)}).inputs  # random; or arrays of yours\n"
                      f"{variable}.check(*inputs{given})"}
    ranges = {name: values for name, value in template.items() if len(values := _around(value)) > 1}
    if ranges:
        lists = ", ".join(f"{name}={values!r}" for name, values in ranges.items())
        found["sweep"] = (f"import pyptx\n\n{variable}_sweep = pyptx.sweep(\n    {variable},\n"
                          f"    dict({lists}),  # what is tried\n"
                          f"    {_call(sizes)},  # sizes of random arrays; or arrays of yours\n"
                          f"    # reference=lambda *inputs: ...,  what the result should be\n)\n{variable}_sweep")
    return found


def _call(values: Mapping[str, Any]) -> str:
    return f"dict({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def _around(value: Any) -> list[Any]:
    """Values to try beside one: half and twice of a number, both truth values."""
    match value:
        case bool():
            return [False, True]
        case int() if value > 1 and value % 2 == 0:
            return [value // 2, value, 2 * value]
        case int() if value >= 1:
            return [value, 2 * value, 4 * value]
        case _:
            return [value]
