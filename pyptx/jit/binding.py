"""Argument binding: the sizes, template values, outputs and entry arguments of a call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from pyptx.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    LaunchError,
    MissingSizeError,
    UnknownNameError,
    UnsupportedError,
)
from pyptx.ir.nodes import Param
from pyptx.jit.declaration import Declaration
from pyptx.runtime import Dim3, Runtime
from pyptx.runtime.arrays import Arrays
from pyptx.specs import Tile, unify_envs

__all__ = ["Binder", "BoundCall"]


class BoundCall(NamedTuple):
    """A call with all its arguments bound.

    Attributes:
        values: sizes and parameters, which select the specialization.
        outputs: output arrays.
        args: arguments of the entry in parameter order, without the tensor maps at the end.
    """

    values: dict[str, Any]
    grid: Dim3
    block: Dim3
    cluster: Dim3
    outputs: list[Any]
    args: list[Any]


class Binder:
    """Binds the arguments of one kernel. Errors name the kernel and the array or parameter."""

    name: str
    in_specs: tuple[Tile, ...]
    out_specs: tuple[Tile, ...]
    tensors: tuple[str, ...]
    symbolic_dims: tuple[str, ...]
    raw: dict[str, Param]
    template: dict[str, Any]
    known: frozenset[str]
    revision: int

    def __init__(self, declaration: Declaration):
        self._declaration, self.name = declaration, declaration.name
        self.in_specs, self.out_specs = declaration.in_specs, declaration.out_specs
        self.tensors, self.template = declaration.tensors, declaration.template
        self.revision = 0  # changes with the defaults of template parameters
        self.symbolic_dims = declaration.symbolic_dims
        self.raw = {param.name: param for param in declaration.params}
        self.known = frozenset(
            (*self.symbolic_dims, *self.template, *self.raw)
        )  # not lazily: torch.compile traces its uses

    def set_defaults(self, values: Mapping[str, Any]) -> None:
        """Replace the default values of template parameters.

        Raises:
            UnknownNameError: the kernel has no such template parameter.
        """
        declared = self._declaration.template
        if unknown := [name for name in values if name not in declared]:
            raise UnknownNameError(
                f"kernel {self.name} has no template parameter {', '.join(unknown)}; "
                f"available: {', '.join(declared) or 'none'}"
            )
        self.template = {**declared, **values}
        self.revision += 1

    def bind(self, runtime: Runtime, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> BoundCall:
        """Check a call on these arrays and bind its arguments.

        Raises:
            LaunchError, TypeError: an array or a parameter does not fit.
        """
        sizes, template, raw = self.split(params)
        env = self.sizes_with(runtime.arrays, self.unified(self.sizes_of(runtime.arrays, inputs), sizes), out)
        outputs = self.outputs(runtime, env, out, inputs)
        args = [*inputs, *outputs, *self.raw_values(raw, env, template)]
        return BoundCall(
            {**params, **env},
            self.grid(env, template),
            self.block(env, template),
            self.cluster(env, template),
            outputs,
            args,
        )

    @cached_property
    def launch_data(self) -> frozenset[str]:
        """Names of parameters that are neither sizes nor template parameters; their values do not affect the PTX."""
        return frozenset(self.raw) - frozenset(self.symbolic_dims) - frozenset(self.template)

    def own(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split keyword arguments into parameters of the kernel and backend options."""
        return (
            {name: value for name, value in params.items() if name in self.known},
            {name: value for name, value in params.items() if name not in self.known},
        )

    def with_seed(self, params: Mapping[str, Any], seed: Any) -> tuple[Mapping[str, Any], int]:
        """Return the parameters and the seed of random schedules; a kernel with a parameter `seed` gets it instead."""
        if seed is None or "seed" not in self.known:
            return params, seed or 0
        return {**params, "seed": seed}, 0

    # parameters -------------------------------------------------------------------------------------------------------

    def split(self, params: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, Any], dict[str, Any]]:
        """Split keyword arguments into sizes, template values and raw parameter values.

        Raises:
            LaunchError: a size is not an int, or negative.
            TypeError: the kernel has no such parameter.
        """
        template, raw, unknown = dict(self.template), {}, []
        sizes = {name: template[name] for name in self._declaration.default_sizes}
        for name, value in params.items():
            if name in self.symbolic_dims:
                if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
                    raise ArgumentTypeError(f"{self.name}: size {name}={value!r} must be an int, 0 or more")
                sizes[name] = int(value)
            elif name in template:
                template[name] = value
            elif name in self.raw:
                raw[name] = value
            else:
                unknown.append(name)
        if unknown:
            raise ArgumentTypeError(
                f"kernel {self.name} has no template parameter {', '.join(unknown)}; available: template "
                f"{list(template)}, shape {list(self.symbolic_dims)}, raw {list(self.raw)}"
            )
        template.update({n: v for n, v in sizes.items() if n in template})
        return sizes, template, raw

    def raw_values(self, raw: Mapping[str, Any], env: Mapping[str, int], template: Mapping[str, Any]) -> list[Any]:
        """Return the values of the raw parameters: given by name, else a size, else a template value."""
        values = []
        for name, param in self.raw.items():
            if param.array_size is not None or param.ptr_alignment is not None:
                raise UnsupportedError(
                    f"{self.name}: raw parameter {name} is not a scalar; pass it with "
                    f"{self.name}.launch(grid, block, *args)"
                )
            value = raw.get(name, env.get(name, template.get(name)))
            if value is None:
                raise ArgumentTypeError(f"{self.name}: no value for raw parameter {name!r}; pass {name}=...")
            values.append(value)
        return values

    def check_values(self, params: Mapping[str, Any], env: Mapping[str, int]) -> None:
        """Check the parameter values of a launch that is recorded for later.

        Raises:
            LaunchError, TypeError: a name is unknown, a value is missing or does not fit; names the parameter.
        """
        from pyptx.sim.memory.arguments import scalar_bytes, slot_of  # late: it needs NumPy

        _, template, raw = self.split(params)
        for param, value in zip(self.raw.values(), self.raw_values(raw, env, template), strict=True):
            scalar_bytes(f"argument {param.name} of {self.name}", slot_of(param, 0), value)

    # arrays -----------------------------------------------------------------------------------------------------------

    def inputs(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Return the input arrays of a call; further arrays are ignored with a warning.

        Raises:
            NotImplementedError: the kernel has no `in_specs`.
            LaunchError: too few.
        """
        if not self.in_specs:
            raise UnsupportedError(
                f"{self.name} has no in_specs, so its sizes do not follow from arrays; launch it with "
                f"{self.name}.launch(grid, block, *args)"
            )
        wanted = len(self.in_specs)
        if len(arrays) < wanted:
            raise ArgumentTypeError(
                f"{self.name}() takes {wanted} input arrays ({', '.join(self.tensors[:wanted])}), got {len(arrays)}"
            )
        if len(arrays) > wanted:
            warnings.warn(
                f"{self.name}() takes {wanted} input arrays; {len(arrays) - wanted} more are ignored. Pass "
                "outputs as out=",
                stacklevel=3,
            )
        return arrays[:wanted]

    def check_arrays(self, runtime: Runtime, arrays: Sequence[Any]) -> None:
        """Check that the backend can address the arrays."""
        for name, array in zip(self.tensors, arrays, strict=False):
            runtime.check(array, f"{self.name}: {name}")

    def sizes_of(self, arrays: Arrays, inputs: Sequence[Any], batched: Sequence[bool] | None = None) -> dict[str, int]:
        """Check the types and shapes of input arrays and return the sizes of the symbolic dimensions.

        Args:
            batched: inputs that have a leading batch dimension, which is not a dimension of their Tiles.
        Raises:
            LaunchError: an array does not fit its Tile, or one name has two sizes.
        """
        envs, first = [], {}
        for k, (name, spec, array) in enumerate(zip(self.tensors, self.in_specs, inputs, strict=False)):
            shape = array.shape[1:] if batched and batched[k] else None
            envs.append(self.fit(name, spec, array, arrays, shape))
            for dim in envs[-1]:
                first.setdefault(dim, name)
        return self._unified(envs, first)

    def _unified(self, envs: Sequence[Mapping[str, int]], first: Mapping[str, str]) -> dict[str, int]:
        """Merge the sizes; a conflict names both arrays."""
        try:
            return unify_envs(envs)
        except LaunchError as conflict:
            seen: dict[str, int] = {}
            for name, env in zip(self.tensors, envs, strict=False):
                for dim, size in env.items():
                    if seen.setdefault(dim, size) != size:
                        raise ArgumentValueError(
                            f"{self.name}: conflicting sizes for {dim!r}: {seen[dim]} in {first[dim]}, {size} in {name}"
                        ) from None
            raise ArgumentValueError(f"{self.name}: {conflict.message}") from None

    def unified(self, sizes: Mapping[str, int], given: Mapping[str, int]) -> dict[str, int]:
        """Merge the sizes of arrays and sizes given by keyword.

        Raises:
            LaunchError: one name has two sizes.
        """
        try:
            return unify_envs([sizes, given])
        except LaunchError as conflict:
            raise ArgumentValueError(
                f"{self.name}: {conflict.message}; the first is of the arrays, the second was passed"
            ) from None

    def fit(
        self, name: str, spec: Tile, array: Any, arrays: Arrays, shape: Sequence[int] | None = None
    ) -> dict[str, int]:
        """Check the type, layout, dtype and shape of one array, or another shape, and return its sizes."""
        arrays.check(array, f"{self.name}: {name}")
        dtype = arrays.dtype_name(array)
        if not spec.accepts_dtype(dtype):
            raise ArgumentTypeError(f"{self.name}: {name} has dtype {dtype}, but {spec} takes {spec.dtype}")
        try:
            return spec.extract_env(array.shape if shape is None else shape)
        except LaunchError as mismatch:
            raise ArgumentValueError(f"{self.name}: {name}: {mismatch.message}") from None

    def sizes_with(self, arrays: Arrays, env: Mapping[str, int], out: Any) -> dict[str, int]:
        """Add the sizes that only outputs have, from the arrays of `out=`."""
        given = [] if out is None else out if isinstance(out, tuple | list) else [out]
        found = dict(env)
        for name, spec, array in zip(self.tensors[len(self.in_specs) :], self.out_specs, given, strict=False):
            if any(dim not in found for dim in spec.symbolic_dims):
                found = {**self.fit(name, spec, array, arrays), **found}
        return found

    def shapes(self, env: Mapping[str, int]) -> list[tuple[int, ...]]:
        """Return the shapes of the outputs.

        Raises:
            MissingSizeError: a size that no input has is not given.
        """
        for name, spec in zip(self.tensors[len(self.in_specs) :], self.out_specs, strict=False):
            if missing := [dim for dim in spec.symbolic_dims if dim not in env]:
                raise MissingSizeError(
                    f"{self.name}: no input tells the size {missing[0]} of {name}, {spec}",
                    hint=f"pass it with the call, as {missing[0]}=128, or arrays as out=",
                )
        return [spec.resolve_shape(env) for spec in self.out_specs]

    def outputs(self, runtime: Runtime, env: Mapping[str, int], out: Any, inputs: Sequence[Any]) -> list[Any]:
        """Allocate the output arrays, or check those of `out=`."""
        shapes = self.shapes(env)
        if out is None:
            return [
                runtime.arrays.empty(shape, spec.dtype.name, inputs, spec.zeroed)
                for shape, spec in zip(shapes, self.out_specs, strict=True)
            ]
        given = list(out) if isinstance(out, tuple | list) else [out]
        if len(given) != len(shapes):
            raise ArgumentValueError(f"{self.name}: out= holds {len(given)} arrays, the kernel writes {len(shapes)}")
        names = self.tensors[len(self.in_specs) :]
        for name, spec, array, shape in zip(names, self.out_specs, given, shapes, strict=False):
            runtime.check(array, f"{self.name}: {name}")
            self.fit(name, spec, array, runtime.arrays)
            if tuple(array.shape) != shape:
                raise ArgumentValueError(f"{self.name}: {name} has shape {tuple(array.shape)}, the result has {shape}")
            if not runtime.arrays.writeable(array):
                raise ArgumentValueError(f"{self.name}: {name} is read-only; pass a writable array as out=")
        if not self._declaration.in_place:
            self._apart(runtime.arrays, [*inputs, *given], len(inputs))
        return given

    def _apart(self, arrays: Arrays, all_: Sequence[Any], first: int) -> None:
        """Refuse outputs, the arrays from `first` on, that share memory with an earlier array."""
        ends = []
        for array, spec in zip(all_, (*self.in_specs, *self.out_specs), strict=True):
            start = arrays.address(array)
            ends.append((start, start + prod(array.shape) * spec.dtype.bits // 8))
        for k in range(first, len(all_)):
            for j in range(k):
                if ends[k][0] and ends[k][0] < ends[j][1] and ends[j][0] < ends[k][1]:
                    raise ArgumentValueError(
                        f"{self.name}: {self.tensors[k]} shares memory with {self.tensors[j]}",
                        hint="pass another array as out=; a kernel that may write over what it reads "
                        "says so: @kernel(in_place=True)",
                    )

    # geometry ---------------------------------------------------------------------------------------------------------

    def grid(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """Return the grid for these sizes and template values."""
        return self._declaration.extent("grid", env, template)

    def block(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """Return the block for these sizes and template values."""
        return self._declaration.extent("block", env, template)

    def cluster(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """Return the cluster for these sizes and template values."""
        return self._declaration.extent("cluster", env, template)
