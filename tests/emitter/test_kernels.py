"""Text of traced kernels, and the Python location of each of its lines."""

from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.emitter import emit_lines
from pyptx.types import f32, u32


@kernel(arch="sm_90a", in_specs=[Tile("N", f32)], raw_params=[("u32", "n")], reqntid=(128, 1, 1), extern_smem="pool")
def everything(x):
    (source,) = ptx.global_ptrs(x)
    n = ptx.param(u32, "n")
    bars = smem.mbarrier(1)
    with ptx.if_(n > 4):
        ptx.mbarrier.init(bars[0], 1)
    with ptx.scope():
        local = reg.scalar(f32)
        ptx.inst.ld.global_.f32(local, ptx.addr(source, -4))
    ptx.ret()


def test_the_layout_of_a_module():
    text = everything.ptx(N=64)
    assert text == "\n".join(
        [
            ".version 8.5",
            ".target sm_90a",
            ".address_size 64",
            ".extern .shared .align 128 .b8 pool[];",
            "",
            ".visible .entry everything(",
            "\t.param .u64 x,",
            "\t.param .u32 n",
            ")",
            ".reqntid 128, 1, 1",
            "{",
            "\t.reg .pred %p<1>;",
            "\t.reg .b64 %rd0;",
            "\t.reg .u32 %r0;",
            "\t.shared .align 8 .b64 mbar_0[1];",
            "\tld.param.u64 %rd0, [x];",
            "\tcvta.to.global.u64 %rd0, %rd0;",
            "\tld.param.u32 %r0, [n];",
            "\tsetp.gt.u32 %p0, %r0, 4;",
            "\t@!%p0 bra $_else_0;",
            "\tmbarrier.init.shared::cta.b64 [mbar_0], 1;",
            "\tbra $_endif_1;",
            "$_else_0:",
            "$_endif_1:",
            "\t{",
            "\t\t.reg .f32 %f0;",
            "\t\tld.global.f32 %f0, [%rd0+-4];",
            "\t}",
            "\tret;",
            "}",
            "",
        ]
    )


def test_every_line_from_python_has_its_location():
    emitted = emit_lines(everything.module(N=64))
    lines = emitted.text.splitlines()
    assert len(emitted.places) == len(lines)
    pairs = list(zip(lines, emitted.places, strict=True))
    owner = {line.strip(): place.source_line.strip() for line, place in pairs if place}
    assert owner["ld.param.u32 %r0, [n];"] == owner[".reg .u32 %r0;"] == 'n = ptx.param(u32, "n")'
    assert owner["mbarrier.init.shared::cta.b64 [mbar_0], 1;"] == "ptx.mbarrier.init(bars[0], 1)"
    assert owner["$_endif_1:"] == owner["@!%p0 bra $_else_0;"] == "with ptx.if_(n > 4):"
    assert owner[".shared .align 8 .b64 mbar_0[1];"] == "bars = smem.mbarrier(1)"
    code = [line for line, place in pairs if place is None and line.startswith("\t")]
    assert code == ["\t.reg .pred %p<1>;"]


def test_a_kernel_without_parameters_has_empty_parentheses():
    @kernel(arch="sm_80")
    def nothing():
        ptx.ret()

    assert "\n.visible .entry nothing()\n{\n\tret;\n}\n" in nothing.ptx()


def test_function_directives_have_a_fixed_order():
    @kernel(
        arch="sm_90a",
        raw_directives=[("maxntid", (384, 1, 1)), ("explicitcluster", ()), ("reqnctapercluster", (2, 1, 1))],
    )
    def clustered():
        ptx.ret()

    assert [line.rstrip() for line in clustered.ptx().split(")\n", 1)[1].splitlines()[:4]] == [
        ".maxntid 384, 1, 1",
        ".explicitcluster",
        ".reqnctapercluster 2, 1, 1",
        "{",
    ]
    assert clustered.compile().sass
