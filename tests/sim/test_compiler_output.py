"""PTX of nvcc and clang runs on both engines; unsupported features are refused where they are used."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from sim.engines import run_both

from pyptx import parser, sim

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
NVCC = ("nvcc_sm75", "nvcc_sm90a", "nvcc_sm120", "nvcc_lineinfo")


def _load(name: str, function: str) -> sim.Program:
    return sim.load(parser.parse((CORPUS / f"{name}.ptx").read_text()), function)


@pytest.mark.parametrize("name", NVCC)
def test_saxpy_of_nvcc(name):
    n, rng = 300, np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, (n, 4)).astype(np.float32) for _ in range(2))
    expected = np.float32(3) * x + y  # whole numbers: exact with one rounding or two
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


@pytest.mark.parametrize("name", ["nvcc_sm75", "nvcc_sm90a", "nvcc_debug"])
def test_indirect_calls_tables_of_strings_and_printf_of_nvcc(name, capsys):
    n = 40
    a, b = np.arange(n, dtype=np.float32), np.linspace(-1, 1, n).astype(np.float16)
    a[7] = 3e10
    options = struct.pack("<iid", 5, 0, 0.25)  # struct Options {int first; double scale;}
    before, weights = a.copy(), np.array([1, -2.5, 0, 0], np.float32)
    table = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 0]])
    run_both(_load(name, "mixed"), 1, n, (a, b, n, options), smem_bytes=256)
    i = np.arange(n)  # n & 7 is 0: case 0; n & 1 is 0: scaled()
    stepped = before + 1
    expected = stepped + (stepped * i + weights[i & 3]) + table[i & 3, n % 3] + b + np.float32(0.25)
    assert np.allclose(a, expected, rtol=1e-6)
    assert capsys.readouterr().out == 2 * "def 7\n"  # once from each engine


@pytest.mark.parametrize("name", ["clang_sm80", "clang_sm90_O0"])
def test_calls_of_clang(name):
    x, c = np.linspace(-1, 1, 64).astype(np.float32), np.array([0.5, -1, 2, 3], np.float32)
    y = np.zeros_like(x)
    run_both(_load(name, "polynomial"), 1, 64, (y, x, c, len(c)))
    i = np.arange(64)
    assert np.allclose(y, np.polyval(c, x[63 - i]) + np.array([5, 4, 3, 2, 1])[i % 5], rtol=1e-5)


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
