"""Functions of the device runtime that kernels call."""

from __future__ import annotations

import numpy as np

from pyptx import sim
from pyptx.cuda_device.images import with_device_functions
from pyptx.parser import parse

KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 result) cudaCGGetIntrinsicHandle (.param .b32 scope);
.extern .func (.param .b32 result) cudaCGSynchronize (.param .b64 handle, .param .b32 flags);
.visible .entry rotate(.param .u64 x)
{
    .reg .b64 %x, %group, %own, %next;
    .reg .b32 %i, %n, %value, %status;
    ld.param.u64 %x, [x];
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %nctaid.x;
    mad.wide.u32 %own, %i, 4, %x;
    add.u32 %i, %i, 1;
    rem.u32 %i, %i, %n;
    mad.wide.u32 %next, %i, 4, %x;
    ld.relaxed.gpu.u32 %value, [%next];
    {
        .param .b32 scope;
        .param .b64 handle;
        st.param.b32 [scope], 1;
        call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
        ld.param.b64 %group, [handle];
    }
    {
        .param .b64 handle;
        .param .b32 flags;
        .param .b32 status;
        st.param.b64 [handle], %group;
        st.param.b32 [flags], 0;
        call.uni (status), cudaCGSynchronize, (handle, flags);
        ld.param.b32 %status, [status];
    }
    add.u32 %value, %value, %status;
    st.relaxed.gpu.u32 [%own], %value;
    ret;
}
"""


def test_a_grid_synchronizes_by_functions_of_the_device_runtime():
    program = sim.load(parse(with_device_functions(KERNEL)), "rotate")
    x = np.arange(8, dtype=np.uint32)
    sim.launch(program, 8, 64, [x])
    assert (x == np.roll(np.arange(8), -1)).all()


def test_ptx_that_calls_none_is_not_changed():
    assert with_device_functions(".version 8.0\n.target sm_90\n") == ".version 8.0\n.target sm_90\n"
