"""The child process of `isolation`: it answers questions through a socket until its parent is gone.

A question is a name and its arguments, an answer (True, value) or (False, {fault, message, ...}). Both go, pickled,
through a socket that only the parent has; nothing of it is kept.
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
from pyptx.analysis.work.calls import Call
from pyptx.analysis.work.count import work_of
from pyptx.errors import DeviceError, LaunchError, PtxError, SimulationError
from pyptx.parser import parse
from pyptx.program import load
from pyptx.tune.comparing import Tolerance, compare
from pyptx.tune.job import Job

__all__ = ["Worker", "serve"]

# The driver's numbers of what a kernel can do to its context, and what tables call it.
_WORDS = {700: "address", 702: "hang", 710: "assert", 714: "stack", 715: "instruction", 716: "misaligned",
          717: "address", 718: "instruction", 719: "fault", 721: "assert"}


class Worker:
    """What a child can do. Arrays are told once and used for every job."""

    def __init__(self):
        self.forget()

    def forget(self) -> None:
        """What was told for another sweep."""
        self.inputs: list[np.ndarray] = []
        self.wanted: list[np.ndarray] | None = None
        self.full: list[np.ndarray] | None = None
        self.tolerance = Tolerance()
        self._gpu: Any = None

    def hello(self) -> int:
        """The number of this process."""
        return os.getpid()

    def arrays(self, inputs: list[np.ndarray], wanted: list[np.ndarray] | None, tolerance: Tolerance) -> None:
        """The inputs of all jobs, and what they should give; None: nobody knows."""
        self.inputs, self.wanted, self.tolerance = inputs, wanted, tolerance
        if self._gpu is not None:
            self._gpu.arrays(inputs, wanted, tolerance)

    def simulate(self, job: Job, settings: dict[str, Any]) -> dict[str, Any]:
        """Run a job on the simulator: {"reason", "error", "seconds"}, reason None when nothing is wrong."""
        started = time.perf_counter()
        program = sim.load(parse(job.ptx), job.entry)
        copies = [array.copy() for array in self.inputs]
        outputs = []
        for output in job.outputs:
            array = np.empty(output.shape, output.dtype)
            array.reshape(-1).view(np.uint8).fill(0 if output.zeroed else 0xFF)     # NaN, -1 show
            outputs.append(array)
        sim.launch(program, job.grid, job.block, job.arguments([*copies, *outputs]), cluster=job.cluster,
                   smem_bytes=job.smem_bytes, **settings)
        verdict = compare(outputs, self.wanted, self.tolerance) if self.wanted is not None else None
        return {"reason": verdict and verdict.reason, "error": verdict and verdict.error,
                "seconds": time.perf_counter() - started}

    def problem(self, inputs: list[np.ndarray]) -> None:
        """The inputs of `model`, where their values are known."""
        self.full = inputs

    def model(self, job: Job, gpu: str) -> Any:
        """The performance model's Prediction of a job, at the sizes it has."""
        entry = load(job.ptx)[job.entry]
        arrays = [np.zeros(array.shape, array.dtype) for array in job.arrays]        # no memory until it is written
        if self.full is not None:
            arrays[:job.inputs] = self.full
        variant, plan, args = entry.bind_launch(job.grid, job.block, job.arguments(arrays), cluster=job.cluster,
                                                smem_bytes=job.smem_bytes)
        work = work_of(Call(variant, plan, tuple(args), job.options))
        return predict(variant.compile(job.options, arch=job.target), plan, work, gpu)

    def gpu(self, ordinal: int, settings: dict[str, Any]) -> dict[str, Any]:
        """Use a GPU from now on; what it is called and what it can do."""
        self._gpu = import_module("pyptx.tune.gpu").Gpu(ordinal, **settings)
        self._gpu.arrays(self.inputs, self.wanted, self.tolerance)
        return self._gpu.about()

    def on_gpu(self, name: str, *arguments: Any) -> Any:
        """Ask the GPU: see `pyptx.tune.gpu.Gpu`."""
        return getattr(self._gpu, name)(*arguments)


def serve(link: Connection, answers: Callable[[str], Callable[..., Any]]) -> None:
    """Answer until the other side closes the link."""
    while True:
        try:
            name, *arguments = link.recv()
        except EOFError:
            return
        try:
            answer = True, answers(name)(*arguments)
        except SimulationError as error:
            answer = False, {"fault": error.kind or "simulator", "message": error.message,
                             "instructions": error.instructions}
        except DeviceError as error:
            answer = False, {"fault": _WORDS.get(error.code, "device"), "message": error.message, "code": error.code}
        except LaunchError as error:
            answer = False, {"fault": "launch", "message": error.message}
        except PtxError as error:
            answer = False, {"fault": "error", "message": str(error)}
        except Exception as error:                      # the parent records it as the trial's, with where it was
            last = traceback.extract_tb(error.__traceback__)[-1]
            answer = False, {"fault": "error", "message": f"{type(error).__name__}: {error} "
                                                          f"({os.path.basename(last.filename)}:{last.lineno})"}
        link.send(answer)


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, though the main thread never looks."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    worker = Worker()
    serve(Connection(int(sys.argv[1])), lambda name: getattr(worker, name))
