"""What a launch is: computed once for a specialization, checked completely, then handed to a backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyptx.errors import LaunchError
from pyptx.ir.nodes import Function, Module, Param

__all__ = ["Dim3", "LaunchPlan", "LaunchResult", "Runtime", "dim3"]

Dim3 = tuple[int, int, int]


def dim3(value: int | Sequence[int] | None, what: str) -> Dim3:
    """Three launch dimensions from an int or one to three of them; missing ones are 1.

    Raises:
        LaunchError: not ints, not positive, or more than three.
    """
    if value is None:
        return (1, 1, 1)
    items = tuple(value) if isinstance(value, Sequence) else (value,)
    if not 1 <= len(items) <= 3 or not all(hasattr(i, "__index__") for i in items):
        raise LaunchError(f"{what}={value!r}; expected one to three ints")
    sizes = tuple(int(i) for i in items) + (1,) * (3 - len(items))
    if min(sizes) < 1:
        raise LaunchError(f"{what}={value!r}; every dimension must be at least 1")
    return sizes  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """One launch of one entry.

    Attributes:
        smem_bytes: dynamic shared memory of a CTA, in bytes.
    """

    entry: Function
    grid: Dim3
    block: Dim3
    cluster: Dim3 = (1, 1, 1)
    smem_bytes: int = 0

    def __post_init__(self):
        x, y, z = self.block
        if x * y * z > 1024:
            raise LaunchError(f"{self.entry.name}: block {self.block} has {x * y * z} threads; the limit is 1024")
        uneven = [axis for axis, (g, c) in enumerate(zip(self.grid, self.cluster, strict=True)) if g % c]
        if uneven:
            raise LaunchError(f"{self.entry.name}: grid {self.grid} is not divisible by cluster {self.cluster} in "
                              f"dimension {'xyz'[uneven[0]]}")
        required = next((d.values for d in self.entry.directives if d.name == "reqntid"), None)
        if required is not None and dim3(required, "reqntid") != self.block:
            raise LaunchError(f"{self.entry.name}: block {self.block}, but the kernel requires .reqntid {required}")

    @property
    def params(self) -> tuple[Param, ...]:
        return self.entry.params


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """What a launch gave.

    Attributes:
        backend: "sim" or "cuda".
        seconds: duration of the kernel; None when it was not measured. On the simulator: time of the simulation.
        counters: the simulator's counts per instruction, or None.
        findings: of the sanitizer; empty when it did not run.
        outputs: the arrays a call allocated or was given for the kernel's results.
    """

    backend: str
    seconds: float | None
    counters: Any = None
    findings: tuple = ()
    outputs: tuple = field(default=(), repr=False)


class Runtime(Protocol):
    """A backend: where arrays live and kernels run."""

    name: str

    def dtype_name(self, array: Any) -> str: ...
    def check_array(self, array: Any, what: str) -> None: ...
    def empty(self, shape: tuple[int, ...], dtype_name: str, like: Sequence[Any]) -> Any: ...
    def load(self, module: Module, entry: str) -> Any: ...
    def launch(self, program: Any, plan: LaunchPlan, args: Sequence[Any],
               options: Mapping[str, Any]) -> LaunchResult: ...
