"""Units: variables, functions and kernels of one file."""

from __future__ import annotations

import numpy as np
import pytest

from pyptx import kernel, ptx, reg
from pyptx.emitter import emit
from pyptx.errors import TraceError
from pyptx.parser import parse
from pyptx.types import b32, f32
from pyptx.unit import Unit

unit = Unit(arch="sm_90a", version=(8, 5))
unit.var("const", f32, "factors", size=2, align=4, init=[2.0, 3.0])


@unit.func(params=[("f32", "x")], returns=[("f32", "y")])
def scaled():
    x, factor = reg.scalar(f32), reg.scalar(f32)
    ptx.inst.ld.param.f32(x, ptx.addr("x"))
    ptx.inst.ld.const.f32(factor, ptx.addr("factors", 4))
    ptx.inst.st.param.f32(ptx.addr("y"), x * factor)
    ptx.ret()


@kernel(arch="sm_90a", version=(8, 5), raw_params=[("u64", "data")], unit=unit)
def triple():
    (data,) = ptx.global_ptrs("data")
    value = reg.scalar(f32)
    with ptx.scope():
        ptx.var("param", b32, "a")
        ptx.var("param", b32, "result")
        ptx.inst.ld.global_.f32(value, ptx.addr(data))
        ptx.inst.st.param.f32(ptx.addr("a"), value)
        ptx.inst.call.uni(("result",), "scaled", ("a",))
        ptx.inst.ld.param.f32(value, ptx.addr("result"))
    ptx.inst.st.global_.f32(ptx.addr(data), value)


@kernel(arch="sm_90a", version=(8, 5), name="other$kernel", linking="weak", unit=unit)
def other():
    ptx.ret()


def test_a_kernel_by_itself_holds_what_it_may_use_and_no_other_kernel():
    assert [d.name for d in triple.module().directives] == ["factors", "scaled", "triple"]
    assert [f.name for f in other.module().entries] == ["other$kernel"]
    assert "factors[2] = {0f40000000, 0f40400000}" in triple.ptx()


def test_the_unit_holds_all_of_it_in_order():
    text = emit(unit.module())
    assert [d.name for d in parse(text).functions] == ["scaled", "triple", "other$kernel"]
    assert ".weak .entry other$kernel" in text
    assert emit(parse(text)) == text


def test_it_runs_and_assembles():
    data = np.array([7.0], np.float32)
    triple.launch(1, 1, data)
    assert data[0] == 21
    assert triple.compile().sass


def test_what_cannot_be_said_otherwise_is_text():
    file = Unit(arch="sm_90a", version=(8, 5), options=["texmode_independent"])
    file.raw(".global .texref image;\n.func f() { ret; }\n.alias g, f;")
    file.declare(
        "vprintf", params=[("b64", "format"), ("b64", "values")], returns=[("b32", "status")], linking="extern"
    )
    text = emit(file.module())
    assert ".target sm_90a, texmode_independent" in text and ".alias g, f;" in text
    assert ".extern .func (.param .b32 status) vprintf" in text
    with pytest.raises(TraceError, match="unit.raw, line 1"):
        file.raw(".nonsense")


def test_parameters_may_be_whole_declarations():
    file = Unit()

    @file.func(params=[".reg .f32 x", ("b8.align4.array12", "s")], returns=None)
    def f():
        ptx.ret()

    (function,) = file.module().functions
    assert [(p.state_space.value, p.name, p.array_size) for p in function.params] == [
        ("reg", "x", None),
        ("param", "s", 12),
    ]
    with pytest.raises(ValueError, match="is not a declaration"):
        file.declare("g", params=["float x"])
