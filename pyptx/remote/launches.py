"""Launches on the far side: programs are loaded once, memory arrives as ranges of bytes, and changed ranges return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from pyptx.errors import BackendError, DeviceError, PtxError, SimulationError
from pyptx.ir.nodes import VarDecl
from pyptx.jit.specialization import Specialization, specializations
from pyptx.parser import parse
from pyptx.remote.captured_output import CapturedOutput
from pyptx.remote.memory import restored
from pyptx.runtime import backend_of
from pyptx.runtime.arrays import Backend
from pyptx.runtime.cuda.driver import version_text

__all__ = ["Device", "Launches", "gpus"]

_ALIGNMENT = 512  # bytes, as of memory that a GPU allocates
_LOADED = 256  # programs without variables that stay loaded


class Device:
    """The device of a process: a GPU, a simulated GPU, or the simulator.

    Args:
        name: "cuda:1", "sim", a GPU of the table, which is simulated, or "" for the first GPU, else the simulator.
    Attributes:
        about: {"backend", "name", "queue"}, and of GPUs "ordinal", "target", "driver", "cuda", "simulated".
    Raises:
        OptionError, BackendError: there is no such device.
    """

    about: dict[str, Any]

    def __init__(self, name: str):
        self._simulated: Any = None
        if name in ("", "sim") or name.startswith("cuda"):
            self.backend_name = "cuda" if name.startswith("cuda") or (not name and gpus()) else "sim"
        else:
            from pyptx.cuda_device.in_process import device  # late: it loads a driver

            self._simulated = device(name)
            self._simulated.__enter__()
            self.backend_name = "cuda"
        self.backend: Backend = backend_of(self.backend_name)
        number = name.partition(":")[2]
        self.ordinal = int(number) if number.isdigit() else 0
        self.about = (
            self._about() if self.backend_name == "cuda" else {"backend": "sim", "name": "simulator", "queue": None}
        )

    def _about(self) -> dict[str, Any]:
        driver: Any = getattr(self.backend, "driver")  # noqa: B009 - of the CUDA backend
        if self.ordinal >= driver.count:
            raise BackendError(f"there is no GPU {self.ordinal}: this machine has {driver.count}")
        found = driver.device(self.ordinal)
        uuid = bytes(driver.call("cuDeviceGetUuid", found.handle).bytes).hex()
        return {
            "backend": "cuda",
            "name": found.name,
            "queue": found.name if found.is_simulated else f"{found.name} {uuid[:8]}",
            "ordinal": self.ordinal,
            "target": f"sm_{found.target.number}",
            "driver": str(driver.version),
            "cuda": version_text(driver.version),
            "uuid": uuid,
            "simulated": found.is_simulated,
        }

    def conditions(self) -> dict[str, Any]:
        """Return clock, temperature and power of the GPU; empty for a simulated one."""
        if self.backend_name != "cuda" or self.about["simulated"]:
            return {}
        from pyptx.tune.nvml import Conditions

        return Conditions(bytes.fromhex(self.about["uuid"])).now()


class Launches:
    """The programs that a process has loaded, and their launches.

    Args:
        device: where they run.
    """

    def __init__(self, device: Device):
        self.device = device
        self._entries: dict[tuple[bytes, str], dict[str, Specialization]] = {}  # module and owner -> its entries
        self._programs: dict[tuple[bytes, str, str], Any] = {}

    def launch(
        self,
        program: Mapping[str, Any],
        plan: Sequence[Any],
        args: Sequence[Any],
        reachable: Sequence[Any],
        ranges: Sequence[np.ndarray],
        options: Mapping[str, Any],
        say: Callable[[str], None] | None = None,
    ) -> dict[str, Any]:
        """Launch, and return the result or the error as plain values.

        Args:
            program: {"text", "entry", "owner"}, the PTX text as bytes, and, for a GPU, {"cubin", "target", "tool"}.
            plan: grid, block, cluster, bytes of dynamic shared memory.
            args, reachable: arguments, with references in place of arrays.
            ranges: the memory that they refer to.
            say: called with what is printed while it is; None: it is part of the result.
        Returns:
            {"ranges", "seconds", "counters", "findings", "printed", "conditions"}, where unchanged ranges are None; or
            {"error"} with the fields of a PtxError.
        """
        memory = [_copied(one) for one in ranges]
        printed = CapturedOutput(say)
        found: dict[str, Any]
        with printed:
            try:
                result = self._run(
                    program,
                    plan,
                    [restored(arg, memory) for arg in args],
                    [restored(a, memory) for a in reachable],
                    options,
                )
                found = {"seconds": result.seconds, "counters": result.counters, "findings": tuple(result.findings)}
            except PtxError as error:
                found = {"error": _fields(error)}
            except KeyboardInterrupt:
                return {"interrupted": True}
        if "error" not in found:
            found["conditions"] = self.device.conditions()
        return {**found, "ranges": _changed(ranges, memory), "printed": printed.text()}

    def _run(
        self,
        program: Mapping[str, Any],
        plan: Sequence[Any],
        args: list[Any],
        reachable: list[Any],
        options: Mapping[str, Any],
    ) -> Any:
        backend = self.device.backend
        specialization, loaded = self._loaded(program)
        grid, block, cluster, smem_bytes = plan
        if backend.name == "cuda":
            options = {"timed": True, "check": True, **options}
        with backend.staged([*args, *reachable]) as staged:
            if reachable:
                options = {**options, "reachable": staged[len(args) :]}
            values, planned = staged[: len(args)], specialization.plan(grid, block, cluster, smem_bytes)
            return backend.launch(loaded, planned, values, options)

    def _loaded(self, program: Mapping[str, Any]) -> tuple[Specialization, Any]:
        key = program["text"], program["owner"]
        if key not in self._entries:
            self._entries[key] = specializations(parse(program["text"].decode()))
        specialization = self._entries[key][program["entry"]]
        name = *key, program["entry"]
        if name not in self._programs:
            if len(self._programs) >= _LOADED:
                self._forget_programs()
            found = self.device.backend.load(specialization.module, specialization.entry.name, _given(program))
            found.share(specialization.shared)
            self._programs[name] = found
        return specialization, self._programs[name]

    def _forget_programs(self) -> None:
        """Unload the programs whose modules have no variables, which hold no state."""
        for key, entries in list(self._entries.items()):
            module = next(iter(entries.values())).module
            if not any(isinstance(directive, VarDecl) for directive in module.directives):
                del self._entries[key]
                self._programs = {name: one for name, one in self._programs.items() if name[:2] != key}

    def read(self, program: Mapping[str, Any], name: str) -> np.ndarray:
        """Return the bytes of a variable of a module."""
        specialization, loaded = self._loaded(program)
        return self.device.backend.variable(loaded, specialization.shared or {}, name).read()

    def write(self, program: Mapping[str, Any], name: str, data: np.ndarray) -> None:
        """Set the bytes of a variable of a module."""
        specialization, loaded = self._loaded(program)
        self.device.backend.variable(loaded, specialization.shared or {}, name).write(np.array(data))


def _given(program: Mapping[str, Any]) -> Any:
    """Return the function that "assembles" a program: its machine code was sent along."""

    def assemble(target: str) -> Any:
        if program.get("target") != target:
            raise BackendError(
                f"{program['entry']} was assembled for {program.get('target')}, but this GPU needs {target}"
            )
        return SimpleNamespace(cubin=program["cubin"], tool=program["tool"], target=target)

    return assemble


def gpus() -> list[str]:
    """Return the names of the GPUs of this machine; none without a driver."""
    driver: Any = getattr(backend_of("cuda"), "driver")  # noqa: B009 - of the CUDA backend
    try:
        return [driver.device(ordinal).name for ordinal in range(driver.count)]
    except PtxError:
        return []


def _copied(data: np.ndarray) -> np.ndarray:
    """Return a copy that is aligned as memory of a GPU is."""
    whole = np.empty(data.nbytes + _ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % _ALIGNMENT
    part = whole[start : start + data.nbytes]
    part[:] = data.reshape(-1)
    return part


def _changed(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> list[np.ndarray | None]:
    return [None if np.array_equal(a.reshape(-1), b) else b for a, b in zip(before, after, strict=True)]


def _fields(error: PtxError) -> dict[str, Any]:
    """Return what an error consists of."""
    found: dict[str, Any] = {"type": type(error).__name__, "message": error.message, "hint": error.hint}
    if isinstance(error, SimulationError):
        found |= {"kind": error.kind, "instructions": tuple(map(int, error.instructions))}
    if isinstance(error, DeviceError):
        found["code"] = error.code
    if not error.message or (hasattr(error, "diagnostics") and not isinstance(error, SimulationError)):
        found["message"] = str(error)
    return found
