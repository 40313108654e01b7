"""Declarations: the checked arguments of `@kernel(...)`, which tracing, binding and launching read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

from pyptx._params import parse_params
from pyptx.errors import ArgumentTypeError, ArgumentValueError, LaunchError, MissingSizeError, OptionError
from pyptx.ir.nodes import FunctionDirective, Param
from pyptx.ir.types import LinkingDirective
from pyptx.runtime import Dim3, dim3
from pyptx.runtime.device import detect_arch
from pyptx.specs import Tile, select_arguments
from pyptx.unit import Unit

__all__ = ["Declaration", "Grid"]

Grid = Callable[..., int | Sequence[int]] | int | Sequence[int] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Declaration:
    """A kernel function and its declared properties.

    Attributes:
        name: name of the entry.
        version: PTX ISA version; None: the oldest that suffices.
        in_specs, out_specs: Tiles of the tensors, in order.
        grid, block, cluster: three sizes, or a function of sizes and template values.
        reqntid: the block that `.reqntid` requires, as for `block`; None: no directive.
        smem_bytes: dynamic shared memory at launch, in bytes.
        raw_params: further parameters of the entry, as written.
        extern_smem: name of an extern shared array.
        unit: the translation unit it belongs to.
        in_place: an output may be an input.
        debug: emit `ptx.printf` and `ptx.check_`.
        tensor_maps: "pointer" or "value", how the entry takes tensor maps.
    Raises:
        TypeError: more Tiles than tensors, or a parameter of the function that cannot be a kernel's.
    """

    function: Callable[..., Any]
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
    debug: bool
    tensor_maps: str

    @classmethod
    def of(
        cls,
        fn: Callable[..., Any],
        *,
        arch: str = "sm_90a",
        version: tuple[int, int] | None = None,
        in_specs: Iterable[Tile] | None = None,
        out_specs: Iterable[Tile] | None = None,
        grid: Grid = None,
        block: Grid = (1, 1, 1),
        cluster: Grid = (1, 1, 1),
        smem: int = 0,
        raw_params: Iterable[tuple[str, str] | str] | None = None,
        extern_smem: bool | str = False,
        reqntid: Grid = None,
        raw_directives: Iterable[tuple[str, Sequence[Any]]] | None = None,
        name: str | None = None,
        linking: str | None = "visible",
        unit: Unit | None = None,
        in_place: bool = False,
        debug: bool = True,
        tensor_maps: str = "pointer",
    ) -> Declaration:
        """Return the declaration for the arguments of the decorator, which are those of `pyptx.kernel`."""
        directives = tuple(FunctionDirective(n, tuple(v)) for n, v in raw_directives or ())
        if tensor_maps not in ("pointer", "value"):
            raise OptionError(f"@kernel: tensor_maps={tensor_maps!r}; expected 'pointer' or 'value'")
        return cls(
            function=fn,
            name=name or re.sub(r"\W", "_", fn.__name__, flags=re.ASCII),
            arch=detect_arch() if arch == "auto" else arch,
            version=None if version is None else (version[0], version[1]),
            in_specs=tuple(in_specs or ()),
            out_specs=tuple(out_specs or ()),
            grid=grid,
            block=_extent(block, "block"),
            cluster=_extent(cluster, "cluster"),
            smem_bytes=smem,
            raw_params=tuple(p if isinstance(p, str) else cast("tuple[str, str]", tuple(p)) for p in raw_params or ()),
            extern_smem="global_smem" if extern_smem is True else extern_smem or None,
            directives=directives,
            reqntid=None if directives or reqntid is None else _extent(reqntid, "reqntid"),
            linking=LinkingDirective.from_ptx(linking) if linking else None,
            unit=unit,
            in_place=in_place,
            debug=debug,
            tensor_maps=tensor_maps,
        )

    def __post_init__(self) -> None:
        if len(self.specs) > len(self.tensors):
            raise ArgumentTypeError(
                f"kernel {self.name}: {len(self.specs)} specs for {len(self.tensors)} positional parameters",
                hint="a parameter for each Tile, the outputs last: a kernel stores its results in them, and returns nothing"
                if len(self.tensors) >= len(self.in_specs)
                else None,
            )
        if inputs := [name for name, spec in zip(self.tensors, self.in_specs, strict=False) if spec.zeroed]:
            raise ArgumentTypeError(f"kernel {self.name}: {inputs[0]} is an input; zeroed=True is for outputs")

    @cached_property
    def tensors(self) -> tuple[str, ...]:
        """Names of the positional parameters, which stand for arrays."""
        return tuple(p.name for p in self._parameters if p.kind is not p.KEYWORD_ONLY)

    @cached_property
    def template(self) -> dict[str, Any]:
        """Keyword-only parameters and their defaults; None where there is no default."""
        return {
            p.name: None if p.default is p.empty else p.default for p in self._parameters if p.kind is p.KEYWORD_ONLY
        }

    @cached_property
    def _parameters(self) -> tuple[inspect.Parameter, ...]:
        parameters = tuple(inspect.signature(self.function).parameters.values())
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                raise ArgumentTypeError(
                    f"kernel {self.function.__name__}: *{p.name} cannot be a kernel parameter; name every tensor"
                )
        return parameters

    @cached_property
    def params(self) -> tuple[Param, ...]:
        """The raw parameters, parsed.

        Raises:
            ValueError: a type string or a declaration cannot be read.
        """
        return parse_params(self.raw_params)

    def extent(self, what: str, sizes: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """Return the "grid", "block", "cluster" or "reqntid" for these sizes and template values.

        A function receives the values it names, or all sizes by position when it names others.

        Raises:
            MissingSizeError: a size it names is not given.
            ArgumentTypeError: it names a size or parameter that the kernel does not have.
            LaunchError: not one to three positive ints.
        """
        value = getattr(self, what)
        if not callable(value):
            return dim3(value, what)
        given, missing = select_arguments(value, sizes, template)
        if unknown := [name for name in missing if name in self.symbolic_dims]:
            raise MissingSizeError(f"{self.name}: {what} depends on {', '.join(unknown)}, which was not given")
        if missing and len(given) + len(missing) != len(sizes):  # sizes by position need one parameter each
            known = ", ".join(dict.fromkeys((*self.symbolic_dims, *sizes, *template))) or "none"
            raise ArgumentTypeError(
                f"{self.name}: {what} takes {', '.join(missing)}, which the kernel does not have; sizes and template "
                f"parameters: {known}"
            )
        result: Any = value(*sizes.values()) if missing else value(**given)
        try:
            return dim3(tuple(result)[:3] if isinstance(result, Sequence) else result, what)
        except LaunchError as wrong:
            by = ", ".join(f"{name}={size}" for name, size in {**sizes, **given}.items())
            raise ArgumentValueError(f"{self.name}: {wrong.message}, for {by}") from None

    @property
    def specs(self) -> tuple[Tile, ...]:
        """Tiles of the tensors, inputs first."""
        return self.in_specs + self.out_specs

    @cached_property
    def symbolic_dims(self) -> tuple[str, ...]:
        """Names of sizes in the Tiles, in order."""
        return tuple(dict.fromkeys(dim for spec in self.specs for dim in spec.symbolic_dims))

    @cached_property
    def default_sizes(self) -> dict[str, int]:
        """Sizes that only outputs have and that default to the value of a template parameter."""
        read = {dim for spec in self.in_specs for dim in spec.symbolic_dims}
        return {
            name: self.template[name]
            for name in self.symbolic_dims
            if name not in read and isinstance(self.template.get(name), int)
        }


def _extent(value: Grid, what: str) -> Grid:
    """Return a fixed launch dimension as three ints, a function as it is."""
    return value if callable(value) else dim3(value, what)
