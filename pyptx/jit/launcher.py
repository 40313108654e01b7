"""Launches of a kernel: arguments are bound to a specialization and a plan, then launched or only resolved."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pyptx.errors import ArgumentTypeError
from pyptx.jit.launchable import ResolvedLaunch
from pyptx.jit.specialization import Specialization, device_arrays
from pyptx.launch_config import Extent, LaunchConfig, dim3
from pyptx.runtime import Dim3, LaunchPlan, LaunchResult, Runtime, options, runtime_for
from pyptx.runtime.foreign_arrays import import_foreign
from pyptx.runtime.reachable import checked, staged
from pyptx.runtime.tensor_maps import maps_of
from pyptx.tensor_map import TensorMap

if TYPE_CHECKING:
    from pyptx.jit.kernel import JitKernel

__all__ = ["Launcher"]


class Launcher:
    """Binds arguments for one kernel and launches it."""

    def __init__(self, kernel: JitKernel):
        self._kernel, self._declaration, self._binder = kernel, kernel.declaration, kernel.binder

    def run(
        self,
        runtime: Runtime,
        inputs: Sequence[Any],
        out: Any,
        params: Mapping[str, Any],
        key: Hashable | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> LaunchResult:
        """Launch on input arrays.

        Args:
            key: of the call in the launch cache; None: it is not cached.
            settings: backend options, which override those of `pyptx.use`.
        """
        call = self._binder.bind(runtime, inputs, import_foreign(out), params)
        if call.outputs and not any(prod(output.shape) for output in call.outputs):
            return self._nothing(runtime, call.outputs)
        specialization, result = self._launch(
            call.values,
            runtime,
            call.grid,
            call.block,
            call.args,
            cluster=call.cluster,
            smem_bytes=self._declaration.smem_bytes,
            outputs=call.outputs,
            settings={**options(), **settings},
        )
        if key is not None and specialization is not None and not settings:
            plan = specialization.plan(call.grid, call.block, call.cluster, self._declaration.smem_bytes)
            self._kernel.launch_cache.keep(key, specialization, runtime, plan, inputs, call.outputs, params)
        return result

    def launch(
        self,
        config: LaunchConfig,
        args: Sequence[Any],
        params: Mapping[str, Any],
        settings: Mapping[str, Any],
        backend: str | None,
    ) -> LaunchResult:
        """Launch with a configuration; `args` are in parameter order.

        Args:
            params: sizes and template parameters.
            settings: backend options, which override those of the configuration and of `pyptx.use`.
            backend: name of the backend; None: that of the arrays.
        """
        args = import_foreign(args)
        runtime = runtime_for((*args, *(settings.get("reachable") or config.reachable)), backend)
        return self._launch(
            params,
            runtime,
            dim3(config.grid, "grid"),
            self._block_of(config.block, params),
            args,
            cluster=self._cluster_of(config.cluster, params),
            outputs=device_arrays(runtime, args, self._declaration.name),
            smem_bytes=max(config.smem_bytes, self._declaration.smem_bytes),
            settings={**options(), **config.settings, **settings},
        )[1]

    def resolve(
        self, config: LaunchConfig | None, args: Sequence[Any], params: Mapping[str, Any], out: Any = None
    ) -> ResolvedLaunch:
        """Resolve a launch on the simulator; see `Launchable.resolve`."""
        own, others = self._binder.own(params)
        settings = {**options(), **(config.settings if config else {}), **others}
        if "reachable" in settings:
            found = runtime_for((*args, *settings["reachable"]), "sim")
            settings["reachable"] = checked(found, settings, self._declaration.name)
        if config is None and not self._declaration.in_specs and self._declaration.grid is not None:
            sizes, template, _ = self._binder.split(own)
            config = LaunchConfig(self._binder.grid(sizes, template))
        if config is not None:
            return ResolvedLaunch(*self.bind_launch(config, args, **own), settings)
        specialization, plan, bound = self.bind(*self.inputs_for(args, own), out=out, **own)
        outputs = zip(
            self._declaration.tensors[len(self._declaration.in_specs) :], self._declaration.out_specs, strict=False
        )
        uninitialized = tuple(name for name, spec in outputs if not spec.zeroed) if out is None else ()
        return ResolvedLaunch(specialization, plan, bound, settings, uninitialized)

    def bind(self, *arrays: Any, out: Any = None, **params: Any) -> tuple[Specialization, LaunchPlan, list[Any]]:
        """Return the specialization, the geometry and all arguments that a call on the simulator launches with.

        Args:
            arrays, out, params: as for a call. Without `out`, new arrays are allocated for the outputs.
        Raises:
            LaunchError, TypeError: the arguments do not fit.
        """
        arrays = import_foreign(self.inputs_for(arrays, params))
        runtime = runtime_for(arrays, "sim")
        self._binder.check_arrays(runtime, arrays)
        call = self._binder.bind(runtime, arrays, import_foreign(out), params)
        specialization = self._kernel.specialize(**call.values)
        plan = specialization.plan(call.grid, call.block, call.cluster, self._declaration.smem_bytes)
        return specialization, plan, self._with_maps(specialization, call.args)

    def bind_launch(
        self, config: LaunchConfig, args: Sequence[Any], **params: Any
    ) -> tuple[Specialization, LaunchPlan, list[Any]]:
        """Return what a launch with a configuration launches with; `args` are in parameter order."""
        specialization = self._kernel.specialize(**params)
        plan = specialization.plan(
            dim3(config.grid, "grid"),
            self._block_of(config.block, params),
            self._cluster_of(config.cluster, params),
            max(config.smem_bytes, self._declaration.smem_bytes),
        )
        return specialization, plan, self._with_maps(specialization, import_foreign(args))

    def maps(self, specialization: Specialization, args: Sequence[Any]) -> list[TensorMap]:
        """Return the tensor maps that follow the other arguments, as the Tiles describe them."""
        tensors = dict(zip(self._declaration.tensors, zip(self._declaration.specs, args, strict=False), strict=False))
        return maps_of(specialization.tma_tensors, tensors, specialization.params, self._declaration.name)

    def inputs_for(self, arrays: Sequence[Any], params: Mapping[str, Any]) -> Sequence[Any]:
        """Return the input arrays of a call, or random ones of the sizes in `params` when there are none.

        Raises:
            LaunchError: a wrong number of arrays, or a size that is not known.
        """
        if not self._declaration.in_specs:
            raise ArgumentTypeError(
                f"{self._declaration.name} has no in_specs, so its grid does not follow from input arrays",
                hint="pass a LaunchConfig(grid, block) and all arguments in parameter order",
            )
        if arrays and len(arrays) != len(self._declaration.in_specs):
            names = ", ".join(self._declaration.tensors[: len(self._declaration.in_specs)])
            raise ArgumentTypeError(
                f"{self._declaration.name} takes {len(self._declaration.in_specs)} input arrays ({names}), got {len(arrays)}; "
                "pass outputs as out=, or all arguments after a LaunchConfig"
            )
        if arrays:
            return arrays
        import numpy as np

        from pyptx.jit.random_inputs import random_inputs

        return random_inputs(
            self._declaration.name, self._declaration.in_specs, self._binder.split(params)[0], np.random.default_rng(0)
        )

    def _launch(
        self,
        params: Mapping[str, Any],
        runtime: Runtime,
        grid: Dim3,
        block: Dim3,
        args: Sequence[Any],
        **arguments: Any,
    ) -> tuple[Specialization | None, LaunchResult]:
        if 0 in grid:
            return None, self._nothing(runtime, arguments["outputs"])
        specialization = self._kernel.last_specialization = self._kernel.specialize_for(runtime, params)
        with staged(runtime, args, arguments.pop("settings"), self._declaration.name) as (values, settings):
            return specialization, specialization.launch(
                runtime, grid, block, self._with_maps(specialization, values), settings=settings, **arguments
            )

    def _nothing(self, runtime: Runtime, outputs: Sequence[Any]) -> LaunchResult:
        """Return the result of a launch of an empty grid or for empty outputs: nothing is traced or launched."""
        self._kernel.last_specialization = None
        return LaunchResult(runtime.name, 0.0, outputs=tuple(outputs))

    def _with_maps(self, specialization: Specialization, args: Sequence[Any]) -> list[Any]:
        """Return all arguments; tensor maps that were not given are created."""
        expected = len(specialization.source.signature.params)
        missing = specialization.tma_tensors and len(args) + len(specialization.tma_tensors) == expected
        return [*args, *self.maps(specialization, args)] if missing else list(args)

    def _block_of(self, block: Extent | None, params: Mapping[str, Any]) -> Dim3:
        """Return the block of a launch; None: the kernel's own for these parameters."""
        if block is None:
            return self._binder.block(*self._binder.split(params)[:2])
        return dim3(block, "block")

    def _cluster_of(self, cluster: Extent | None, params: Mapping[str, Any]) -> Dim3:
        """Return the cluster of a launch; None: the kernel's own for these parameters."""
        if cluster is None:
            return self._binder.cluster(*self._binder.split(params)[:2])
        return dim3(cluster, "cluster")
