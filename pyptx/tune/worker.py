"""The child process of `isolation`: it answers requests on a socket until its parent exits.

A request is the name of a method and its arguments; an answer is (True, value) or (False, {fault, message, ...}). Both
are pickled; only the parent holds the other end of the socket.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from pyptx import sim
from pyptx.analysis.model.estimate import predict
from pyptx.analysis.work.call import Call
from pyptx.analysis.work.count import work_of
from pyptx.errors import DeviceError, LaunchError, PtxError, SimulationError
from pyptx.jit.specialization import specializations
from pyptx.parser import parse
from pyptx.tune.correctness import Tolerance, compare
from pyptx.tune.job import Job

__all__ = ["Worker", "serve"]

# CUDA driver error codes caused by kernels, and their keywords in tables.
_FAULTS = {
    700: "address",
    702: "hang",
    710: "assert",
    714: "stack",
    715: "instruction",
    716: "misaligned",
    717: "address",
    718: "instruction",
    719: "fault",
    721: "assert",
}


class Worker:
    """The requests a child answers. Arrays are sent once and used for all jobs.

    Attributes:
        link: to the parent, which also gets (None, text): output before the answer.
    """

    tolerance: Tolerance
    link: Connection

    def __init__(self):
        self.forget()

    def forget(self) -> None:
        """Drop the state of an earlier sweep."""
        self.inputs: list[np.ndarray] = []
        self.wanted: list[np.ndarray] | None = None
        self.full: list[np.ndarray] | None = None
        self.tolerance = Tolerance()
        self._gpu: Any = None

    def hello(self) -> int:
        """Return the process identifier."""
        return os.getpid()

    def arrays(self, inputs: list[np.ndarray], wanted: list[np.ndarray] | None, tolerance: Tolerance) -> None:
        """Set the inputs of all jobs and their expected outputs; None: unknown."""
        self.inputs, self.wanted, self.tolerance = inputs, wanted, tolerance
        if self._gpu is not None:
            self._gpu.arrays(inputs, wanted, tolerance)

    def simulate(self, job: Job, settings: dict[str, Any]) -> dict[str, Any]:
        """Run a job on the simulator; return {"reason", "error", "seconds"}, reason None for correct outputs."""
        started = time.perf_counter()
        program = sim.load(parse(job.ptx), job.entry)
        copies = [array.copy() for array in self.inputs]
        outputs = []
        for output in job.outputs:
            array = np.empty(output.shape, output.dtype)
            array.reshape(-1).view(np.uint8).fill(0 if output.zeroed else 0xFF)  # shows as NaN or -1
            outputs.append(array)
        sim.launch(
            program,
            job.grid,
            job.block,
            job.arguments([*copies, *outputs]),
            cluster=job.cluster,
            smem_bytes=job.smem_bytes,
            **settings,
        )
        verdict = compare(outputs, self.wanted, self.tolerance) if self.wanted is not None else None
        return {
            "reason": verdict and verdict.reason,
            "error": verdict and verdict.error,
            "seconds": time.perf_counter() - started,
        }

    def problem(self, inputs: list[np.ndarray]) -> None:
        """Set the inputs for `model`, whose values matter."""
        self.full = inputs

    def model(self, job: Job, gpu: str) -> Any:
        """Return the performance model's Prediction of a job at its full size."""
        specialization = specializations(parse(job.ptx))[job.entry]
        arrays = [np.zeros(array.shape, array.dtype) for array in job.arrays]  # allocates no memory until written
        if self.full is not None:
            arrays[: job.inputs] = self.full
        plan = specialization.plan(job.grid, job.block, job.cluster, job.smem_bytes)
        work = work_of(Call(specialization, plan, tuple(job.arguments(arrays)), job.options))
        return predict(specialization.compile(job.options, arch=job.target), plan, work, gpu)

    def gpu(self, ordinal: int, settings: dict[str, Any]) -> dict[str, Any]:
        """Select a GPU; return its description."""
        self._gpu = import_module("pyptx.tune.device").DeviceTimer(ordinal, **settings)
        self._gpu.arrays(self.inputs, self.wanted, self.tolerance)
        return self._gpu.about()

    def on_gpu(self, name: str, *arguments: Any) -> Any:
        """Call a method of the GPU's `pyptx.tune.device.DeviceTimer`."""
        return getattr(self._gpu, name)(*arguments)


def serve(link: Connection, answers: Callable[[str], Callable[..., Any]]) -> None:
    """Answer requests until the peer closes the connection."""
    while True:
        try:
            name, *arguments = link.recv()
        except EOFError:
            return
        try:
            answer = True, answers(name)(*arguments)
        except SimulationError as error:
            answer = (
                False,
                {"fault": error.kind or "simulator", "message": error.message, "instructions": error.instructions},
            )
        except DeviceError as error:
            answer = False, {"fault": _FAULTS.get(error.code, "device"), "message": error.message, "code": error.code}
        except LaunchError as error:
            answer = False, {"fault": "launch", "message": error.message, "hint": error.hint}
        except PtxError as error:
            answer = False, {"fault": "error", "message": str(error)}
        except Exception as error:  # the parent records it as a fault of the trial, with its location
            last = traceback.extract_tb(error.__traceback__)[-1]
            answer = (
                False,
                {
                    "fault": "error",
                    "message": f"{type(error).__name__}: {error} ({os.path.basename(last.filename)}:{last.lineno})",
                },
            )
        link.send(answer)


def _end_with(parent: int) -> None:
    """Exit when the parent is gone, even while the main thread is busy."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main(worker: Worker | None = None) -> None:
    """Serve requests on the socket given as the first argument."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    methods = worker or Worker()
    methods.link = Connection(int(sys.argv[1]))
    serve(methods.link, lambda name: getattr(methods, name))
