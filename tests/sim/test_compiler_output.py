"""PTX that nvcc and clang wrote runs on both engines; what is not simulated is refused where it is used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sim.both import run_both

from pyptx import parser, sim
from pyptx.errors import SimulationError

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
NVCC = ("nvcc_sm75", "nvcc_sm90a", "nvcc_sm120", "nvcc_lineinfo")


def _load(name: str, function: str) -> sim.Program:
    return sim.load(parser.parse((CORPUS / f"{name}.ptx").read_text()), function)


@pytest.mark.parametrize("name", NVCC)
def test_saxpy_of_nvcc(name):
    n, rng = 300, np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, (n, 4)).astype(np.float32) for _ in range(2))
    expected = np.float32(3) * x + y                        # whole numbers: exact with one rounding or two
    run_both(_load(name, "saxpy"), 2, 64, (n, 3.0, x, y))
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("name", NVCC)
def test_warp_sum_of_nvcc(name):
    values, total = np.arange(32, dtype=np.int32) ** 3, np.zeros(1, np.int32)
    run_both(_load(name, "warp_sum"), 1, 32, (values, total))
    assert total[0] == values.sum()


@pytest.mark.parametrize("name", ["clang_sm80", "clang_sm90_O0"])
def test_copy_of_clang(name):
    source = np.arange(400, dtype=np.float32).reshape(100, 4)
    to = np.zeros_like(source)
    run_both(_load(name, "copy"), 4, 32, (to, source, 100))
    assert np.array_equal(to, 2 * source)


def test_calls_are_refused_by_name():
    with pytest.raises(SimulationError, match=r"call.uni is not simulated(.|\n)*parameters of calls are not simulated"):
        _load("clang_sm80", "polynomial")


def test_an_initializer_that_is_not_simulated_is_refused_where_the_variable_is_used():
    with pytest.raises(SimulationError, match="functions: the initializer _Z6scaledfi is not simulated"):
        _load("nvcc_sm75", "mixed")


@pytest.mark.parametrize("space", ["global", "const"])
def test_generic_addresses_in_initializers(space):
    module = parser.parse(f"""
        .version 8.0
        .target sm_80
        .address_size 64
        .{space} .align 4 .u32 value[2] = {{41, 42}};
        .global .align 8 .u64 pointer[2] = {{0, generic(value)+4}};
        .entry test(.param .u64 out) {{
            .reg .b64 %a, %out;
            .reg .b32 %r;
            ld.param.u64 %out, [out];
            ld.global.u64 %a, [pointer+8];
            ld.u32 %r, [%a];
            st.global.u32 [%out], %r;
            ret;
        }}""")
    out = np.zeros(1, np.uint32)
    run_both(module, 1, 1, (out,))
    assert out[0] == 42
