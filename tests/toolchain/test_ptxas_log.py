"""Parsing of the log of ptxas."""

from __future__ import annotations

from pyptx.errors import Diagnostic
from pyptx.toolchain.ptxas_log import Resources, parse_diagnostics, parse_resources

REFUSED = """\
ptxas kernel.ptx, line 7; error   : Unknown modifier '.foo'
ptxas kernel.ptx, line 8; error   : Arguments mismatch for instruction 'add'
ptxas kernel.ptx, line 10; fatal   : Parsing error near '%f1': syntax error
ptxas kernel.ptx, line 12; warning : Advanced Feature '.x' is old
ptxas fatal   : Ptx assembly aborted due to errors
"""

TAKEN = """\
ptxas info    : (C7508) Potential Performance Loss: wgmma.mma_async instructions are serialized
ptxas info    : (C7517) wgmma.wait_group is injected in around line 42 by compiler in function 'tile'
ptxas info    : (C7519) Potential Performance Loss: wgmma.mma_async instructions are serialized in line 1767
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'two' for 'sm_80'
ptxas info    : Function properties for two
    1112 bytes stack frame, 1096 bytes spill stores, 1000 bytes spill loads
ptxas info    : Used 40 registers, used 2 barriers, 1112 bytes cumulative stack size, 1024 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 7.236 ms
ptxas info    : Compiling entry function 'one' for 'sm_80'
ptxas info    : Function properties for one
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
"""


def test_errors_carry_their_lines_and_the_closing_remark_is_no_error():
    assert parse_diagnostics(REFUSED) == (
        Diagnostic("error", "Unknown modifier '.foo'", 7),
        Diagnostic("error", "Arguments mismatch for instruction 'add'", 8),
        Diagnostic("error", "Parsing error near '%f1': syntax error", 10),
        Diagnostic("warning", "Advanced Feature '.x' is old", 12),
    )


def test_nvjitlink_says_it_in_other_words():
    log = REFUSED.replace("ptxas kernel.ptx", "ptxas application ptx input") + (
        "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (kernel.ptx)\n"
    )
    assert parse_diagnostics(log) == parse_diagnostics(REFUSED)


def test_numbered_advisories_are_warnings_and_a_line_in_words_is_a_line():
    first, second, third = parse_diagnostics(TAKEN)
    assert (first.severity, first.line) == ("warning", None)
    assert first.message.startswith("(C7508) Potential Performance Loss")
    assert (second.line, third.line) == (42, 1767)


def test_resources_are_those_of_entries():
    assert parse_resources(TAKEN) == {
        "two": Resources(40, spill_stores=1096, spill_loads=1000, shared_bytes=1024, stack_bytes=1112, barriers=2),
        "one": Resources(10),
    }
