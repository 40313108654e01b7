"""The cell of the magic's tests: a kernel with a place for a line that is wrong."""

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
LINE_9 = "    ptx.inst.mul.f32(value, value, factor)\n"


def with_line_9(text: str) -> str:
    """The cell with another line 9."""
    return GOOD.replace(LINE_9, f"    {text}\n")
