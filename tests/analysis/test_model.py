"""Predictions: slower code is modeled slower, and a launch that cannot run has a reason."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.analysis.gpus import GPUS, gpu
from pyptx.analysis.model import constants
from pyptx.analysis.model.dram_traffic import Traffic
from pyptx.analysis.model.estimate import estimate, predict
from pyptx.analysis.model.memory_system import MemorySystem
from pyptx.analysis.model.pipes import matrix_product
from pyptx.analysis.model.rereads import COPIED, Reads, rereads_of
from pyptx.analysis.work.call import bind_call
from pyptx.analysis.work.count import work_of
from pyptx.analysis.work.footprint import NOTHING, Footprint, Touched
from pyptx.cli.kernels import load_kernel
from pyptx.types import f32, u32

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = ml_dtypes.bfloat16


@cache
def example(name: str):
    return load_kernel(str(Path(__file__).parents[2] / "examples" / name))


@cache
def gemm(M: int, N: int, K: int, device: str = "H200", **tile):
    return estimate(
        example("hopper/gemm.py:gemm"), np.zeros((M, K), BF16), np.zeros((K, N), BF16), device=device, **tile
    )


def moved(x, y, *, STRIDE, PAD):
    """y = x, read with STRIDE floats from lane to lane, through shared memory in rows of PAD words a lane."""
    thread = reg.from_(ptx.special.tid.x(), u32)
    block = reg.from_(ptx.special.ctaid.x(), u32)
    at, to = ptx.global_ptrs(x, y)
    part = smem.alloc(f32, 256 * PAD)
    mine = reg.from_(part.name, u32) + thread * (4 * PAD)
    value = reg.scalar(f32)
    ptx.inst.mad.wide.u32(at, (block * 256 + thread) * STRIDE, 4, at)
    ptx.inst.mad.wide.u32(to, block * 256 + thread, 4, to)
    ptx.inst.ld.global_.f32(value, ptx.addr(at))
    for _ in range(2):
        ptx.inst.st.volatile.shared.f32(ptx.addr(mine), value)
        ptx.inst.ld.volatile.shared.f32(value, ptx.addr(mine))
    ptx.inst.st.global_.f32(ptx.addr(to), value)


MOVED = kernel(
    moved, arch="sm_80", in_specs=[Tile("L", f32)], out_specs=[Tile("N", f32)], block=256, grid=lambda N: N // 256
)


@cache
def moving(stride: int = 1, pad: int = 1, n: int = 1 << 20, device: str = "A100"):
    return estimate(MOVED, np.zeros(n * stride, np.float32), N=n, STRIDE=stride, PAD=pad, device=device)


def test_addresses_far_apart_are_slower():
    assert moving(stride=8, n=1 << 22).seconds > 3 * moving(n=1 << 22).seconds
    assert moving(stride=2).seconds > 1.2 * moving().seconds
    assert "accessed by one lane each" in moving(stride=8, n=1 << 22).notes[0]
    assert moving(stride=2).notes == () == moving(n=1 << 22).notes


def test_bank_conflicts_are_slower():
    assert moving(pad=32).seconds > 3 * moving(pad=1).seconds
    assert moving(pad=32).bound == "shared" and "shared memory" in moving(pad=32).summary
    assert moving(pad=33).seconds < 2 * moving(pad=1).seconds  # 33 words apart there are none


@pytest.mark.slow
def test_more_data_takes_longer_and_more_bandwidth_less():
    assert 3 < moving(n=1 << 24).seconds / moving(n=1 << 22).seconds < 5
    rates = {name: GPUS[gpu(name).name].dram_bytes_per_s for name in ("H100 SXM", "H200")}
    x = np.zeros(1 << 26, np.float32)
    slow, fast = (estimate(example("vector_add.py:vector_add"), x, x, device=name).seconds for name in rates)
    assert slow / fast == pytest.approx(rates["H200"] / rates["H100 SXM"], rel=0.05)
    one_load_each = [moving(n=1 << 24, device=name).seconds for name in rates]
    assert one_load_each[0] / one_load_each[1] < slow / fast, "too few bytes on their way for the faster memory"
    assert moving(n=1 << 24).bound == "dram"


@pytest.mark.slow
def test_a_stage_more_is_faster_where_copies_are_waited_for():
    two, four = (gemm(4096, 4096, 4096, BM=128, BN=256, STAGES=stages) for stages in (2, 4))
    assert two.seconds > 1.2 * four.seconds
    assert "waits for TMA, 2 stages" in two.summary


@pytest.mark.slow
@pytest.mark.parametrize("N, K", [(128, 64), (64, 64)])
def test_more_stages_are_never_slower(N, K):
    """As long as as many blocks fit."""
    found = [gemm(2048, 2048, 1024, BM=128, BN=N, BK=K, STAGES=stages) for stages in (2, 3, 4, 5)]
    for fewer, more in pairwise(found):
        assert more.seconds <= fewer.seconds * 1.001 or more.occupancy.blocks < fewer.occupancy.blocks


@pytest.mark.slow
def test_tiles_are_ordered_as_others_measured_them():
    """Larger tiles of the warp-specialised product are faster at 4096 (fast.cu on H100: 128 x 256 over 128 x 128 over
    smaller ones), and the best is within a fifth of what such a kernel reaches there."""
    flops = 2 * 4096**3
    small, middle, large = (gemm(4096, 4096, 4096, BM=128, BN=n, STAGES=4).seconds for n in (64, 128, 256))
    assert small > middle > large
    assert 500e12 < flops / large < 800e12


def test_a_prediction_tells_what_it_is():
    found = gemm(4096, 4096, 4096, BM=128, BN=256, STAGES=4)
    assert found.kind == "modeled" and found.gpu == "H200 SXM"
    assert found.waves == pytest.approx(512 / 132) and found.occupancy.blocks == 1
    assert {"tensor", "shared", "l2", "dram", "pipeline", "launch", "issue"} <= set(found.terms)
    assert max(found.terms.values()) <= found.seconds
    assert " us modeled on H200 SXM (" in str(found) and "%" in found.summary
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["kind"] == "modeled" and plain["seconds"] == found.seconds and plain["bound"] == found.bound


def test_what_does_not_fit_is_infinitely_slow_and_says_why():
    call = bind_call(MOVED, np.zeros(256, np.float32), N=256, STRIDE=1, PAD=1)
    work, compiled = work_of(call), call.compiled()
    found = predict(compiled, replace(call.plan, smem_bytes=170_000), work, "A100")
    assert found.seconds == float("inf") and found.bound == "resources"
    assert "the limit is" in found.summary and str(found).startswith("cannot run on A100")
    assert found.to_json()["seconds"] is None


@pytest.mark.parametrize("name", GPUS)
def test_every_gpu_of_the_table_has_a_prediction(name):
    found = moving(device=name)
    assert 1e-6 < found.seconds < 1e-3 and found.gpu == name
    largest = max((time, term) for term, time in found.terms.items() if term not in ("pipeline", "launch"))
    assert found.share(largest[1]) > 0.1


def test_small_launches_are_bound_by_the_launch():
    found = moving(n=256)
    assert found.bound == "launch" and found.seconds < 10e-6


def test_there_are_at_most_thirteen_constants_and_each_has_a_source():
    names = {field.name for field in fields(constants.Constants)}
    assert len(names) <= 13
    assert names == set(constants.SOURCES)


def test_reads_wait_for_the_writes_of_dram():
    """In proportion to the time that DRAM writes; a kernel that only reads waits for none."""
    on, own = gpu("H100 SXM"), replace(constants.find_constants("H100 SXM", "sm_90a"), write_wait_cycles=1000)
    reads, copies = (MemorySystem(on, own, 132, 1e9, 1e9, Traffic(1e9, written, 0.0)) for written in (0.0, 1e9))
    assert reads.read_wait(reads.dram_seconds) == 0
    assert copies.read_wait(copies.dram_seconds) == pytest.approx(500)
    assert copies.read_wait(2 * copies.dram_seconds) == pytest.approx(250)
    clock = on.latency_clock_hz
    assert copies.seen_by_sm(clock, 100).load_cycles == pytest.approx(copies.seen_by_sm(clock).load_cycles + 100)


def test_calibrated_constants_are_used(monkeypatch):
    monkeypatch.setattr(constants, "_calibrated", {})
    before = estimate(MOVED, np.zeros(1 << 22, np.float32), N=1 << 22, STRIDE=1, PAD=1, device="RTX 5090").seconds
    constants.set_calibrated("RTX 5090", "sm_120a", dram_share=0.5)
    after = estimate(MOVED, np.zeros(1 << 22, np.float32), N=1 << 22, STRIDE=1, PAD=1, device="RTX 5090").seconds
    assert after > 1.5 * before


@pytest.mark.parametrize(
    "opcode, kind, operations",
    [
        ("HGMMA.64x256x16.F32.BF16", "f16", 2 * 64 * 256 * 4),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", "f8", 2 * 64 * 128 * 8),
        ("HMMA.16816.F32.BF16", "f16", 4096),
        ("HMMA.1688.F32.TF32", "tf32", 2048),
        ("IMMA.16832.S8.S8", "s8", 8192),
        ("QMMA.16832.F32.E4M3.E4M3", "f8", 8192),
        ("DMMA.8x8x4", "f64", 512),
    ],
)
def test_matrix_products_say_their_size(opcode, kind, operations):
    assert matrix_product(opcode) == (kind, operations)


def test_a_wave_reads_once_what_its_clusters_share():
    """Tiles of a matrix product: a row of A for all of x, a column of B for all of y."""
    a, b = Touched(1000, 1000, 1000), Touched(500, 500, 500)
    of_a, of_b = Footprint("a", False, a, (NOTHING, a, NOTHING)), Footprint("b", False, b, (b, NOTHING, NOTHING))
    extent = (16, 32, 1)
    assert of_a.wave(extent, 1)[0] == 1000 and of_b.wave(extent, 1)[0] == 500
    assert of_a.wave(extent, 16)[0] == 1000 and of_b.wave(extent, 16)[0] == 16 * 500
    assert of_a.wave(extent, 32)[0] == 2000 and of_b.wave(extent, 32)[0] == 16 * 500
    assert of_a.wave(extent, 512)[0] == 32_000
    assert of_a.wave(extent, 132)[0] == 9000 and of_b.wave(extent, 132)[0] == 16 * 500
    keys = Footprint("k", False, a, (NOTHING, a, a))  # of attention: 4 blocks of queries, 16 heads, 32 batches
    assert keys.wave((4, 16, 32), 132)[0] == 33_000


def test_what_is_read_in_two_passes_comes_from_dram_twice_when_too_much_is_read_between():
    own, none = Touched(1000, 1000, 1000), (NOTHING,) * 3
    rows = Footprint("x", False, own, (own, NOTHING, NOTHING)), Footprint("weight", False, own, none)
    extent, touched = (64, 1, 1), {"x": 64_000, "weight": 1000}

    def again(x: float, weight: float, touched: dict[str, int] = touched) -> float:
        return rereads_of(rows, extent, {"x": Reads(x), "weight": Reads(weight)}, touched).size

    assert again(1000, 1000) == 0
    assert again(2000, 1000) == 1000, "the second pass over x"
    assert again(1000, 19_000) == 0, "what clusters share"
    assert again(2000, 1000, touched | {"x": 32_000}) == 0, "clusters further away read the same of x"
    assert rereads_of(rows, extent, {COPIED: Reads(3000)}, touched).size == 1000, "copies, whose buffers are not known"
    x = np.zeros((2000, 20_000), np.float32)
    once = 2 * x.nbytes / gpu("H200").dram_bytes_per_s
    assert estimate(example("softmax.py:softmax"), x, device="H200").terms["dram"] > 1.2 * once
