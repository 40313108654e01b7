"""The source lines of machine code in the linked views of the examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from check.example_kernels import EXAMPLES as CASES
from pygments.token import Error

from pyptx.cli.kernels import load_kernel
from pyptx.errors import SharedMemoryError
from pyptx.highlight import PtxLexer, SassLexer
from pyptx.views import LinkedView, linked

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = {"M": 512, "N": 512, "K": 256}
ROWS = {"M": 512, "N": 1024}
SIZES = {
    "rms_norm": ROWS,
    "softmax": ROWS,
    "layer_norm": ROWS,
    "cross_entropy": ROWS,
    "swiglu": ROWS,
    "sgemm": {"M": 256, "N": 256, "K": 256},
    "ampere/gemm": GEMM,
    "hopper/gemm": GEMM,
    "blackwell/gemm": GEMM,
    "hopper/attention": {"B": 1, "H": 1, "S": 256, "T": 256, "D": 64},
}


SAMPLE = ("rms_norm", "sgemm", "hopper/gemm", "blackwell/gemm", "hopper/attention")


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=() if name in SAMPLE else pytest.mark.slow) for name in SIZES]
)
def view(request) -> LinkedView:
    name = request.param.rpartition("/")[2]
    kernel = load_kernel(f"{EXAMPLES / request.param}.py:{name}")
    return linked(kernel.compile(**SIZES[request.param]), block=kernel.block)


def lines_of(view: LinkedView, sass: int) -> list[int]:
    """Python rows of a machine instruction, innermost first; none: added by ptxas."""
    ptx = view.sass.ptx[sass]
    return list(view.stacks[view.ptx.stack[ptx]]) if ptx >= 0 else []


@pytest.mark.sampled(2)
def test_every_instruction_has_a_python_line_or_was_added_by_ptxas(view):
    added = [text for row, text in enumerate(view.sass.text) if not lines_of(view, row)]
    written = len(view.sass.text) - len(added)
    assert written > 0.8 * len(view.sass.text)
    assert all(view.sass.ptx[row] < 0 for row, text in enumerate(view.sass.text) if not lines_of(view, row))
    kernel = next(section for section in view.python.sections if section.role == "kernel")
    for row in range(len(view.sass.text)):
        if stack := lines_of(view, row):
            assert kernel.start <= stack[-1] < kernel.start + kernel.count, "the outermost line is the kernel's"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_instruction_of_every_example_is_owned_and_read_on_every_target(name):
    """On all targets that an example runs on: a Python line, or ptxas, is answerable, and Pygments knows every word."""
    case = CASES[name]
    specialization, *_ = case.bound
    anywhere = name.partition("/")[0] in ("ampere", name)
    for target in ("sm_80", "sm_90a", "sm_100a", "sm_120a") if anywhere else (case.kernel.arch,):
        try:
            view = linked(case.kernel.compile(arch=target, **specialization.params))
        except SharedMemoryError:
            assert target == "sm_120a"  # its CTAs have 99 KiB
            continue
        added = view.sass.ptx.count(-1)
        assert added <= 0.1 * len(view.sass.text), target
        assert all(lines_of(view, row) for row, ptx in enumerate(view.sass.ptx) if ptx >= 0), target
        for lexer, text in ((PtxLexer(), "\n".join(view.ptx.text)), (SassLexer(), "\n".join(view.sass.text))):
            assert [word for kind, word in lexer.get_tokens(text) if kind in Error] == [], target


def test_a_python_line_counts_the_code_of_its_helpers(view):
    for row, count in enumerate(view.python.sass):
        assert count == sum(row in lines_of(view, sass) for sass in range(len(view.sass.text))), view.python.text[row]


def test_a_helper_called_from_two_places_is_owned_by_both():
    kernel = load_kernel(f"{EXAMPLES}/sgemm.py:sgemm")
    view = linked(kernel.compile(**SIZES["sgemm"]))
    callers: dict[int, set[int]] = {}
    for sass in range(len(view.sass.text)):
        if len(stack := lines_of(view, sass)) > 1:
            callers.setdefault(stack[0], set()).add(stack[1])
    shared = {row: lines for row, lines in callers.items() if len(lines) > 1}
    assert shared, "sgemm has helpers that are called from several lines"
    for row, lines in shared.items():
        parts = [sum(lines_of(view, sass)[:2] == [row, line] for sass in range(len(view.sass.text))) for line in lines]
        assert all(parts)
        assert view.python.sass[row] >= sum(parts)
        assert all(view.python.sass[line] >= part for line, part in zip(lines, parts, strict=True))
