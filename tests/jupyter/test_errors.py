"""Errors as a notebook shows them: excerpt, arrow, PTX line, hint."""

from __future__ import annotations

import pytest
from views.handmade import PTX, places

from pyptx.errors import CompileError, Diagnostic, TraceError
from pyptx.jupyter.errors import MAX_FINDINGS, render_error, render_warnings


@pytest.fixture(scope="module")
def place():
    return places("<ipython-input-3-0123456789ab>")[26]  # PTX line 27, in the helper


def test_a_finding_of_the_assembler(place, golden):
    error = CompileError(
        [
            Diagnostic(
                "error",
                "Arguments mismatch for instruction 'add'",
                line=27,
                place=place,
                hint="the form is add.type  d, a, b",
            )
        ]
    )
    lines = render_error(error, ptx=PTX, about="saxpy for sm_90a", color=False)
    golden("jupyter/compile_error.txt", "\n".join(lines) + "\n")


def test_a_single_error_with_a_place(place):
    lines = render_error(TraceError("no value while tracing", at=place, hint="write ptx.if_"), color=False)
    assert lines[0] == "TraceError: no value while tracing"
    assert lines[2] == "Cell In[3], line 4, in address"
    assert lines[-1] == "hint: write ptx.if_"


def test_findings_without_a_place_still_name_the_ptx_line():
    error = CompileError([Diagnostic("error", "undefined symbol", line=9999), Diagnostic("warning", "slow", line=3)])
    text = "\n".join(render_error(error, ptx=PTX, color=False))
    assert "PTX line 9999\n(1) error: undefined symbol" in text
    assert "PTX line 3:  .address_size 64\n(2) warning: slow" in text


def test_many_findings_are_counted_not_listed(place):
    error = CompileError([Diagnostic("error", f"number {n}", place=place) for n in range(MAX_FINDINGS + 3)])
    text = "\n".join(render_error(error, color=False))
    assert f"CompileError: {MAX_FINDINGS + 3} findings" in text
    assert f"number {MAX_FINDINGS - 1}" in text
    assert f"number {MAX_FINDINGS}" not in text
    assert text.endswith("and 3 more findings")


def test_colors_are_ansi_and_only_decorate(place):
    error = CompileError([Diagnostic("error", "wrong", place=place)])
    colored = "\n".join(render_error(error, color=True))
    assert "\x1b[31m" in colored
    plain = "\n".join(render_error(error, color=False))
    for code in ("31", "32", "36"):
        colored = colored.replace(f"\x1b[{code}m", "")
    assert colored.replace("\x1b[0m", "") == plain


def test_warnings_are_shown_as_errors_are(place):
    slow = Diagnostic("warning", "slow", line=27, place=place)
    text = "\n".join(render_warnings([slow], ptx=PTX, about="saxpy", color=False))
    assert text.startswith("saxpy: 1 warning\n\nCell In[3], line 4, in address\n")
    assert text.endswith("warning: slow")
    many = render_warnings([Diagnostic("warning", f"number {n}") for n in range(MAX_FINDINGS + 2)], color=False)
    assert many[0] == f"{MAX_FINDINGS + 2} warnings"
    assert many[-1] == "and 2 more"


def test_errors_repeated_by_an_unrolled_loop_are_shown_once(place):
    same = [Diagnostic("error", "no such form", place=place, line=line) for line in (27, 30, 33)]
    other = Diagnostic("error", "another", place=place, line=28)
    text = "\n".join(render_error(CompileError([*same, other]), color=False))
    assert text.count("error: no such form") == 1 and "and 2 more times, PTX lines 30, 33" in text
    assert text.startswith("CompileError: 4 findings") and "(2) error: another" in text
    assert str(CompileError([*same, other])).count("no such form") == 1 and "(3 times)" in str(CompileError(same))
