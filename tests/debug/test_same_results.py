"""A debugged run, with stops in it, ends as the plain run of the same schedule and seed: arrays and counters, to the
bit, over the kernels of the examples.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module

import numpy as np
import pytest

from pyptx import sim
from pyptx.check.trial import copies_of
from pyptx.runtime import runtime_for
from pyptx.sim.debug import Debugged


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


@pytest.mark.parametrize("schedule, seed", [("late", 0), pytest.param("eager", 0, marks=pytest.mark.slow),
                                            pytest.param("random", 5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES)
def test_stops_change_no_bit(case: str, schedule: str, seed: int):
    module, name, arrays, params = CASES[case]
    variant, plan, args = kernel_of(module, name).bind(*arrays, **params)
    program = variant.program(runtime_for((), "sim"))
    plain, debugged = copies_of(args), copies_of(args)
    options = {"cluster": plan.cluster, "smem_bytes": plan.smem_bytes, "schedule": schedule, "seed": seed}
    result = sim.launch(program, plan.grid, plan.block, plain, **options)
    run = Debugged(program, plan.grid, plan.block, debugged, **options)
    stops = 0
    while run.run(until=run.machine.step + (1, 7, 1, 61, 509)[stops % 5]):
        stops += 1
    assert run.machine.ended and run.machine.error is None and stops > 3
    for a, b in zip(plain, debugged, strict=True):
        assert not isinstance(a, np.ndarray) or a.tobytes() == b.tobytes()
    for field in fields(result.counters):
        if field.name != "tensor_flops":                    # of a launch they are completed at its end
            assert np.array_equal(getattr(result.counters, field.name), getattr(run.machine.part.counters, field.name))
