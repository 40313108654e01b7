"""Calls: by name and by address, parameters in memory and in registers, recursion, divergence, driver functions."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sim.engines import run_both

from pyptx import parser, sim
from pyptx.errors import LaunchError, SimulationError
from pyptx.sim.abi import Limit

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LANES = np.arange(64)


def _module(functions: str, body: str):
    """An entry over one pointer, with %r0 the thread and %rd0 the address of its 32-bit word."""
    return parser.parse(f"""{HEAD}{functions}
    .visible .entry test(.param .u64 out) {{
        .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;
        .param .b32 x; .param .b32 y; .param .b32 z; .param .b64 w;
        mov.u32 %r0, %tid.x;
        ld.param.u64 %rd0, [out];
        mad.wide.u32 %rd0, %r0, 4, %rd0;
        {body}
        st.global.u32 [%rd0], %r1;
        ret;
    }}""")


def _run(functions: str, body: str) -> np.ndarray:
    out = np.zeros(64, np.int32)
    run_both(_module(functions, body), 1, 64, (out,))
    return out


REGISTERS = ".func (.reg .b32 d) scaled (.reg .b32 a, .reg .b32 b) { mul.lo.s32 d, a, b; ret; }"
EARLY = """.func (.param .b32 d) early (.param .b32 a) {
    .reg .b32 v; .reg .pred p;
    ld.param.b32 v, [a];
    setp.lt.u32 p, v, 20;
    @p bra SMALL;
    add.s32 v, v, 1000;
    st.param.b32 [d], v;
    ret;
SMALL:
    st.param.b32 [d], v;
    ret;
}"""


def test_parameters_in_registers():
    assert np.array_equal(_run(REGISTERS, "call (%r1), scaled, (%r0, 3);"), 3 * LANES)


def test_lanes_that_return_early_meet_the_others_behind_the_call():
    got = _run(
        EARLY,
        "st.param.b32 [x], %r0; call (z), early, (x); ld.param.b32 %r1, [z]; "
        "redux.sync.add.s32 %r2, %r1, 0xffffffff; add.s32 %r1, %r1, %r2;",
    )
    value = np.where(LANES < 20, LANES, LANES + 1000)
    assert np.array_equal(got, value + value.reshape(2, 32).sum(1).repeat(32))


def test_a_call_under_a_guard_leaves_the_other_lanes_alone():
    got = _run(REGISTERS, "mov.u32 %r1, 7; setp.gt.u32 %p0, %r0, 40; @!%p0 call (%r1), scaled, (%r0, %r0);")
    assert np.array_equal(got, np.where(LANES <= 40, LANES**2, 7))


def test_a_guarded_return():
    function = """.func (.reg .b32 d) f (.reg .b32 a) { .reg .pred p; mov.u32 d, 1; setp.eq.u32 p, a, 3; @p ret;
        mov.u32 d, 2; ret; }"""
    assert np.array_equal(_run(function, "call (%r1), f, (%r0);"), np.where(LANES == 3, 1, 2))


def test_lanes_that_have_returned_run_on_when_others_wait_for_them_in_the_function():
    function = ".func f (.reg .b32 a) { .reg .pred p; setp.ge.u32 p, a, 3; @p bra END; barrier.sync 0; END: ret; }"
    got = _run(
        function,
        "call f, (%r0); mov.u32 %r1, 4; setp.lt.u32 %p0, %r0, 3; @%p0 bra X; barrier.sync 0; mov.u32 %r1, 5; X:",
    )
    assert np.array_equal(got, np.where(LANES < 3, 4, 5))


def test_lanes_that_exit_inside_a_function_are_not_waited_for():
    function = ".func f (.reg .b32 a) { .reg .pred p; setp.lt.u32 p, a, 10; @p exit; ret; }"
    assert np.array_equal(_run(function, "call f, (%r0); mov.u32 %r1, 5;"), np.where(LANES < 10, 0, 5))


FIBONACCI = """.func (.param .b64 d) fibonacci (.param .b32 n) {
    .reg .b32 k, m; .reg .b64 u, v; .reg .pred p; .local .b32 kept;
    ld.param.b32 k, [n];
    st.local.b32 [kept], k;
    cvt.u64.u32 u, k;
    setp.lt.s32 p, k, 2;
    @p bra DONE;
    { .param .b32 a; .param .b64 b; sub.s32 m, k, 1; st.param.b32 [a], m;
      call (b), fibonacci, (a); ld.param.b64 u, [b]; }
    { .param .b32 a; .param .b64 b; ld.local.b32 m, [kept]; sub.s32 m, m, 2; st.param.b32 [a], m;
      call (b), fibonacci, (a); ld.param.b64 v, [b]; add.u64 u, u, v; }
DONE:
    st.param.b64 [d], u;
    ret;
}"""


def test_recursion_keeps_registers_and_locals_of_every_level():
    got = _run(
        FIBONACCI,
        "and.b32 %r2, %r0, 7; st.param.b32 [x], %r2; call (w), fibonacci, (x); "
        "ld.param.b64 %rd1, [w]; cvt.u32.u64 %r1, %rd1;",
    )
    assert np.array_equal(got, np.array([0, 1, 1, 2, 3, 5, 8, 13])[LANES & 7])


def test_recursion_without_end_runs_out_of_local_memory():
    module = _module(
        ".func down { .local .b32 v; .reg .b32 a; st.local.b32 [v], a; call down; ret; }", "call down; mov.u32 %r1, 0;"
    )
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=r"st\.local\.b32 .* out of bounds(.|\n)*bytes of local memory"):
            sim.launch(sim.load(module), 1, 32, (np.zeros(32, np.int32),), engine=engine)


ENDLESS = ".func down { .reg .b32 a; add.u32 a, a, 1; call down; add.u32 a, a, 2; ret; }"


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_recursion_without_end_exceeds_the_call_stack(engine, monkeypatch):
    if engine == "reference":
        monkeypatch.setattr(Limit, "CALL_STACK_BYTES", 1 << 17)  # it takes half a millisecond a call
    with pytest.raises(SimulationError, match=r"call down; .* the call stack exceeds 512 KiB a thread") as caught:
        sim.launch(sim.load(_module(ENDLESS, "call down;")), 1, 32, (np.zeros(32, np.int32),), engine=engine)
    assert caught.value.kind == "call_depth"


def test_deep_recursion_takes_linear_time():
    down = """.shared .u32 n; .shared .u32 sum;
    .func down { .reg .b32 v; .reg .pred p;
        ld.shared.u32 v, [n]; setp.eq.u32 p, v, 0; @p bra END; sub.u32 v, v, 1; st.shared.u32 [n], v; call down;
        ld.shared.u32 v, [sum]; add.u32 v, v, 1; st.shared.u32 [sum], v;
    END: ret; }"""
    out, started = np.zeros(1, np.int32), time.process_time()
    body = "mov.u32 %r2, 30000; st.shared.u32 [n], %r2; call down; ld.shared.u32 %r1, [sum];"
    sim.launch(sim.load(_module(down, body)), 1, 1, (out,), engine="core")
    assert out[0] == 30_000
    assert time.process_time() - started < 2, "calls or returns search all frames"


MANY = """
.func (.param .b32 d) one (.param .b32 a) {
    .reg .b32 v; ld.param.b32 v, [a]; add.s32 v, v, 1; st.param.b32 [d], v; ret; }
.func (.reg .b32 d) two (.reg .b32 a) { add.s32 d, a, 2; ret; }
.func (.param .b32 d) three (.param .b32 a) {
    .param .b32 b; .param .b32 c; .reg .b32 v; ld.param.b32 v, [a]; st.param.b32 [b], v;
    call (c), one, (b); ld.param.b32 v, [c]; add.s32 v, v, 2; st.param.b32 [d], v; ret; }
.global .u64 functions[3] = {one, two, three};"""


def test_each_lane_calls_the_function_its_address_names():
    got = _run(
        MANY,
        """
        rem.u32 %r2, %r0, 3; mov.u64 %rd1, functions; mad.wide.u32 %rd2, %r2, 8, %rd1; ld.global.u64 %rd3, [%rd2];
        st.param.b32 [x], %r0;
        p: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (z), %rd3, (x), p;
        ld.param.b32 %r1, [z];""",
    )
    assert np.array_equal(got, LANES + LANES % 3 + 1)


def test_an_address_that_is_no_function():
    module = _module(MANY, "mov.u64 %rd3, 12345; p: .callprototype _ (); call %rd3, p; mov.u32 %r1, 0;")
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match="0x3039, which is not the address of a function"):
            sim.launch(sim.load(module), 1, 32, (np.zeros(32, np.int32),), engine=engine)


def test_aggregates_of_odd_sizes_go_by_value():
    function = """.func (.param .align 4 .b8 d[12]) turn (.param .align 4 .b8 a[12]) {
        .reg .b32 u, v, w; ld.param.b32 u, [a]; ld.param.b32 v, [a+4]; ld.param.b32 w, [a+8];
        st.param.b32 [d], w; st.param.b32 [d+4], u; st.param.b32 [d+8], v; ret; }"""
    got = _run(
        function,
        """.param .align 4 .b8 in[12]; .param .align 4 .b8 back[12];
        st.param.b32 [in], %r0; st.param.b32 [in+4], 5; st.param.b32 [in+8], 9;
        call (back), turn, (in);
        ld.param.b32 %r1, [back+4]; ld.param.b32 %r2, [back]; mad.lo.s32 %r1, %r2, 100, %r1;""",
    )
    assert np.array_equal(got, 900 + LANES)


def test_vector_registers():
    got = _run("", ".reg .v4 .b32 v; mov.b32 v.x, %r0; mov.b32 v.w, 3; add.s32 v.x, v.x, v.w; mov.b32 %r1, v.r;")
    assert np.array_equal(got, LANES + 3)


PRINTF = """.extern .func (.param .b32 d) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[32] = {37, 51, 100, 32, 37, 46, 50, 102, 32, 37, 115, 33, 32, 37, 108, 108, 120, 10, 0};
.global .align 1 .b8 word[4] = {97, 98, 99, 0};"""  # "%3d %.2f %s! %llx\\n", "abc"
PRINT = """
    .local .align 8 .b8 packed[32]; .param .b64 f; .param .b64 a; .reg .b64 %at, %generic, %name; .reg .f64 %d;
    mov.u64 %at, packed; cvta.local.u64 %generic, %at;
    st.local.u32 [packed], %r0; cvt.rn.f64.u32 %d, %r0; mul.f64 %d, %d, 0d3FF4000000000000; st.local.f64 [packed+8], %d;
    mov.u64 %name, word; cvta.global.u64 %name, %name; st.local.u64 [packed+16], %name;
    mov.u64 %name, 0xfedcba9876543210; st.local.u64 [packed+24], %name;
    mov.u64 %name, text; cvta.global.u64 %name, %name; st.param.b64 [f], %name; st.param.b64 [a], %generic;
    setp.eq.u32 %p0, %r0, 1; setp.eq.or.u32 %p0, %r0, 40, %p0;
    mov.u32 %r1, 9;
    @%p0 call (z), vprintf, (f, a);
    @%p0 ld.param.b32 %r1, [z];"""


def test_printf(capsys):
    assert np.array_equal(_run(PRINTF, PRINT), np.where((LANES == 1) | (LANES == 40), 4, 9))
    lines = "  1 1.25 abc! fedcba9876543210\n 40 50.00 abc! fedcba9876543210\n"
    assert capsys.readouterr().out == 2 * lines


def test_printf_wants_one_thread():
    with pytest.raises(LaunchError, match="printf"):
        sim.launch(sim.load(_module(PRINTF, PRINT)), 2, 64, (np.zeros(64, np.int32),), threads=2)


def test_a_failed_assert_names_file_line_and_thread():
    module = parser.parse(f"""{HEAD}
    .extern .func __assertfail (.param .b64 e, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
    .global .align 1 .b8 e[6] = {{105, 32, 60, 32, 51, 0}}; .global .align 1 .b8 f[5] = {{97, 46, 99, 117, 0}};
    .global .align 1 .b8 n[2] = {{107, 0}};
    .entry test(.param .u64 out) {{
        .reg .pred %p; .reg .b32 %t; .reg .b64 %a<3>;
        .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
        mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 3; @%p bra FINE;
        mov.u64 %a0, e; cvta.global.u64 %a0, %a0; mov.u64 %a1, f; cvta.global.u64 %a1, %a1;
        mov.u64 %a2, n; cvta.global.u64 %a2, %a2; st.param.b64 [p3], %a2;
        st.param.b64 [p0], %a0; st.param.b64 [p1], %a1; st.param.b32 [p2], 12; st.param.b64 [p4], 1;
        call __assertfail, (p0, p1, p2, p3, p4);
    FINE: ret;
    }}""")
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match=r"thread \(3, 0, 0\).* a\.cu:12: k: assertion `i < 3` failed"):
            sim.launch(sim.load(module), 1, 32, (np.zeros(1, np.int32),), engine=engine)


HEAP = """.extern .func (.param .b64 d) malloc (.param .b64 n); .extern .func free (.param .b64 p);"""
ALLOCATE = """.param .b64 n; .param .b64 p; .reg .b64 %at;
    st.param.b64 [n], 8; call (p), malloc, (n); ld.param.b64 %at, [p]; st.u32 [%at], %r0; ld.u32 %r1, [%at];"""


def test_malloc_and_free():
    got = _run(HEAP, ALLOCATE + "st.param.b64 [n], %at; call free, (n);")
    assert np.array_equal(got, LANES)


def test_freeing_twice():
    twice = "st.param.b64 [n], %at; call free, (n); call free, (n);"
    for engine in ("core", "reference"):
        with pytest.raises(SimulationError, match="which malloc did not return or which is already free"):
            sim.launch(sim.load(_module(HEAP, ALLOCATE + twice)), 1, 32, (np.zeros(32, np.int32),), engine=engine)


def test_launches_by_kernels_are_refused_by_name():
    with pytest.raises(SimulationError, match="kernels that launch kernels .dynamic parallelism. are not simulated"):
        sim.load(_module(".extern .func __cudaCDP2StreamDestroy;", "call __cudaCDP2StreamDestroy; mov.u32 %r1, 0;"))


def test_a_function_without_a_body_is_named():
    with pytest.raises(SimulationError, match="function away has no body in this module"):
        sim.load(_module(".extern .func away;", "call away; mov.u32 %r1, 0;"))


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_call_by_address_in_a_module_without_functions_faults_when_it_is_executed(engine: str):
    call = "p: .callprototype _ (.param .b64 _); setp.lt.u32 %p1, %r0, {}; mov.u32 %r1, 5; @%p1 call %rd0, (w), p;"
    out = np.zeros(64, np.int32)
    sim.launch(sim.load(_module("", call.format(0))), 1, 64, (out,), engine=engine)
    assert (out == 5).all()
    with pytest.raises(SimulationError, match="which is not the address of a function"):
        sim.launch(sim.load(_module("", call.format(1))), 1, 64, (out,), engine=engine)
