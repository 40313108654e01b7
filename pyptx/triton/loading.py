"""Load a launch of a Triton kernel: the compiled kernel with its arguments, and the tools of the workbench."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from pyptx.errors import ArgumentTypeError, ArgumentValueError, PtxError
from pyptx.jit.launchable import ResolvedLaunch
from pyptx.launch_config import LaunchConfig, describe
from pyptx.triton.session import Simulation
from pyptx.triton.targets import DEFAULT, parse
from pyptx.triton.versions import require_triton
from pyptx.workbench.comparing import diff
from pyptx.workbench.entry_sweep import Candidate, EntrySweep, sweep_entries
from pyptx.workbench.program import Entry

if TYPE_CHECKING:
    from pyptx.analysis.gpus import Gpu
    from pyptx.analysis.model.prediction import Prediction
    from pyptx.check import Report
    from pyptx.debug import Session as DebugSession
    from pyptx.runtime import LaunchResult
    from pyptx.triton.stages import CompilerStages
    from pyptx.tune.space import Space
    from pyptx.views import LinkedView, Roofline
    from pyptx.views.code.ir_pane import IrLines
    from pyptx.views.diffs.diff import Diff

__all__ = ["TritonEntry", "load", "load_launch"]

Grid = int | Sequence[int] | Callable[[Mapping[str, Any]], Any]


def load(kernel: Any, *args: Any, grid: Grid, target: str = DEFAULT, **meta: Any) -> TritonEntry:
    """Compile a launch of a Triton kernel for a target, without executing it.

    Args:
        kernel: a function under `@triton.jit` or `@gluon.jit`, also with `@triton.autotune` and `@triton.heuristics`.
        args: its arguments: torch tensors on the CPU, NumPy arrays, numbers, tuples, tensor descriptors.
        grid: one to three sizes, or a function of the meta-parameters that returns them.
        target: "sm_80", "sm_89", "sm_90a", "sm_100a" or "sm_120a".
        meta: meta-parameters and compilation options by keyword: `BLOCK=128, num_warps=8`.
    Returns:
        The entry with its launch: `view()`, `check()`, `debug()`, `estimate()`, `roofline()`, `launch()` use it.
    Raises:
        BackendError: Triton is not installed, or its version is not supported.
        LaunchError: an argument does not fit, or the call launches nothing.
        Exception: what Triton's compiler raises.
    """
    require_triton()
    run = getattr(kernel, "run", None)
    if run is None or not hasattr(kernel, "__getitem__"):
        raise ArgumentTypeError(
            f"{describe(kernel)} is not a Triton kernel", hint="pass a function decorated with @triton.jit"
        )

    def again(**new: Any) -> TritonEntry:
        return load(kernel, *args, **{"grid": grid, "target": target, **meta, **new})

    entry = load_launch(lambda: kernel[_grid(grid)](*args, **meta), target, again)
    if entry is None:
        raise ArgumentValueError(f"{getattr(kernel, '__name__', kernel)} launches nothing: its grid is empty")
    return entry


def load_launch(
    call: Callable[[], Any], target: str = DEFAULT, again: Callable[..., TritonEntry] | None = None
) -> TritonEntry | None:
    """Return the entry of the last launch that a call makes, which is not executed; None if it makes none.

    Args:
        call: launches a Triton kernel, and returns what the launch returns.
        target: as for `load`.
        again: returns the entry for other meta-parameters.
    """
    with _Capture(Simulation(parse(target), False, {}, {}, {})) as capture:
        call()
    if capture.launch is None:
        return None
    return TritonEntry(*capture.launch, again)


def _grid(grid: Grid) -> Any:
    if callable(grid):
        return lambda meta: _sizes(grid(meta))
    return _sizes(grid)


def _sizes(grid: Any) -> tuple[Any, ...]:
    return (grid,) if hasattr(grid, "__index__") else tuple(grid)


class _Capture(ExitStack):
    """A context in which a session records the last launch and does not execute it."""

    def __init__(self, session: Simulation):
        super().__init__()
        self._session = session
        self.launch: tuple[Entry, LaunchConfig, list[Any], CompilerStages] | None = None

    def __enter__(self) -> _Capture:
        self._session.capture = self._record
        self._session.begin()
        self.callback(self._session.end)
        super().__enter__()
        return self

    def _record(self, entry: Entry, config: LaunchConfig, values: Sequence[Any], stages: CompilerStages) -> None:
        self.launch = entry, config, list(values), stages


class TritonEntry(Entry):
    """A compiled Triton kernel with a launch; the methods of `Entry` use that launch when they get no other arguments.

    Attributes:
        config: grid, block, cluster and dynamic shared memory of the launch.
        stages: the texts of Triton's stages.
    """

    config: LaunchConfig
    stages: CompilerStages

    def __init__(
        self,
        entry: Entry,
        config: LaunchConfig,
        values: Sequence[Any],
        stages: CompilerStages,
        again: Callable[..., TritonEntry] | None = None,
    ):
        super().__init__(entry._specialization)
        self.config, self._values, self.stages, self._again = config, tuple(values), stages, again

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self._specialization.params.items())
        return f"<pyptx triton entry {self.name}({given}), grid {self.config.grid}>"

    def with_meta(self, **meta: Any) -> TritonEntry:
        """Return the same launch compiled with other meta-parameters, compilation options, `grid=` or `target=`."""
        if self._again is None:
            raise ArgumentValueError(
                f"{self.name} was recorded from a launch and cannot be compiled again",
                hint="use pyptx.triton.load(kernel, *args, grid=...)",
            )
        return self._again(**meta)

    @property
    def ttir(self) -> str:
        """Triton's IR before it is lowered for the GPU."""
        return self.stages.text("ttir")

    @property
    def ttgir(self) -> str:
        """Triton's GPU IR, with layouts and asynchronous operations."""
        return self.stages.text("ttgir")

    @property
    def llir(self) -> str:
        """The LLVM IR."""
        return self.stages.text("llir")

    def _launch_of(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return args or (self.config, *self._values)

    def view(self, *args: Any, ir: str | IrLines | None = None, **options: Any) -> LinkedView:
        """Return the linked view Triton | PTX | SASS; arguments as for `Entry.view`.

        Args:
            ir: "ttgir" or "ttir": also show Triton's IR, linked with the Triton lines and with the PTX of the same line,
                column and callers.
        """
        return super().view(*self._launch_of(args), ir=self.stages.ir(ir) if isinstance(ir, str) else ir, **options)

    def launch(self, *args: Any, **options: Any) -> LaunchResult:
        """Launch on the simulator; arguments as for `Entry.launch`."""
        return super().launch(*self._launch_of(args), **options)

    def resolve(self, config: Any, args: Sequence[Any], params: Mapping[str, Any], out: Any = None) -> ResolvedLaunch:
        """Resolve a launch; see `Entry.resolve`."""
        if config is None and not args:
            config, args = self.config, self._values
        return super().resolve(config, args, params, out)

    def check(self, *args: Any, **options: Any) -> Report:
        """Check the launch in several schedules; arguments as for `Entry.check`. Findings have Triton lines."""
        return super().check(*self._launch_of(args), **options)

    def debug(self, *args: Any, **options: Any) -> DebugSession:
        """Start a debugging session, which steps by Triton lines; arguments as for `Entry.debug`."""
        return super().debug(*self._launch_of(args), **options)

    def estimate(self, *args: Any, **options: Any) -> Prediction:
        """Predict the time of the launch; arguments as for `Entry.estimate`."""
        return super().estimate(*self._launch_of(args), **options)

    def roofline(self, *args: Any, **options: Any) -> Roofline:
        """Place the launch on the roofline of a GPU; arguments as for `Entry.roofline`."""
        return super().roofline(*self._launch_of(args), **options)

    def diff(self, other: Any = None, **meta: Any) -> Diff:
        """Compare with another entry, or with the same launch compiled with other meta-parameters.

        Args:
            other: anything that `pyptx.diff` takes; None: `with_meta(**meta)`.
            meta: meta-parameters and compilation options, `target=` included.
        """
        if (other is None) == (not meta):
            raise ArgumentTypeError("diff() takes another entry, or meta-parameters: entry.diff(num_warps=8)")
        return diff(self, self.with_meta(**meta) if other is None else other)

    def sweep(
        self,
        space: Space | Mapping[str, Iterable[Any]],
        *,
        device: str | Gpu | None = None,
        check: bool = False,
    ) -> EntrySweep:
        """Compile the launch for all values of meta-parameters and compilation options, and model the times.

        Args:
            space: {"BLOCK": [64, 128], "num_warps": [4, 8]}, or a `pyptx.tune.Space` with restrictions.
            device: a GPU of the table, as for `estimate`.
            check: also check each configuration; findings make it "wrong".
        """
        from triton.errors import TritonError

        refused = (PtxError, TritonError, RuntimeError, ValueError, AssertionError)  # as its compiler raises them

        def defect(entry: TritonEntry) -> str:
            report = entry.check(random=0)
            return "" if report.ok else report.findings[0].message

        def candidate(**config: Any) -> Candidate:
            entry = self.with_meta(**config)
            return Candidate(
                entry,
                entry.name,
                entry.config.smem_bytes,
                lambda on: entry.estimate(device=on),
                lambda: defect(entry) if check else "",
            )

        return sweep_entries(
            candidate,
            space,
            title=self.name,
            target=self._specialization.module.target.targets[0],
            device=device,
            refusals=refused,
        )
