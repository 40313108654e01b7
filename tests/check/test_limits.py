"""The memory of the sanitizer is bounded: unused records are reclaimed, and a report says when the limit is reached."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from check import racy
from check.pairs import CASES
from support.processes import python

import pyptx
from pyptx.sim.core import launch_arguments

FILE = Path(racy.__file__)

SWEEPS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry sweeps(.param .u64 x, .param .u32 n)
{
.reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<2>;
.shared .align 16 .b8 s[512];
ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;
mov.u32 %r3, s; mad.lo.u32 %r4, %r2, 4, %r3; xor.b32 %r5, %r2, 32; mad.lo.u32 %r5, %r5, 4, %r3;
again:
st.shared.u32 [%r4], %r1;
bar.sync 0;
ld.shared.u32 %r6, [%r5];
bar.sync 0;
sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;
@%p1 bra again;
st.global.u32 [%rd1], %r6;
WRONG
ret;
}
"""


def sweeps(n: int, wrong: str = ""):
    x = np.zeros(64, np.uint32)
    return pyptx.load(SWEEPS.replace("WRONG", wrong))["sweeps"].check(1, 64, x, n, random=0, schedules=("eager",))


def test_unused_records_are_reclaimed(monkeypatch):
    """100,000 records in space for 700."""
    monkeypatch.setattr(launch_arguments, "SANITIZER_BYTES", 16_000)
    assert not sweeps(25_000).findings
    found = sweeps(25_000, "ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r4], 1;").findings
    assert [finding.rule for finding in found] == ["data-race"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES[::8], ids=str)
def test_findings_do_not_depend_on_the_memory_limit(case, monkeypatch):
    """Record numbers are reused all the time."""
    expected = case.kernel.check(case.lines, random=1)
    monkeypatch.setattr(launch_arguments, "SANITIZER_BYTES", 100_000)
    found = case.kernel.check(case.lines, random=1).findings
    assert [f.message for f in found if f.rule != "unwatched"] == [f.message for f in expected.findings]


def test_a_report_says_where_watching_ended(monkeypatch):
    monkeypatch.setattr(launch_arguments, "SANITIZER_BYTES", 400)
    (finding,) = (report := sweeps(100)).findings
    assert (finding.rule, finding.severity, report.ok) == ("unwatched", "note", True)
    assert "up to about warp-instruction " in finding.message and "fewer CTAs" in finding.fix
    assert finding.places[0].role == "is the first access that is not watched"


def test_running_out_of_memory_is_an_error():
    """In a process with a memory limit, the arrays fit, but the records of the sanitizer do not."""
    done = python(
        "-c",
        f"""
import resource, sys
sys.path.insert(0, {str(FILE.parents[1])!r})
import numpy as np
from check import racy
from pyptx.errors import SimulationError
x = np.zeros(1 << 26, np.uint8)
entry = __import__("pyptx").load(racy.copy_not_waited_for.ptx())["copy_not_waited_for"]
assert entry.check(1, racy.N, x, x, random=0).findings
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 26) + (1 << 24), used + (1 << 26) + (1 << 24)))
try:
    entry.check(1, racy.N, x, x, random=0)
except SimulationError as error:
    assert "out of memory for the sanitizer" in str(error) and "fewer CTAs" in str(error), error
else:
    raise SystemExit("no error")
""",
    )
    assert done.returncode == 0, done.stderr
