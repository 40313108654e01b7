"""The process of the far side that launches: `pyptx.tune.worker` with a device and launches."""

from __future__ import annotations

import signal
from typing import Any

from pyptx.benchmarking.function_calls import FunctionCalls
from pyptx.remote.launches import Device, Launches, gpus
from pyptx.tune.worker import Worker
from pyptx.tune.worker import main as serve_worker

__all__ = ["RemoteWorker", "main"]


class RemoteWorker(Worker):
    """The requests that another machine may send, see `protocol.REQUESTS`."""

    _launches: Launches | None = None
    _busy = False
    _timer: Any = None

    def device(self, name: str) -> dict[str, Any]:
        """Select the device of this process, once; return its description."""
        if self._launches is None:
            self._launches = Launches(Device(name))
        return self._launches.device.about

    def status(self, name: str) -> dict[str, Any]:
        """Select the device; return its description, its conditions, and the GPUs of this machine."""
        about = self.device(name)
        assert self._launches is not None, "the line above selects a device"
        return {"device": about, "conditions": self._launches.device.conditions(), "gpus": gpus()}

    def launch(self, streamed: bool, *arguments: Any) -> dict[str, Any]:
        """Launch; see `Launches.launch`. Output is passed on while it is written, or is part of the answer."""
        assert self._launches is not None, "the setup selects a device"
        self._busy = True
        try:
            return self._launches.launch(*arguments, say=self._say if streamed else None)
        finally:
            self._busy = False

    def _say(self, text: str) -> None:
        self.link.send((None, text))

    def function_outputs(self, functions: dict[str, Any], values: list[Any], name: str) -> dict[str, Any]:
        """Run one of the functions; see `FunctionCalls.outputs`."""
        self._busy = True
        try:
            return FunctionCalls(functions, values, self._array_device()).outputs(name)
        finally:
            self._busy = False

    def functions(self, functions: dict[str, Any], values: list[Any]) -> None:
        """Set the functions that `function_times` times beside the jobs of the GPU."""
        device = self._array_device()
        stream = int(self._gpu.stream) if device != "cpu" else None
        self._timer = FunctionCalls(functions, values, device, stream).timer(self._gpu)

    def function_times(self, name: str, count: int) -> list[float]:
        """Return the times in seconds of `count` runs of a function."""
        return list(self._timer.sample(name, count))

    def function_note(self, name: str) -> str:
        """Return how a function that was timed is timed."""
        return self._timer.notes.get(name, "")

    def _array_device(self) -> str:
        """Return the device of the arrays of functions: torch cannot use a simulated GPU."""
        if self._gpu is not None:
            return "cpu" if self._gpu.device.is_simulated else f"cuda:{self._gpu.device.ordinal}"
        assert self._launches is not None, "the setup selects a device"
        about = self._launches.device.about
        return "cpu" if about["backend"] != "cuda" or about["simulated"] else f"cuda:{about['ordinal']}"

    def read(self, *arguments: Any) -> Any:
        """Return the bytes of a variable; see `Launches.read`."""
        assert self._launches is not None, "the setup selects a device"
        return self._launches.read(*arguments)

    def write(self, *arguments: Any) -> None:
        """Set the bytes of a variable; see `Launches.write`."""
        assert self._launches is not None, "the setup selects a device"
        self._launches.write(*arguments)

    def interrupt(self, *_: object) -> None:
        """Interrupt the launch in progress, if there is one."""
        if self._busy:
            self._busy = False
            raise KeyboardInterrupt


def main() -> None:
    """Serve requests on the socket given as the first argument."""
    worker = RemoteWorker()
    signal.signal(signal.SIGINT, worker.interrupt)
    serve_worker(worker)
