"""Ctrl-C stops a run at once, also one that waits for what never comes."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from sim.text import entry

from pyptx import sim

SPIN = """
.reg .b32 %r<4>; .reg .pred %p<2>; .shared .align 8 .b64 bar; mov.u32 %r1, bar; mov.u32 %r2, %tid.x
setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0
W: add.u32 %r3, %r3, 1; mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra W; ret"""


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_a_run_that_spins_is_interrupted(engine, schedule):
    program = sim.load(entry(SPIN))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    started = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.launch(program, 4, 64, (), engine=engine, schedule=schedule)
    assert time.perf_counter() - started < 2
