"""The `@kernel` decorator: bind arrays and parameters, trace, compile, launch."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pyptx._geometry import byte_count
from pyptx.errors import LaunchError
from pyptx.ir.nodes import FunctionDirective
from pyptx.ir.types import LinkingDirective
from pyptx.kernel.calls import Calls
from pyptx.kernel.declaration import Declaration, Grid
from pyptx.kernel.traced import Traced
from pyptx.kernel.variant import Variant, device_arrays, roofline
from pyptx.runtime import Dim3, LaunchPlan, LaunchResult, Runtime, dim3, options, runtime_for
from pyptx.runtime.adopted import adopted
from pyptx.runtime.arrays import register
from pyptx.runtime.device import detect_arch
from pyptx.runtime.maps import maps_of
from pyptx.specs import Tile
from pyptx.tensor import TensorSpec, TmaDescriptorHandle
from pyptx.tensor_map import TensorMap
from pyptx.unit import Unit

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "kernel"]


class Kernel(Traced):
    """A Python function that writes a PTX kernel.

    Positional parameters of the function stand for arrays, keyword-only ones are template parameters. Each combination
    of parameter values and sizes is traced once.
    """

    def __init__(self, fn: Callable, *, arch: str = "sm_90a", version: tuple[int, int] | None = None,
                 in_specs: Iterable[Tile] | None = None, out_specs: Iterable[Tile] | None = None, grid: Grid = None,
                 block: Grid = (1, 1, 1), cluster: Grid = (1, 1, 1), smem: int = 0,
                 raw_params: Iterable[tuple[str, str]] | None = None, extern_smem: bool | str = False,
                 reqntid: Grid = None, raw_directives: Iterable[tuple[str, Sequence]] | None = None,
                 name: str | None = None, linking: str | None = "visible", unit: Unit | None = None,
                 in_place: bool = False):
        directives = tuple(FunctionDirective(n, tuple(v)) for n, v in raw_directives or ())
        super().__init__(Declaration(
            function=fn, name=name or re.sub(r"\W", "_", fn.__name__, flags=re.ASCII),
            arch=detect_arch() if arch == "auto" else arch, version=None if version is None else tuple(version),
            in_specs=tuple(in_specs or ()), out_specs=tuple(out_specs or ()), grid=grid, block=_extent(block, "block"),
            cluster=_extent(cluster, "cluster"), smem_bytes=smem,
            raw_params=tuple(p if isinstance(p, str) else tuple(p) for p in raw_params or ()),
            extern_smem="global_smem" if extern_smem is True else extern_smem or None, directives=directives,
            reqntid=None if directives or reqntid is None else _extent(reqntid, "reqntid"),
            linking=LinkingDirective.from_ptx(linking) if linking else None, unit=unit, in_place=in_place))
        self.calls = Calls(self)
        self.last_variant: Variant | None = None
        self._number = register(self)

    @property
    def _fn(self) -> Callable:
        return self.declared.function

    @property
    def last_run(self) -> LaunchResult | None:
        """What the newest call or launch gave; None before the first."""
        return self.last_variant.last_run if self.last_variant else None

    # calls ------------------------------------------------------------------------------------------------------------

    def __call__(self, *arrays: Any, out: Any = None, **params: Any) -> Any:
        """Launch on arrays: inputs by position; outputs are allocated, or given as `out=`.

        Returns:
            The output array, or a tuple of them.
        Raises:
            LaunchError: an array's shape, dtype or layout does not fit; nothing is launched.
            CompileError: see compile.
        """
        if _torch_compiles():
            return self._recorded_by_torch(arrays, out, params)
        key = self.calls.key(arrays, out, params)
        known = self.calls.found.get(key)
        outputs = known.run(arrays, out, params) if known is not None else None
        if outputs is None:
            return self._called(self.binding.inputs(arrays), out, params, key)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _recorded_by_torch(self, arrays: Sequence[Any], out: Any, params: Mapping[str, Any]) -> Any:
        from pyptx.torch_support.operator import call

        return call(self._number, self.binding.inputs(arrays), out, params)

    def _called(self, inputs: Sequence[Any], out: Any, params: Mapping[str, Any], key: Hashable | None) -> Any:
        """A call of a kind that was not seen before: everything is looked at."""
        inputs = adopted(inputs)
        runtime = runtime_for(inputs)
        self.binding.check_arrays(runtime, inputs)
        record = runtime.arrays.recorder(inputs)
        if record is not None:
            return record(self._number, inputs, out, params)
        outputs = self.run(runtime, inputs, out, params, key)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, runtime: Runtime, inputs: Sequence[Any], out: Any, params: Mapping[str, Any],
            key: Hashable | None = None) -> list[Any]:
        """Launch on arrays now; the outputs. `__call__` without the compilers that may look on.

        Args:
            key: of the call, under which later ones find how it is launched; None: they do not.
        """
        call = self.binding.bind(runtime, inputs, adopted(out), params)
        variant, _ = self._launch(call.values, runtime, call.grid, call.block, call.args, cluster=call.cluster,
                                  smem_bytes=self.smem, outputs=call.outputs, settings=options())
        if key is not None:
            plan = variant.plan(call.grid, call.block, call.cluster, self.smem)
            self.calls.keep(key, variant, runtime, plan, inputs, call.outputs, params)
        return call.outputs

    # launches ---------------------------------------------------------------------------------------------------------

    def launch(self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any,
               cluster: int | Sequence[int] | None = None, smem_bytes: int = 0, stream: Any = None,
               backend: str | None = None, **params: Any) -> LaunchResult:
        """Launch with an explicit grid; args in parameter order.

        Args:
            args: arrays (pointers; NumPy arrays are written in place), numbers (converted to the parameter's type and
                range checked), bytes (aggregates), TensorMaps; left out, tensor maps are made as the Tiles describe.
            smem_bytes: dynamic shared memory, in bytes, when it is more than the kernel needs by itself.
            params: template parameters and symbolic sizes; what is neither goes to the backend (`seed=`, `threads=`).
        Examples:
            >>> @kernel(raw_params=[("u64", "out"), ("u32", "value")])
            ... def fill():
            ...     at = ptx.param(u64, "out") + reg.from_(ptx.special.tid.x(), u32) * 4
            ...     ptx.inst.st.global_.u32(ptx.addr(at), ptx.param(u32, "value"))
            >>> out = np.zeros(4, np.uint32)
            >>> result = fill.launch(1, 4, out, 7)
            >>> out, result.backend
            (array([7, 7, 7, 7], dtype=uint32), 'sim')
        """
        (own, others), args = self.binding.own(params), adopted(args)
        if stream is not None:
            others["stream"] = stream
        runtime = runtime_for(args, backend)
        outputs = device_arrays(runtime, args, self.name)
        return self._launch(own, runtime, dim3(grid, "grid"), dim3(block, "block"), args,
                            cluster=self._cluster_of(cluster, own), outputs=outputs,
                            smem_bytes=max(byte_count(smem_bytes, self.name), self.smem),
                            settings={**options(), **others})[1]

    def _launch(self, params: Mapping[str, Any], runtime: Runtime, grid: Dim3, block: Dim3, args: Sequence[Any],
                **arguments: Any) -> tuple[Variant, LaunchResult]:
        variant = self.last_variant = self.variant(**params)
        with runtime.backend.staged(args) as staged:
            return variant, variant.launch(runtime, grid, block, self._with_maps(variant, staged), **arguments)

    def _with_maps(self, variant: Variant, args: Sequence[Any]) -> list[Any]:
        """All arguments: the tensor maps are made, unless they were given too."""
        missing = variant.tma_tensors and len(args) + len(variant.tma_tensors) == len(variant.entry.params)
        return [*args, *self.maps(variant, args)] if missing else list(args)

    def maps(self, variant: Variant, args: Sequence[Any]) -> list[TensorMap]:
        """The tensor maps that follow the other arguments, as the Tiles describe them."""
        tensors = dict(zip(self.declared.tensors, zip(self.declared.specs, args, strict=False), strict=False))
        return maps_of(variant.tma_tensors, tensors, variant.params, self.name)

    def _cluster_of(self, told: Any, params: Mapping[str, Any]) -> Dim3:
        """The cluster that a launch was told, or else the kernel's own for these parameters."""
        if told is None:
            return self.binding.cluster(*self.binding.split(params)[:2])
        return dim3(told, "cluster")

    # looking at them --------------------------------------------------------------------------------------------------

    def bind(self, *arrays: Any, out: Any = None, **params: Any) -> tuple[Variant, LaunchPlan, list[Any]]:
        """What a call on the simulator would launch: what is compiled, its geometry, and all its arguments.

        Args:
            arrays, out, params: as for a call. Without `out`, new arrays stand for the outputs.
        Raises:
            LaunchError, TypeError: it cannot be called like that.
        """
        if not self.in_specs or len(arrays) != len(self.in_specs):
            names = ", ".join(self.declared.tensors[:len(self.in_specs)]) or "it has no in_specs"
            raise LaunchError(f"{self.name} takes {len(self.in_specs)} input arrays ({names}), got {len(arrays)}; "
                              "pass outputs as out=, or all arguments with a grid and a block")
        arrays = adopted(arrays)
        runtime = runtime_for(arrays, "sim")
        self.binding.check_arrays(runtime, arrays)
        call = self.binding.bind(runtime, arrays, adopted(out), params)
        variant = self.variant(**call.values)
        plan = variant.plan(call.grid, call.block, call.cluster, self.smem)
        return variant, plan, self._with_maps(variant, call.args)

    def bind_launch(self, grid: Any, block: Any, args: Sequence[Any], *, cluster: Any = None, smem_bytes: int = 0,
                    **params: Any) -> tuple[Variant, LaunchPlan, list[Any]]:
        """The same of a launch with an explicit grid; None for `block` or `cluster` is the kernel's own."""
        variant = self.variant(**params)
        plan = variant.plan(dim3(grid, "grid"), self.block_of(variant) if block is None else dim3(block, "block"),
                            self._cluster_of(cluster, params), max(byte_count(smem_bytes, self.name), self.smem))
        return variant, plan, self._with_maps(variant, adopted(args))

    def check(self, *arrays: Any, out: Any = None, schedules: Sequence[str] = ("eager", "late"), random: int = 4,
              seed: Any = None, **params: Any) -> Any:
        """Run a call on the simulator in several schedules, on copies of the arrays, and report what they show.

        Args:
            arrays, out: as for a call; they are not changed.
            schedules, random, seed: "eager" and "late" and so many random ones, with seeds from `seed` on. A kernel
                that has a parameter `seed` gets it, and the random ones start from 0.
            params: template parameters; what the kernel does not take goes to the simulator (`max_steps=`).
        Returns:
            pyptx.check.Report: .ok, .findings, .text(), .to_json(), .to_sarif(), .raise_if_found()
        Raises:
            CompileError, LaunchError: it cannot be called like that. What it does wrong is in the report.
        Examples:
            >>> @kernel(in_specs=(Tile(32, f32),), out_specs=(Tile(32, f32),), block=32)
            ... def reversed_(x, y):
            ...     lane = reg.from_(ptx.special.tid.x(), u32)
            ...     row, value = smem.alloc(f32, (1, 32)), reg.scalar(f32)
            ...     x_at, y_at = ptx.global_ptrs(x, y)
            ...     ptx.inst.ld.global_.f32(value, ptx.addr(x_at + lane * 4))
            ...     row[0, lane] = value
            ...     ptx.bar.sync(0)
            ...     ptx.inst.st.global_.f32(ptx.addr(y_at + lane * 4), row[0, 31 - lane])
            >>> reversed_.check(np.arange(32, dtype=np.float32)).ok
            True
        """
        if not self.in_specs:
            raise LaunchError(f"{self.name} has no in_specs, so a call cannot tell its sizes; check it with "
                              f"pyptx.load({self.name}.ptx())[{self.name!r}].check(grid, block, *args)")
        if len(arrays) != len(self.in_specs):
            raise LaunchError(f"{self.name}.check() takes {len(self.in_specs)} input arrays, got {len(arrays)}; pass "
                              "outputs as out=")
        params, seed = self.binding.with_seed(params, seed)
        own, others = self.binding.own(params)
        variant, plan, args = self.bind(*arrays, out=out, **own)
        outputs = zip(self.declared.tensors[len(self.in_specs):], self.out_specs, strict=False)
        results = [name for name, spec in outputs if not spec.zeroed] if out is None else ()
        return variant.check(plan.grid, plan.block, args, cluster=plan.cluster, smem_bytes=plan.smem_bytes,
                             schedules=schedules, random=random, seed=seed, settings={**options(), **others},
                             results=results)

    def debug(self, *arrays: Any, out: Any = None, schedule: str = "eager", seed: Any = None,
              grid: int | Sequence[int] | None = None, block: int | Sequence[int] | None = None,
              cluster: int | Sequence[int] | None = None, smem_bytes: int = 0, **params: Any) -> Any:
        """Run a call on the simulator under the debugger, on copies of the arrays: step, breakpoints, going back.

        Args:
            arrays, out: as for a call; with `grid` all arguments in parameter order, as for a launch.
            schedule, seed: "eager", "late" or "random": when asynchronous operations land, and by which seed; a
                parameter `seed` of the kernel goes before.
            params: template parameters; what the kernel does not take goes to the simulator: `tensor_cores=`, and
                `sanitize=True`, with which races, missing fences and waits are stops.
        Returns:
            pyptx.debug.Session: .step(), .next(), .resume(), .back(), .breakpoints, .evaluate(text), .document()
        Raises:
            CompileError, LaunchError: it cannot be called like that. What it does wrong is a stop of the session.
        """
        params, seed = self.binding.with_seed(params, seed)
        own, others = self.binding.own(params)
        if grid is not None:
            variant, plan, args = self.bind_launch(grid, block, arrays, cluster=cluster, smem_bytes=smem_bytes, **own)
        elif not self.in_specs:
            raise LaunchError(f"{self.name} has no in_specs, so a call cannot tell its sizes; pass grid= and all "
                              "arguments in parameter order")
        else:
            variant, plan, args = self.bind(*arrays, out=out, **own)
        return variant.debug(plan.grid, plan.block, args, cluster=plan.cluster, smem_bytes=plan.smem_bytes,
                             schedule=schedule, seed=seed, settings={**options(), **others},
                             trace=lambda: self.forgetful().variant(**variant.params))

    def roofline(self, *args: Any, device: Any = None, level: str = "dram", **options: Any) -> Any:
        """Where a call lies under the roofs of a GPU: its work and bytes counted as it executes, its time modelled.

        A call with arrays on a GPU is timed there too, on copies of them. No array is written.

        Args:
            args: the input arrays, or with `grid=` and `block=` all arguments in parameter order.
            device: "h200", "rtx 4090", "sm_80": a GPU of `pyptx.analysis.gpus`; default: the one the arrays are on,
                else the usual one of the kernel's target.
            level: "dram", "l2" or "shared": whose bytes lie on the x axis.
            options: template parameters and sizes, `out=`; `grid=`, `block=`, `cluster=`, `smem_bytes=`.
        Returns:
            pyptx.views.Roofline: .points, .roofs, .text(), .svg(), .plot(), .save(path); rooflines of one GPU add up.
        Raises:
            LaunchError, TypeError: it cannot be called like that, or cannot run on that GPU.
            ShapeError: there is no such GPU or level.
        """
        return roofline(self, args, device=device, level=level, **options)

    def _resolve_grid(self, env: Mapping[str, int], template: Mapping[str, Any] = MappingProxyType({})) -> Dim3:
        return self.binding.grid(env, template)


def _extent(value: Grid, what: str) -> Grid:
    """A launch dimension that is fixed, as three ints; a function as it is."""
    return value if callable(value) else dim3(value, what)


def _torch_compiles() -> bool:
    """Whether torch.compile reads this call; it takes part in no other way than as an operator."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def kernel(fn: Callable | None = None, *, arch: str = "sm_90a", version: tuple[int, int] | None = None,
           in_specs: Iterable[Tile] | None = None, out_specs: Iterable[Tile] | None = None, grid: Grid = None,
           block: Grid = (1, 1, 1), cluster: Grid = (1, 1, 1), smem: int = 0,
           raw_params: Iterable[tuple[str, str]] | None = None, extern_smem: bool | str = False,
           reqntid: Grid = None, raw_directives: Iterable[tuple[str, Sequence]] | None = None,
           name: str | None = None, linking: str | None = "visible", unit: Unit | None = None,
           in_place: bool = False) -> Any:
    """Make a kernel of a Python function: `@kernel`, or `@kernel(arch="sm_90a", in_specs=..., ...)`.

    Args:
        arch: target such as "sm_80" or "sm_90a"; "auto" asks the GPU.
        version: PTX ISA version (major, minor); by default as new as the target and the instructions need.
        in_specs, out_specs: Tiles of the array parameters, inputs first.
        grid: CTAs: a tuple, or a function of the symbolic sizes and template parameters it names.
        block: threads of a CTA: a tuple, or a function as for grid.
        cluster: CTAs of a cluster: a tuple, or a function as for grid.
        smem: dynamic shared memory in bytes.
        raw_params: further entry parameters, (type, name) pairs such as ("u32", "K").
        extern_smem: declare an extern shared array, `global_smem` or the name given.
        reqntid: the block that the entry requires (PTX ISA, ".reqntid"), as for `block`.
        raw_directives: performance directives of the entry, instead of reqntid.
        name: of the entry, if it is not the function's.
        linking: "visible", "weak" or None.
        unit: the file it belongs to, with variables and functions it uses.
        in_place: an output may be an input: the kernel reads what it writes over before it writes it.
    Examples:
        >>> @kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=32)
        ... def double(x, y):
        ...     i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
        ...     x_at, y_at = ptx.global_ptrs(x, y)
        ...     value = reg.scalar(f32)
        ...     ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
        ...     ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), value + value)
        >>> double(np.arange(64, dtype=np.float32))[:4]
        array([0., 2., 4., 6.], dtype=float32)
    """
    wrap = functools.partial(Kernel, arch=arch, version=version, in_specs=in_specs, out_specs=out_specs, grid=grid,
                             block=block, cluster=cluster, smem=smem, raw_params=raw_params, extern_smem=extern_smem,
                             reqntid=reqntid, raw_directives=raw_directives, name=name, linking=linking, unit=unit,
                             in_place=in_place)
    return wrap if fn is None else wrap(fn)
