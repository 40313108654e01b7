"""Cells that the panel inserts for a kernel: a check of a call, a sweep of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyptx.history import Version
from pyptx.kernel import Kernel

__all__ = ["cell_templates"]

DEFAULT_SIZE = 1024  # of a symbolic dimension, for a kernel that was never compiled


def cell_templates(kernel: Kernel, variable: str, versions: Iterable[Version] = ()) -> dict[str, str]:
    """Return the source of cells for a kernel: "check", and "sweep" if it has parameters to vary.

    Args:
        variable: name of the kernel in the notebook.
        versions: of the kernel, oldest first; the last one provides the sizes.
    Returns:
        Empty for a kernel without `in_specs`, whose arguments are unknown.
    """
    if not kernel.in_specs:
        return {}
    last = list(versions)[-1:]
    known: Mapping[str, Any] = last[0].params if last else {}
    sizes = {name: known.get(name, DEFAULT_SIZE) for name in kernel.symbolic_dims if name not in kernel.template_params}
    template = {**kernel.template_params, **{name: known[name] for name in kernel.template_params if name in known}}
    fixed = {name: value for name, value in template.items() if name in known}
    given = "".join(f", {name}={value!r}" for name, value in fixed.items())
    found = {
        "check": f"from pyptx.tune.problem import Problem\n\n"
        f"inputs = Problem({variable}, {_call(sizes)}).inputs  # random; or your arrays\n"
        f"{variable}.check(*inputs{given})"
    }
    ranges = {name: values for name, value in template.items() if len(values := _nearby(value)) > 1}
    if ranges:
        lists = ", ".join(f"{name}={values!r}" for name, values in ranges.items())
        found["sweep"] = (
            f"import pyptx\n\n{variable}_sweep = pyptx.sweep(\n    {variable},\n"
            f"    dict({lists}),  # values to try\n"
            f"    {_call(sizes)},  # sizes of random arrays; or your arrays\n"
            f"    # reference=lambda *inputs: ...,  # expected result\n)\n{variable}_sweep"
        )
    return found


def _call(values: Mapping[str, Any]) -> str:
    return f"dict({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def _nearby(value: Any) -> list[Any]:
    """Return values to try around one: half and twice a number, both booleans."""
    match value:
        case bool():
            return [False, True]
        case int() if value > 1 and value % 2 == 0:
            return [value // 2, value, 2 * value]
        case int() if value >= 1:
            return [value, 2 * value, 4 * value]
        case _:
            return [value]
