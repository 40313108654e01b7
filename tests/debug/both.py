"""Kernels of the examples, run with and without the debugger."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module

import numpy as np

from pyptx import sim
from pyptx.check.argument_copies import copy_arguments
from pyptx.runtime import runtime_for
from pyptx.sim.debug import DebugLaunch


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def halves(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    return [random.standard_normal(shape).astype(np.float16) for shape in shapes]


CASES = {
    "softmax": ("softmax", "softmax", [rows(4, 640)], {}),
    "rms_norm": ("rms_norm", "rms_norm", [rows(4, 512), rows(512)], {}),
    "transpose": ("transpose", "transpose", [rows(96, 64)], {}),
    "reduce_sum": ("reduce_sum", "reduce_sum", [rows(5000)], {"CTAS": 3}),
    "sgemm": ("sgemm", "sgemm", [rows(128, 48), rows(48, 64)], {}),
    "ampere gemm": ("ampere.gemm", "gemm_of", halves((130, 72), (72, 136)), {}),
    "hopper gemm": ("hopper.gemm", "gemm_of", halves((200, 136), (136, 264)), {}),
    "persistent gemm": ("hopper.persistent_gemm", "persistent_gemm_of", halves((300, 136), (136, 264)), {"CTAS": 2}),
    "hopper attention": ("hopper.attention", "attention_of", halves(*[(1, 1, 200, 64)] * 3), {"CAUSAL": True}),
    "blackwell gemm": ("blackwell.gemm", "gemm_of", halves((130, 136), (136, 264)), {}),
    "pair gemm": ("blackwell.pair_gemm", "pair_gemm_of", halves((300, 136), (136, 264)), {"CTAS": 4}),
}


def kernel_of(module: str, name: str):
    found = getattr(import_module(f"examples.{module}"), name)
    if not name.endswith("_of"):
        return found
    types = import_module("pyptx.types")
    return found(types.f16) if "attention" in name else found(types.f16, types.f32)


class Both:
    """A completed plain run of a case, and a debugged run of the same schedule and seed, stopped at its start."""

    def __init__(self, case: str, schedule: str, seed: int):
        module, name, arrays, params = CASES[case]
        specialization, plan, args = kernel_of(module, name).launcher.bind(*arrays, **params)
        program = specialization.program(runtime_for((), "sim"))
        self.plain, self.debugged = copy_arguments(args), copy_arguments(args)
        options = {"cluster": plan.cluster, "smem_bytes": plan.smem_bytes, "schedule": schedule, "seed": seed}
        self.counters = sim.launch(program, plan.grid, plan.block, self.plain, **options).counters
        self.run = DebugLaunch(program, plan.grid, plan.block, self.debugged, **options)

    def require_same(self) -> None:
        """Assert that the debugged run ended with the arrays and counters of the plain one, bit for bit."""
        for a, b in zip(self.plain, self.debugged, strict=True):
            assert not isinstance(a, np.ndarray) or a.tobytes() == b.tobytes()
        own = self.run.machine.worker.counters
        for field in fields(self.counters):
            if field.name != "tensor_flops":  # completed at the end of a launch
                assert np.array_equal(getattr(self.counters, field.name), getattr(own, field.name)), field.name
