"""Kernels that tests write into cells and files: a cell with a line to be replaced, a file, one in PTX."""

GOOD = """\
%%ptxkernel --arch sm_80 -p N=256
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N: (N, 1, 1), block=(128, 1, 1))
def double(x, y, *, factor=2.0):
    px, py = ptx.global_ptrs(x, y)
    value = load(px)
    ptx.inst.mul.f32(value, value, factor)
    ptx.inst.st.global_.f32(ptx.addr(py), value)

def load(pointer):
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(pointer))
    return value
"""
PTX = """\
.version 7.8
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor)
{
    .reg .b64 %a;
    .reg .b32 %i;
    .reg .f32 %f, %v;
    ld.param.u64 %a, [x];
    ld.param.f32 %f, [factor];
    mov.u32 %i, %tid.x;
    mad.wide.u32 %a, %i, 4, %a;
    ld.global.f32 %v, [%a];
    mul.f32 %v, %v, %f;
    st.global.f32 [%a], %v;
    ret;
}
"""
FILE = """
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=lambda N: N // 32, block=(32, 1, 1))
def double(x, y, *, factor=2.0):
    x_at, y_at = ptx.global_ptrs(x, y)
    i = reg.from_(ptx.special.tid.x(), u32)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at))
    ptx.inst.mul.f32(value, value, factor)
    ptx.inst.st.global_.f32(ptx.addr(y_at), value)
"""
LINE_9 = "    ptx.inst.mul.f32(value, value, factor)\n"


def with_line_9(text: str) -> str:
    """The cell with another line 9."""
    return GOOD.replace(LINE_9, f"    {text}\n")
