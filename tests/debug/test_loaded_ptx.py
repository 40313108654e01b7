"""Loaded PTX in the debugger: no Python names, and a loop that only an interrupt ends."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.interrupts import ctrl_c

import pyptx
from pyptx.debug import DebugError

ENDLESS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 out)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<2>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, 0;
$again:
    add.u32 %r0, %r0, 1;
    st.global.u32 [%rd0], %r0;
    bra $again;
}
"""

HELPER = """
.version 8.0
.target sm_90
.address_size 64
.func (.reg .u32 %y) twice(.reg .u32 %x)
{
    add.u32 %y, %x, %x;
    ret;
}
.visible .entry doubles(.param .u64 out, .param .u32 n)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<3>;
    .reg .pred %p;
    ld.param.u64 %rd0, [out];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p, %r1, %r0;
    @!%p bra $end;
    call (%r2), twice, (%r1);
    mul.wide.u32 %rd1, %r1, 4;
    add.u64 %rd2, %rd0, %rd1;
    st.global.u32 [%rd2], %r2;
$end:
    ret;
}
"""


def spinning():
    return pyptx.load(ENDLESS)["spin"].debug(1, 32, np.zeros(1, np.uint32))


def test_an_interrupt_ends_a_long_move_and_leaves_the_session_usable():
    with spinning() as session:
        with ctrl_c(0.3):
            stop = session.resume()
        assert stop.reason == "interrupt" and stop.step > 10_000 and stop.ptx is not None
        count = int(session.evaluate("%r0")[0])
        session.step(3)
        assert int(session.evaluate("%r0")[0]) == count + 1
        assert session.outputs()["out"][0] in (count, count + 1)


def test_another_thread_interrupts_a_move_too():
    with spinning() as session:
        timer = threading.Timer(0.2, session.interrupt)
        timer.start()
        assert session.resume().reason == "interrupt"
        session.breakpoints.add("$again", f"%r0 == {int(session.evaluate('%r0')[0]) + 5}")
        assert session.resume().reason == "breakpoint"


def test_places_are_lines_of_ptx_labels_and_opcodes():
    out = np.zeros(64, np.uint32)
    with pyptx.load(HELPER)["doubles"].debug(1, 64, out, 40) as session:
        lines = session.launch.lines.ptx_text
        call = next(k for k, line in enumerate(lines, 1) if "call" in line)
        assert session.breakpoints.add(str(call)).text == f"ptx:{call}"
        assert session.resume().ptx == call
        assert session.launch.group(0, 0).lanes == 0xFFFFFFFF
        assert session.next().instruction.startswith("add.u32 %y")  # in the function it calls
        assert list(session.evaluate("%x")) == list(range(32))
        assert session.finish().instruction.startswith("ret")
        session.breakpoints.add("$end", warp=1)
        session.breakpoints.remove(1)
        stop = session.resume()
        assert (stop.warp, stop.reason) == (1, "breakpoint")
        with pytest.raises(DebugError, match="no register %q here"):
            session.evaluate("%q")
        session.breakpoints.clear()
        assert session.resume().reason == "exit"
        assert list(session.outputs()["out"]) == [2 * i if i < 40 else 0 for i in range(64)] and not out.any()
        assert session.document()["registers"] == []


def test_a_register_that_changes_stops_the_run():
    with pyptx.load(HELPER)["doubles"].debug(1, 64, np.zeros(64, np.uint32), 40) as session:
        watch = session.breakpoints.watch("%r2", "lane == 5")
        stop = session.resume()
        assert stop.reason == "watchpoint" and "%r2 of warp 0: 0 became 2 in lane 1 and 30 more" in stop.text
        assert "call (%r2), twice, (%r1);" in stop.text or "ret" in stop.text
        session.breakpoints.remove(watch.id)
        session.breakpoints.watch("out[3]")
        assert "out[3]: 0 became 6" in session.resume().text
        assert session.reverse().step == 0
