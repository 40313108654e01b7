"""Specializations: one entry of one module, ready to be compiled and launched; of a kernel or of loaded PTX."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from threading import RLock
from typing import TYPE_CHECKING, Any

from pyptx import validate
from pyptx.emitter import Emitted, emit_lines, with_locations
from pyptx.errors import ArgumentValueError, CompileError, Diagnostic
from pyptx.ir.nodes import Function, Module
from pyptx.ir.visit import undefined_functions
from pyptx.jit.traced import Source, Traced
from pyptx.launch_config import byte_count
from pyptx.runtime import Dim3, LaunchPlan, LaunchResult, Runtime

if TYPE_CHECKING:
    from pyptx.assembly import Assembly

__all__ = ["ArtifactType", "Specialization", "assembly_type", "device_arrays", "specializations"]

ArtifactType = Callable[[], "type[Assembly]"]


def assembly_type() -> type[Assembly]:
    """Return `Assembly`, loaded on use."""
    from pyptx.assembly import Assembly

    return Assembly


_ON_GPU = LaunchResult("cuda", None)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Specialization:
    """An entry of a module with its compiled code and loaded programs, which are created once.

    Attributes:
        source: the trace with tree and text, or the record of one; see `Source`.
        dynamic_bytes: dynamic shared memory the entry itself requests, in bytes.
        tma_tensors: tensors whose tensor maps are parameters, in order.
        params: sizes and template values it was traced with.
        artifact: returns the class of compile results; called on first compilation.
        shared: state that the entries of a loaded module have in common: variables, libraries, the backend used last.
        cluster_needed: CTAs that the cluster of a launch must have; None: any.
        last_check: report of the last check of a launch of it, None before the first; set by the tools that check.
        display_name: name shown to users where the entry's is mangled; see `title`.
        objects: texts that are assembled and linked in place of the module's; empty for a module that was not linked.
    """

    source: Source
    dynamic_bytes: int = 0
    tma_tensors: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    artifact: ArtifactType = assembly_type
    objects: tuple[str, ...] = ()
    shared: dict[str, Any] | None = None
    display_name: str | None = None
    cluster_needed: int | None = None
    last_check: Any = None
    _last_run: LaunchResult | None = None
    _lock: Any = field(default_factory=RLock)
    _programs: dict[str, Any] = field(default_factory=dict)
    _compiled: dict[tuple[Any, ...], Assembly] = field(default_factory=dict)
    _batched: dict[tuple[Any, ...], Specialization | str] = field(default_factory=dict)
    _diagnostics: tuple[Diagnostic, ...] | None = None
    _undefined: tuple[str, ...] | None = None

    @property
    def module(self) -> Module:
        """The tree."""
        return self.source.module

    @property
    def entry(self) -> Function:
        """The entry in the tree."""
        return self.source.entry

    @property
    def emitted(self) -> Emitted:
        """The text, with the Python place of each line."""
        return self.source.emitted

    @property
    def origin(self) -> str:
        """Its origin: "trace cache", "traced", or "traced, not cached: " with the reason."""
        return self.source.origin

    @property
    def title(self) -> str:
        """The name of the entry for users."""
        return self.display_name or self.source.signature.name

    @property
    def last_run(self) -> LaunchResult | None:
        """The result of the last launch, None before the first. It does not keep GPU arrays alive."""
        if self._last_run is _ON_GPU:
            self._last_run = replace(_ON_GPU)
        return self._last_run

    def ran_on_gpu(self) -> None:
        """Record a launch on a GPU; its result is created when `last_run` is read."""
        self._last_run = _ON_GPU

    def ran(self, result: LaunchResult, outputs: Sequence[Any]) -> LaunchResult:
        """Record the result of a launch together with its output arrays."""
        self._last_run = LaunchResult(
            result.backend,
            result.seconds,
            result.counters,
            result.findings,
            tuple(outputs),
            result.host,
            result.conditions,
        )
        return self._last_run

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Errors and warnings of validation, computed once."""
        if self._diagnostics is None:
            self._diagnostics = (*self.module.diagnostics, *validate.check(self.module))
        return self._diagnostics

    @property
    def undefined(self) -> tuple[str, ...]:
        """Functions that the module calls and does not define, determined once."""
        if self._undefined is None:
            self._undefined = undefined_functions(self.source.head)
        return self._undefined

    @property
    def is_relocatable(self) -> bool:
        """True if the module is a part of a program: it calls functions of other modules, or has no entry."""
        return bool(self.undefined) or not self.source.signature.is_entry

    def require_launchable(self) -> None:
        """Raise an error unless the entry can be launched.

        Raises:
            ArgumentValueError: it is a function, or calls functions that are not defined.
        """
        if not self.source.signature.is_entry:
            raise ArgumentValueError(
                f"{self.entry.name} is a .func, not an .entry, and cannot be launched",
                hint="load its module together with one that calls it: pyptx.load([...])",
            )
        if self.undefined:
            names = ", ".join(self.undefined)
            raise ArgumentValueError(
                f"the module of {self.entry.name} calls {names}, which {'is' if len(self.undefined) == 1 else 'are'} "
                "not defined in it",
                hint="load it together with the module that defines it: pyptx.load([...])",
            )

    def require_valid(self) -> None:
        """Raise all validation errors, each with its Python place.

        Raises:
            CompileError: an instruction matches no form, a register is undeclared, or the version or target is too old.
        """
        errors = [d for d in self.diagnostics if d.severity == "error"]
        if errors:
            raise CompileError(errors)

    def compile(self, options: Iterable[str] = (), *, lineinfo: bool = False, arch: str | None = None) -> Assembly:
        """Validate and assemble; results are cached by arguments.

        Args:
            options: of ptxas.
            lineinfo: also write `.loc` directives.
            arch: a target that overrides the module's.
        """
        self.require_valid()
        target = arch or self.module.target.targets[0]
        key = (tuple(options), lineinfo, target)
        if key in self._compiled:
            return self._compiled[key]
        from pyptx.assembly import compile_module  # late: loads the CUDA tools, which the simulator does not need

        with self._lock:  # concurrent threads assemble it once
            if key not in self._compiled:
                emitted = with_locations(self.emitted) if lineinfo else self.emitted
                self._compiled[key] = compile_module(
                    self.module,
                    emitted.text,
                    emitted.places,
                    target=target,
                    options=key[0],
                    lineinfo=lineinfo,
                    name=self.entry.name,
                    artifact=self.artifact(),
                    relocatable=not self.objects and self.is_relocatable,
                    objects=self.objects,
                    params=self.params,
                )
            return self._compiled[key]

    def program(self, runtime: Runtime) -> Any:
        """Return the entry loaded by a backend; it is loaded once."""
        found = self._programs.get(runtime.name)
        if found is None:
            with self._lock:
                found = self._programs.get(runtime.name)
                if found is None:
                    if runtime.backend.loads_machine_code:
                        found = runtime.backend.load(self.source.head, self.source.signature.name, self._machine_code)
                    else:
                        found = runtime.backend.load(
                            self.module, self.entry.name, lambda target: self.compile(arch=target)
                        )
                    if self.shared is not None:
                        found.share(self.shared)
                    self._programs[runtime.name] = found
        return found

    def _machine_code(self, target: str) -> Any:
        """Return the machine code for a target: an `Assembly`, or a `MachineCode` where the tree is not known."""
        found = self.source.machine_code(target)
        if found is None:
            found = self.compile(arch=target)
            self.source.assembled()
        return found

    def forget_programs(self) -> None:
        """Forget the loaded programs, because their machine code is not that of the text."""
        with self._lock:
            self._programs.clear()

    def loaded(self, backend: str) -> Any:
        """Return the program loaded by a backend, "sim" or "cuda"; None if it is not loaded."""
        return self._programs.get(backend)

    def batched(self, strides: Mapping[str, int], depth: int) -> Specialization | str:
        """Return the entry for a batch of launches in one grid, or why there is none, as a clause; determined once.

        Args:
            strides: bytes from one element's array to the next by parameter, 0 if all elements share it.
            depth: z dimension of the grid of one element.
        """
        key = (*strides.items(), depth)
        with self._lock:
            if key not in self._batched:
                self._batched[key] = self._rewritten(strides, depth)
            return self._batched[key]

    def _rewritten(self, strides: Mapping[str, int], depth: int) -> Specialization | str:
        from pyptx import grid_batch  # late: few kernels are launched for batches

        if self.tma_tensors:
            return "it uses tensor maps, which hold addresses"
        if found := grid_batch.obstacle(self.module, self.entry, strides):
            return found
        module = grid_batch.with_batched_grid(self.module, self.entry.name, strides, depth)
        entry = next(function for function in module.entries if function.name == self.entry.name)
        source = Traced(module, entry, emit_lines(module))
        return Specialization(source, self.dynamic_bytes, params=self.params, artifact=self.artifact)

    def plan(self, grid: Dim3, block: Dim3, cluster: Dim3 = (1, 1, 1), smem_bytes: int = 0) -> LaunchPlan:
        """Return the checked geometry of a launch; the larger of `smem_bytes` and what the entry requests is used."""
        entry, ctas = self.source.signature, self.cluster_needed
        if ctas is not None and prod(cluster) < ctas:
            raise ArgumentValueError(
                f"{entry.name} uses rank {ctas - 1} of a cluster, and is launched with clusters of {prod(cluster)} CTA"
                + "s" * (prod(cluster) > 1),
                at=self.source.cluster_place,
                hint=f"declare it with @kernel(cluster={ctas}), or use a rank below the size of the cluster",
            )
        return LaunchPlan(entry, grid, block, cluster, max(byte_count(smem_bytes, entry.name), self.dynamic_bytes))

    def launch(
        self,
        runtime: Runtime,
        grid: Dim3,
        block: Dim3,
        args: Sequence[Any],
        *,
        cluster: Dim3 = (1, 1, 1),
        smem_bytes: int = 0,
        outputs: Sequence[Any],
        settings: Mapping[str, Any],
    ) -> LaunchResult:
        """Launch on a backend and record the result."""
        if not self.source.is_validated:
            self.require_valid()
        self.require_launchable()
        plan = self.plan(grid, block, cluster, smem_bytes)
        if self.shared is not None:
            self.shared["backend"] = runtime.name
        result = runtime.backend.launch(self.program(runtime), plan, args, settings)
        full = self.ran(result, outputs)
        if runtime.name == "cuda":
            self._last_run = result
        return full


def specializations(
    module: Module,
    emitted: Emitted | None = None,
    artifact: ArtifactType = assembly_type,
    objects: tuple[str, ...] = (),
    shared: dict[str, Any] | None = None,
) -> dict[str, Specialization]:
    """Return the entries of a loaded module by name, which share its text; of a module without entries, the functions.

    Args:
        shared: state that they have in common, see `Specialization`; default: none yet.
    """
    emitted = emitted or emit_lines(module)
    found = module.entries or [f for f in module.functions if not f.declaration]
    shared = {} if shared is None else shared
    return {
        f.name: Specialization(Traced(module, f, emitted), artifact=artifact, objects=objects, shared=shared)
        for f in found
    }


def device_arrays(runtime: Runtime, args: Iterable[Any], name: str) -> list[Any]:
    """Return the arrays among the arguments of a launch, after checking that the backend can address them."""
    arrays = [a for a in args if hasattr(a, "dtype") and hasattr(a, "shape") and a.shape != ()]
    for i, array in enumerate(arrays):
        runtime.check(array, f"{name}: array {i}")
    return arrays
