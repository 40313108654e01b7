"""Variables of CUDA C++ in the debugger: those that -G describes, with values and types."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import pyptx
from pyptx.debug import DebugError

SOURCE = """#include <cuda_fp16.h>
struct Inner { short low; unsigned char flags[2]; };
struct Part { float scale; Inner inner; double wide; };
enum Mode { NONE, SOME = 5 };
namespace tools {
__device__ __noinline__ float twice(float value, Mode mode) {
    float doubled = 2 * value;
    return doubled + mode;
}
}
template <typename T> __global__ void walk(T *x, const Part part, int n, bool on) {
    __shared__ float tile[4][8];
    int i = threadIdx.x;
    float own[3] = {1, 2, x[i]};
    Part copy = part;
    copy.inner.low = -3;
    long long big = -(1LL << 40) - i;
    __half half_value = __float2half(1.5f);
    for (int k = 0; k < 2; k++) {
        int i = 100 + k;
        own[k] += tools::twice(x[threadIdx.x], SOME) + i;
    }
    tile[i / 8][i % 8] = own[0] + (float)big + copy.scale + __half2float(half_value);
    __syncthreads();
    if (i < n) x[i] = tile[i / 8][i % 8] + own[1] + own[2] + copy.wide * on;
}
"""
PART = np.zeros((), np.dtype([("scale", "f4"), ("low", "i2"), ("flags", "u1", 2), ("wide", "f8")], align=True))
PART["scale"], PART["low"], PART["flags"], PART["wide"] = 0.5, 7, (1, 255), 1e300
LANES = np.arange(32)


def started(**options):
    program = pyptx.cuda(SOURCE, name="walk", **options)
    x = np.linspace(0, 31, 32, dtype=np.float32)
    return program["walk<float>"].debug(1, 32, x, PART, 32, True)


@pytest.fixture(scope="module")
def at_the_end():
    session = started(debug=True)
    session.run_to("walk.cu:23")
    return session


def test_variables_have_the_values_of_each_lane(at_the_end):
    value = at_the_end.evaluate
    np.testing.assert_array_equal(value("i"), LANES)
    np.testing.assert_array_equal(value("big"), -(1 << 40) - LANES)
    np.testing.assert_array_equal(value("own[2]"), LANES)
    np.testing.assert_array_equal(value("own[1]"), 2 + (2 * LANES + 5) + 101)
    assert value("n")[0] == 32 and value("on")[0] == 1 and value("half_value")[0] == 1.5


def test_structures_and_pointers_are_followed(at_the_end):
    value = at_the_end.evaluate
    assert value("part.scale")[0] == 0.5 and value("part.wide")[0] == 1e300 and value("part.inner.low")[0] == 7
    assert value("copy.inner.low")[5] == -3 and value("part.inner.flags[1]")[0] == 255
    np.testing.assert_array_equal(value("x[i]"), LANES)
    np.testing.assert_array_equal(value("x[0]"), np.zeros(32))
    assert repr(value("x")).startswith("float * 0x")
    np.testing.assert_array_equal(value("threadIdx.x + blockDim.x * blockIdx.x"), LANES)


def test_a_shared_array_has_its_type_also_in_optimized_code():
    for session in (started(debug=True), started()):
        session.run_to("walk.cu:25")
        np.testing.assert_array_equal(session.evaluate("tile[1, 2]").shape, ())
        assert session.evaluate("tile").shape == (4, 8) and session.evaluate("tile").type == "f32"


def test_inner_blocks_hide_outer_names_and_functions_have_their_own():
    session = started(debug=True)
    session.run_to("walk.cu:21")
    assert session.evaluate("i")[3] == 100 and session.evaluate("k")[3] == 0
    session.run_to("walk.cu:8")
    assert session.evaluate("doubled")[4] == 8 and session.evaluate("mode")[0] == 5
    with pytest.raises(DebugError, match="'own' is not defined here; names here: .*doubled"):
        session.evaluate("own")
    names, shown = (
        session.launch.names,
        {r["name"]: r["python"] for r in session.document()["registers"] if r["python"]},
    )
    assert set(shown.values()) == {"value", "mode", "doubled"}  # registers of the kernel have the same PTX names
    assert set(names.bound(session.launch.warp_state().instruction)) == {"value", "mode", "doubled"}


def test_a_watchpoint_stops_where_a_variable_changes():
    session = started(debug=True)
    session.run_to("walk.cu:7")
    session.breakpoints.watch("doubled")
    stop = session.resume()
    assert stop.reason == "watchpoint" and "doubled" in stop.text
    assert session.evaluate("doubled")[4] == 8


def test_optimized_code_and_a_missing_package_are_explained(monkeypatch):
    optimized = started()
    optimized.run_to("walk.cu:23")
    with pytest.raises(DebugError, match="'big' is not defined here"):
        optimized.evaluate("big")
    assert optimized.launch.names is None
    monkeypatch.setitem(sys.modules, "elftools.common.exceptions", None)
    monkeypatch.delitem(sys.modules, "pyptx.debug.inspect.dwarf", raising=False)
    session = started(debug=True)
    session.run_to("walk.cu:23")
    with pytest.raises(DebugError, match=r"pip install 'pyptx-workbench\[cuda\]'"):
        session.evaluate("big")
