"""Entries loaded on GPUs: assembled for the architecture, loaded once, limits checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from threading import Lock
from typing import Any

from pyptx.assembly import Assembly
from pyptx.errors import ArgumentValueError, BackendError, DeviceError
from pyptx.ir.nodes import Module, VarDecl
from pyptx.isa import targets
from pyptx.runtime.cuda.driver import Device, Driver, newer, remedy, version_text
from pyptx.runtime.plan import LaunchPlan
from pyptx.sim.memory.arguments import layout
from pyptx.sim.memory.texture_objects import REFERENCES, explain_reference

__all__ = ["LoadedKernel", "Program", "target_for"]

_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16


def target_for(name: str, device: Device) -> str:
    """Return the target to assemble PTX of target `name` for, so that it runs on a GPU.

    Raises:
        LaunchError: PTX of this target does not run on the GPU.
    """
    wanted = targets.parse(name)
    if not wanted.runs_on(device.target):
        rule = {"a": "runs on that architecture only", "f": "runs on its family only"}.get(
            wanted.suffix, "needs a newer architecture"
        )
        raise BackendError(
            f"the kernel targets {name}, which {rule}; it does not run on {device}",
            hint=f"target sm_{device.target.number}, or run it on the CPU with pyptx.use('sim')",
        )
    return f"sm_{device.target.number}{wanted.suffix}"


class LoadedKernel:
    """An entry in the memory of one GPU.

    Attributes:
        kernel: the driver's handle.
        free: idle prepared launches, by launch configuration.
    """

    def __init__(self, device: Device, compiled: Assembly, entry: str, kernel: Any, function: Any, driver: Driver):
        self.device, self.compiled, self.entry, self.kernel, self.function = device, compiled, entry, kernel, function
        self.driver, self.free = driver, {}
        self._lock, self._dynamic_bytes, self._cluster_allowed = Lock(), 0, False
        attribute = driver.api.CUfunction_attribute
        self.static_bytes = driver.call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
        self.most_threads = driver.call(
            "cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function
        )
        self.registers = driver.call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)

    def admit(self, plan: LaunchPlan) -> None:
        """Check a launch configuration against the GPU's limits, and opt in to large shared memory and clusters.

        Raises:
            LaunchError: too many threads for the registers, too much shared memory, or an unsupported cluster.
        """
        threads = prod(plan.block)
        if threads > self.most_threads:
            raise ArgumentValueError(
                f"{self.entry}: block {plan.block} has {threads} threads; with {self.registers} "
                f"registers per thread, {self.device} runs at most {self.most_threads} threads per CTA",
                hint="use fewer threads, or limit the registers with .maxnreg or --maxrregcount",
            )
        most = self.device.smem_per_cta - self.static_bytes
        if plan.smem_bytes > most:
            beside = f" beside {self.static_bytes} static bytes" if self.static_bytes else ""
            raise ArgumentValueError(
                f"{self.entry}: {plan.smem_bytes} bytes of dynamic shared memory; {self.device} has at "
                f"most {most} per CTA{beside}"
            )
        size = prod(plan.cluster)
        if size > 1 and self.device.target.number < 90:
            raise BackendError(f"{self.entry}: cluster {plan.cluster}, but clusters need sm_90; this is {self.device}")
        if size > _LARGEST_CLUSTER:
            raise ArgumentValueError(
                f"{self.entry}: cluster {plan.cluster} has {size} CTAs; at most {_LARGEST_CLUSTER}"
            )
        with self._lock:
            attribute = self.driver.api.CUfunction_attribute
            if plan.smem_bytes > self._dynamic_bytes:
                self.driver.call(
                    "cuFuncSetAttribute",
                    self.function,
                    attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    plan.smem_bytes,
                    doing=f"{self.entry}: asking for {plan.smem_bytes} bytes of dynamic shared memory",
                )
                self._dynamic_bytes = plan.smem_bytes
            if size > _PORTABLE_CLUSTER and not self._cluster_allowed:
                self.driver.call(
                    "cuFuncSetAttribute",
                    self.function,
                    attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                    1,
                    doing=f"{self.entry}: asking for clusters of {size} CTAs",
                )
                self._cluster_allowed = True


class Program:
    """An entry of a module, loaded on each GPU on its first launch there.

    Attributes:
        slots: parameters with their offsets in the parameter block.
        aligned: required alignment in bytes of the pointers that declare one.
    Raises:
        LaunchError: the module declares textures or surfaces as variables.
    """

    def __init__(self, driver: Driver, module: Module, entry: str, assemble: Callable[[str], Assembly]):
        self.entry, self._driver, self._assemble = entry, driver, assemble
        for variable in module.directives:
            if isinstance(variable, VarDecl) and variable.type.value in REFERENCES:
                raise ArgumentValueError(
                    f"{entry}: {variable.name}: {explain_reference(variable.type.value, variable.name)}"
                )
        self._written_for: Sequence[str] = module.target.targets
        function = next(f for f in module.entries if f.name == entry)
        self.slots = layout(function)
        self.aligned = {p.name: p.ptr_alignment for p in function.params if p.ptr_alignment}
        self._loaded: dict[int, LoadedKernel] = {}
        self._libraries: dict[str, tuple[Assembly, Any]] = {}
        self._lock = Lock()

    def share(self, shared: dict[str, Any]) -> None:
        """Load no library twice among the entries of a module, whose common state is `shared`."""
        self._libraries, self._lock = shared.setdefault("cuda", (self._libraries, self._lock))

    def variable(self, name: str, device: Device) -> tuple[int, int]:
        """Return address and size in bytes of a variable on a GPU, whose context is current.

        Raises:
            DeviceError: the machine code does not export it.
        """
        self.on(device)
        _, library = self._libraries[target_for(self._written_for[0], device)]
        address, size = self._driver.call(
            "cuLibraryGetGlobal", library, name.encode(), doing=f"finding the variable {name}, which must be .visible"
        )
        return int(address), int(size)

    def on(self, device: Device) -> LoadedKernel:
        """Return the entry loaded on a GPU, whose context is current.

        Raises:
            LaunchError: the target does not run on the GPU, or the driver is too old for the cubin.
            CompileError: the assembler refused the module for this target.
        """
        found = self._loaded.get(device.ordinal)
        if found is None:
            with self._lock:
                found = self._loaded.get(device.ordinal) or self._load(device)
                self._loaded[device.ordinal] = found
        return found

    def _load(self, device: Device) -> LoadedKernel:
        target = target_for(self._written_for[0], device)
        if target not in self._libraries:
            compiled = self._assemble(target)
            self._libraries[target] = compiled, self._library(compiled, device)
        compiled, library = self._libraries[target]
        with self._driver.unrelated():
            kernel = self._driver.call(
                "cuLibraryGetKernel", library, self.entry.encode(), doing=f"finding {self.entry}"
            )
            function = self._driver.call("cuKernelGetFunction", kernel, doing=f"loading {self.entry} on {device}")
        return LoadedKernel(device, compiled, self.entry, kernel, function, self._driver)

    def _library(self, compiled: Assembly, device: Device) -> Any:
        try:
            with self._driver.unrelated():
                return self._driver.call(
                    "cuLibraryLoadData", compiled.cubin, [], [], 0, [], [], 0, doing=f"loading {self.entry} on {device}"
                )
        except DeviceError as refused:
            maker, _, made = compiled.tool.partition(" ")
            if not newer(made, self._driver.version, minor=refused.code in _TOO_OLD):
                raise
            raise BackendError(
                f"{refused.message}. The driver supports CUDA {version_text(self._driver.version)}; the machine code "
                f"for {compiled.target} was generated by {maker} {made}",
                hint=remedy(made, self._driver.version),
            ) from None


_TOO_OLD = (200, 209, 218, 222)  # INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX, UNSUPPORTED_PTX_VERSION
