"""Rooflines written by hand: a matrix product with two timings, two memory-bound kernels, a sweep."""

from __future__ import annotations

from pyptx.analysis.gpus import gpu
from pyptx.views.rooflines.elements import Point
from pyptx.views.rooflines.roofline import Roofline

__all__ = ["four", "sgemm", "sweep"]

N = 8192
PRODUCT = 2 * N**3
ROWS = 4096 * 8192


def four(**changes) -> Roofline:
    """On an H200: gemm measured and modeled, softmax measured, layer norm modeled."""
    bytes_of_gemm = {"dram": 3 * 2 * N * N, "l2": PRODUCT / 128, "shared": PRODUCT / 32}
    points = (
        Point(
            "gemm",
            {"wgmma.bf16": PRODUCT},
            bytes_of_gemm,
            PRODUCT / 742e12,
            "measured",
            "gemm@4",
            PRODUCT / 748e12,
            PRODUCT / 735e12,
            4.5,
            "tensor pipe 75 %, waits for TMA stage 2",
            view="gemm@4",
        ),
        Point(
            "gemm",
            {"wgmma.bf16": PRODUCT},
            bytes_of_gemm,
            PRODUCT / 801e12,
            "modeled",
            "gemm@4",
            waves=4.5,
            bound="tensor pipe 81 %",
        ),
        Point(
            "softmax",
            {"core.f32": 6 * ROWS},
            {"dram": 8 * ROWS, "l2": 8 * ROWS, "shared": 1e5},
            8 * ROWS / 4.31e12,
            "measured",
            bound="DRAM 90 %",
        ),
        Point("layer_norm", {"core.f32": 8 * ROWS}, {"dram": 8 * ROWS, "l2": 8.5 * ROWS}, 8 * ROWS / 3.9e12),
    )
    return Roofline(**{"gpu": gpu("h200"), "points": points, "title": "Kernels of a block"} | changes)


def sgemm() -> Roofline:
    """On an A100, whose DRAM others have measured: one modeled point with its last wave."""
    product = 2 * 1024**3
    return Roofline(
        gpu("a100"),
        [
            Point(
                "sgemm",
                {"core.f32": product},
                {"dram": 12 * 2**20, "l2": 192 * 2**20, "shared": product / 8},
                product / 14e12,
                waves=2.37,
            )
        ],
    )


def sweep() -> Roofline:
    """36 configurations of one kernel, every third measured."""
    points = []
    for bm in (64, 128, 256):
        for bn in (64, 128, 256):
            for stages in (2, 3, 4, 5):
                moved = (PRODUCT / bm + PRODUCT / bn) * 0.2
                share = 0.2 + 0.6 * ((bm * 7 + bn * 3 + stages * 40) % 97) / 97
                points.append(
                    Point(
                        "gemm",
                        {"wgmma.bf16": PRODUCT},
                        {"dram": moved, "l2": 5 * moved},
                        PRODUCT / 989e12 / share,
                        "modeled" if (bm + bn + stages) % 3 else "measured",
                        note=f"BM={bm} BN={bn} stages={stages}",
                    )
                )
    return Roofline(gpu("h200"), points, title="gemm, 36 configurations")
