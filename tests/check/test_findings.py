"""Findings in small kernels with one mistake each; correct kernels have none."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from check import racy
from check.pairs import KERNELS, Small

import pyptx
from pyptx import Layout, Tile, ptx, reg, smem
from pyptx.check import CheckError
from pyptx.errors import LaunchError
from pyptx.types import f16, f32, u32

X = np.random.default_rng(0).standard_normal(racy.N).astype(np.float32)


def only(report):
    assert len(report.findings) == 1, report.text()
    return report.findings[0]


def product_of(layout: Layout, swizzle: int, left: int | None = None):
    """y = x @ x^T for the first 16 columns of x, which TMA copies with one swizzle and wgmma reads with another.

    `left` is the swizzle of A, if it differs from that of B.
    """

    @pyptx.kernel(
        arch="sm_90a",
        in_specs=[Tile(64, "BK", f16, layout, tma_box=(64, "BK"))],
        out_specs=[Tile(64, 64, f32)],
        grid=(1, 1, 1),
        block=(128, 1, 1),
    )
    def squares(x, y, *, BK=64):
        tile, tid = smem.alloc(f16, (64, BK), align=1024), reg.from_(ptx.special.tid.x(), u32)
        (ready,) = [ptx.mbarrier.array(smem.mbarrier(1))[0]]
        with ptx.if_(tid == 0):
            ready.init(1)
            ptx.fence.mbarrier_init()
            ready.arrive_expect_tx(128 * BK)
            ptx.cp.async_bulk.tensor_2d(dst=tile, src=x.tma_desc(), coord=(0, 0), mbar=ready)
        ptx.bar.sync(0)
        ready.wait(0)
        a, b = (
            ptx.wgmma.make_descriptor(tile, leading_byte_offset=16, stride_byte_offset=16 * BK, swizzle=one)
            for one in (swizzle if left is None else left, swizzle)
        )
        sums = reg.wgmma_frag(m=64, n=64, dtype=f32)
        ptx.wgmma.fence()
        ptx.wgmma.mma_async(shape=(64, 64, 16), dtype_d=f32, dtype_a=f16, dtype_b=f16, d=sums, a=a, b=b)
        ptx.wgmma.commit_group()
        ptx.wgmma.wait_group(0)
        to = ptx.global_ptrs(y)[0] + tid * 4
        for k, value in enumerate(sums):
            ptx.inst.st.global_.f32(ptx.addr(to, 512 * k), value)

    return squares


@pytest.mark.parametrize(
    ("layout", "swizzle", "read", "written"),
    [
        (Layout.TMA_128B, ptx.wgmma.SWIZZLE_128B, "", ""),
        (Layout.TMA_32B, ptx.wgmma.SWIZZLE_32B, "", ""),
        (Layout.TMA_128B, ptx.wgmma.SWIZZLE_64B, "swizzle 64B", "swizzle 128B"),
        (Layout.TMA_32B, ptx.wgmma.SWIZZLE_NONE, "no swizzle", "swizzle 32B"),
        (Layout.ROW, ptx.wgmma.SWIZZLE_128B, "swizzle 128B", "no swizzle"),
    ],
)
def test_wgmma_must_read_with_the_swizzle_of_the_copy(layout: Layout, swizzle: int, read: str, written: str):
    x = np.ones((64, 16 if layout is Layout.TMA_32B else 64), np.float16)
    report = product_of(layout, swizzle).check(x, random=0)
    if not read:
        assert report.ok, report.text()
        return
    finding = only(report)
    assert finding.rule == "swizzle-mismatch"
    assert [place.ptx.split(".")[0] for place in finding.places] == ["cp", "wgmma"]
    assert f"through a descriptor with {read}, and the copy" in finding.message
    assert f"wrote it with {written}" in finding.message


def test_each_operand_of_wgmma_must_have_the_swizzle_of_the_copy():
    x = np.ones((64, 64), np.float16)
    kernel = product_of(Layout.TMA_128B, ptx.wgmma.SWIZZLE_64B, left=ptx.wgmma.SWIZZLE_128B)
    assert only(kernel.check(x, random=0)).rule == "swizzle-mismatch"


def line_of(kernel) -> int:
    lines, first = inspect.getsourcelines(kernel.__wrapped__)
    return first + next(k for k, line in enumerate(lines) if "# HERE" in line)


@pytest.mark.parametrize("name", ["copy_not_waited_for", "wait_too_weak"])
def test_a_copy_that_is_read_too_early_is_found_at_its_line(name):
    kernel = getattr(racy, name)
    before = X.copy()
    finding = only(kernel.check(X))
    assert (finding.rule, finding.severity, finding.tensor) == ("missing-wait", "error", "smem_0")
    assert "late" in finding.schedules and "The results show it: y[0] is " in finding.message
    assert line_of(kernel) in {location.place.line for location in finding.places}
    assert [place.ptx.split()[0] for place in finding.places[:2]] == ["cp.async.ca.shared.global", "ld.shared.f32"]
    np.testing.assert_array_equal(X, before)


def test_a_wait_that_is_too_weak_is_reported():
    finding = only(racy.wait_too_weak.check(X))
    roles = {location.role: location for location in finding.places}
    assert roles["waits for too few groups"].ptx == "cp.async.wait_group 1;"
    assert roles["waits for too few groups"].place.line == line_of(racy.wait_too_weak)


def test_a_missing_barrier_is_distinguished_from_a_missing_wait():
    finding = only(racy.barrier_missing.check(X))
    assert finding.rule == "data-race" and "bar.sync" in finding.fix
    assert {location.ptx.split()[0] for location in finding.places} == {"ld.shared.f32", "st.shared.f32"}


def test_without_the_sanitizer_experiments_find_the_cause():
    finding = only(racy.barrier_missing.check(X, engine="reference"))
    assert finding.rule == "schedule-dependent-result" and finding.places == ()
    assert "order of the warps" in finding.message and "The access is unknown" in finding.message
    assert all(name.startswith("random") for name in finding.schedules)
    finding = only(racy.wait_too_weak.check(X, engine="reference"))
    assert (finding.rule, finding.tensor, finding.index) == ("schedule-dependent-result", "y", (0,))
    assert line_of(racy.wait_too_weak) in {location.place.line for location in finding.places}


def test_the_order_of_atomics_is_a_note():
    finding = only(report := racy.sum_by_atomics.check(X, out=np.zeros(1, np.float32), random=8))
    assert (finding.rule, finding.severity) == ("order-of-atomics", "note")
    assert report.ok
    report.raise_if_found()


def test_a_result_that_depends_on_atomic_tickets_is_a_warning():
    finding = only(racy.tickets.check(np.zeros(1, np.uint32)))
    assert (finding.rule, finding.severity) == ("schedule-dependent-result", "warning")


def test_a_fault_in_all_schedules_is_one_finding_with_its_line():
    finding = only(report := racy.too_far.check(X))
    assert finding.rule == "out-of-bounds" and finding.schedules == report.schedules
    assert finding.places[0].place.line == line_of(racy.too_far)
    assert finding.places[0].ptx == racy.too_far.ptx(N=racy.N).split("\n")[finding.places[0].ptx_line - 1].strip()


def test_a_deadlock_is_reported_where_the_threads_wait():
    finding = only(racy.waits_for_nobody.check(X))
    assert finding.rule == "deadlock" and "no thread arrived" in finding.fix
    assert finding.places[0].role == "waits" and finding.places[0].place.line == line_of(racy.waits_for_nobody)
    with pytest.raises(CheckError, match="deadlock"):
        racy.waits_for_nobody.check(X).raise_if_found()


def test_loaded_ptx_is_checked_with_its_launch():
    entry = pyptx.load(racy.copy_not_waited_for.ptx())["copy_not_waited_for"]
    y = np.zeros_like(X)
    finding = only(entry.check(1, racy.N, X, y))
    assert finding.places[0].place is None and "cp.async" in finding.places[0].ptx
    assert finding.places[0].ptx == entry.ptx().split("\n")[finding.places[0].ptx_line - 1].strip()
    assert not y.any()


def test_copies_of_arrays_that_share_memory_share_it_too():
    entry = pyptx.load(racy.too_far.ptx(N=racy.N))["too_far"]
    both = np.zeros(racy.N + 1, np.float32)
    findings = entry.check(1, racy.N, both[: racy.N], both[: racy.N]).findings
    assert [finding.rule for finding in findings] == ["out-of-bounds", "data-race"]
    finding = only(entry.check(1, racy.N, both, both, random=0))
    assert finding.rule == "data-race" and finding.tensor in ("x", "y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schedules": ("soon",)}, "unknown schedule 'soon'; expected 'eager', 'late', 'random'"),
        ({"schedules": (), "random": 0}, "nothing to run"),
        ({"out": np.zeros(3, np.float32)}, "y"),
    ],
)
def test_invalid_arguments_are_errors(options, message):
    with pytest.raises(LaunchError, match=message):
        racy.barrier_missing.check(X, **options)
    with pytest.raises(LaunchError, match="takes 1 input array"):
        racy.barrier_missing.check(X, X)


@pytest.mark.parametrize(
    "lines", [("st.shared.u32 [%r9], %r1",), ("@%p2 st.shared.u32 [%r15], 7", "st.shared.u32 [%r9], %r1")]
)
def test_a_race_names_the_two_threads(lines):
    report = Small("races", (*lines, "ld.shared.u32 %r20, [%r9]")).check(random=0, schedules=("eager",))
    for finding in report.findings:
        before, after = re.findall(r"warp (\d+), lane (\d+)", finding.message)
        assert finding.rule == "data-race" and before != after, finding.message


@pytest.mark.parametrize("grid, ctas", [((3, 1, 1), {"0", "1"}), ((1, 3, 1), {"(0, 0, 0)", "(0, 1, 0)"})])
def test_a_race_between_ctas_names_them(grid, ctas):
    @pyptx.kernel(arch="sm_90a", in_specs=[Tile(4, u32)], out_specs=[Tile(4, u32)], grid=grid, block=(32, 1, 1))
    def numbers(x, y):
        tid = reg.from_(ptx.special.tid.x(), u32)
        with ptx.if_(tid == 0):
            cta = reg.from_(ptx.special.ctaid.x(), u32) + reg.from_(ptx.special.ctaid.y(), u32)
            ptx.inst.st.global_.u32(ptx.addr(ptx.global_ptrs(x, y)[1]), cta)

    found = numbers.check(np.zeros(4, np.uint32), random=0, schedules=("eager",)).findings
    races = [finding for finding in found if finding.rule == "data-race"]
    assert len(races) == 1
    assert set(re.findall(r"warp 0, lane 0, CTA (\d+|\(.*?\))", races[0].message)) == ctas, races[0].message


def test_a_kernel_written_in_python_needs_the_fences_of_tcgen05(monkeypatch):
    from examples.blackwell import gemm

    kernel = gemm.gemm_of(f16, f32)
    a, b = np.ones((128, 64), np.float16), np.ones((64, 64), np.float16)
    assert kernel.check(a, b, BN=64, STAGES=2, CTAS=1).ok
    for name in ("after_thread_sync", "before_thread_sync"):
        monkeypatch.setattr(ptx.tcgen05, f"fence_{name}", lambda: None, raising=False)
    report = gemm.gemm_of(f16, f32).with_fresh_cache().check(a, b, BN=64, STAGES=2, CTAS=1)
    assert "missing-tcgen05-fence" in {finding.rule for finding in report.errors}, report.text()


def test_a_note_does_not_hide_a_result_that_depends_on_the_schedule():
    """An arrival at a peer's mbarrier without a scope is a note; the tickets of the same kernel are still reported."""
    kernel = next(small for small in KERNELS if small.name.endswith("initialized with a fence and a relaxed arrival"))
    lines = [line.replace(".release.cluster.shared::cluster", ".shared::cluster") for line in kernel.lines]
    lines += ["atom.global.add.u32 %r22, [%rd1+4096], 1", "st.global.u32 [%rd5+2048], %r22"]
    rules = {finding.rule for finding in kernel.check(tuple(lines), random=4).findings}
    assert rules == {"unproven-order", "schedule-dependent-result"}
