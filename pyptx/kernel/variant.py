"""One entry of one module, ready to be compiled and launched: what kernels and loaded PTX have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any

from pyptx import validate
from pyptx._geometry import byte_count
from pyptx.emitter import Emitted, with_locations
from pyptx.errors import CompileError, Diagnostic
from pyptx.ir.nodes import Function, Module
from pyptx.runtime import Dim3, LaunchPlan, LaunchResult, Runtime

if TYPE_CHECKING:
    from pyptx.compiled import Compiled

__all__ = ["Variant", "device_arrays", "roofline"]


_ON_GPU = LaunchResult("cuda", None)


@dataclass(slots=True, eq=False)
class Variant:
    """A module, the entry meant, and what the assembler and the backends made of them so far.

    Attributes:
        emitted: the text, with the Python place of each line.
        dynamic_bytes: dynamic shared memory the entry needs by itself.
        tma_tensors: tensors whose maps are parameters, in order.
        params: sizes and template values it was traced with.
    """

    module: Module
    entry: Function
    emitted: Emitted
    dynamic_bytes: int = 0
    tma_tensors: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    _last_run: LaunchResult | None = None
    _lock: Any = field(default_factory=RLock)
    _programs: dict[str, Any] = field(default_factory=dict)
    _compiled: dict[tuple, Compiled] = field(default_factory=dict)
    _diagnostics: tuple[Diagnostic, ...] | None = None

    @property
    def last_run(self) -> LaunchResult | None:
        """What the newest launch gave; None before the first. It does not keep arrays on a GPU alive."""
        if self._last_run is _ON_GPU:
            self._last_run = replace(_ON_GPU)
        return self._last_run

    def ran_on_gpu(self) -> None:
        """Note a launch whose result is made when somebody asks."""
        self._last_run = _ON_GPU

    def ran(self, result: LaunchResult, outputs: Sequence[Any]) -> LaunchResult:
        """Note what a launch gave, with the arrays for its results."""
        self._last_run = LaunchResult(result.backend, result.seconds, result.counters, result.findings, tuple(outputs))
        return self._last_run

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the table refuses or warns of, found once."""
        if self._diagnostics is None:
            self._diagnostics = (*self.module.diagnostics, *validate.check(self.module))
        return self._diagnostics

    def require_valid(self) -> None:
        """Raise everything the table refuses, each at its Python place.

        Raises:
            CompileError: an instruction no form fits, an undeclared register, a version or target too old.
        """
        errors = [d for d in self.diagnostics if d.severity == "error"]
        if errors:
            raise CompileError(errors)

    def compile(self, options: Iterable[str] = (), *, lineinfo: bool = False, arch: str | None = None) -> Compiled:
        """Validate and assemble, once for each choice of arguments.

        Args:
            options: of ptxas.
            lineinfo: write `.loc` directives too.
            arch: assemble for another target than the module names.
        """
        self.require_valid()
        target = arch or self.module.target.targets[0]
        key = (tuple(options), lineinfo, target)
        if key in self._compiled:
            return self._compiled[key]
        from pyptx.compiled import compile_module  # late: the tools and their cache; the simulator needs none

        with self._lock:                                    # threads that meet here assemble it once
            if key not in self._compiled:
                emitted = with_locations(self.emitted) if lineinfo else self.emitted
                self._compiled[key] = compile_module(self.module, emitted.text, emitted.places, target=target,
                                                     options=key[0], lineinfo=lineinfo, name=self.entry.name)
            return self._compiled[key]

    def view(self, compiled: Compiled, *, block: Dim3 | None, dynamic_bytes: int = 0) -> Any:
        """The linked view of what was compiled, with the counters of the newest launch beside the lines, and with the
        source lines that `.loc` names where PTX was loaded that a compiler wrote."""
        counters = self.last_run.counters if self.last_run else None
        return import_module("pyptx.views").linked(
            import_module("pyptx.views.code.locs").with_sources(compiled), counters=counters, block=block,
            dynamic_shared_bytes=max(dynamic_bytes, self.dynamic_bytes))

    def program(self, runtime: Runtime) -> Any:
        """The entry as a backend runs it, made once."""
        found = self._programs.get(runtime.name)
        if found is None:
            with self._lock:
                found = self._programs.get(runtime.name)
                if found is None:
                    found = self._programs[runtime.name] = runtime.backend.load(
                        self.module, self.entry.name, lambda target: self.compile(arch=target))
        return found

    def plan(self, grid: Dim3, block: Dim3, cluster: Dim3 = (1, 1, 1), smem_bytes: int = 0) -> LaunchPlan:
        """The geometry of a launch, checked; `smem_bytes` where it is more than the entry needs by itself."""
        return LaunchPlan(self.entry, grid, block, cluster, max(byte_count(smem_bytes, self.entry.name),
                                                                self.dynamic_bytes))

    def check(self, grid: Dim3, block: Dim3, args: Sequence[Any], *, cluster: Dim3 = (1, 1, 1), smem_bytes: int = 0,
              **options: Any) -> Any:
        """Run it in several schedules, on copies of the arrays; options as of pyptx.check.check."""
        self.require_valid()
        plan = self.plan(grid, block, cluster, smem_bytes)
        return import_module("pyptx.check").check(self, plan, args, **options)

    def debug(self, grid: Dim3, block: Dim3, args: Sequence[Any], *, cluster: Dim3 = (1, 1, 1), smem_bytes: int = 0,
              **options: Any) -> Any:
        """Run it under the debugger, on copies of the arrays; options as of pyptx.debug.Session."""
        plan = self.plan(grid, block, cluster, smem_bytes)
        return import_module("pyptx.debug").Session(self, plan, args, **options)

    def launch(self, runtime: Runtime, grid: Dim3, block: Dim3, args: Sequence[Any], *, cluster: Dim3 = (1, 1, 1),
               smem_bytes: int = 0, outputs: Sequence[Any], settings: Mapping[str, Any]) -> LaunchResult:
        """Launch on a backend, which loads the module once."""
        self.require_valid()
        plan = self.plan(grid, block, cluster, smem_bytes)
        result = runtime.backend.launch(self.program(runtime), plan, args, settings)
        full = self.ran(result, outputs)
        if runtime.name == "cuda":
            self._last_run = result
        return full


def roofline(kernel: Any, args: Sequence[Any], **options: Any) -> Any:
    """A call of a Kernel or a launch of an Entry on the roofline of a GPU; options: pyptx.views.rooflines.placing."""
    return import_module("pyptx.views.rooflines.placing").roofline(kernel, *args, **options)


def device_arrays(runtime: Runtime, args: Iterable[Any], name: str) -> list[Any]:
    """The arrays among the arguments of a launch, each checked to be what the backend can address."""
    arrays = [a for a in args if hasattr(a, "dtype") and hasattr(a, "shape") and a.shape != ()]
    for i, array in enumerate(arrays):
        runtime.check(array, f"{name}: array {i}")
    return arrays
