"""Another machine as a backend: launches are sent to a process there, arrays by content, and results are written in place."""

from __future__ import annotations

import sys
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from pyptx import errors, sim
from pyptx.emitter import emit_lines
from pyptx.errors import ArgumentTypeError, BackendError, DeviceError, PtxError, SimulationError
from pyptx.ir.nodes import Module, VarDecl
from pyptx.isa import targets
from pyptx.remote.memory import Ranges
from pyptx.runtime.arrays import Placeholder, Runtime, staged_on_host
from pyptx.runtime.plan import LaunchPlan, LaunchResult
from pyptx.tensor_map import TensorMap

__all__ = ["Far", "RemoteBackend", "RemoteProgram"]

_LOCAL = ("stream", "findings", "progress")  # options that mean something in this process only
_OPTIONS = frozenset(
    ("engine", "seed", "threads", "max_steps", "tensor_cores", "schedule", "sanitize", "timed", "cooperative")
    + ("programmatic", "check", "reachable")
)


class Far(Protocol):
    """A process on another machine."""

    name: str
    streams: bool  # output of kernels appears while they run

    @property
    def generation(self) -> int:
        """Changes when the process was replaced."""
        ...

    def about(self) -> Mapping[str, Any]:
        """Return the description of its device, see `launches.Device`."""
        ...

    def request(self, request: tuple[Any, ...]) -> Any:
        """Send a request and return the answer; Ctrl-C interrupts it there."""
        ...

    def end(self) -> None:
        """Kill the process; the next request starts a new one."""

    def transfer(self) -> Mapping[str, Any]:
        """Return bytes sent and received so far, and how long the last request waited for the device."""
        ...

    def children(self, count: int | None, *, measuring: bool) -> AbstractContextManager[Sequence[Any]]:
        """Provide processes for a sweep."""
        ...


class RemoteBackend:
    """Launches kernels on another machine.

    Args:
        name: its address.
        far: the process there.
    """

    name: str
    options = _OPTIONS
    loads_machine_code = False

    def __init__(self, name: str, far: Far):
        self.name, self.far = name, far

    def staged(self, args: Sequence[Any]) -> Any:
        """Replace arrays by NumPy arrays over their memory, as for the simulator."""
        return staged_on_host(args)

    def about(self) -> str:
        """Return address and device of the machine; connects on first use.

        Raises:
            RemoteError: the machine cannot be reached, or cannot serve.
            BackendError: it has no such device.
        """
        about = self.far.about()
        driver = f", driver for CUDA {about['cuda']}" if "cuda" in about else ""
        return f"{self.name}: {about['name']}{driver}"

    def device(self) -> Mapping[str, Any]:
        """Return the description of its device, see `launches.Device`."""
        return self.far.about()

    def ask(self, *request: Any) -> Any:
        """Send a request to the process for launches there and return the answer."""
        return self.far.request(request)

    def children(self, count: int | None, *, measuring: bool) -> AbstractContextManager[Sequence[Any]]:
        """Provide processes there for a sweep."""
        return self.far.children(count, measuring=measuring)

    @property
    def measures(self) -> bool:
        """True if the device there is a GPU."""
        return self.far.about()["backend"] == "cuda"

    def load(self, module: Module, entry: str, assemble: Callable[[str], Any]) -> RemoteProgram:
        return RemoteProgram(module, entry, assemble)

    def variable(self, program: RemoteProgram, shared: Mapping[str, Any], name: str) -> RemoteVariable:
        """Return the memory of a variable there."""
        return RemoteVariable(self, program, name)

    def bind(
        self,
        program: RemoteProgram,
        plan: LaunchPlan,
        runtime: Runtime,
        placeholders: Sequence[Placeholder],
        values: Sequence[Any],
        maps: Sequence[TensorMap],
        *,
        apart: int,
    ) -> None:
        """Return None: every call is bound in full."""

    def launch(
        self, program: RemoteProgram, plan: LaunchPlan, args: Sequence[Any], options: Mapping[str, Any]
    ) -> LaunchResult:
        """Launch there and wait for the results, which are written to the arrays in place.

        Raises:
            LaunchError: an argument or an option does not fit, or cannot be sent.
            RemoteError: the machine cannot be reached, or the connection was lost.
            DeviceError, SimulationError: the kernel faulted there.
        """
        if unusable := options.keys() - _OPTIONS:
            name = min(unusable)
            reason = "applies to this process only" if name in _LOCAL else "is unknown"
            raise ArgumentTypeError(
                f"{program.entry}: the option {name} {reason}; options of launches on {self.name}: {', '.join(sorted(_OPTIONS))}"
            )
        reachable = list(options.get("reachable", ()))
        ranges = Ranges([*args, *reachable])
        described = self._described(program, plan.entry.name)
        if reachable and self.measures:
            raise BackendError(
                f"{program.entry}: reachable= needs addresses of memory, and those of a GPU on another machine are unknown here",
                hint="run it on the simulator: pyptx.use('sim')",
            )
        request = (
            "launch",
            self.far.streams,
            described,
            (plan.grid, plan.block, plan.cluster, plan.smem_bytes),
            [ranges.plain(arg) for arg in args],
            [ranges.plain(array) for array in reachable],
            ranges.bytes,
            {name: value for name, value in options.items() if name != "reachable"},
        )
        answer = self.far.request(request)
        if answer.get("interrupted"):
            raise KeyboardInterrupt
        for memory, changed in zip(ranges.bytes, answer.get("ranges", ()), strict=False):
            if changed is not None:
                memory[:] = changed
        if answer.get("printed"):
            sys.stdout.write(answer["printed"])
        if "error" in answer:
            raise self._error(answer["error"], program)
        program.notice(self.far.generation, self.name)
        return self._result(answer)

    def _described(self, program: RemoteProgram, entry: str) -> dict[str, Any]:
        """Return a program for the far side: its text, and machine code for a GPU."""
        found: dict[str, Any] = {"text": program.text, "entry": entry, "owner": program.owner}
        about = self.far.about()
        if about["backend"] == "cuda":
            found |= program.machine_code(about)
        return found

    def _result(self, answer: Mapping[str, Any]) -> LaunchResult:
        about = self.far.about()
        return LaunchResult(
            about["backend"],
            answer["seconds"],
            answer["counters"],
            answer["findings"],
            host=self.name,
            conditions={
                "gpu": about["name"],
                "simulated": about["backend"] == "sim" or about["simulated"],
                **({"driver": about["driver"]} if "driver" in about else {}),
                **answer["conditions"],
                **self.far.transfer(),
            },
        )

    def _error(self, found: Mapping[str, Any], program: RemoteProgram) -> PtxError:
        """Return the error that the far side reported, at the Python line of its instruction."""
        kind = getattr(errors, found["type"], None)
        if not (isinstance(kind, type) and issubclass(kind, PtxError)):
            kind = BackendError
        if issubclass(kind, DeviceError):
            self.far.end()  # the context there is unusable
            return kind(found["message"], code=found.get("code", 0), hint=found["hint"])
        if issubclass(kind, SimulationError):
            numbers = found["instructions"]
            return kind(
                found["message"],
                kind=found["kind"],
                instructions=numbers,
                hint=found["hint"],
                at=program.place(numbers),
            )
        if issubclass(kind, errors._DiagnosticsError):
            kind = BackendError
        return kind(found["message"], hint=found["hint"])


class RemoteProgram:
    """An entry of a module for another machine."""

    def __init__(self, module: Module, entry: str, assemble: Callable[[str], Any]):
        self.entry, self._module, self._assemble = entry, module, assemble
        self.text = emit_lines(module).text.encode()
        self.has_variables = any(isinstance(directive, VarDecl) for directive in module.directives)
        self.owner = uuid.uuid4().hex if self.has_variables else ""
        self._generation: int | None = None

    def share(self, shared: dict[str, Any]) -> None:
        """Use the variables that the entries of the module have in common."""
        if self.has_variables:
            self.owner = shared.setdefault("remote", self.owner)

    def machine_code(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """Return the machine code for a GPU, assembled here."""
        from pyptx.runtime.cuda.program import target_for  # late: loads the driver

        device: Any = _FarGpu(about["name"], about["target"])
        target = target_for(self._module.target.targets[0], device)
        compiled = self._assemble(target)
        return {"cubin": bytes(compiled.cubin), "target": target, "tool": compiled.tool}

    def place(self, instructions: Sequence[int]) -> Any:
        """Return the Python location of an instruction; None if it has none."""
        try:
            return sim.load(self._module, self.entry).instructions[instructions[0]].place
        except (PtxError, IndexError):
            return None

    def notice(self, generation: int, where: str) -> None:
        """Warn when the process there was replaced: variables of the module have their initial values again."""
        if self.has_variables and self._generation not in (None, generation):
            warnings.warn(
                f"the process on {where} was replaced; the variables of {self.entry}'s module started from their initial values",
                RuntimeWarning,
                stacklevel=2,
            )
        self._generation = generation


class _FarGpu(SimpleNamespace):
    """The GPU of another machine, for the choice of a target."""

    def __init__(self, name: str, target: str):
        super().__init__(target=targets.parse(target), name=name)

    def __str__(self) -> str:
        return f"{self.name} ({self.target.name})"


class RemoteVariable:
    """Memory of a variable on another machine."""

    def __init__(self, backend: RemoteBackend, program: RemoteProgram, name: str):
        self._backend, self._program, self._name = backend, program, name

    def read(self) -> np.ndarray:
        described = self._backend._described(self._program, self._program.entry)
        return np.array(self._backend.far.request(("read", described, self._name)))

    def write(self, data: np.ndarray) -> None:
        described = self._backend._described(self._program, self._program.entry)
        self._backend.far.request(("write", described, self._name, data))
