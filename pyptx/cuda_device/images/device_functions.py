"""Functions of the device runtime that kernels call, as PTX: those that are simulated."""

from __future__ import annotations

import re

from pyptx.emitter import emit
from pyptx.linker import link
from pyptx.parser import parse

__all__ = ["with_device_functions"]

_HEAD = ".version {version}\n.target {target}\n.address_size 64\n"

# The handle of a conditional node is the address of its value (server/conditional_nodes.py).
_SET_CONDITIONAL = """
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
    .reg .b64 %place;
    .reg .b32 %value;
    ld.param.b64 %place, [handle];
    ld.param.b32 %value, [value];
    st.relaxed.gpu.global.b32 [%place], %value;
    ret;
}
"""

# The handle of a grid group is the address of its workspace, which has a counter of arrivals behind its size. The first CTA adds
# what turns the highest bit when all others have added 1.
_GRID_HANDLE = """
.visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .b32 %high, %low;
    .reg .b64 %place;
    mov.u32 %high, %envreg1;
    mov.u32 %low, %envreg2;
    mov.b64 %place, {%low, %high};
    st.param.b64 [result], %place;
    ret;
}
"""
_GRID_SYNC = """
.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .b64 %place;
    .reg .b32 %x, %y, %z, %all, %add, %before, %now;
    .reg .pred %other, %first, %waits;
    ld.param.b64 %place, [handle];
    barrier.sync 0;
    mov.u32 %x, %tid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %z, %tid.z;
    or.b32 %x, %x, %y;
    or.b32 %x, %x, %z;
    setp.ne.u32 %other, %x, 0;
    @%other bra done;
    mov.u32 %x, %ctaid.x;
    mov.u32 %y, %ctaid.y;
    mov.u32 %z, %ctaid.z;
    or.b32 %x, %x, %y;
    or.b32 %x, %x, %z;
    setp.eq.u32 %first, %x, 0;
    mov.u32 %all, %nctaid.x;
    mov.u32 %y, %nctaid.y;
    mov.u32 %z, %nctaid.z;
    mul.lo.u32 %all, %all, %y;
    mul.lo.u32 %all, %all, %z;
    sub.u32 %all, 0x80000001, %all;
    selp.b32 %add, %all, 1, %first;
    fence.acq_rel.gpu;
    atom.relaxed.gpu.add.u32 %before, [%place+4], %add;
again:
    ld.acquire.gpu.u32 %now, [%place+4];
    xor.b32 %now, %now, %before;
    setp.ge.s32 %waits, %now, 0;
    @%waits bra again;
    fence.acq_rel.gpu;
done:
    barrier.sync 0;
    st.param.b32 [result], 0;
    ret;
}
"""
_FUNCTIONS = {
    "cudaGraphSetConditional": _SET_CONDITIONAL,
    "cudaCGGetIntrinsicHandle": _GRID_HANDLE,
    "cudaCGSynchronize": _GRID_SYNC,
}
_NEEDED = re.compile(rf"\.extern\s+\.func\s+(?:\([^)]*\)\s*)?({'|'.join(_FUNCTIONS)})\b")
_VERSION, _TARGET = re.compile(r"^\s*\.version\s+([\d.]+)", re.M), re.compile(r"^\s*\.target\s+(\w+)", re.M)


def with_device_functions(text: str) -> str:
    """Return PTX linked with the functions of the device runtime that it declares and that are simulated."""
    version, target = _VERSION.search(text), _TARGET.search(text)
    needed = dict.fromkeys(_NEEDED.findall(text))
    if not needed or version is None or target is None:
        return text
    own = _HEAD.format(version=version[1], target=target[1]) + "".join(_FUNCTIONS[name] for name in needed)
    return emit(link([("module", parse(text)), ("device runtime", parse(own))]).module)
