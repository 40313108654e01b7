"""Sweeps of CUDA C++ over macros and template arguments: times, wrong results, and reasons of refusals."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx

SOURCE = """
#ifndef PER
#define PER 1
#endif
template <int THREADS> __global__ void twice(const float *x, float *y, int n) {
    __shared__ float tile[THREADS];
    for (int k = 0; k < PER; ++k) {
        int i = (blockIdx.x * PER + k) * THREADS + threadIdx.x;
        tile[threadIdx.x] = i < n ? x[i] : 0;
        if (i < n) y[i] = tile[threadIdx.x] * (PER == 4 ? 3 : 2);
    }
}
"""


def test_macros_and_template_arguments_are_swept():
    program = pyptx.cuda(SOURCE)
    x = np.arange(512, dtype=np.float32)
    found = program.sweep(
        "twice<{THREADS}>",
        {"THREADS": [64, 128], "PER": [1, 2, 4]},
        x,
        np.zeros_like(x),
        x.size,
        grid=lambda THREADS, PER: 512 // (THREADS * PER),
        block=lambda THREADS, PER: THREADS,
        expected={1: 2 * x},
        device="h100",
    )
    assert found.entry().name == f"twice<{found.best['THREADS']}>"
    found = found.view
    assert found.counts == {"modeled": 4, "wrong": 2}
    assert found.points[0].shared_bytes == 256 and found.points[3].shared_bytes == 512
    assert found.device == "model of H100 SXM" and found.config(found.best)["PER"] in (1, 2)
    assert {found.config(k)["PER"] for k, p in enumerate(found.points) if p.state == "wrong"} == {4}


def test_a_value_that_does_not_compile_is_refused_with_the_reason():
    x = np.zeros(64, np.float32)
    found = pyptx.cuda(SOURCE).sweep("twice<64>", {"PER": ["none"]}, x, x, 64, grid=1, block=64).view
    assert 'identifier "none" is undefined' in found.points[0].reason
    with pytest.raises(pyptx.LaunchError, match="sweep: no values"):
        pyptx.cuda(SOURCE).sweep("twice<64>", {}, x, x, 64, grid=1, block=64)
