"""Measured roofs: each kernel does exactly the work it is divided by, also in machine code; on a substitute GPU."""

from __future__ import annotations

import numpy as np
import pytest
from tune.fake_gpu import FakeGpu

from pyptx.analysis.gpus import gpu
from pyptx.analysis.work.count import count
from pyptx.errors import DeviceError, LaunchError
from pyptx.runtime.cuda import CudaBackend
from pyptx.tune import ceilings
from pyptx.tune.ceiling_kernels import KERNELS, THREADS, CeilingKernel
from pyptx.views import Point, Roofline

WORDS, BLOCKS, STEPS = 1 << 15, 2, 3
WORK = {
    "dram": ("bytes", "l2", 0),
    "l2": ("bytes", "l2", 0),
    "shared": ("bytes", "shared", 2 * BLOCKS * THREADS * 16),
    "core.f32": ("flops", "core.f32", 31 * BLOCKS * THREADS),
    "mma.f16": ("flops", "mma.bf16", 0),
    "wgmma.f16": ("flops", "wgmma.bf16", 0),
}


@pytest.mark.parametrize("one", KERNELS, ids=lambda one: one.name)
def test_a_kernel_does_the_work_it_is_divided_by(one: CeilingKernel):
    numbers = np.resize(ceilings._operands(), WORDS)
    work = count(one.kernel, numbers, BLOCKS=BLOCKS, STEPS=STEPS)
    kind, name, once = WORK[one.name]
    assert work.exact
    assert getattr(work, kind)[name] == one.amount(BLOCKS * THREADS, WORDS, STEPS) + once, "and what is done once"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("one", KERNELS, ids=lambda one: one.name)
def test_machine_code_keeps_it_and_spills_nothing(one: CeilingKernel):
    compiled = one.kernel.compile(N=WORDS, BLOCKS=BLOCKS, STEPS=10_000)
    used = compiled.resources[one.kernel.name]
    assert (used.spill_stores, used.stack_bytes) == (0, 0)
    assert not compiled.warnings
    opcode = {"dram": "LDG", "l2": "LDG", "shared": "LDS", "core.f32": "FFMA", "mma.f16": "HMMA", "wgmma.f16": "HGMMA"}
    found = [line for line in compiled.sass if line.opcode.startswith(opcode[one.name])]
    assert len(found) >= 4
    loops = [
        (line.target_address, line.address)
        for line in compiled.sass
        if line.target_address is not None and line.target_address < line.address
    ]
    assert any(start <= line.address < end for start, end in loops for line in found), "a loop is left around it"


class Timed(FakeGpu):
    """An H200 whose launches take as long as the table says, times `slower`; its kernels do nothing."""

    def __init__(self, slower: float = 1.25):
        super().__init__(1, seconds=ceilings.TARGET_S * slower)
        self.sizes = {one.kernel.name: [8, 8] for one in KERNELS}

    def _cuDeviceGetName(self, length, device):
        return (b"NVIDIA H200\0".ljust(length),)

    def _cuLaunchKernelEx(self, config, kernel, params, extra):
        super(FakeGpu, self)._cuLaunchKernelEx(config, kernel, params, extra)
        self.clock += self.seconds
        return ()


def test_what_is_measured_takes_the_place_of_what_was_published(monkeypatch):
    monkeypatch.setattr(ceilings, "_DRAM_BYTES", 1 << 26)
    own, table = ceilings.measure_ceilings(backend=CudaBackend(Timed(1.25))), gpu("h200")
    assert own.name == "H200 SXM, measured"
    for level in ("dram", "l2", "shared"):
        assert own.bytes_per_s(level) == pytest.approx(table.bytes_per_s(level) * 0.8, rel=0.03)
    for pipe, kind in (("core", "f32"), ("mma", "bf16"), ("wgmma", "f16"), ("wgmma", "e4m3")):
        assert own.flops_per_s(pipe, kind) == pytest.approx(table.flops_per_s(pipe, kind) * 0.8, rel=0.03)
    assert own.flops_per_s("mma", "f64") == table.flops_per_s("mma", "f64"), "it was not measured"
    for what in ("dram_bytes_per_s", "core.f32", "tensor.wgmma.f16"):
        assert own.source(what) == "measured on this GPU"
    assert own.source("tensor.wgmma.f8") == "derived by arithmetic"
    view = Roofline(own, [Point("gemm", {"wgmma.bf16": 1e12}, {"dram": 1e9}, 2e-3)])
    assert view.title and "measured on this GPU" in {slope.source for slope in view.slopes}
    assert Roofline.from_json(view.to_json()).gpu.name == own.name


def test_what_is_faster_than_the_hardware_is_not_believed(monkeypatch):
    monkeypatch.setattr(ceilings, "_DRAM_BYTES", 1 << 26)
    with pytest.raises(DeviceError, match="dram of H200 SXM was measured at .*; the timing is wrong"):
        ceilings.measure_ceilings(backend=CudaBackend(Timed(0.5)))


def test_without_a_gpu_it_says_so():
    class Nothing(Timed):
        def _cuDeviceGetCount(self):
            return (0,)

    with pytest.raises(LaunchError):
        ceilings.measure_ceilings(backend=CudaBackend(Nothing()))


@pytest.mark.gpu
def test_the_roofs_of_this_gpu_are_near_the_published_ones():
    own = ceilings.measure_ceilings()
    table = gpu(own.name.removesuffix(", measured"))
    for level, least in (("dram", 0.75), ("l2", 0.4), ("shared", 0.7)):
        assert least < own.bytes_per_s(level) / table.bytes_per_s(level) < ceilings._TOO_FAST
    assert 0.6 < own.flops_per_s("core", "f32") / table.flops_per_s("core", "f32") < 1.1
