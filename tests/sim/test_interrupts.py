"""Ctrl-C stops a run immediately, also while it waits for an event that never occurs."""

from __future__ import annotations

import re
import sys
import time

import pytest
from sim.text import entry
from support.interrupts import AGAIN_S, ctrl_c
from support.terminal import Terminal

from pyptx import sim

SPIN = """
.reg .b32 %r<4>; .reg .pred %p<2>; .shared .align 8 .b64 bar; mov.u32 %r1, bar; mov.u32 %r2, %tid.x
setp.eq.u32 %p1, %r2, 0; @%p1 mbarrier.init.shared::cta.b64 [%r1], 1; bar.sync 0
W: add.u32 %r3, %r3, 1; mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra W; ret"""


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("schedule", ["eager", "random"])
def test_a_run_that_spins_is_interrupted(engine, schedule):
    program = sim.load(entry(SPIN))
    started = time.process_time()
    with ctrl_c(0.2), pytest.raises(KeyboardInterrupt):
        sim.launch(program, 4, 64, (), engine=engine, schedule=schedule)
    assert time.process_time() - started < 2 + AGAIN_S


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_a_long_launch_says_how_far_it_is_and_takes_the_line_away(engine, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr("pyptx.sim.progress.AFTER_S", 0.05)
    monkeypatch.setattr("pyptx.sim.progress.EACH_S", 0.02)
    count = 1_500_000 if engine == "core" else 300
    sim.launch(
        sim.load(
            entry(f"""
        .reg .b32 %r<2>; .reg .pred %p
        mov.u32 %r1, 0
        L: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, {count}; @%p bra L; ret""")
        ),
        16,
        64,
        (),
        engine=engine,
    )
    lines = sys.stderr.getvalue().split("\r")
    assert any(
        re.fullmatch(r"test: \d+ of 16 CTAs or clusters started, \d+ s \(Ctrl-C or interrupt stops it\)", line)
        for line in lines
    ), lines
    assert lines[-1] == "" and not lines[-2].strip()


def test_nothing_is_said_where_nobody_looks(capsys, monkeypatch):
    monkeypatch.setattr("pyptx.sim.progress.AFTER_S", 0.0)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    sim.launch(sim.load(entry("ret")), 4, 32, ())
    assert capsys.readouterr() == ("", "")
