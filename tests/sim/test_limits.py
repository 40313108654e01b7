"""Sizes beyond a GPU's are refused by name, before anything is allocated."""

from __future__ import annotations

import numpy as np
import pytest

import pyptx
from pyptx import Tile, kernel, ptx, reg, sim
from pyptx.errors import SimulationError
from pyptx.types import f32, u32, u64

HEADER = ".version 8.4\n.target sm_90\n.address_size 64\n"


@kernel(arch="sm_80", in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N: N, block=1)
def scale(x, y):
    source, target = ptx.global_ptrs(x, y)
    value, offset = reg.scalar(f32), reg.scalar(u64)
    ptx.inst.cvt.u64.u32(offset, reg.from_(ptx.special.ctaid.x(), u32))
    ptx.inst.shl.b64(offset, offset, 2)
    ptx.inst.add.u64(source, source, offset)
    ptx.inst.add.u64(target, target, offset)
    ptx.inst.ld.global_.f32(value, ptx.addr(source))
    ptx.inst.add.f32(value, value, value)
    ptx.inst.st.global_.f32(ptx.addr(target), value)


def load(text: str, name: str = "k") -> sim.Program:
    return sim.load(pyptx.load(HEADER + text).module, name)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (".local .align 16 .b8 x[576460752303423488];", "variable x: 576460752303423488 bytes of .local; a thread has"),
        (".local .b8 x[524289];", "variable x: 524289 bytes of .local; a thread has at most 524288"),
        (".shared .b8 x[1099511627776];", "variable x: 1099511627776 bytes of .shared; a CTA has at most 232448"),
        (".param .b8 x[10000000];", "variable x: 10000000 bytes of .param; a thread has at most 524288"),
        (".reg .v4 .f32 %v<1000000000>;", "1000000000 vector registers"),
    ],
)
def test_variables_of_a_function_are_limited(variable, message):
    with pytest.raises(SimulationError, match=message):
        load(f".visible .entry k()\n{{\n{variable}\nret;\n}}\n")


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (".global .b8 x[1099511627776];", "variable x: 1099511627776 bytes of .global; a GPU has at most"),
        (".const .b8 x[65537];", "variable x: 65537 bytes of .const; a module has at most 65536"),
        (".const .b8 w[40000];\n.const .b8 x[40000];", "variable x: the variables up to it take 80000 bytes"),
    ],
)
def test_variables_of_a_module_are_limited(variable, message):
    with pytest.raises(SimulationError, match=message):
        load(f"{variable}\n.visible .entry k()\n{{\nret;\n}}\n")


def test_parameters_are_limited():
    with pytest.raises(
        SimulationError, match="k: the parameters up to p take 10000000 bytes; a kernel has at most 32764"
    ):
        load(".visible .entry k(.param .align 8 .b8 p[10000000])\n{\nret;\n}\n")


def test_the_frames_of_a_chain_of_calls_are_limited():
    functions = "".join(
        f".func f{n}()\n{{\n.local .b8 x[300000];\n{f'call f{n - 1};' if n else ''}\nret;\n}}\n" for n in range(2)
    )
    with pytest.raises(SimulationError, match="k: the frames of its functions take 600.* bytes"):
        load(f"{functions}.visible .entry k()\n{{\ncall f1;\nret;\n}}\n")


SHARED = """
.extern .shared .align 16 .b8 dyn[];
.shared .align 4 .b8 unused[4096];
.visible .entry k(.param .u64 out)
{
.shared .align 1 .u8 flag;
.reg .b32 %r<3>; .reg .b64 %rd;
mov.u32 %r0, dyn;
mov.u32 %r1, flag;
st.shared.u8 [flag], 7;
st.shared.u32 [dyn], 5;
ld.shared.u8 %r2, [flag];
ld.param.u64 %rd, [out];
st.global.u32 [%rd], %r0;
st.global.u32 [%rd+4], %r1;
st.global.u32 [%rd+8], %r2;
ret;
}
"""


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_dynamic_shared_memory_starts_aligned_behind_the_static_variables_in_use(engine):
    program, out = load(SHARED), np.zeros(3, np.uint32)
    sim.launch(program, 1, 1, [out], smem_bytes=64, engine=engine)
    assert out.tolist() == [0x410, 0x400, 7]
    assert program.symbols.shared_bytes == 16, "the variable that no function of the program uses takes no memory"


@pytest.mark.parametrize("alignment", [32, 128, 1024])
def test_dynamic_shared_memory_has_the_alignment_of_its_declaration(alignment):
    program, out = load(SHARED.replace(".align 16", f".align {alignment}")), np.zeros(3, np.uint32)
    sim.launch(program, 1, 1, [out], smem_bytes=64)
    assert out[0] % alignment == 0 and out[0] > out[1] and out[2] == 7


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_global_variable_of_a_function_body_has_an_address(engine):
    program = load(
        """
.global .align 4 .u32 outer[2] = {1, 2};
.visible .entry k(.param .u64 out)
{
.global .align 4 .u32 inner[2] = {3, 4};
.reg .b32 %r<2>; .reg .b64 %rd;
ld.global.u32 %r0, [inner+4];
ld.global.u32 %r1, [outer+4];
ld.param.u64 %rd, [out];
st.global.u32 [%rd], %r0;
st.global.u32 [%rd+4], %r1;
st.global.u32 [inner], 9;
ret;
}
"""
    )
    out = np.zeros(2, np.uint32)
    sim.launch(program, 1, 1, [out], engine=engine)
    assert out.tolist() == [4, 2]
    assert [v.buffer.array.view(np.uint32).tolist() for v in program.symbols.globals] == [[1, 2], [9, 4]]


@pytest.mark.parametrize("parameters", [".param .b32 a", ""])  # without parameters, no function has a frame
@pytest.mark.parametrize("engine", ["core", "reference"])
def test_an_indirect_call_to_a_prototype_that_matches_no_function_is_named(engine, parameters):
    program = load(
        f".func f({parameters})"
        """
{
ret;
}
.visible .entry k()
{
.reg .b64 %rd;
.param .b64 x;
mov.u64 %rd, f;
p: .callprototype _ (.param .b64 _);
call %rd, (x), p;
ret;
}
"""
    )
    with pytest.raises(SimulationError, match="calls f, whose signature differs from its prototype p") as caught:
        sim.launch(program, 1, 1, [], engine=engine)
    assert caught.value.kind == "function"


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("width", ["999999999", ".999999999", "99999999999999999999"])
def test_printf_bounds_widths_and_precisions(engine, width):
    text = f"%{width}d".encode() + b"\0"
    program = load(
        f"""
.global .align 1 .b8 format[{len(text)}] = {{{", ".join(map(str, text))}}};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry k()
{{
.local .align 8 .b8 arguments[8];
.reg .b64 %f; .reg .b64 %a; .reg .b32 %r;
st.local.u32 [arguments], 5;
mov.u64 %f, format;
cvta.global.u64 %f, %f;
mov.u64 %a, arguments;
cvta.local.u64 %a, %a;
.param .b64 p0; .param .b64 p1; .param .b32 result;
st.param.b64 [p0], %f;
st.param.b64 [p1], %a;
call (result), vprintf, (p0, p1);
ret;
}}
"""
    )
    with pytest.raises(SimulationError, match="printf: .* asks for 9+ characters; at most 4096"):
        sim.launch(program, 1, 1, [], engine=engine)


def test_a_call_with_empty_arrays_launches_nothing():
    for _ in range(3):  # the second and third call may come from the launch cache
        assert scale(np.zeros(0, np.float32)).shape == (0,)
    assert scale(np.ones(3, np.float32)).tolist() == [2, 2, 2]
