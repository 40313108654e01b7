"""The public `Kernel` and its decorator: the kernel of `pyptx.jit` with the tools that view, check and debug it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from pyptx.errors import ArgumentTypeError
from pyptx.jit.declaration import Declaration, Grid
from pyptx.jit.kernel import JitKernel
from pyptx.jit.launchable import ResolvedLaunch
from pyptx.jit.specialization import Specialization
from pyptx.launch_config import Extent, dim3, split_launch
from pyptx.specs import Tile
from pyptx.tensor import TensorSpec, TmaDescriptorHandle
from pyptx.unit import Unit
from pyptx.workbench.tools import check_launch, debug_launch, linked_view

if TYPE_CHECKING:
    from pyptx.analysis.gpus import Gpu
    from pyptx.analysis.model.prediction import Prediction
    from pyptx.check import Report
    from pyptx.compiled import Compiled
    from pyptx.debug import Session
    from pyptx.profiles.sources import ProfileSource
    from pyptx.views import LinkedView, Roofline

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "compiled_type", "kernel"]


def compiled_type() -> type[Compiled]:
    """Return `Compiled`, loaded on use."""
    from pyptx.compiled import Compiled

    return Compiled


class Kernel(JitKernel):
    """A Python function that writes a PTX kernel.

    Positional parameters of the function stand for arrays, keyword-only ones are template parameters. Each combination
    of parameter values and sizes is traced once. The arguments of the constructor are those of `kernel`.
    """

    _artifact = staticmethod(compiled_type)
    _last_checked: Specialization | None = None

    def __init__(self, fn: Callable[..., Any], **options: Any):
        super().__init__(Declaration.of(fn, **options))

    def compile(
        self,
        *args: Any,
        arch: str | None = None,
        version: tuple[int, int] | None = None,
        options: Iterable[str] = (),
        lineinfo: bool = False,
        **params: Any,
    ) -> Compiled:
        """Validate and assemble.

        Args:
            arch, version: override the decorator's.
            options: of ptxas, such as "-O1" or "--maxrregcount=128".
            lineinfo: also write `.loc` directives, for ncu and cuda-gdb.
            args: input arrays, for their sizes; or a LaunchConfig and arguments, which change nothing.
            params: template parameters and symbolic sizes.
        Raises:
            CompileError: validation or ptxas reports errors; each at its Python line.
            MissingToolError: no assembler is installed.
        """
        made = super().compile(*args, arch=arch, version=version, options=options, lineinfo=lineinfo, **params)
        return cast("Compiled", made)

    def view(
        self,
        *args: Any,
        arch: str | None = None,
        version: tuple[int, int] | None = None,
        options: Iterable[str] = (),
        lineinfo: bool = False,
        device: str | Gpu | None = None,
        profile: ProfileSource | None = None,
        **params: Any,
    ) -> LinkedView:
        """Return the linked Python | PTX | SASS view; arguments as for compile.

        It shows the counters of the last launch of the same specialization beside the lines. The block of a
        LaunchConfig is used for the occupancy.

        Args:
            device: a GPU, as for `estimate`: also show the modeled time of each line on it, and the reasons of stalls.
            profile: a report of Nsight Compute of this kernel, "run.ncu-rep" or a CSV of its source page: also show measured
                samples, executed instructions, sectors and bank conflicts of each line. Several files are joined.
        Raises:
            ShapeError: `device` together with options that change the machine code; a profile of other machine code.
            UnknownNameError: the report does not have this kernel.
            InputError, ToolError: the report cannot be read; see `pyptx.profiles.load_report`.
        """
        config, _ = split_launch(args)
        specialization = self.specialize(arch=arch, version=version, **self._sized(args, params))
        return linked_view(
            specialization,
            specialization.compile(options, lineinfo=lineinfo),
            block=self.block_of(specialization)
            if config is None or config.block is None
            else dim3(config.block, "block"),
            dynamic_bytes=max(self.smem, config.smem_bytes if config else 0),
            estimate=None if device is None else self.estimate(*args, device=device, **params),
            profile=profile,
        )

    def check(
        self,
        *args: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        cluster: Extent | None = None,
        smem_bytes: int = 0,
        out: Any = None,
        schedules: Sequence[str] = ("eager", "late"),
        random: int = 4,
        seed: Any = None,
        ignore: Mapping[str, str] | None = None,
        **params: Any,
    ) -> Report:
        """Simulate a launch in several schedules, on copies of the arrays, and report races and other findings.

        Args:
            args: input arrays; none: random arrays of the sizes in `params`; or a LaunchConfig (or grid and block) and
                all arguments in parameter order. Arrays are not changed.
            grid, block, cluster, smem_bytes: the launch configuration by keyword; see LaunchConfig.
            out: arrays for the outputs of a call on input arrays.
            schedules: "eager" and "late", the orders in which asynchronous operations complete.
            random: number of random schedules, with seeds from `seed` on. A kernel that has a parameter `seed` gets
                it, and the random schedules start from 0.
            ignore: rules whose findings become notes, with the reason: {"missing-mbarrier-fence": "one CTA"}.
            params: sizes and template parameters; other names are simulator options (`max_steps=`).
        Raises:
            CompileError, LaunchError: the launch is invalid. Faults of the kernel are in the report.
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
        config, rest = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
        values, seed = self.binder.with_seed(params, seed)
        launch = self.resolve(config, rest, values, out)
        self._last_checked = launch.specialization
        return check_launch(
            launch, schedules=schedules, random=random, seed=seed, ignore=ignore, trace=self._tracer(launch)
        )

    @property
    def last_check(self) -> Report | None:
        """The report of the last check; None before the first."""
        return self._last_checked.last_check if self._last_checked else None

    def _tracer(self, launch: ResolvedLaunch) -> Callable[[], Specialization]:
        """Return a function that traces the kernel of a launch again, for the names of its Python variables."""
        return lambda: self.with_fresh_cache().specialize(**launch.specialization.params)

    def debug(
        self,
        *args: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        cluster: Extent | None = None,
        smem_bytes: int = 0,
        out: Any = None,
        schedule: str = "eager",
        seed: Any = None,
        **params: Any,
    ) -> Session:
        """Start a debugging session of a launch on the simulator, on copies of the arrays.

        Args:
            args, grid, block, cluster, smem_bytes, out: as for check.
            schedule, seed: "eager", "late" or "random": the order in which asynchronous operations complete, and its
                seed. A kernel that has a parameter `seed` gets it.
            params: sizes and template parameters; other names are simulator options: `tensor_cores=`, and
                `sanitize=True`, which stops at races, missing fences and missing waits.
        Returns:
            The session: .step(), .next(), .resume(), .back(), .breakpoints, .evaluate(text), .document()
        Raises:
            CompileError, LaunchError: the launch is invalid. Faults of the kernel are stops of the session.
        """
        config, rest = split_launch(args, grid=grid, block=block, cluster=cluster, smem_bytes=smem_bytes)
        values, seed = self.binder.with_seed(params, seed)
        launch = self.resolve(config, rest, values, out)
        return debug_launch(
            launch,
            schedule=schedule,
            seed=seed,
            trace=self._tracer(launch),
        )

    def estimate(self, *args: Any, device: str | Gpu | None = None, **params: Any) -> Prediction:
        """Predict the time of a call with the performance model. No array is written.

        Args:
            args, params: as for check.
            device: a GPU of `pyptx.analysis.gpus`, "h200"; default: the usual one of the kernel's target.
        Raises:
            CompileError: it cannot be assembled.
            LaunchError, TypeError: the arguments do not fit.
            SimulationError: it traps, or cannot be simulated.
        """
        from pyptx.analysis.model.estimate import estimate

        return estimate(self, *args, device=device, **params)

    def roofline(self, *args: Any, device: str | Gpu | None = None, level: str = "dram", **params: Any) -> Roofline:
        """Place a call on the roofline of a GPU: its work and bytes are counted, its time is modeled.

        A call on arrays of a GPU is also timed there, on copies of them. No array is written.

        Args:
            args, params: as for check.
            device: "h200", "rtx 4090", "sm_80": a GPU of `pyptx.analysis.gpus`; default: the GPU of the arrays, else
                the usual one of the kernel's target.
            level: "dram", "l2" or "shared": the memory whose bytes are on the x axis.
        Returns:
            The roofline: .points, .roofs, .text(), .svg(), .plot(), .save(path); rooflines of one GPU can be added.
        Raises:
            LaunchError, TypeError: the arguments do not fit, or the kernel cannot run on that GPU.
            ShapeError: no such GPU or level.
        """
        from pyptx.workbench.roofline import roofline

        return roofline(self, *args, device=device, level=level, **params)


@overload
def kernel(fn: Callable[..., Any], /, **options: Any) -> Kernel: ...
@overload
def kernel(
    *,
    arch: str = "sm_90a",
    version: tuple[int, int] | None = None,
    in_specs: Iterable[Tile] | None = None,
    out_specs: Iterable[Tile] | None = None,
    grid: Grid = None,
    block: Grid = (1, 1, 1),
    cluster: Grid = (1, 1, 1),
    smem: int = 0,
    raw_params: Iterable[tuple[str, str]] | None = None,
    extern_smem: bool | str = False,
    reqntid: Grid = None,
    raw_directives: Iterable[tuple[str, Sequence[Any]]] | None = None,
    name: str | None = None,
    linking: str | None = "visible",
    unit: Unit | None = None,
    in_place: bool = False,
    debug: bool = True,
    tensor_maps: str = "pointer",
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(*fn: Callable[..., Any], **options: Any) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Turn a Python function into a kernel: `@kernel`, or `@kernel(arch="sm_90a", in_specs=..., ...)`.

    Args:
        arch: target such as "sm_80" or "sm_90a"; "auto": the target of the GPU.
        version: PTX ISA version (major, minor); default: the oldest that the target and the instructions need.
        in_specs, out_specs: Tiles of the array parameters, inputs first.
        grid: CTAs; a tuple, or a function of the symbolic sizes and template parameters it names.
        block: threads of a CTA; a tuple, or a function as for grid.
        cluster: CTAs of a cluster; a tuple, or a function as for grid.
        smem: dynamic shared memory in bytes.
        raw_params: further entry parameters, (type, name) pairs such as ("u32", "K").
        extern_smem: declare an extern shared array of this name; True: `global_smem`.
        reqntid: the block that the entry requires (PTX ISA, `.reqntid`), as for `block`.
        raw_directives: performance directives of the entry, instead of reqntid.
        name: name of the entry; default: the name of the function.
        linking: "visible", "weak" or None.
        unit: the translation unit with the variables and functions it uses.
        in_place: an output may be an input; the kernel reads each element before it overwrites it.
        debug: emit `ptx.printf` and `ptx.check_`; False removes both.
        tensor_maps: "pointer": the entry takes the address of each tensor map (`x_tma_desc`, .u64), which a launch copies to
            the GPU if it is new; "value": the map itself (.align 64 .b8 x_tma_desc[128]), as a `__grid_constant__ CUtensorMap` of CUDA C++.
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
    if unknown := options.keys() - _OPTIONS.parameters:
        raise ArgumentTypeError(
            f"@kernel has no option {', '.join(sorted(unknown))}",
            hint=f"options: {', '.join([*_OPTIONS.parameters][1:])}",
        )
    return Kernel(*fn, **options) if fn or "fn" in options else functools.partial(Kernel, **options)


# The options are listed twice: with their defaults in Declaration.of, and in the overload for static type checkers.
_OPTIONS = inspect.signature(Declaration.of).replace(return_annotation="Kernel")
_FN, *_KEYWORDS = _OPTIONS.parameters.values()
_SIGNATURE = _OPTIONS.replace(parameters=[_FN.replace(default=None), *_KEYWORDS])
_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
kernel.__signature__ = _SIGNATURE  # pyright: ignore[reportFunctionMemberAccess]
Kernel.__init__.__signature__ = inspect.Signature([_SELF, _FN, *_KEYWORDS])  # pyright: ignore[reportFunctionMemberAccess]
