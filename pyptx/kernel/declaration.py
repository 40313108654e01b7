"""What `@kernel(...)` was told, checked: the one value that tracing, binding and launching of a kernel read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from pyptx._params import parse_params
from pyptx.errors import LaunchError, MissingSizeError
from pyptx.ir.nodes import FunctionDirective, Param
from pyptx.ir.types import LinkingDirective
from pyptx.runtime import Dim3, dim3
from pyptx.specs import Tile, named
from pyptx.unit import Unit

__all__ = ["Declaration", "Grid"]

Grid = Callable[..., int | Sequence[int]] | int | Sequence[int] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Declaration:
    """A Python function and what it was declared to be.

    Attributes:
        name: of the entry.
        version: PTX ISA version, None for as new as needed.
        in_specs, out_specs: Tiles of the tensors, in order.
        grid, block, cluster: fixed ones, or functions of sizes and template values.
        reqntid: the block that the entry itself requires, as for `block`; None: it requires none.
        smem_bytes: dynamic shared memory at launch.
        raw_params: further parameters of the entry, as they were written.
        extern_smem: name of an extern shared array.
        unit: the file it belongs to.
        in_place: whether an output may be an input.
    Raises:
        TypeError: more Tiles than tensors, or a parameter of the function that cannot be a kernel's.
    """

    function: Callable
    name: str
    arch: str
    version: tuple[int, int] | None
    in_specs: tuple[Tile, ...]
    out_specs: tuple[Tile, ...]
    grid: Grid
    block: Grid
    cluster: Grid
    smem_bytes: int
    raw_params: tuple[tuple[str, str] | str, ...]
    extern_smem: str | None
    reqntid: Grid
    directives: tuple[FunctionDirective, ...]
    linking: LinkingDirective | None
    unit: Unit | None
    in_place: bool

    def __post_init__(self) -> None:
        if len(self.specs) > len(self.tensors):
            raise TypeError(f"kernel {self.name}: {len(self.specs)} specs for {len(self.tensors)} positional "
                            "parameters")
        if inputs := [name for name, spec in zip(self.tensors, self.in_specs, strict=False) if spec.zeroed]:
            raise TypeError(f"kernel {self.name}: {inputs[0]} is an input; zeroed=True is for outputs")

    @cached_property
    def tensors(self) -> tuple[str, ...]:
        """The function's positional parameters, which stand for arrays."""
        return tuple(p.name for p in self._parameters if p.kind is not p.KEYWORD_ONLY)

    @cached_property
    def template(self) -> dict[str, Any]:
        """Its keyword-only parameters and their defaults; None where there is no default."""
        return {p.name: None if p.default is p.empty else p.default
                for p in self._parameters if p.kind is p.KEYWORD_ONLY}

    @cached_property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        parameters = tuple(inspect.signature(self.function).parameters.values())
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                raise TypeError(f"kernel {self.function.__name__}: *{p.name} cannot be a kernel parameter; name every "
                                "tensor")
        return parameters

    @cached_property
    def params(self) -> tuple[Param, ...]:
        """The raw parameters as the entry declares them.

        Raises:
            ValueError: a type string or a declaration cannot be read.
        """
        return parse_params(self.raw_params)

    def extent(self, what: str, sizes: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """The "grid", "block", "cluster" or "reqntid" for these sizes and template values.

        A function gets the ones it names; sizes by position when it names others.

        Raises:
            MissingSizeError: a size it names is not given.
            LaunchError: not one to three positive ints.
        """
        value = getattr(self, what)
        if not callable(value):
            return dim3(value, what)
        given, missing = named(value, sizes, template)
        if unknown := [name for name in missing if name in self.symbolic_dims]:
            raise MissingSizeError(f"{self.name}: {what} depends on {', '.join(unknown)}, which nobody gave")
        result = value(*sizes.values()) if missing else value(**given)
        try:
            return dim3(tuple(result)[:3] if isinstance(result, Sequence) else result, what)
        except LaunchError as wrong:
            by = ", ".join(f"{name}={size}" for name, size in {**sizes, **given}.items())
            raise LaunchError(f"{self.name}: {wrong.message}, for {by}") from None

    @property
    def specs(self) -> tuple[Tile, ...]:
        """Tiles of all tensors that have one, inputs first."""
        return self.in_specs + self.out_specs

    @cached_property
    def symbolic_dims(self) -> tuple[str, ...]:
        """Names of sizes in the Tiles, in order."""
        return tuple(dict.fromkeys(dim for spec in self.specs for dim in spec.symbolic_dims))

    @cached_property
    def default_sizes(self) -> dict[str, int]:
        """Sizes that no array tells, since only outputs have them, but a template parameter's default value does."""
        read = {dim for spec in self.in_specs for dim in spec.symbolic_dims}
        return {name: self.template[name] for name in self.symbolic_dims
                if name not in read and isinstance(self.template.get(name), int)}
