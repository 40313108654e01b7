"""Duration of kernels by the performance model, for events and traces.

A launch is modeled before it runs, on a private copy of the memory that its arguments point to, once for each kernel,
configuration and arguments, pointers apart. What cannot be modeled has the lower bound of `kernel_time`, and stderr says so.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pyptx.analysis.gpus import Gpu
from pyptx.cuda_device.server.device_memory import Allocation, DeviceMemory
from pyptx.errors import PtxError
from pyptx.sim.memory.address_space import Buffer, Segment
from pyptx.sim.plan import Plan
from pyptx.sim.profile import ClusterProfiler

if TYPE_CHECKING:
    from pyptx.assembly import Assembly
    from pyptx.cuda_device.server.launches import KernelLaunch

__all__ = ["ModeledTimes"]

_MOST_ARGUMENTS = 16  # of a kernel and configuration that are modeled; further ones have the time of the last
_MOST_BYTES = 8 << 30  # of the memory that the arguments point to
_MOST_STEPS = 5_000_000  # instructions of the warps of a sample
_NO_RESERVE = 0x4000  # MAP_NORESERVE of Linux
_MOST_TEXT = 4 << 20  # bytes of the PTX of a module


@dataclass(eq=False)
class _Launch:
    """A launch as `pyptx.analysis.work` counts it."""

    launch: KernelLaunch
    plan: Plan
    memory: DeviceMemory
    used: Sequence[Allocation]
    more: Sequence[Segment]

    @property
    def specialization(self) -> _Launch:
        return self

    @property
    def module(self) -> Any:
        return self.launch.kernel.module.tree

    def require_valid(self) -> None:
        """Do nothing: the module was checked when it was loaded."""

    def observer(self, *, own: bool = False) -> ClusterProfiler:
        """Return its clusters, to be run one by one on the private memory."""
        segments = [Segment(a.address, Buffer(self._private(a), a.name)) for a in self.used]
        return ClusterProfiler.over(self.launch.kernel.program, self.plan, self.launch.params, [*segments, *self.more])

    def _private(self, found: Allocation) -> np.ndarray:
        if found.kind in ("mapped", "registered"):  # at other places of the file than their addresses say
            return found.bytes.copy()
        at = found.address - self.memory.base
        first = at // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        flags = mmap.MAP_PRIVATE | _NO_RESERVE
        private = mmap.mmap(self.memory.file, at - first + found.size, flags, offset=first)
        return np.frombuffer(private, np.uint8)[at - first :]


@dataclass(eq=False)
class ModeledTimes:
    """The times of launches that were modeled.

    Attributes:
        wanted: launches are modeled.
    """

    gpu: Gpu
    memory: DeviceMemory
    wanted: bool = False
    _known: dict[Any, dict[Any, float | None]] = field(default_factory=dict)
    _compiled: dict[int, Assembly] = field(default_factory=dict)
    _said: set[str] = field(default_factory=set)

    def seconds(self, launch: KernelLaunch, plan: Plan, more: Sequence[Segment]) -> float | None:
        """Return the modeled duration of a launch that has not run; None if it is not modeled.

        Args:
            more: constant memory, and what else the kernel uses besides allocations.
        """
        if not self.wanted:
            return None
        used, key = self._arguments(launch)
        known = self._known.setdefault((launch.kernel.handle, launch.config), {})
        if key not in known:
            if len(known) >= _MOST_ARGUMENTS:
                return next(reversed(known.values()))
            known[key] = self._model(launch, plan, used, more)
        return known[key]

    def say_modeled(self) -> None:
        """Say once that times are modeled."""
        if "" not in self._said:
            self._said.add("")
            print(
                f"pyptx: times of events are modeled, those of a {self.gpu.name}; nothing was measured",
                file=sys.stderr,
                flush=True,
            )

    def _arguments(self, launch: KernelLaunch) -> tuple[list[Allocation], Any]:
        """Return the allocations that the arguments point to, and the arguments without addresses."""
        words = [launch.params[at : at + 8] for at in range(0, len(launch.params), 8)]
        found: dict[int, Allocation] = {}
        key: list[Any] = []
        for word in words:
            value = int.from_bytes(word, "little")
            inside = self.memory.find(value) if len(word) == 8 else None
            if inside is None:
                key.append(word)
            else:
                found[inside.address] = inside
                key.append((inside.size, value % 256))
        variables = {a.address: a for a in self.memory.allocations if a.kind.endswith("variable")}
        return list({**variables, **found}.values()), tuple(key)

    def _model(
        self, launch: KernelLaunch, plan: Plan, used: Sequence[Allocation], more: Sequence[Segment]
    ) -> float | None:
        kernel = launch.kernel
        if len(kernel.module.text) > _MOST_TEXT or kernel.program.allocates:
            return self._say(launch, "its module is large, or it calls malloc")
        if sum(a.size for a in used) > _MOST_BYTES:
            return self._say(launch, f"its arguments point to more than {_MOST_BYTES >> 30} GiB")
        try:
            return self._predicted(launch, plan, used, more)
        except (PtxError, ArithmeticError, LookupError, OSError, ValueError) as error:
            return self._say(launch, str(error).splitlines()[0] if str(error) else type(error).__name__)

    def _predicted(
        self, launch: KernelLaunch, plan: Plan, used: Sequence[Allocation], more: Sequence[Segment]
    ) -> float | None:
        from pyptx.analysis.model.estimate import predict  # late: programs without timing events do not need it
        from pyptx.analysis.work.count import work_of
        from pyptx.runtime import LaunchPlan

        kernel, config = launch.kernel, launch.config
        work = work_of(_Launch(launch, replace(plan, max_steps=_MOST_STEPS), self.memory, used, more))  # type: ignore[arg-type]
        entry = kernel.program.entry
        shape = LaunchPlan(entry, config.grid, config.block, config.cluster, config.shared_bytes)
        found = predict(self._assembly(launch), shape, work, self.gpu)
        return found.seconds if np.isfinite(found.seconds) else self._say(launch, found.summary)

    def _assembly(self, launch: KernelLaunch) -> Assembly:
        from pyptx.assembly import compile_module

        module = launch.kernel.module
        if module.handle not in self._compiled:
            text = module.text
            places = [None] * (text.count("\n") + 1)
            self._compiled[module.handle] = compile_module(
                module.tree, text, places, target=module.tree.target.targets[0], name=launch.kernel.name
            )
        return self._compiled[module.handle]

    def _say(self, launch: KernelLaunch, why: str) -> None:
        if launch.name not in self._said:
            self._said.add(launch.name)
            print(
                f"pyptx: times of {launch.name} are lower bounds from its counters, not of the performance model: {why}",
                file=sys.stderr,
                flush=True,
            )
