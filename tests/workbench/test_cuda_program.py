"""CUDA C++ compiled with NVRTC: names, argument types, variables, errors, and the lines of the source in every tool."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

import pyptx
from pyptx import nvrtc
from pyptx.cache import CubinCache, set_global_cache
from pyptx.errors import OperandError
from pyptx.nvrtc import library

SOURCE = """
#include <cstdio>
#include <vector>
#include <cuda_fp16.h>

struct P { float a; int b; };
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ unsigned int counter;

extern "C" __global__ void add(const float *a, float *b, int n, P p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = 2 * a[i] + p.a + weights[p.b];
    atomicAdd(&counter, 1);
}
__device__ float square(float x) {
    return x * x;
}
namespace ns {
template <typename T, int N> __global__ void scale(T *x, __half by, int offset) {
    x[threadIdx.x] *= N + __half2float(by) + offset + weights[0];
}
}
__global__ void racy(float *x, float4 v, bool twice) {
    __shared__ float tile[64];
    tile[threadIdx.x] = square(x[threadIdx.x]);
    x[threadIdx.x] = tile[63 - threadIdx.x] + v.x + v.w + twice;
}
int main() { std::vector<float> x(1); add<<<1, 2>>>(0, 0, 0, P()); }
"""
RACE = next(number for number, line in enumerate(SOURCE.split("\n"), 1) if "63 - threadIdx" in line)


@pytest.fixture(scope="module")
def program():
    return pyptx.cuda(SOURCE, name="sample")


def test_structures_constants_and_counters(program):
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    record = np.dtype([("a", "f4"), ("b", "i4")], align=True)
    before = int(program["counter"])
    program["add"].launch(2, 32, a, b, 60, np.array((10, 2), record)[()])
    assert (b == np.where(np.arange(64) < 60, 2 * a + 13, 0)).all()
    assert int(program["counter"]) == before + 64

    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_float), ("b", ctypes.c_int))

    program["add"].launch(2, 32, a, b, 64, Pair(1, 0))
    assert (b == 2 * a + 2).all()


def test_templates_share_the_variables_of_the_program(program):
    kept = program["weights"].get()
    assert kept.tolist() == [1, 2, 3, 4]
    program["weights"] = [0.5, 0, 0, 0]
    x = np.ones(32, np.float32)
    program["ns::scale<float,4>"].launch(1, 32, x, 1.5, -2)  # a half, and a negative int
    assert (x == 4).all()
    assert program["scale<float, 4>"].name == "ns::scale<float, 4>"
    program["weights"] = kept


def test_findings_and_stops_have_lines_and_names_of_the_source(program):
    x = np.arange(64, dtype=np.float32)
    report = program["racy"].check(1, 64, x, (1, 2, 3, 4), True, random=2)
    (race,) = report.errors
    assert (report.kernel, race.rule) == ("racy", "data-race")
    assert " of tile (shared memory" in race.message
    assert [str(location.place) for location in race.places] == [f"sample.cu:{RACE - 1}", f"sample.cu:{RACE}"]
    with program["racy"].debug(1, 64, x, (1, 2, 3, 4), False) as session:
        session.breakpoints.add(str(RACE))
        assert session.resume().line == RACE
    with pytest.raises(pyptx.errors.SimulationError, match=rf"sample.cu:{RACE - 1}: (?s:.*)past the end of x\[32\]"):
        program["racy"].launch(1, 64, x[:32], (0, 0, 0, 0), False)


def test_views_show_the_source(program):
    assert "return x * x;" in program.isolated("racy").view().text()
    text = program["racy"].view().text()
    assert "tile[threadIdx.x] = square(x[threadIdx.x]);" in text
    assert "return x * x;" in text  # inlined


@pytest.mark.parametrize(
    "arguments, message",
    [
        (lambda x: (x.astype(np.float64), (0, 0, 0, 0), 0), r"racy: x is float\*; the array has dtype float64"),
        (lambda x: (x, (0, 0), 0), "v is float4; got 2 values"),
        (lambda x: (x, 1.0, 0), "v is float4, 16 bytes by value; got float"),
        (lambda x: (x, bytes(8), 0), "v is float4, 16 bytes; got 8"),
        (lambda x: (x,), r"racy\(float\* x, float4 v, bool twice\): 1 arguments are given, 3 expected"),
    ],
)
def test_wrong_arguments_are_refused_in_the_words_of_the_source(program, arguments, message):
    with pytest.raises(pyptx.LaunchError, match=message):
        program["racy"].launch(1, 64, *arguments(np.zeros(64, np.float32)))


def test_numbers_beyond_their_type_and_unknown_names_are_refused(program):
    with pytest.raises(pyptx.LaunchError, match="n is int, -2147483648 to 2147483647; 2147483648 does not fit"):
        program["add"].launch(1, 32, None, None, 2**31, bytes(8))
    with pytest.raises(KeyError, match="scale is a template; name its arguments"):
        program["scale"]
    with pytest.raises(KeyError, match="its kernels are add, racy, .*variables are weights, counter"):
        program["missing"]
    with pytest.raises(pyptx.CompileError, match='cannot instantiate ns::scale<nope>\nidentifier "nope" is undefined'):
        program["scale<nope>"]


def test_compiler_errors_name_file_line_and_column(tmp_path: Path):
    path = tmp_path / "bad.cu"
    path.write_text("__global__ void k(int *a) {\n    a[0] = missing;\n}\n")
    with pytest.raises(nvrtc.CudaError) as caught:
        pyptx.cuda(path)
    assert str(caught.value) == (
        f'{path}:2:12: identifier "missing" is undefined\n    a[0] = missing;\n           ^^^^^^^'
    )
    with pytest.raises(nvrtc.CudaError, match=r'(?s)cannot open source file "no.h".*hint: pass the folder'):
        pyptx.cuda('#include "no.h"\n')
    with pytest.raises(ValueError, match="arch='sm_12' is not a target"):
        pyptx.cuda(path, arch="sm_12")
    with pytest.raises(ValueError, match="NVRTC .*: unrecognized option --fast found"):
        pyptx.cuda("__global__ void k() {}\n", options=["--fast"])


def test_missing_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch):
    library._nvrtc.cache_clear()
    library.compiler_version.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "cuda.bindings", None)
    with pytest.raises(pyptx.errors.MissingToolError, match=r"NVRTC .*\nhint: pip install 'pyptx-workbench\[cuda\]'"):
        pyptx.cuda("__global__ void k() {}\n")
    library._nvrtc.cache_clear()


def test_a_changed_header_compiles_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    set_global_cache(CubinCache(tmp_path / "cache"))
    try:
        (tmp_path / "inc").mkdir()
        (tmp_path / "inc" / "by.h").write_text("#define BY 2\nint host() { return 1; }\n")
        (tmp_path / "main.cu").write_text('#include "by.h"\n__global__ void k(int *x) { x[0] = BY * SCALE; }\n')
        x = np.zeros(1, np.int32)
        runs = []
        run = nvrtc.compiler.run_nvrtc
        monkeypatch.setattr(nvrtc.compiler, "run_nvrtc", lambda *args: runs.append(args) or run(*args))
        for _ in range(2):
            pyptx.cuda(tmp_path / "main.cu", include=[tmp_path / "inc"], defines={"SCALE": 10})["k"].launch(1, 1, x)
        assert x[0] == 20 and len(runs) == 1
        (tmp_path / "inc" / "by.h").write_text("#define BY 3\n")
        pyptx.cuda(tmp_path / "main.cu", include=[tmp_path / "inc"], defines={"SCALE": 10})["k"].launch(1, 1, x)
        assert x[0] == 30 and len(runs) == 2
    finally:
        set_global_cache(None)


def test_sources_are_linked():
    main = "extern __device__ float f(float);\n__global__ void k(float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }\n"
    part = "__device__ float f(float x) {\n    return x + 1;\n}\n"
    x = np.zeros(32, np.float32)
    pyptx.cuda([main, part])["k"].launch(1, 32, x)
    assert (x == 1).all()


@pytest.mark.parametrize("read, language", [(pyptx.cuda, "CUDA C++"), (pyptx.load, "PTX")])
def test_other_values_than_paths_and_text_are_refused(read, language):
    with pytest.raises(OperandError, match=rf"{read.__name__}: 3 is neither a path nor {re.escape(language)}"):
        read([3])


def test_source_on_one_line_is_no_path():
    assert list(pyptx.cuda("__global__ void clear(int *x) { x[threadIdx.x] = 0; }").entries) == ["clear"]


def test_without_optimization_the_debugger_enters_functions():
    source = "__device__ float square(float x) {\n    return x * x;\n}\n__global__ void k(float *x) {\n    x[0] = square(x[0]);\n}\n"
    program = pyptx.cuda(source, debug=True)
    x = np.array([3], np.float32)
    with program["k"].debug(1, 1, x) as session:
        session.breakpoints.add("2")
        assert session.resume().line == 2
    assert "return x * x;" in program.isolated("k").view().text()
    program["k"].launch(1, 1, x)
    assert x[0] == 9


def test_integer_types_of_the_c_library_are_those_of_nvcc():
    program = pyptx.cuda(
        "__global__ void narrow(const ulong *x, ushort *y, u_int8_t *z, uint n) {"
        " uint i = threadIdx.x; if (i < n) { y[i] = x[i]; z[i] = x[i]; } }"
    )
    y, z = np.zeros(4, np.uint16), np.zeros(4, np.uint8)
    program["narrow"].launch(1, 32, np.array([1, 300, 70_000, 1 << 40], np.uint64), y, z, 4)
    assert y.tolist() == [1, 300, 4464, 0]
    assert z.tolist() == [1, 44, 112, 0]
