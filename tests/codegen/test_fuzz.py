"""Random bodies: the generated Python traces back, with and without sugar."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pyptx.codegen import ptx_to_python
from pyptx.codegen.execution import trace_source
from pyptx.codegen.verify import differences
from pyptx.parser import parse

HEADER = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{ .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .f32 %f<12>; .reg .s32 named;
"""
number = st.integers(-3, 9)
word, wide = st.integers(0, 11).map("%r{}".format) | st.just("named"), st.integers(0, 5).map("%rd{}".format)
real, truth = st.integers(0, 11).map("%f{}".format), st.integers(0, 3).map("%p{}".format)
label = st.sampled_from("ABCD")


@st.composite
def statement(draw) -> str:
    """One statement; operands of any register, so that values are overwritten, carried around and never set."""
    guard = draw(st.sampled_from(["", "", "", "", f"@{draw(truth)} ", f"@!{draw(truth)} "]))
    right = str(draw(st.one_of(word, number)))
    kind = draw(
        st.sampled_from(
            [
                "add.s32 {w}, {v}, {right};",
                "sub.s32 {w}, {v}, {right};",
                "mul.lo.s32 {w}, {v}, {right};",
                "shl.b32 {w}, {v}, {right};",
                "and.b32 {w}, {v}, {right};",
                "shr.u32 {w}, {v}, 3;",
                "shr.s32 {w}, {v}, 3;",
                "mov.u32 {w}, {v};",
                "mov.u32 {w}, %tid.x;",
                "mov.b32 {w}, {n};",
                "mad.lo.s32 {w}, {v}, {right}, {w};",
                "setp.lt.s32 {p}, {v}, {right};",
                "setp.eq.u32 {p}|{q}, {v}, {right};",
                "selp.b32 {w}, {v}, {right}, {p};",
                "mul.wide.s32 {d}, {v}, 4;",
                "add.s64 {d}, {e}, {d};",
                "cvt.u64.u32 {d}, {v};",
                "ld.global.f32 {f}, [{d}+4];",
                "st.global.f32 [{d}], {f};",
                "add.f32 {f}, {g}, 0f3F800000;",
                "fma.rn.f32 {f}, {g}, {g}, {f};",
                "ld.param.u64 {d}, [k_param_0];",
                "ld.global.v2.f32 {{{f}, {g}}}, [{d}];",
                "mov.b32 {f}, {w};",
                "bar.sync 0;",
                "mov.b64 {d}, {{{w}, {v}}};",
                "neg.s32 {w}, {v};",
                "max.s32 {w}, {v}, {right};",
                "add.f32 {f}, {f}, {g};",
            ]
        )
    )
    names = {
        "w": draw(word),
        "v": draw(word),
        "right": right,
        "n": draw(number),
        "p": draw(truth),
        "q": draw(truth),
        "d": draw(wide),
        "e": draw(wide),
        "f": draw(real),
        "g": draw(real),
    }
    return guard + kind.format(**names)


@st.composite
def body(draw) -> str:
    """Statements with jumps between labels, scopes, and groups that are repeated."""
    parts = draw(
        st.lists(
            st.one_of(
                statement(),
                statement(),
                statement(),
                st.builds("@{} bra {};".format, truth, label),
                st.builds("@!{} bra {};".format, truth, label),
                st.builds("bra.uni {};".format, label),
                st.just("ret;"),
                st.builds("{{ .reg .b32 %r1, t; {} {} mov.b32 t, %r1; }}".format, statement(), statement()),
                st.builds(
                    lambda d, n: "".join(f"st.global.f32 [{d}+{4 * i}], %f{i}; " for i in range(n)),
                    wide,
                    st.integers(3, 11),
                ),
            ),
            max_size=25,
        )
    )
    for name in "ABCD":
        parts.insert(draw(st.integers(0, len(parts))), f"{name}:")
    return "\n".join(parts)


@given(body())
@settings(max_examples=25, deadline=None)
def test_any_body_traces_back(text: str):
    source = f"{HEADER}{text}\n}}\n"
    module = parse(source)
    assert not differences(module, trace_source(ptx_to_python(source)))
    assert not differences(module, trace_source(ptx_to_python(source, sugar=True)), names=False)
