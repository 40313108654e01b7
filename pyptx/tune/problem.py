"""The tuning problem: a kernel with its arguments, and the launch of each configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pyptx.errors import ArgumentTypeError, MissingSizeError, OperandError
from pyptx.jit import JitKernel, fingerprint
from pyptx.jit.specialization import Specialization
from pyptx.runtime import LaunchPlan, Runtime, runtime_for
from pyptx.runtime.arrays import arrays_of
from pyptx.runtime.numpy_arrays import numpy_dtype
from pyptx.tensor_map import TensorMap

__all__ = ["ConfigLaunch", "Problem", "call_arguments"]


@dataclass(frozen=True, eq=False)
class ConfigLaunch:
    """One configuration's launch.

    Attributes:
        specialization: the specialized kernel.
        plan: grid, block, cluster and dynamic shared memory.
        args: arguments in parameter order: arrays, numbers, tensor maps.
        inputs, outputs: indices in `args` of the arrays a call reads and writes.
        zeroed: indices of outputs that must be zero before the launch.
    """

    specialization: Specialization
    plan: LaunchPlan
    args: tuple[Any, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    zeroed: tuple[int, ...] = ()

    def identity(self) -> str:
        """Return a hash that distinguishes launches of the same machine code: sizes, numbers, tensor maps."""
        arrays = {id(arg): i for i, arg in enumerate(self.args) if _is_array(arg)}
        return fingerprint.digest(
            [
                self.plan.grid,
                self.plan.block,
                self.plan.cluster,
                self.plan.smem_bytes,
                [f"array {arrays[id(a)]}" if id(a) in arrays else repr(a) for a in self.args],
            ]
        )


class Problem:
    """A kernel and its arguments.

    Args:
        kernel: a kernel with in_specs and out_specs.
        args: input arrays, or sizes for random ones: {"M": 4096, "N": 4096, "K": 4096}.
        params: template and raw parameters that are the same for all configurations.
        runtime: the runtime that executes calls with these arrays; None: the one of the arrays' device.
        seed: seed of the random arrays, normally distributed (values change a GPU's power and thus its speed).
    Raises:
        LaunchError: an array does not fit its Tile, a size is missing, or the kernel has no in_specs.
        OperandError: `kernel` is not a kernel.
    """

    kernel: JitKernel
    params: dict[str, Any]
    runtime: Runtime
    sizes: dict[str, int]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]

    def __init__(
        self,
        kernel: JitKernel,
        args: Sequence[Any] | Mapping[str, int],
        params: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        runtime: Runtime | None = None,
    ):
        if not isinstance(kernel, JitKernel):
            raise OperandError(f"cannot tune {kernel!r}; expected a kernel with template parameters")
        if not kernel.in_specs:
            raise ArgumentTypeError(
                f"{kernel.name} has no in_specs, so its sizes and grid cannot be derived from a call",
                hint="give it in_specs, out_specs and grid to tune it",
            )
        self.kernel, self.params = kernel, dict(params or {})
        self._given, self._seed, self._inputs = args, seed, None
        if isinstance(args, Mapping):
            self.sizes = {name: int(value) for name, value in args.items()}
            if unknown := self.sizes.keys() - set(kernel.symbolic_dims):
                raise ArgumentTypeError(
                    f"{kernel.name} has no size {', '.join(sorted(unknown))}; it has {', '.join(kernel.symbolic_dims)}"
                )
            self.shapes = tuple(self._shape(spec) for spec in kernel.in_specs)
            self.dtypes = tuple(numpy_dtype(spec.dtype.name).name for spec in kernel.in_specs)
            self.runtime = runtime_for(())
        else:
            self._inputs = tuple(call_arguments(args))
            count = len(kernel.in_specs)
            if len(self._inputs) != count:
                raise ArgumentTypeError(
                    f"{kernel.name} takes {count} input arrays, got {len(self._inputs)}; outputs are allocated"
                )
            self.runtime = runtime or runtime_for(self._inputs)
            for i, array in enumerate(self._inputs if runtime is None else ()):
                self.runtime.check(array, f"{kernel.name}: array {i}")
            self.sizes = kernel.binder.sizes_of(self.runtime.arrays, self._inputs)
            self.shapes = tuple(tuple(array.shape) for array in self._inputs)
            self.dtypes = tuple(self.runtime.arrays.dtype_name(array) for array in self._inputs)

    def _shape(self, spec: Any, config: Mapping[str, Any] = MappingProxyType({})) -> tuple[int, ...]:
        sizes = {**self.kernel.declaration.default_sizes, **self.sizes, **self._values(config)}
        if missing := [name for name in spec.symbolic_dims if name not in sizes]:
            raise MissingSizeError(
                f"{self.kernel.name}: the size {', '.join(missing)} of {spec} is unknown",
                hint=f"give it in args, as in {{{missing[0]!r}: 1024}}",
            )
        return spec.resolve_shape(sizes)

    @property
    def template(self) -> tuple[str, ...]:
        """Names of the kernel's template parameters."""
        return tuple(self.kernel.template_params)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The input arrays; random ones are created on first use."""
        if self._inputs is None:
            rng = np.random.default_rng(self._seed)
            self._inputs = tuple(
                _random(shape, spec.dtype.name, rng)
                for shape, spec in zip(self.shapes, self.kernel.in_specs, strict=True)
            )
        return self._inputs

    @property
    def given(self) -> bool:
        """True when the arrays are the user's, with significant values."""
        return not isinstance(self._given, Mapping)

    @property
    def elements(self) -> int:
        """Number of elements of all arrays, outputs included."""
        shapes = [*self.shapes, *(self._shape(spec) for spec in self.kernel.out_specs)]
        return sum(int(np.prod(shape, dtype=np.int64)) for shape in shapes)

    def host_inputs(self) -> tuple[np.ndarray, ...]:
        """Return the inputs as NumPy arrays."""
        hosts = []
        for array in self.inputs:
            arrays = arrays_of(array)
            assert arrays is not None, f"{type(array).__name__} is not an array"
            hosts.append(np.asarray(arrays.host(array)))
        return tuple(hosts)

    def host(self) -> Problem:
        """Return the problem with its arrays in NumPy."""
        if self._inputs is None or self.runtime.arrays.package == "numpy":
            return self
        arrays = []
        for array, spec in zip(self.host_inputs(), self.kernel.in_specs, strict=True):
            kind = numpy_dtype(spec.dtype.name)  # a package may return bf16 as bits
            arrays.append(array if array.dtype.itemsize != kind.itemsize else array.view(kind))
        return Problem(self.kernel, arrays, self.params)

    def specialize(self, config: Mapping[str, Any]) -> Specialization:
        """Return the kernel specialized for the problem's sizes and a configuration."""
        return self.kernel.specialize(**{**self.sizes, **self._values(config)})

    def launch(self, config: Mapping[str, Any], *, empty: bool = False) -> ConfigLaunch:
        """Return the launch of a configuration on NumPy arrays, with outputs of zeros.

        Args:
            config: values of the template parameters.
            empty: the values of inputs do not matter: no random ones are generated.
        Raises:
            LaunchError: sizes or tensor maps are invalid.
            Exception: whatever the kernel's Python raises.
        """
        inputs = self._blank() if empty and self._inputs is None else self.inputs
        kernel = self.kernel.with_fresh_cache()  # do not keep the texts and trees of a sweep
        specialization, plan, args = kernel.launcher.bind(
            *inputs, out=self._outputs(config), **{**self._sizes_of_outputs(), **self._values(config)}
        )
        first, specs = len(inputs), self.kernel.out_specs
        return ConfigLaunch(
            specialization,
            plan,
            tuple(args),
            tuple(range(first)),
            tuple(range(first, first + len(specs))),
            tuple(first + k for k, spec in enumerate(specs) if spec.zeroed),
        )

    def _blank(self) -> tuple[np.ndarray, ...]:
        return tuple(
            np.zeros(shape, numpy_dtype(spec.dtype.name))  # zeros take no memory until written
            for shape, spec in zip(self.shapes, self.kernel.in_specs, strict=True)
        )

    def _outputs(self, config: Mapping[str, Any]) -> list[np.ndarray]:
        return [np.zeros(self._shape(spec, config), numpy_dtype(spec.dtype.name)) for spec in self.kernel.out_specs]

    def _sizes_of_outputs(self) -> dict[str, int]:
        """Return sizes that occur in outputs only and cannot be inferred from inputs."""
        known = {name for spec in self.kernel.in_specs for name in spec.symbolic_dims}
        return {name: size for name, size in self.sizes.items() if name not in known}

    def _values(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.params, **config}

    def key(self) -> str:
        """Return a hash of kernel source, sizes, types and fixed parameters, equal in all processes."""
        return fingerprint.digest(
            [
                fingerprint.kernel_fingerprint(self.kernel.declaration),
                self.shapes,
                self.dtypes,
                {name: repr(value) for name, value in self.params.items()},
            ]
        )

    def __str__(self) -> str:
        shapes = ", ".join(
            f"{dtype}[{'x'.join(map(str, shape))}]" for shape, dtype in zip(self.shapes, self.dtypes, strict=True)
        )
        return f"{self.kernel.name}({shapes})"


def call_arguments(args: Any) -> tuple[Any, ...]:
    """Return the arrays of a call as a tuple; a single array may be given without one."""
    return tuple(args) if isinstance(args, list | tuple) else (args,)


def _is_array(value: Any) -> bool:
    return not isinstance(value, TensorMap) and not isinstance(value, np.generic) and arrays_of(value) is not None


def _random(shape: tuple[int, ...], type_name: str, rng: np.random.Generator) -> np.ndarray:
    kind = numpy_dtype(type_name)
    if kind.kind in "iub":
        return rng.integers(0, 2 if kind.kind == "b" else 100, shape).astype(kind)
    return rng.standard_normal(shape, dtype=np.float32).astype(kind)
