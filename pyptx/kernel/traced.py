"""A kernel as text and machine code: its variants, traced once for each combination of parameter values."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from pyptx._outside import Outside, hashable
from pyptx.ir.nodes import Module, Param
from pyptx.kernel.binding import Binding
from pyptx.kernel.declaration import Declaration, Grid
from pyptx.kernel.specialize import specialize
from pyptx.kernel.variant import Variant
from pyptx.runtime import Dim3, runtime_for
from pyptx.runtime.adopted import adopted
from pyptx.specs import Tile

if TYPE_CHECKING:
    from pyptx.compiled import Compiled

__all__ = ["Traced"]


class Traced:
    """What of a kernel needs no arrays.

    Attributes:
        declared: what the decorator was told.
        binding: what arrays and parameter values come to.
        outside: what the function reads besides its parameters.
    """

    def __init__(self, declared: Declaration):
        functools.update_wrapper(self, declared.function)
        self.declared, self.binding, self.outside = declared, Binding(declared), Outside(declared.function)
        self._cache: dict[tuple, Variant] = {}
        self._lock = threading.RLock()
        if declared.unit is not None:
            declared.unit.add_kernel(self)

    def forgetful(self) -> Self:
        """The same kernel; the variants made through it are kept as long as it, and not with this one."""
        other = copy.copy(self)
        other._cache = {}
        return other

    # what it is -----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of the entry: the function's, with what PTX takes in a name (a lambda is `_lambda_`), unless told."""
        return self.declared.name

    @property
    def in_specs(self) -> tuple[Tile, ...]:
        return self.declared.in_specs

    @property
    def out_specs(self) -> tuple[Tile, ...]:
        return self.declared.out_specs

    @property
    def grid(self) -> Grid:
        return self.declared.grid

    @property
    def block(self) -> Grid:
        return self.declared.block

    def block_of(self, variant: Variant) -> Dim3:
        """Threads of a CTA of a variant."""
        return self.binding.block(*self.binding.split(variant.params)[:2])

    @property
    def cluster(self) -> Grid:
        return self.declared.cluster

    @property
    def smem(self) -> int:
        """Dynamic shared memory requested at launch, in bytes."""
        return self.declared.smem_bytes

    @property
    def in_place(self) -> bool:
        """Whether an output may be an input."""
        return self.declared.in_place

    @property
    def arch(self) -> str:
        return self.declared.arch

    @property
    def template_params(self) -> dict[str, Any]:
        """Keyword-only parameters and their defaults; None where there is no default."""
        return dict(self.declared.template)

    @property
    def symbolic_dims(self) -> tuple[str, ...]:
        """Names of sizes in the Tiles, in order."""
        return self.declared.symbolic_dims

    @property
    def params(self) -> tuple[Param, ...]:
        """Parameters of the entry, in ABI order, for the default template values."""
        return self.variant().entry.params

    def __repr__(self) -> str:
        return f"<pyptx kernel {self.name}, {self.arch}>"

    # text and machine code --------------------------------------------------------------------------------------------

    def ptx(self, *arrays: Any, **params: Any) -> str:
        """The PTX text for these parameter values. It is returned even when the table refuses something in it.

        Args:
            arrays: of a call, for their sizes.
        """
        return self.variant(**self._sized(arrays, params)).emitted.text

    def module(self, *arrays: Any, **params: Any) -> Module:
        """The tree for these parameter values; equal values give the same object."""
        return self._trace(**self._sized(arrays, params))

    def _sized(self, arrays: Sequence[Any], params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The parameters, with the sizes that the input arrays of a call have."""
        if not arrays:
            return params
        inputs = self.binding.inputs(adopted(arrays))
        return {**self.binding.sizes_of(runtime_for(inputs, "sim").arrays, inputs), **params}

    def _trace(self, **params: Any) -> Module:
        return self.variant(**params).module

    def variant(self, *, arch: str | None = None, version: tuple[int, int] | None = None, **params: Any) -> Variant:
        """What is compiled and launched for these parameter values: module, text and places, traced once."""
        sizes, template, _ = self.binding.split(params)
        arch, version = arch or self.arch, tuple(version) if version is not None else self.declared.version
        values = tuple(sorted((n, hashable(v)) for n, v in template.items()))
        key = (arch, version, values, tuple(sorted(sizes.items())), self.outside.key())
        if key in self._cache:
            return self._cache[key]
        with self._lock:                                    # threads that meet here get one variant, compiled once
            if key not in self._cache:
                self._cache[key] = specialize(self.declared, arch=arch, version=version, env=sizes, template=template)
        return self._cache[key]

    def compile(self, *arrays: Any, arch: str | None = None, version: tuple[int, int] | None = None,
                options: Iterable[str] = (), lineinfo: bool = False, **params: Any) -> Compiled:
        """Validate and assemble.

        Args:
            arch, version: instead of the decorator's.
            options: of ptxas, such as "-O1" or "--maxrregcount=128".
            lineinfo: write `.loc` directives too, for ncu and cuda-gdb.
            arrays: of a call, for their sizes.
            params: template parameters and symbolic sizes.
        Raises:
            CompileError: the table or the assembler refused something; all of it, each at its Python line.
            MissingToolError: no assembler is installed.
        """
        variant = self.variant(arch=arch, version=version, **self._sized(arrays, params))
        return variant.compile(options, lineinfo=lineinfo)

    def sass(self, *arrays: Any, **params: Any) -> str:
        """The machine code as text, one instruction a line with its address; arguments as for compile."""
        return self.compile(*arrays, **params).listing()

    def view(self, *arrays: Any, arch: str | None = None, version: tuple[int, int] | None = None,
             options: Iterable[str] = (), lineinfo: bool = False, **params: Any) -> Any:
        """The linked Python | PTX | SASS view; arguments as for compile.

        The counters of the newest launch of the same variant stand beside the lines.
        """
        variant = self.variant(arch=arch, version=version, **self._sized(arrays, params))
        return variant.view(variant.compile(options, lineinfo=lineinfo), block=self.block_of(variant),
                            dynamic_bytes=self.smem)
