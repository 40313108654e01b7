"""`total = total + x[i]` in a loop of the kernel: the loop would add to the first register each time, so it is refused."""

from __future__ import annotations

import dis
import shutil

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.errors import TraceError
from pyptx.ptx import _carried_values
from pyptx.types import f32


def made(body):
    return kernel(body, in_specs=(Tile(64, f32),), out_specs=(Tile(64, f32),))


def a_sum(x, y):
    total = reg.scalar(f32, 0.0)
    for i in ptx.range_(0, 4):
        total = total + x[i]  # here
    y[0] = total


def a_sum_from_a_number(x, y):
    total = 0.0
    for i in ptx.range_(0, 4):
        total += x[i]  # here
    y[0] = total


def a_maximum(x, y):
    most = x[0]
    for _, i in enumerate(ptx.range_(0, 4)):
        if True:
            most = ptx.max(most, x[i])  # here
    y[0] = most


def an_inner_loop(x, y):
    total = reg.scalar(f32, 0.0)
    for i in ptx.range_(0, 4):
        for j in ptx.range_(0, 4):
            total = total + x[i * 4 + j]  # here
    y[0] = total


def a_vector(x, y):
    total = x.vec(4)[0]
    for i in ptx.range_(0, 4):
        total = total + x.vec(4)[i]  # here
    y.vec(4)[0] = total


def elements_of_a_list(x, y):
    sums = [reg.scalar(f32, 0.0) for _ in range(2)]
    for i in ptx.range_(0, 4):
        sums[1] = sums[1] + x[i]  # here
    y[0] = sums[1]


REFUSED = [a_sum, a_sum_from_a_number, a_maximum, an_inner_loop, a_vector, elements_of_a_list]


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.__name__)
def test_a_variable_that_is_not_carried_is_refused_where_it_is_bound(body):
    with pytest.raises(TraceError, match="the loop does not carry") as caught:
        made(body).ptx()
    assert caught.value.place.source_line.endswith("# here")
    assert "+= value`" in caught.value.hint


def test_what_python_would_compute_alike_is_left_alone():
    def body(x, y):
        total, sums, first = reg.scalar(f32, 0.0), [reg.scalar(f32, 0.0)], x[0]
        at, least = ptx.tid.x + 0, first  # `least` is bound to `first`, which the loop reads
        for i in ptx.range_(0, 4):
            total += x[i]
            sums[0] += x[i]
            at = ptx.tid.x + i  # bound before it is read
            least = ptx.min(first, x[at])
            y[at] = least
        y[8], y[9] = total, sums[0]

    x = np.arange(64, dtype=np.float32)
    y = made(body)(x)
    assert list(y[:4]) == [0] * 4 and y[8] == y[9] == 6


def test_variables_of_code_that_exec_runs_are_left_alone():
    def body(x, y):
        scope = {"ptx": ptx, "reg": reg, "f32": f32, "x": x}
        exec("t = reg.scalar(f32, 0.0)\nfor i in ptx.range_(0, 4):\n    t = t + x[i]\n", scope)
        y[0] = scope["t"]

    assert "add" in made(body).ptx()


def test_the_first_access_is_that_of_dis():
    for function in (*REFUSED, made, shutil.copytree, shutil.rmtree):
        code = function.__code__
        for one in dis.get_instructions(code):
            if one.opname == "FOR_ITER":
                first: dict[str, str] = {}
                for word, name, _ in _carried_values._accesses(code, one.offset):
                    first.setdefault(name, word)
                for name, word in first.items():
                    assert _carried_values._first_access(code, one.offset + 2, name) == word, (function, name)
