"""`.file` and `.loc` of PTX from a compiler as places."""

from __future__ import annotations

from pathlib import Path

import pyptx
from pyptx.views.code.locs import source_places, with_sources

CORPUS = Path(__file__).parents[1] / "corpus"

TEXT = """.version 8.0
.target sm_90
.address_size 64
.file 1 "/src/a.cu"
.file 2 "/src/b.h"
.entry k()
{
    .reg .b32 %r<9>;
    mov.u32 %r1, 1;
    .loc 1 10 5
    mov.u32 %r2, 2;
    .loc 2 3 1, function_name $name, inlined_at 1 10 5
    mov.u32 %r3, 3;
    .loc 2 4 1, function_name $name, inlined_at 2 3 1
    mov.u32 %r4, 4;
    .loc 1 11 5
    ret;
}
.entry other()
{
    ret;
}
"""


def test_each_line_has_the_place_in_force_with_the_callers_of_what_was_inlined():
    places = source_places(TEXT)
    assert len(places) == TEXT.count("\n") + 1
    found = {text.strip(): [(here.file, here.line) for here in place.stack]
             for text, place in zip(TEXT.split("\n"), places, strict=True) if place}
    assert found == {
        "mov.u32 %r2, 2;": [("/src/a.cu", 10)],
        "mov.u32 %r3, 3;": [("/src/b.h", 3), ("/src/a.cu", 10)],
        "mov.u32 %r4, 4;": [("/src/b.h", 4), ("/src/b.h", 3), ("/src/a.cu", 10)],
        "ret;": [("/src/a.cu", 11)]}
    assert {place.function for place in places if place} == {"k"}


def test_a_compiled_file_gets_its_source_lines_once():
    compiled = pyptx.load(CORPUS / "nvcc_lineinfo.ptx").compile()
    located = with_sources(compiled)
    assert any(located.places)
    assert with_sources(located) is located
    view = located.view()
    assert view.python.sections
    assert sum(row >= 0 and view.ptx.stack[row] >= 0 for row in view.sass.ptx) > len(view.sass.ptx) // 2


def test_views_and_diffs_show_them(tmp_path):
    program = pyptx.load(CORPUS / "nvcc_lineinfo.ptx")
    assert "kernels.cu" in {section.file for section in program["saxpy"].view().python.sections}
    found = pyptx.diff(program, program.compile().save(tmp_path / "same.cubin"))
    assert found.identical
    assert "kernels.cu" in {section.file for section in found.left.python.sections}
    assert not found.right.python.sections, "ptxas keeps no .loc in a cubin"


def test_text_without_loc_stays_as_it_is():
    compiled = pyptx.load(CORPUS / "nvcc_sm75.ptx").compile()
    assert with_sources(compiled) is compiled
