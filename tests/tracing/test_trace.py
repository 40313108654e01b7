"""The trace: operands, names, scopes, nesting, arguments of `ptx.inst`, and its cost."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tracing import accept, module_of, trace, written

from pyptx import kernel, ptx, reg, smem
from pyptx.errors import TraceError
from pyptx.ir.nodes import (
    AddressOperand,
    ImmediateOperand,
    LabelOperand,
    NegatedOperand,
    RegisterOperand,
    VectorOperand,
)
from pyptx.tensor import TensorSpec
from pyptx.tracing.operand import address, operand, shifted
from pyptx.tracing.trace import get_ctx, in_trace, run, trace_scope
from pyptx.types import b32, f32, f64, pred, s32, u32, u64

# operands ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "node"),
    [
        (7, ImmediateOperand("7")),
        (-1, ImmediateOperand("-1")),
        (True, ImmediateOperand("1")),
        (False, ImmediateOperand("0")),
        (np.int64(9), ImmediateOperand("9")),
        (1.0, ImmediateOperand("0f3F800000")),
        ("0x10", ImmediateOperand("0x10")),
        ("-4", ImmediateOperand("-4")),
        ("done", LabelOperand("done")),
        ("%tid.x", RegisterOperand("%tid.x")),
        ([1, "%r0"], VectorOperand((ImmediateOperand("1"), RegisterOperand("%r0")))),
        (reg.Reg("%r0", u32), RegisterOperand("%r0")),
        (~reg.Reg("%p0", pred), NegatedOperand(RegisterOperand("%p0"))),
        (TensorSpec("x"), LabelOperand("x")),
        (LabelOperand("as_it_is"), LabelOperand("as_it_is")),
    ],
)
def test_python_values_are_operands(value, node):
    assert operand(value) == node


@pytest.mark.parametrize("value", [None, object(), {1: 2}, 1j, np.zeros(3)])
def test_other_values_are_not_operands(value):
    with pytest.raises(TypeError):
        operand(value)


def test_floats_are_exact_in_the_width_of_the_instruction():
    def body():
        ptx.inst.mov.f32(reg.scalar(f32), 0.1)
        ptx.inst.mov.f64(reg.scalar(f64), 0.1)
        ptx.inst.mov.f32(reg.scalar(f32), float("nan"))

    assert written(body) == [
        "mov.f32 %f0, 0f3DCCCCCD;",
        "mov.f64 %fd0, 0d3FB999999999999A;",
        "mov.f32 %f1, 0f7FC00000;",
    ]


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (None, None),
        (0, None),
        (4, "4"),
        (-4, "-4"),
        ("%r1", "%r1"),
        ("+8", "8"),
        (", {0, 1}", ", {0, 1}"),
        ("sym", "sym"),
    ],
)
def test_offsets_of_an_address(offset, text):
    assert address("%rd0", offset) == AddressOperand("%rd0", text)


@given(st.integers(-(2**31), 2**31), st.integers(-(2**31), 2**31))
def test_constant_offsets_are_folded(a, b):
    once = shifted(shifted(AddressOperand("%rd0"), a), b)
    assert int(once.offset or 0) == a + b


# the generic chain -------------------------------------------------------------------------------------------------


def test_identifiers_map_to_ptx_words():
    def body():
        ptx.inst.and_.b32("%a", "%b", 1)
        ptx.inst.ld.global_.f32("%f", ptx.addr("%rd"))
        ptx.inst.cp.async_.bulk.tensor._2d.shared__cluster.global_("x")
        ptx.inst.ret(pred=~reg.scalar(pred))

    assert written(body) == [
        "and.b32 %a, %b, 1;",
        "ld.global.f32 %f, [%rd];",
        "cp.async.bulk.tensor.2d.shared::cluster.global x;",
        "@!%p0 ret;",
    ]


def test_the_chain_returns_its_first_register():
    def body():
        f = reg.scalar(f32)
        assert ptx.inst.add.f32(f, f, f) is f
        assert ptx.inst.ret() is None and ptx.inst.st.global_.f32(ptx.addr("%rd0"), f) is None

    trace(body)


def test_completion_follows_the_table():
    assert {"add", "and_", "cp", "wgmma"} <= set(dir(ptx.inst))
    assert "rn" in dir(ptx.inst.add) and "shared" in dir(ptx.inst.ld)
    assert "add" in ptx.inst.add.__doc__ and repr(ptx.inst.add.rn) == "ptx.inst.add.rn"


def test_a_pipe_feeds_each_result_on():
    def body():
        a, b, c = reg.scalar(f32), reg.scalar(f32), reg.scalar(f32)
        ptx.pipe(a).mul.f32(b, 2.0).add.f32(c, a)
        with pytest.raises(TypeError, match="needs an instruction"):
            ptx.pipe(a)(b)

    assert written(body) == ["mul.f32 %f1, %f0, 0f40000000;", "add.f32 %f2, %f1, %f0;"]


def test_a_guard_is_a_predicate():
    with pytest.raises(TypeError, match="pred= takes a predicate"):
        trace(lambda: ptx.inst.ret(pred=reg.scalar(u32)))


# names and registers -----------------------------------------------------------------------------------------------


def test_every_trace_starts_its_names_again():
    def body():
        reg.scalar(f32)
        return smem.alloc(f32, 1), get_ctx().label("x")

    for _ in range(2):
        with trace_scope() as ctx:
            run(body)
            assert ctx.label("y") == "$_y_1" and [d.name for d in ctx.var_decls] == ["smem_0"]


def test_a_trace_knows_the_types_of_its_registers():
    def body():
        reg.scalar(u32)
        reg.array(f32, 12)
        reg.array(b32, 4, name="%x1_")
        reg.array(b32, 20, name="%z1")
        reg.scalar(pred)
        ptx.raw(".reg .b64 %w<3>, %lone;")

    ctx = trace(body)
    names = {"%r0": "u32", "%f11": "f32", "%x1_3": "b32", "%z119": "b32", "%p0": "pred", "%w2": "b64", "%lone": "b64"}
    assert {name: ctx.type_of(name) for name in names} == names
    assert ctx.type_of("%tid.x") is None and ctx.type_of("%nobody7") is None


def test_nothing_can_be_written_outside_a_trace():
    assert not in_trace()
    for call in (get_ctx, lambda: reg.scalar(f32), lambda: ptx.ret(), lambda: ptx.inst.ret(), lambda: smem.mbarrier(1)):
        with pytest.raises(RuntimeError, match="No active kernel trace"):
            call()


def test_traces_of_threads_are_their_own():
    def body():
        seen = []
        other = threading.Thread(target=lambda: seen.append(in_trace()))
        other.start()
        other.join()
        assert seen == [False] and in_trace()

    trace(body)


def test_the_outer_trace_resumes_after_an_inner_one():
    def body():
        reg.scalar(f32)
        assert written(lambda: reg.scalar(u32, 1)) == ["mov.u32 %r0, 1;"]
        assert reg.scalar(f32).name == "%f1"

    trace(body)


def test_an_error_in_the_body_ends_the_trace():
    with pytest.raises(KeyError):
        trace(lambda: {}["x"])
    assert not in_trace()


# places ------------------------------------------------------------------------------------------------------------


def scaled(x, by):
    ptx.inst.mul.f32(x, x, by)


def scaled_twice(x):
    scaled(x, 2.0)
    scaled(
        x,
        3.0,  # on lines of its own: a call that spans lines
    )


def test_a_location_has_the_stack_of_helpers():
    def body():
        scaled_twice(reg.scalar(f32))

    first, second = (s.place for s in trace(body).statements)
    assert [p.function.rpartition(".")[2] for p in first.stack] == ["scaled", "scaled_twice", "body"]
    assert [p.source_line.strip() for p in first.stack] == [
        "ptx.inst.mul.f32(x, x, by)",
        "scaled(x, 2.0)",
        "scaled_twice(reg.scalar(f32))",
    ]
    assert second.caller.line == first.caller.line + 1 and second.caller.position.end_line == second.caller.line + 3


def test_a_location_has_the_callers_of_the_moment():
    def emitting(x):
        while True:
            scaled(x, 2.0)
            scaled(x, 3.0)
            yield

    def through(x):
        yield from emitting(x)

    def both(x, steps):
        next(steps)
        scaled(x, 4.0)
        next(steps)

    def body():
        x = reg.scalar(f32)
        steps = through(x)
        both(x, steps)
        both(x, steps)

    stacks = [[p.source_line.strip() for p in s.place.stack] for s in trace(body).statements]
    emit, twice, thrice = "ptx.inst.mul.f32(x, x, by)", "scaled(x, 2.0)", "scaled(x, 3.0)"
    of_generator = [[emit, one, "yield from emitting(x)", "next(steps)", "both(x, steps)"] for one in (twice, thrice)]
    assert stacks == 2 * [*of_generator, [emit, "scaled(x, 4.0)", "both(x, steps)"], *of_generator]
    lines = [[p.line for p in s.place.stack] for s in trace(body).statements]
    assert lines[3][3] == lines[0][3] + 2 and lines[5][4] == lines[0][4] + 1


def test_operators_and_wrappers_have_the_users_line():
    def body():
        x = reg.scalar(u32, 1)
        y = x + x * 2
        with ptx.if_(y < 4):
            ptx.mbarrier.wait(smem.mbarrier(1)[0], 0)

    ctx = trace(body)
    lines = [s.place.source_line.strip() for s in ctx.statements]
    assert lines == [
        "x = reg.scalar(u32, 1)",
        "y = x + x * 2",
        "y = x + x * 2",
        *["with ptx.if_(y < 4):"] * 2,
        *["ptx.mbarrier.wait(smem.mbarrier(1)[0], 0)"] * 3,
        *["with ptx.if_(y < 4):"] * 3,
    ]
    span = ctx.statements[1].place
    assert span.source_line[span.position.column : span.position.end_column] == "x * 2"


def test_comprehensions_and_lambdas_have_locations():
    def body():
        f = reg.scalar(f32)
        [ptx.inst.add.f32(f, f, i) for i in (1.0, 2.0)]
        (lambda: ptx.inst.ret())()

    assert [s.place.source_line.strip()[:8] for s in trace(body).statements] == ["[ptx.ins", "[ptx.ins", "(lambda:"]


def test_locations_are_interned():
    def body():
        for _ in range(3):
            ptx.inst.ret()

    assert len({id(s.place) for s in trace(body).statements}) == 1


def test_a_body_in_a_cell_keeps_its_lines(tmp_path):
    source = "\n\ndef body():\n    from pyptx import ptx\n    é = 'ü'; ptx.inst.ret()\n"
    file = tmp_path / "cell.py"
    file.write_text(source, encoding="utf-8")
    scope = {}
    exec(compile(source, str(file), "exec"), scope)
    place = trace(scope["body"]).statements[0].place
    assert (place.line, place.file) == (5, str(file))
    assert place.source_line[place.position.column : place.position.end_column] == "ptx.inst.ret()"


# parameters and tensors --------------------------------------------------------------------------------------------


def test_parameters_and_pointers():
    def body():
        (x,) = ptx.global_ptrs(TensorSpec("x"))
        assert x.dtype.name == "b64" and ptx.global_ptrs() == ()
        ptx.param(u32, "n")
        ptx.param(u64, "table")
        ptx.cvta.param("x")
        ptx.cvta.to_global(x, x)
        assert ptx.var("shared__cta", b32, "tile", size=8, align=16) == "tile"

    assert (
        written(body, raw_param_types={"table": "b8.align64.array128"})
        == [
            "ld.param.u64 %rd0, [x];",
            "cvta.to.global.u64 %rd0, %rd0;",
            "ld.param.u32 %r0, [n];",
            "mov.u64 %rd1, table;",
            "cvta.param.u64 %rd2, x;",
            "cvta.to.global.u64 %rd0, %rd0;",
            ".shared::cta .align 16 .b32 tile[8];",
        ][:6]
    )


def test_special_registers_come_from_the_table():
    def body():
        special = ptx.special
        for read in (
            special.tid.x,
            special.nctaid.z,
            special.laneid,
            special.clock64,
            special.clusterid.y,
            special.lanemask_lt,
            special.dynamic_smem_size,
            special.globaltimer,
            ptx.ctaid_x,
        ):
            register = read()
            reg.from_(register, register.dtype)
        assert special.clock64().dtype == u64 and ptx.sreg("%warpid").name == "%warpid"
        with pytest.raises(AttributeError, match="%tidy is not a special register"):
            _ = special.tidy

    accept(module_of({"k": trace(body)}, "sm_90"))


def test_warp_reductions():
    def body():
        value, signed, real = reg.scalar(u32), reg.scalar(s32), reg.scalar(f32)
        ptx.warp.reduce_sum(value, width=2)
        ptx.warp.reduce_max(signed, width=2)
        ptx.warp.reduce_min(real, width=2)

    assert [line for line in written(body) if not line.startswith("mov")] == [
        "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;",
        "add.u32 %r0, %r0, %r3;",
        "shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1;",
        "max.s32 %r1, %r1, %r5;",
        "shfl.sync.bfly.b32 %r7, %r6, 1, 31, -1;",
        "min.f32 %f0, %f0, %f1;",
    ]
    accept(module_of({"k": trace(body)}, "sm_80"))
    with pytest.raises(ValueError, match="width=3"):
        trace(lambda: ptx.warp.reduce_sum(reg.scalar(u32), width=3))
    with pytest.raises(TypeError, match="u64"):
        trace(lambda: ptx.warp.reduce_sum(reg.scalar(u64)))


def test_a_loop_left_by_break_fails_the_kernel():
    @kernel
    def k():
        for _ in ptx.range_(0, 4):
            break

    with pytest.raises(TraceError, match="break"):
        k.ptx()


# cost --------------------------------------------------------------------------------------------------------------


def seconds_for(count: int) -> float:
    """Least time to write `count` instructions."""

    def body():
        a = reg.scalar(f32)
        for _ in range(count):
            ptx.inst.fma.rn.f32(a, a, a, a)

    times = []
    for _ in range(3):
        start = time.process_time()
        trace(body)
        times.append(time.process_time() - start)
    return min(times)


def test_tracing_is_not_quadratic():
    """16 times as many instructions: about 16 times as long; 256 times if anything looked back at all the others."""
    few, many = seconds_for(500), seconds_for(8_000)
    assert many < 5 * 16 * few
