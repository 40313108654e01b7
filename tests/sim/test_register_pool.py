"""Registers released by a launch, and a kernel that waits for more than its CTA has."""

from __future__ import annotations

import pytest

import pyptx
from pyptx import sim
from pyptx.errors import SimulationError

KERNEL = """.version 8.4
.target sm_90a
.address_size 64
.visible .entry k()
{directives}
{{
.reg .pred %p; .reg .b32 %r;
mov.u32 %r, %tid.x;
setp.lt.u32 %p, %r, 128;
@%p bra FEWER;
setmaxnreg.inc.sync.aligned.u32 232;
ret;
FEWER:
{fewer}
ret;
}}
"""


def program(directives: str, fewer: str = "setmaxnreg.dec.sync.aligned.u32 40;") -> sim.Program:
    return sim.load(pyptx.load(KERNEL.format(directives=directives, fewer=fewer)).module)


@pytest.mark.parametrize(
    ("directives", "registers"),
    [
        (".maxnreg 128", 128),
        (".reqntid 384, 1, 1", 168),
        (".reqntid 128, 2, 1 .minnctapersm 2", 128),
        (".maxntid 384", 168),
        (".reqntid 1024", 64),
        (".reqntid 256", 232),
        ("", 0),
    ],
)
def test_a_launch_gives_what_ptxas_gives(directives, registers):
    assert program(directives).maxnreg == registers


def test_nobody_waits_where_others_give_enough_back():
    sim.launch(program(".reqntid 384"), 1, 384, [])


def test_a_warpgroup_that_keeps_its_registers_stops_the_others():
    with pytest.raises(SimulationError, match="64 more registers per thread") as caught:
        sim.launch(program(".reqntid 384", "mov.u32 %r, 0;"), 1, 384, [])
    assert caught.value.kind == "deadlock"
