"""The GPU table, compared with published peaks; names of GPUs."""

from __future__ import annotations

import pytest

from pyptx.analysis.gpus import GPUS, LEVELS, Gpu, gpu, rate_name
from pyptx.errors import ShapeError
from pyptx.isa import targets

# TFLOP/s (TOP/s) as published, dense, f32 accumulation
PUBLISHED = [
    ("T4", "core", "f32", 8.1),
    ("A100 SXM 80GB", "core", "f32", 19.5),
    ("L4", "core", "f32", 30.3),
    ("RTX 4090", "core", "f32", 82.6),
    ("H100 PCIe", "core", "f32", 51),
    ("H200 SXM", "core", "f32", 67),
    ("L40S", "core", "f32", 91.6),
    ("L40S", "mma", "bf16", 362),
    ("B200 SXM", "core", "f32", 75),
    ("RTX 5090", "core", "f32", 104.8),
    ("RTX PRO 6000", "core", "f32", 126),
    ("T4", "core", "f64", 0.254),
    ("A100 SXM 40GB", "core", "f64", 9.7),
    ("H100 SXM", "core", "f64", 33.5),
    ("A100 SXM 80GB", "mma", "f64", 19.5),
    ("H100 PCIe", "mma", "f64", 51),
    ("H200 SXM", "mma", "f64", 67),
    ("T4", "mma", "f16", 65),
    ("A100 SXM 80GB", "mma", "bf16", 312),
    ("L4", "mma", "f16", 121),
    ("RTX 4090", "mma", "bf16", 165.2),
    ("H100 PCIe", "wgmma", "bf16", 756),
    ("H200 SXM", "wgmma", "f16", 989),
    ("B200 SXM", "tcgen05", "bf16", 2250),
    ("RTX 5090", "mma", "f16", 209.5),
    ("RTX PRO 6000", "mma", "f16", 503.8),
    ("A100 SXM 80GB", "mma", "tf32", 156),
    ("H200 SXM", "wgmma", "tf32", 494.5),
    ("B200 SXM", "tcgen05", "tf32", 1125),
    ("RTX 4090", "mma", "e4m3", 330.3),
    ("H100 SXM", "wgmma", "e5m2", 1979),
    ("B200 SXM", "tcgen05", "e4m3", 4500),
    ("RTX 5090", "mma", "e4m3", 419),
    ("RTX PRO 6000", "mma", "e4m3", 1007.6),
    ("RTX 5090", "mma", "e2m1", 1676),
    ("B200 SXM", "tcgen05", "e2m1", 9000),
    ("T4", "mma", "s8", 130),
    ("A100 SXM 80GB", "mma", "u8", 624),
    ("L4", "mma", "s8", 242),
    ("RTX 4090", "mma", "s8", 660.6),
    ("H200 SXM", "wgmma", "s8", 1979),
]


@pytest.mark.parametrize("name, pipe, type_name, tera", PUBLISHED)
def test_sms_times_clock_times_rate_is_the_published_peak(name: str, pipe: str, type_name: str, tera: float):
    assert GPUS[name].flops_per_s(pipe, type_name) / 1e12 == pytest.approx(tera, rel=0.012)


def test_mma_of_hopper_reaches_two_thirds_of_wgmma():
    h200 = gpu("h200")
    assert h200.flops_per_s("mma", "bf16") == pytest.approx(h200.flops_per_s("wgmma", "bf16") * 2 / 3)


@pytest.mark.parametrize("one", GPUS.values(), ids=str)
def test_every_number_says_where_it_is_from_and_no_level_is_slower_than_the_one_below(one: Gpu):
    fields = {name for name in Gpu.__slots__ if name not in ("name", "target", "tensor", "core", "sources")}
    expected = {name for name in fields if getattr(one, name)}
    expected |= {f"tensor.{name}" for name in one.tensor} | {f"core.{name}" for name in one.core}
    assert one.sources.keys() == expected
    assert all(one.source(what) for what in one.sources)
    rates = [one.bytes_per_s(level) for level in LEVELS]
    assert rates == sorted(rates)
    assert targets.parse(one.target).limits == one.limits
    assert hash(one) != hash(gpu("T4")) or one.name == "T4"


@pytest.mark.parametrize(
    "text, name",
    [
        (None, "H200 SXM"),
        ("h200", "H200 SXM"),
        ("NVIDIA H200", "H200 SXM"),
        ("H100", "H100 SXM"),
        ("h100-pcie", "H100 PCIe"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("Tesla T4", "T4"),
        ("a100", "A100 SXM 80GB"),
        ("a100 sxm 40gb", "A100 SXM 40GB"),
        ("b200", "B200 SXM"),
        ("rtx pro 6000", "RTX PRO 6000"),
        ("sm_90a", "H200 SXM"),
        ("sm_90", "H200 SXM"),
        ("sm_80", "A100 SXM 80GB"),
        ("sm_75", "T4"),
        ("sm_86", "RTX 3090"),
        ("sm_120a", "RTX 5090"),
        ("sm_70", "T4"),
        ("sm_87", "RTX 4090"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80GB"),
        ("NVIDIA A100-SXM4-40GB", "A100 SXM 40GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000"),
        ("NVIDIA B200", "B200 SXM"),
    ],
)
def test_a_gpu_is_found_by(text: str | None, name: str):
    assert gpu(text).name == name
    assert gpu(gpu(text)) is gpu(text)


@pytest.mark.parametrize(
    "text, said",
    [
        ("h300", "no GPU called 'h300' is in the table; did you mean"),
        ("rtx", "may be RTX"),
        ("", "known: T4, A100 SXM 40GB"),
        ("sm_103a", "nearest: B200 SXM (sm_100a)"),
        ("sm_91", "unknown target"),
        ("radeon", "known: T4,"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(text: str, said: str):
    with pytest.raises(ShapeError) as caught:
        gpu(text)
    assert said in str(caught.value)


def test_pipes_levels_and_types_that_do_not_exist():
    with pytest.raises(ShapeError, match="expected core, mma, wgmma, tcgen05"):
        gpu().flops_per_s("fma", "f32")
    with pytest.raises(ShapeError, match="expected dram, l2, shared"):
        gpu().bytes_per_s("l1")
    assert gpu("T4").flops_per_s("wgmma", "f16") == 0
    assert rate_name(".bf16") == "f16"
