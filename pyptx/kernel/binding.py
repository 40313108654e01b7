"""What the arrays and parameter values of a call come to: sizes, template values, outputs, the entry's arguments."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from pyptx.errors import LaunchError, MissingSizeError
from pyptx.kernel.declaration import Declaration
from pyptx.runtime import Dim3, Runtime
from pyptx.runtime.arrays import Arrays
from pyptx.specs import Tile, unify_envs

__all__ = ["Binding", "Bound"]


class Bound(NamedTuple):
    """What one call comes to.

    Attributes:
        values: sizes and parameters, which decide about the variant.
        outputs: arrays for the results.
        args: of the entry, in its order, without the tensor maps at the end.
    """

    values: dict[str, Any]
    grid: Dim3
    block: Dim3
    cluster: Dim3
    outputs: list[Any]
    args: list[Any]


class Binding:
    """Of one kernel. Every error names the kernel and the array or parameter."""

    def __init__(self, declared: Declaration):
        self._declared = declared
        self.name, self.in_specs, self.out_specs = declared.name, declared.in_specs, declared.out_specs
        self.tensors, self.template, self.symbolic_dims = declared.tensors, declared.template, declared.symbolic_dims
        self.raw = {param.name: param for param in declared.params}

    def bind(self, runtime: Runtime, inputs: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Bound:
        """Everything that a call on these arrays gives, checked.

        Raises:
            LaunchError, TypeError: an array or a parameter does not fit.
        """
        sizes, template, raw = self.split(params)
        env = self.sizes_with(runtime.arrays, self.unified(self.sizes_of(runtime.arrays, inputs), sizes), out)
        outputs = self.outputs(runtime, env, out, inputs)
        args = [*inputs, *outputs, *self.raw_values(raw, env, template)]
        return Bound({**params, **env}, self.grid(env, template), self.block(env, template),
                     self.cluster(env, template), outputs, args)

    @cached_property
    def launch_data(self) -> frozenset[str]:
        """Parameters whose values only the launch needs: neither sizes nor template parameters."""
        return frozenset(self.raw) - frozenset(self.symbolic_dims) - frozenset(self.template)

    @cached_property
    def known(self) -> frozenset[str]:
        """Names of all parameters that a call may give."""
        return frozenset((*self.symbolic_dims, *self.template, *self.raw))

    def own(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The parameters that are the kernel's, and the others, which go to a backend."""
        return ({name: value for name, value in params.items() if name in self.known},
                {name: value for name, value in params.items() if name not in self.known})

    def with_seed(self, params: Mapping[str, Any], seed: Any) -> tuple[Mapping[str, Any], int]:
        """The parameters, `seed` among them where the kernel has one of that name, and the seed of random schedules."""
        if seed is None or "seed" not in self.known:
            return params, seed or 0
        return {**params, "seed": seed}, 0

    # parameters -------------------------------------------------------------------------------------------------------

    def split(self, params: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, Any], dict[str, Any]]:
        """Keyword arguments as sizes, template values and raw parameter values."""
        sizes, template, raw, unknown = dict(self._declared.default_sizes), dict(self.template), {}, []
        for name, value in params.items():
            if name in self.symbolic_dims:
                if isinstance(value, bool) or not hasattr(value, "__index__") or value < 0:
                    raise LaunchError(f"{self.name}: size {name}={value!r} must be an int, 0 or more")
                sizes[name] = int(value)
            elif name in template:
                template[name] = value
            elif name in self.raw:
                raw[name] = value
            else:
                unknown.append(name)
        if unknown:
            raise TypeError(f"kernel {self.name} has no template parameter {', '.join(unknown)}; available: template "
                            f"{list(template)}, shape {list(self.symbolic_dims)}, raw {list(self.raw)}")
        template.update({n: v for n, v in sizes.items() if n in template})
        return sizes, template, raw

    def raw_values(self, raw: Mapping[str, Any], env: Mapping[str, int], template: Mapping[str, Any]) -> list[Any]:
        """Values of the raw parameters: given by name, else a size, else a template value."""
        values = []
        for name, param in self.raw.items():
            if param.array_size is not None or param.ptr_alignment is not None:
                raise NotImplementedError(f"{self.name}: raw parameter {name} is no scalar; pass it with "
                                          f"{self.name}.launch(grid, block, *args)")
            value = raw.get(name, env.get(name, template.get(name)))
            if value is None:
                raise TypeError(f"{self.name}: no value for raw parameter {name!r}; pass {name}=...")
            values.append(value)
        return values

    def check_values(self, params: Mapping[str, Any], env: Mapping[str, int]) -> None:
        """Refuse parameter values that a launch would refuse, before it is recorded for later.

        Raises:
            LaunchError, TypeError: a name is unknown, a value is missing or does not fit; names the parameter.
        """
        from pyptx.sim.memory.args import scalar_bytes, slot_of  # late: it needs NumPy

        _, template, raw = self.split(params)
        for param, value in zip(self.raw.values(), self.raw_values(raw, env, template), strict=True):
            scalar_bytes(f"argument {param.name} of {self.name}", slot_of(param, 0), value)

    # arrays -----------------------------------------------------------------------------------------------------------

    def inputs(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The arrays of a call that are inputs; those beyond them are ignored with a warning at the caller's caller.

        Raises:
            NotImplementedError: the kernel has no `in_specs`.
            LaunchError: too few.
        """
        if not self.in_specs:
            raise NotImplementedError(f"{self.name} has no in_specs, so a call cannot tell its sizes; launch it with "
                                      f"{self.name}.launch(grid, block, *args)")
        wanted = len(self.in_specs)
        if len(arrays) < wanted:
            raise LaunchError(f"{self.name}() takes {wanted} input arrays ({', '.join(self.tensors[:wanted])}), "
                              f"got {len(arrays)}")
        if len(arrays) > wanted:
            warnings.warn(f"{self.name}() takes {wanted} input arrays; {len(arrays) - wanted} more are ignored. Pass "
                          "outputs as out=", stacklevel=3)
        return arrays[:wanted]

    def check_arrays(self, runtime: Runtime, arrays: Sequence[Any]) -> None:
        """Refuse what the backend cannot address."""
        for name, array in zip(self.tensors, arrays, strict=False):
            runtime.check(array, f"{self.name}: {name}")

    def sizes_of(self, arrays: Arrays, inputs: Sequence[Any]) -> dict[str, int]:
        """Sizes of the symbolic dimensions, read off input arrays, whose types and shapes are checked on the way.

        Raises:
            LaunchError: an array does not fit its Tile, or one name has two sizes.
        """
        envs, first = [], {}
        for name, spec, array in zip(self.tensors, self.in_specs, inputs, strict=False):
            envs.append(self.fit(name, spec, array, arrays))
            for dim in envs[-1]:
                first.setdefault(dim, name)
        return self._unified(envs, first)

    def _unified(self, envs: Sequence[Mapping[str, int]], first: Mapping[str, str]) -> dict[str, int]:
        """All sizes in one mapping; two sizes of one name are told with the arrays they are of."""
        try:
            return unify_envs(envs)
        except LaunchError as conflict:
            seen: dict[str, int] = {}
            for name, env in zip(self.tensors, envs, strict=False):
                for dim, size in env.items():
                    if seen.setdefault(dim, size) != size:
                        raise LaunchError(f"{self.name}: conflicting sizes for {dim!r}: {seen[dim]} in {first[dim]}, "
                                          f"{size} in {name}") from None
            raise LaunchError(f"{self.name}: {conflict.message}") from None

    def unified(self, sizes: Mapping[str, int], told: Mapping[str, int]) -> dict[str, int]:
        """Sizes read off arrays and sizes told by name, in one mapping.

        Raises:
            LaunchError: one name has two sizes.
        """
        try:
            return unify_envs([sizes, told])
        except LaunchError as conflict:
            raise LaunchError(f"{self.name}: {conflict.message}; the first is of the arrays, the second was "
                              "passed") from None

    def fit(self, name: str, spec: Tile, array: Any, arrays: Arrays) -> dict[str, int]:
        """Sizes of one array, after its type, layout, dtype and shape were checked."""
        arrays.check(array, f"{self.name}: {name}")
        dtype = arrays.dtype_name(array)
        if not spec.accepts_dtype(dtype):
            raise LaunchError(f"{self.name}: {name} has dtype {dtype}, but {spec} takes {spec.dtype}")
        try:
            return spec.extract_env(array.shape)
        except LaunchError as mismatch:
            raise LaunchError(f"{self.name}: {name}: {mismatch.message}") from None

    def sizes_with(self, arrays: Arrays, env: Mapping[str, int], out: Any) -> dict[str, int]:
        """The sizes, and those that only outputs have as the arrays of `out=` have them."""
        given = [] if out is None else out if isinstance(out, tuple | list) else [out]
        found = dict(env)
        for name, spec, array in zip(self.tensors[len(self.in_specs):], self.out_specs, given, strict=False):
            if any(dim not in found for dim in spec.symbolic_dims):
                found = {**self.fit(name, spec, array, arrays), **found}
        return found

    def shapes(self, env: Mapping[str, int]) -> list[tuple[int, ...]]:
        """The shapes of the outputs.

        Raises:
            MissingSizeError: a size that no input has was not told.
        """
        for name, spec in zip(self.tensors[len(self.in_specs):], self.out_specs, strict=False):
            if missing := [dim for dim in spec.symbolic_dims if dim not in env]:
                raise MissingSizeError(f"{self.name}: no input tells the size {missing[0]} of {name}, {spec}",
                                       hint=f"pass it with the call, as {missing[0]}=128, or arrays as out=")
        return [spec.resolve_shape(env) for spec in self.out_specs]

    def outputs(self, runtime: Runtime, env: Mapping[str, int], out: Any, inputs: Sequence[Any]) -> list[Any]:
        """Arrays for the results: new ones, or those of `out=`, checked."""
        shapes = self.shapes(env)
        if out is None:
            return [runtime.arrays.empty(shape, spec.dtype.name, inputs, spec.zeroed)
                    for shape, spec in zip(shapes, self.out_specs, strict=True)]
        given = list(out) if isinstance(out, tuple | list) else [out]
        if len(given) != len(shapes):
            raise LaunchError(f"{self.name}: out= holds {len(given)} arrays, the kernel writes {len(shapes)}")
        names = self.tensors[len(self.in_specs):]
        for name, spec, array, shape in zip(names, self.out_specs, given, shapes, strict=False):
            runtime.check(array, f"{self.name}: {name}")
            self.fit(name, spec, array, runtime.arrays)
            if tuple(array.shape) != shape:
                raise LaunchError(f"{self.name}: {name} has shape {tuple(array.shape)}, the result has {shape}")
            if not runtime.arrays.writeable(array):
                raise LaunchError(f"{self.name}: {name} may only be read; pass an array that may be written as out=")
        if not self._declared.in_place:
            self._apart(runtime.arrays, [*inputs, *given], len(inputs))
        return given

    def _apart(self, arrays: Arrays, all_: Sequence[Any], first: int) -> None:
        """Refuse outputs, arrays from `first` on, that share memory with an array before them."""
        ends = []
        for array, spec in zip(all_, (*self.in_specs, *self.out_specs), strict=True):
            start = arrays.address(array)
            ends.append((start, start + prod(array.shape) * spec.dtype.bits // 8))
        for k in range(first, len(all_)):
            for j in range(k):
                if ends[k][0] and ends[k][0] < ends[j][1] and ends[j][0] < ends[k][1]:
                    raise LaunchError(f"{self.name}: {self.tensors[k]} shares memory with {self.tensors[j]}",
                                      hint="pass another array as out=; a kernel that may write over what it reads "
                                           "says so: @kernel(in_place=True)")

    # geometry ---------------------------------------------------------------------------------------------------------

    def grid(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """The grid for these sizes and template values."""
        return self._declared.extent("grid", env, template)

    def block(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """The block for these sizes and template values."""
        return self._declared.extent("block", env, template)

    def cluster(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """The cluster for these sizes and template values."""
        return self._declared.extent("cluster", env, template)
