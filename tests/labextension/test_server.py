"""The server extension: diagnostics of PTX, lists of versions, views of files."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from pyptx import Tile, history, kernel, load, ptx, reg
from pyptx.errors import InputError
from pyptx.jupyter import panel, server
from pyptx.jupyter.file_views import FileError, view_file
from pyptx.jupyter.language_requests import complete_text, help_at
from pyptx.types import f32

HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
ONE = (
    HEAD
    + """.visible .entry one(.param .u64 at)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .shared .align 4 .b8 room[128];
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [room], %r1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
)


@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),), grid=1, block=64)
def twice(a, b):
    a_at, b_at = ptx.global_ptrs(a, b)
    x = reg.scalar(f32)
    ptx.inst.ld.global_.f32(x, ptx.addr(a_at))
    ptx.inst.st.global_.f32(ptx.addr(b_at), x + x)


@pytest.fixture
def versions(own_cache):
    """Two versions of a kernel, of two notebooks, in a store of their own."""
    for number, notebook in ((4, "a.ipynb"), (8, "b.ipynb")):
        history.keep(twice.compile(N=number), params={"N": number}, block=twice.block, notebook=notebook)


def test_ptx_is_checked_with_lines_and_columns():
    server = pytest.importorskip("pyptx.jupyter.server", reason="jupyter_server is not installed")
    assert server.diagnostics(ONE, None) == []
    (found,) = server.diagnostics(ONE.replace("mov.u32", "mov.u33"), None)
    assert (found["severity"], found["line"]) == ("error", 10)
    assert ONE.split("\n")[9][found["column"] : found["end_column"]].strip()
    assert server.diagnostics(ONE, "sm_1")[0]["severity"] == "error"


def test_completion_and_help_count_utf16_units():
    text = ONE.replace("mov.u32", "/* 𝔸 */ mov.u")
    at = len(text[: text.index("mov.u") + 5].encode("utf-16-le")) // 2
    found = complete_text(text, at)
    assert found is not None and (found["start"], found["end"]) == (at - 2, at)
    assert ".u32" in [offer["text"] for offer in found["offers"]]
    about = help_at(text, at - 4)
    assert about is not None and (about["start"], about["end"]) == (at - 5, at) and "mov" in about["text"]
    python = f"# 𝔸\nTEXT = '''{text}'''\n"
    shifted = at + len("# 𝔸\nTEXT = '''".encode("utf-16-le")) // 2
    inside = complete_text(python, shifted, python=True)
    assert inside is not None and inside["start"] == shifted - 2
    assert complete_text(python, 3, python=True) is None and help_at(text, 0) is not None
    assert help_at("", 5) is None


def test_the_panel_lists_versions_newest_first_and_of_one_notebook(versions):
    (listed,) = panel.kernels()
    assert listed["name"] == "twice"
    assert [version["ref"] for version in listed["versions"]] == ["twice@2", "twice@1"]
    newest = listed["versions"][0]
    assert newest["params"] == {"N": "8"} and newest["target"] == "sm_90a" and newest["spills"] == 0
    assert newest["occupancy"]["percent"] and newest["occupancy"]["why"]
    (of_one,) = panel.kernels("a.ipynb")
    assert [version["ref"] for version in of_one["versions"]] == ["twice@1"]
    assert panel.kernels("c.ipynb") == []


def test_a_session_names_its_kernels_and_where_they_run():
    InteractiveShell.clear_instance()
    shell = InteractiveShell()
    shell.user_ns.update(mine=twice, _hidden=twice, one=load(ONE)["one"], x=1)
    data = panel.NotebookState(shell)._repr_mimebundle_()["application/json"]
    own, loaded = data["kernels"]
    assert "mine.check(*inputs)" in own.pop("cells")["check"] and own == {
        "name": "twice",
        "variable": "mine",
        "arch": "sm_90a",
        "check": None,
    }
    assert loaded == {"name": "one", "variable": "one", "arch": None, "cells": {}, "check": None}, (
        "its arrays are unknown"
    )
    assert data["device"]["backend"] in ("sim", "cuda")


def test_ptx_text_is_shown_with_its_machine_code():
    view = view_file("one.ptx", ONE.encode())
    assert (view.title, view.entries[0].shared_bytes, view.target) == ("one.ptx", 128, "sm_90a")
    assert any("STG" in line for line in view.sass.text)
    with pytest.raises(FileError, match=r"(?s)one.ptx does not assemble.*line 10"):
        view_file("one.ptx", ONE.replace("mov.u32", "mov.f16").encode())
    with pytest.raises(FileError, match=r"one.ptx: "):
        view_file("one.ptx", b"no ptx at all")


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_a_cubin_says_what_the_compiler_said(arch):
    compiled = load(ONE.replace("8.5", "8.6").replace("sm_90a", arch)).compile()
    view = view_file("one.cubin", compiled.cubin)
    used = compiled.resources["one"]
    assert view.target == arch
    assert "mov.u32 %r1, %tid.x;" in view.ptx.text, "-lineinfo left the PTX in it"
    assert [line.text.rstrip(" ;") for line in compiled.sass] == list(view.sass.text)
    shown = view.entries[0]
    assert (shown.registers, shown.shared_bytes, shown.constant_bytes) == (
        used.registers,
        used.shared_bytes,
        used.constant_bytes,
    )


def test_other_files_and_broken_ones_are_refused():
    with pytest.raises(FileError, match=r"one.txt: expected a name that ends in .ptx, .cubin or .cu"):
        view_file("one.txt", b"")
    with pytest.raises(FileError, match="one.cubin: not a cubin"):
        view_file("one.cubin", b"\x7fno")


def test_source_files_are_read_below_the_root_folder_only(tmp_path):
    inside, outside = tmp_path / "root" / "k.cu", tmp_path / "secret.txt"
    inside.parent.mkdir()
    inside.write_text("kernel line\n")
    outside.write_text("secret\n")

    def shown(path, roots):
        text = ONE.replace(".visible", f'.file 1 "{path}"\n.visible').replace(
            "    mov.u32", "    .loc 1 1 0\n    mov.u32"
        )
        return view_file("one.ptx", text.encode(), roots).python.text

    assert shown(inside, [inside.parent]) == ("kernel line",)
    for path, roots in ((outside, [inside.parent]), (inside, []), ("../secret.txt", [inside.parent])):
        assert shown(path, roots) == ("(source not found)",)


CUDA = """#include "scale.cuh"
__global__ void k(float *x) {
    x[threadIdx.x] = scaled(x[threadIdx.x]);
}
"""


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "scale.cuh").write_text("__device__ float scaled(float x) {\n    return 2 * x;\n}\n")
    return tmp_path


def test_cuda_files_are_shown_with_their_headers(sources):
    view = view_file("k.cu", CUDA.encode(), folder=sources)
    assert view.title == "k.cu" and [entry.name for entry in view.entries] == ["k"]
    assert "return 2 * x;" in view.python.text and "k.cu" in str(view.python.sections)
    with pytest.raises(FileError, match=r'(?s)k.cu does not compile.*line 1: cannot open source file "scale.cuh"'):
        view_file("k.cu", CUDA.encode())
    with pytest.raises(FileError, match="k.cu has no kernel to show; a template is compiled where"):
        view_file("k.cu", b"template <int N> __global__ void k(float *x) { x[0] = N; }")


def test_cuda_is_checked_with_the_options_of_its_cell(sources):
    server = pytest.importorskip("pyptx.jupyter.server", reason="jupyter_server is not installed")
    assert server.cuda_diagnostics(CUDA, sources) == []
    broken = CUDA.replace("scaled(x", "halved(x")
    (found,) = server.cuda_diagnostics(broken, sources)
    assert (found["severity"], found["line"]) == ("error", 3) and "halved" in found["message"]
    assert broken.split("\n")[2][found["column"] : found["end_column"]] == "halved"
    cell = f"\n%%cuda -D TILE=4 -D COUNT={{n}} --sweep 'k(1, W)' --values W=32,64\n{CUDA}static_assert(TILE * COUNT + W == 36);\n"
    assert server.cuda_diagnostics(cell, sources) == []
    assert server.cuda_diagnostics(cell.replace("== 36", "== 3"), sources)[0]["line"] == 7
    assert server.cuda_diagnostics("%%cuda --arch sm_1\n", None)[0]["line"] == 1
    (sources / "scale.cuh").write_text("float scaled(;\n")
    (found, *_) = server.cuda_diagnostics(CUDA, sources)
    assert found["line"] is None and "scale.cuh:1: " in found["message"]


def test_a_view_becomes_a_page():
    view = view_file("one.ptx", ONE.encode())
    assert server.shared_page(view.to_json()) == view.page()
    with pytest.raises(InputError, match="not the JSON of a linked view"):
        server.shared_page({"kind": "linked", "version": 1})
