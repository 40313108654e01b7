"""A kernel that never ends; the program says its process number first."""

import os

from driver import call, start

start()
PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .global .u32 flag;
.visible .entry endless() {
    .reg .pred %p; .reg .b32 %r<2>;
again:
    ld.volatile.global.u32 %r1, [flag];
    setp.eq.u32 %p, %r1, 0;
    @%p bra again;
    ret;
}
"""
endless = call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"endless")
print(os.getpid(), flush=True)
call("cuLaunchKernel", endless, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0)
