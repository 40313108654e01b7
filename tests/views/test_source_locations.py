"""Source locations of PTX from a compiler, and the source files that views may read."""

from __future__ import annotations

import linecache
import os
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyptx
from pyptx.compiled import load_cubin
from pyptx.views.code.python_sources import python_rows
from pyptx.views.code.source_chains import MAX_DEPTH
from pyptx.views.code.source_locations import (
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    source_places,
    with_sources,
)

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


def test_each_line_has_the_place_of_the_preceding_loc_with_inlined_callers():
    places = source_places(TEXT)
    assert len(places) == TEXT.count("\n") + 1
    found = {
        text.strip(): [(here.file, here.line) for here in place.stack]
        for text, place in zip(TEXT.split("\n"), places, strict=True)
        if place
    }
    assert found == {
        "mov.u32 %r2, 2;": [("<source:/src/a.cu>", 10)],
        "mov.u32 %r3, 3;": [("<source:/src/b.h>", 3), ("<source:/src/a.cu>", 10)],
        "mov.u32 %r4, 4;": [("<source:/src/b.h>", 4), ("<source:/src/b.h>", 3), ("<source:/src/a.cu>", 10)],
        "ret;": [("<source:/src/a.cu>", 11)],
    }
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
    assert "kernels.cu" in {section.file for section in found.right.python.sections}


def test_a_cubin_has_the_source_lines_of_its_line_table(tmp_path):
    source = tmp_path / "scale.cu"
    source.write_text("// \n__device__ float twice(float x) { return 2 * x; }\n\nvoid k() {\n  *x = twice(*x);\n}\n")
    text = f"""
        .version 8.0
        .target sm_90
        .address_size 64
        .file 1 "{source}"
        .visible .entry k(.param .u64 p) {{
        .reg .b64 %rd<2>; .reg .f32 %f<3>;
        .loc 1 4 0
        ld.param.u64 %rd1, [p];
        .loc 1 5 3
        ld.global.f32 %f1, [%rd1];
        .loc 1 2 40, function_name $L__info0, inlined_at 1 5 3
        mul.f32 %f2, %f1, 0f40000000;
        .loc 1 5 3
        st.global.f32 [%rd1], %f2;
        ret;
        }}
        .section .debug_str {{
        $L__info0:
        .b8 107,0
        }}
    """
    cubin = pyptx.load(text).compile().save(tmp_path / "scale.cubin")
    here = load_cubin(cubin, [tmp_path])
    multiplication = next(line for line in here.sass if line.opcode in ("FMUL", "FADD"))
    place = here.places[multiplication.ptx_line - 1]
    assert [(at.line, at.file.endswith("scale.cu>")) for at in place.stack] == [(2, True), (5, True)]
    assert place.source_line.startswith("__device__ float twice")
    assert not load_cubin(cubin, []).places[multiplication.ptx_line - 1].source_line, "outside the folders of sources"


def test_text_without_loc_stays_as_it_is():
    compiled = pyptx.load(CORPUS / "nvcc_sm75.ptx").compile()
    assert with_sources(compiled) is compiled


def located(path: object, *lines: int, column: int = 5) -> str:
    """PTX of one kernel whose instructions come from these lines of a file."""
    body = "".join(f".loc 1 {line} {column}\nmov.u32 %r{at % 9}, {at};\n" for at, line in enumerate(lines))
    return (
        f'.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "{path}"\n'
        f".visible .entry k()\n{{\n.reg .b32 %r<9>;\n{body}ret;\n}}\n"
    )


@cache
def compiled():
    return pyptx.load(located("k.cu", 1)).compile()


def source_text(ptx: str, *roots: Path) -> tuple[str, ...]:
    """The source lines that a view of the PTX shows; its machine code, which takes a second, is that of other PTX."""
    shown = with_sources(replace(compiled(), ptx=ptx, places=()), roots or None)
    return python_rows(shown.places).text


def test_source_lines_below_the_folder_are_shown_and_no_others(tmp_path, monkeypatch):
    source, secret = tmp_path / "src" / "k.cu", tmp_path / "secret.txt"
    source.parent.mkdir()
    source.write_text("".join(f"line {n}\n" for n in range(1, 101)))
    secret.write_text("token\n")
    monkeypatch.chdir(tmp_path / "src")
    assert source_text(located(source, 3, 4)) == ("line 3", "line 4")
    assert pyptx.load(located(source, 3, 4))["k"].view().python.text == ("line 3", "line 4")
    assert source_text(located("k.cu", 3)) == ("line 3",)
    for path in (secret, "../secret.txt", "/etc/passwd", "k.cu\\0", "missing.cu", tmp_path / "src"):
        assert source_text(located(path, 1)) == ("(source not found)",), path
    assert source_text(located(secret, 1), tmp_path) == ("token",)
    assert pyptx.load(located(secret, 1))["k"].view(source=tmp_path).python.text == ("token",)
    (source.parent / "link.cu").symlink_to(secret)
    assert source_text(located("link.cu", 1)) == ("(source not found)",)


def test_only_lines_that_are_referred_to_are_kept_with_short_gaps(tmp_path, monkeypatch):
    (tmp_path / "k.cu").write_text("".join(f"line {n}\n" for n in range(1, 201)))
    monkeypatch.chdir(tmp_path)
    view = pyptx.load(located("k.cu", 10, 12, 100))["k"].view()
    assert view.python.line == (10, 11, 12, 100)
    assert view.python.text == ("line 10", "line 11", "line 12", "line 100")
    held = "".join(linecache.getlines("<source:k.cu>"))
    assert "line 11\n" in held and "line 13" not in held and "line 99" not in held


def test_a_distant_line_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "k.cu").write_text("one\n")
    monkeypatch.chdir(tmp_path)
    view = pyptx.load(located("k.cu", 1, 30_000_000, 999_999_999))["k"].view()
    assert view.python.line == (1, 30_000_000, 999_999_999)
    assert view.python.text == ("one", "(source not found)", "(source not found)")


def test_fifos_devices_and_large_files_are_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo.cu")
    with open("large.cu", "wb") as large:
        large.truncate(MAX_FILE_BYTES + 1)
    for path in ("fifo.cu", "large.cu", "/dev/zero", "/dev/stdin"):
        assert source_text(located(path, 1)) == ("(source not found)",), path
    assert source_text(located("/dev/zero", 1), Path("/")) == ("(source not found)",)


def test_the_source_files_of_a_module_share_a_limit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    count = MAX_TOTAL_BYTES // MAX_FILE_BYTES + 1
    for number in range(count):
        (tmp_path / f"{number}.cu").write_bytes(b"first\n".ljust(MAX_FILE_BYTES, b"x"))
    files = "".join(f'.file {number + 1} "{number}.cu"\n' for number in range(count))
    body = "".join(f".loc {number + 1} 1 1\nmov.u32 %r1, {number};\n" for number in range(count))
    text = located("", 1).replace('.file 1 ""\n', files).replace(".loc 1 1 5\n", body + ".loc 1 1 5\n")
    shown = [line for line in source_text(text) if line]
    assert shown.count("first") == count - 1 and shown.count("(source not found)") == 1


def test_numbers_and_inlined_calls_beyond_any_compiler_are_harmless():
    huge = located("k.cu", 1).replace(".loc 1 1 5", f".loc 1 {'9' * 5000} 5")
    assert not any(source_places(huge))
    calls = "".join(f".loc 1 {n + 1} 1, function_name $f, inlined_at 1 {n} 1\nmov.u32 %r1, 1;\n" for n in range(1, 500))
    places = source_places(located("k.cu", 1).replace("ret;", f"{calls}ret;"))
    assert max(len(place.stack) for place in places if place) == MAX_DEPTH


def test_thousands_of_source_files_take_linear_time():
    count = 5_000
    files = "".join(f'.file {n} "/src/{n % 100}/{n}/k.cu"\n' for n in range(1, count + 1))
    body = "".join(f".loc {n} {n} 1\nmov.u32 %r1, 1;\n" for n in range(1, count + 1))
    places = source_places(located("", 1).replace('.file 1 ""\n', files).replace("ret;", f"{body}ret;"))
    begun = time.process_time()
    rows = python_rows(places)
    assert time.process_time() - begun < 20
    assert len(rows.sections) == count and rows.sections[0].file == "1/1/k.cu"[2:]


def test_inline_assembly_of_llvm_has_the_line_in_front_of_it():
    assembly = """    .loc 1 10 5
    // begin inline asm
    .loc 1 10 5
    mov.u32 %r1, 0;
    .loc 1 11 5
    mov.u32 %r2, 0;

    // end inline asm
    mov.u32 %r3, 0;
    .loc 1 12 5
    ret;
"""
    ptx = f'.version 8.0\n.target sm_90\n.file 1 "/a.py"\n.entry k()\n{{\n    .reg .b32 %r<9>;\n{assembly}}}\n'
    lines = [place.line for place in source_places(ptx) if place]
    assert lines == [10, 10, 10, 12]
