"""The schedules of a check run at the same time: same report, and Ctrl-C or an error ends all of them."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from check import racy
from support.interrupts import AGAIN_S, ctrl_c

from pyptx import load
from pyptx.errors import LaunchError

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry test() {"
SPIN = f"""{HEAD}
.reg .b32 %r<4>; .reg .pred %p; .shared .align 8 .b64 bar; mov.u32 %r1, bar;
mbarrier.init.shared::cta.b64 [%r1], 64; bar.sync 0;
W: add.u32 %r3, %r3, 1; mbarrier.test_wait.parity.shared::cta.b64 %p, [%r1], 0; @!%p bra W; ret; }}"""


@pytest.mark.parametrize("name", ["wait_too_weak", "barrier_missing", "sum_by_atomics"])
def test_the_report_does_not_depend_on_the_runs_at_a_time(name):
    kernel, x = getattr(racy, name), np.arange(racy.N, dtype=np.float32)
    one, *others = (kernel.check(x, threads=threads) for threads in (1, 2, 6))
    assert one.findings
    for other in others:
        assert (other.findings, other.schedules) == (one.findings, one.schedules)


def test_an_interrupt_ends_all_runs_and_says_where_one_was():
    kernel = load(SPIN)["test"]
    before, started = threading.active_count(), time.process_time()
    with ctrl_c(0.3), pytest.raises(KeyboardInterrupt) as caught:
        kernel.check(grid=1, block=32, threads=2)
    assert "warp 0 runs" in "".join(caught.value.__notes__)
    assert time.process_time() - started < 4 + 2 * AGAIN_S and threading.active_count() == before


def test_an_error_of_one_run_is_raised_once():
    kernel = load(HEAD + "ret; }")["test"]
    with pytest.raises(LaunchError, match="shared memory"):
        kernel.check(grid=1, block=32, smem_bytes=1 << 30, threads=2)
