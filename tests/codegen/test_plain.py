"""PTX as Python, statement by statement."""

from __future__ import annotations

import re

import pytest

from pyptx.codegen import ir_to_python, ptx_to_python
from pyptx.codegen.execution import trace_source
from pyptx.ir.normalize import diff_modules
from pyptx.parser import parse

HEADER = ".version 8.5\n.target sm_90a\n.address_size 64\n"
REGISTERS = """
	.reg .pred %p<3>;
	.reg .b32 %r<10>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<16>;
	.reg .b32 single, in;
"""


def kernel(body: str, params: str = ".param .u64 p0", before: str = "") -> str:
    return f"{HEADER}{before}\n.visible .entry k({params})\n{{{REGISTERS}\t{body}\n}}\n"


def lines(body: str, **where: str) -> list[str]:
    """The Python of a body, without its declarations."""
    text = ptx_to_python(kernel(body, **where))
    inside = text.partition("def k():\n")[2].splitlines()
    return [line[4:] for line in inside if not re.search(r"= reg\.(array|scalar)\(", line)]


def test_a_kernel_is_a_decorated_function():
    assert ptx_to_python(kernel("ret;")).splitlines() == [
        "from pyptx import kernel, reg, smem, ptx",
        "from pyptx.types import b32, b64, f32, pred",
        "",
        "",
        '@kernel(arch="sm_90a", version=(8, 5), raw_params=[("u64", "p0")])',
        "def k():",
        '    p = reg.array(pred, 3, name="%p")',
        '    r = reg.array(b32, 10, name="%r")',
        '    rd = reg.array(b64, 4, name="%rd")',
        '    f = reg.array(f32, 16, name="%f")',
        '    single = reg.scalar(b32, name="single")',
        '    in_ = reg.scalar(b32, name="in")',
        "    ptx.ret()",
    ]


@pytest.mark.parametrize(
    "ptx, python",
    [
        ("add.s32 %r0, %r1, 4;", "ptx.inst.add.s32(r[0], r[1], 4)"),
        ("add.s32 single, in, -4;", "ptx.inst.add.s32(single, in_, -4)"),
        ("mov.u32 %r0, %tid.x;", "ptx.inst.mov.u32(r[0], ptx.special.tid.x())"),
        ("mov.u32 %r0, %laneid;", "ptx.inst.mov.u32(r[0], ptx.special.laneid())"),
        ("mov.u32 %r0, %envreg3;", "ptx.inst.mov.u32(r[0], ptx.special.envreg3())"),
        ("mov.f32 %f0, 0f3F800000;", 'ptx.inst.mov.f32(f[0], "0f3F800000")'),
        ("mov.b32 %r0, 0x10;", 'ptx.inst.mov.b32(r[0], "0x10")'),
        ("mov.b32 %r0, WARP_SZ;", 'ptx.inst.mov.b32(r[0], "WARP_SZ")'),
        ("mov.b32 %r0, (1 + 2) * 3;", 'ptx.inst.mov.b32(r[0], "(1 + 2) * 3")'),
        ("@%p1 bra L; L:", 'ptx.bra("L", pred=p[1])'),
        ("@!%p1 bra.uni L; L:", 'ptx.inst.bra.uni("L", pred=~p[1])'),
        ("@%p0 ret;", "ptx.ret(pred=p[0])"),
        ("ld.global.f32 %f0, [%rd1+-8];", "ptx.inst.ld.global_.f32(f[0], ptx.addr(rd[1], -8))"),
        ("ld.param.u64 %rd0, [p0];", 'ptx.inst.ld.param.u64(rd[0], ptx.addr("p0"))'),
        ("ld.param.u64 %rd0, [p0+0];", 'ptx.inst.ld.param.u64(rd[0], ptx.addr("p0", "0"))'),
        (
            "ld.shared::cta.v2.f32 {%f0, %f1}, [single];",
            "ptx.inst.ld.shared__cta.v2.f32([f[0], f[1]], ptx.addr(single))",
        ),
        ("st.v8.f32 [%rd1], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};", "ptx.inst.st.v8.f32(ptx.addr(rd[1]), f[0:8])"),
        ("setp.lt.and.s32 %p1|%p2, %r0, 5, !%p0;", "ptx.inst.setp.lt.and_.s32(p[1] | p[2], r[0], 5, ~p[0])"),
        ("shfl.sync.idx.b32 %r0|%p1, %r1, 0, 31, -1;", "ptx.inst.shfl.sync.idx.b32(r[0] | p[1], r[1], 0, 31, -1)"),
        ("elect.sync _|%p1, -1;", 'ptx.inst.elect.sync("_|%p1", -1)'),
        ("call (a), f, (b);", 'ptx.inst.call(("a",), "f", ("b",))'),
        ("prefetch.tensormap [%rd1];", "ptx.inst.prefetch.tensormap(ptx.addr(rd[1]))"),
        (
            "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r0, 0}];",
            "ptx.inst.cp.async_.bulk.prefetch.tensor._2d.L2.global_(ptx.addr(rd[1], [r[0], 0]))",
        ),
        ("vadd.u32.u32.u32 %r0, %r1.b0, %r2.h1, -%r3;", 'ptx.inst.vadd.u32.u32.u32(r[0], "%r1.b0", "%r2.h1", "-%r3")'),
        ('.pragma "nounroll";', 'ptx.pragma("nounroll")'),
        ("targets: .branchtargets A, B; A: B:", 'ptx.raw("targets: .branchtargets A, B;")'),
        ("{ }", "with ptx.scope():"),
        ("@%p9 ret;", 'ptx.raw("@%p9 ret;")'),
        (".local .align 8 .b8 stack[16];", 'ptx.var("local", b8, "stack", size=16, align=8)'),
        ("// why\n\tret;", "# why"),
    ],
)
def test_an_instruction_is_a_call(ptx: str, python: str):
    assert lines(ptx)[0] == python


def test_registers_of_a_scope_hide_those_outside():
    assert lines("{ .reg .b32 single, mine; mov.b32 single, mine; } mov.b32 single, %r0;")[:3] == [
        "with ptx.scope():",
        "    ptx.inst.mov.b32(single_1, mine)",
        "ptx.inst.mov.b32(single, r[0])",
    ]


def test_deep_blocks_are_written_as_text():
    text = ptx_to_python(kernel("{ " * 40 + "mov.b32 %r0, 1; " + "} " * 40))
    assert text.count("with ptx.scope():") == 16 and "ptx.raw(" in text


def test_other_directives_are_expressed_by_the_unit():
    source = kernel(
        "ret;",
        before="""
.global .align 4 .u32 table[3] = {1, 2, 0x3};
.const .f32 pi = 0f40490FDB;
.global .u64 pointers[2] = {table, table+4};
.extern .shared .align 16 .b8 dyn[];
.global .texref texture;
.func (.param .b32 result) twice(.reg .b32 x) { add.s32 x, x, x; ret; }
.extern .func vprintf(.param .b64 format);
.alias other, twice;
""",
    )
    text = ptx_to_python(source)
    for line in (
        'unit = Unit(arch="sm_90a", version=(8, 5))',
        'unit.var("global", u32, "table", size=3, align=4, init=[1, 2, "0x3"])',
        'unit.var("const", f32, "pi", init="0f40490FDB")',
        'unit.var("global", u64, "pointers", size=2, init=["table", "table+4"])',
        'unit.var("shared", b8, "dyn", size=0, align=16, linking="extern")',
        'unit.raw(".global .texref texture;")',
        '@unit.func(params=[".reg .b32 x"], returns=[("b32", "result")])',
        'unit.declare("vprintf", params=[("b64", "format")], linking="extern")',
        'unit.raw(".alias other, twice;")',
    ):
        assert line in text.splitlines(), text
    assert diff_modules(parse(source), trace_source(text)) == []


@pytest.mark.parametrize(
    "param",
    [
        ".param .u32 n",
        ".param .align 8 .b8 s[24]",
        ".param .u64 .ptr .global .align 16 p",
        ".param .u64 .ptr .align 1 p",
        ".param .u64 .ptr p",
        ".param .u64 .ptr .shared p",
        ".param .align 64 .b8 map[128]",
        ".param .texref t",
    ],
)
def test_every_parameter_comes_back(param: str):
    ptx_to_python(f"{HEADER}.visible .entry k({param})\n{{ ret; }}")


@pytest.mark.parametrize(
    "head",
    [
        ".entry k()",
        ".weak .entry k()",
        ".visible .entry k() .maxntid 128, 1, 1 .minnctapersm 2",
        ".visible .entry k() .reqnctapercluster 2, 1, 1 .explicitcluster",
        ".visible .entry lambda()",
        ".visible .entry $a$b()",
        ".visible .entry kernel()",
        '.visible .entry k() .pragma "nounroll";',
    ],
)
def test_every_head_comes_back(head: str):
    ptx_to_python(f"{HEADER}{head}\n{{ ret; }}")


@pytest.mark.parametrize(
    "header",
    [
        ".version 8.5\n.target sm_90, debug\n",
        ".version 8.5\n.target sm_80\n.address_size 32\n",
        ".version 8.5\n.target sm_80, texmode_independent\n.address_size 64\n",
    ],
)
def test_every_header_comes_back(header: str):
    ptx_to_python(f"{header}.visible .entry k() {{ ret; }}")


def test_one_kernel_of_several_can_be_chosen_and_named():
    source = f"{HEADER}.visible .entry a() {{ ret; }} .visible .entry b() {{ trap; }}"
    text = ptx_to_python(source, entry="b", kernel_name="mine")
    assert 'name="b"' in text and "def mine():" in text and "def a" not in text
    with pytest.raises(KeyError, match="'c'; expected one of a, b"):
        ptx_to_python(source, entry="c")


def test_a_tree_is_as_good_as_text():
    assert ir_to_python(parse(kernel("ret;"))) == ptx_to_python(kernel("ret;"))
