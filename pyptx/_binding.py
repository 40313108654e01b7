"""What the arrays and parameter values of a call come to: sizes, template values, outputs, the entry's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import prod
from types import MappingProxyType
from typing import Any

from pyptx._specialize import Signature
from pyptx.errors import LaunchError
from pyptx.ir.nodes import Param
from pyptx.runtime import Dim3, Runtime, dim3
from pyptx.runtime.arrays import Arrays
from pyptx.specs import Tile, unify_envs

__all__ = ["Binding", "Grid"]

Grid = Callable[..., int | Sequence[int]] | int | Sequence[int] | None


class Binding:
    """Of one kernel. Every error names the kernel and the array or parameter.

    Args:
        name: of the kernel.
        raw: parameters of the entry that are no arrays, by name.
        in_place: outputs may be inputs.
    """

    def __init__(self, name: str, signature: Signature, in_specs: tuple[Tile, ...], out_specs: tuple[Tile, ...],
                 raw: Mapping[str, Param], grid: Grid, cluster: Grid, in_place: bool):
        self.name, self.in_specs, self.out_specs, self.raw = name, in_specs, out_specs, raw
        self.tensors, self.template = signature.tensors, signature.template
        self.declared_grid, self.in_place = grid, in_place
        self.declared_cluster = cluster if callable(cluster) else dim3(cluster, "cluster")

    @cached_property
    def symbolic_dims(self) -> tuple[str, ...]:
        """Names of sizes in the Tiles, in order."""
        return tuple(dict.fromkeys(d for s in (*self.in_specs, *self.out_specs) for d in s.symbolic_dims))

    @cached_property
    def launch_data(self) -> frozenset[str]:
        """Parameters whose values only the launch needs: neither sizes nor template parameters."""
        return frozenset(self.raw) - frozenset(self.symbolic_dims) - frozenset(self.template)

    @cached_property
    def known(self) -> frozenset[str]:
        """Names of all parameters that a call may give."""
        return frozenset((*self.symbolic_dims, *self.template, *self.raw))

    # parameters -------------------------------------------------------------------------------------------------------

    def split(self, params: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, Any], dict[str, Any]]:
        """Keyword arguments as sizes, template values and raw parameter values."""
        sizes, template, raw, unknown = {}, dict(self.template), {}, []
        for name, value in params.items():
            if name in self.symbolic_dims:
                if isinstance(value, bool) or not hasattr(value, "__index__"):
                    raise LaunchError(f"{self.name}: size {name}={value!r} must be an int")
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
        from pyptx.sim.args import scalar_bytes, slot_of  # late: it needs NumPy

        _, template, raw = self.split(params)
        for param, value in zip(self.raw.values(), self.raw_values(raw, env, template), strict=True):
            scalar_bytes(f"argument {param.name} of {self.name}", slot_of(param, 0), value)

    # arrays -----------------------------------------------------------------------------------------------------------

    def count(self, arrays: Sequence[Any]) -> None:
        """Refuse too few inputs."""
        wanted = len(self.in_specs)
        if len(arrays) < wanted:
            raise LaunchError(f"{self.name}() takes {wanted} input arrays ({', '.join(self.tensors[:wanted])}), "
                              f"got {len(arrays)}")

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

    def outputs(self, runtime: Runtime, env: Mapping[str, int], out: Any, inputs: Sequence[Any]) -> list[Any]:
        """Arrays for the results: new ones, or those of `out=`, checked."""
        shapes = [spec.resolve_shape(env) for spec in self.out_specs]
        if out is None:
            return [runtime.arrays.empty(shape, spec.dtype.name, inputs)
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
        if not self.in_place:
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
        return self._resolved(self.declared_grid, "grid", env, template)

    def cluster(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        """The cluster for these sizes and template values."""
        return self._resolved(self.declared_cluster, "cluster", env, template)

    def _resolved(self, value: Grid, what: str, env: Mapping[str, int], template: Mapping[str, Any]) -> Dim3:
        """A callable gets the sizes and template values it names; sizes by position when it names others."""
        if not callable(value):
            return dim3(value, what)
        known = {**template, **env}
        wanted = _parameters_of(value)
        if any(p.kind is p.VAR_KEYWORD for p in wanted.values()):
            result = value(**env)
        elif all(name in known for name, p in wanted.items() if p.default is p.empty):
            result = value(**{name: known[name] for name in wanted if name in known})
        else:
            result = value(*env.values())
        try:
            return dim3(tuple(result)[:3] if isinstance(result, Sequence) else result, what)
        except LaunchError as wrong:
            sizes = ", ".join(f"{name}={size}" for name, size in env.items())
            raise LaunchError(f"{self.name}: {wrong.message}, for {sizes}") from None


@lru_cache(maxsize=256)
def _parameters_of(function: Callable) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters
