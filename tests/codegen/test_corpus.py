"""Every file of the corpus as Python: it traces back to the same program and assembles to the same machine code.

A sample in the plain tier; all files, by the assembler, in the slow one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.machine import machine_code

from pyptx.codegen import ptx_to_python
from pyptx.codegen.execution import trace_source
from pyptx.emitter import emit
from pyptx.parser import parse

FOLDER = Path(__file__).parents[1] / "corpus"
FILES = sorted(FOLDER.rglob("*.ptx"))
SAMPLE = [p for p in FILES if p.stat().st_size < 24_000][::16]
NOT_ASSEMBLED = {"directives", "dwarf", "statements", "windows"}  # every directive, or targets of the past

named = pytest.mark.parametrize("sugar", [False, True], ids=["plain", "sugar"])


def test_the_corpus_is_large_and_the_repository_small():
    assert len(FILES) >= 400
    assert sum(p.stat().st_size for p in FILES) < 8e6


@pytest.mark.sampled(3)
@named
@pytest.mark.parametrize("path", SAMPLE, ids=lambda p: p.stem)
def test_a_sample_traces_back_to_the_same_program(path: Path, sugar: bool):
    ptx_to_python(path.read_bytes(), sugar=sugar)  # raises when it does not


@named
def test_a_sample_assembles_to_the_same_machine_code(sugar: bool):
    for name in ("nvcc/reduce.sm_75", "nvcc/control.sm_120", "triton/softmax.sm_90", "rows/mma.sm_90a"):
        check((FOLDER / f"ptx/{name}.ptx"), sugar)


@pytest.mark.slow
@named
@pytest.mark.parametrize("part", range(8))
def test_every_file_assembles_to_the_same_machine_code(part: int, sugar: bool):
    """ptx_to_python verifies each file in one of both spellings; one in three is assembled here too, independently of it."""
    for number, path in enumerate(FILES[part::8]):
        if number % 2 == sugar:
            check(path, sugar, assembled=number % 3 == 0)


def check(path: Path, sugar: bool, assembled: bool = True) -> None:
    text = path.read_bytes()
    source = ptx_to_python(text, sugar=sugar)
    if not assembled or path.stem in NOT_ASSEMBLED:
        return
    target = parse(text).target.targets[0]
    wanted = machine_code(text.decode(), target)
    assert wanted, f"ptxas does not take {path.name}"
    again = emit(trace_source(source))
    assert machine_code(again, target) == wanted, path.name
