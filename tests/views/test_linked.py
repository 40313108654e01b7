"""The linked view as data: links, columns folded onto Python lines, JSON."""

from __future__ import annotations

import json
import linecache
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from views.handmade import PTX, SOURCE, Lines, places, saxpy

import pyptx
from pyptx._loc import SourceLocation, name_files
from pyptx.analysis.diff.comparison import Comparison, Row, group_hunks
from pyptx.cli.kernels import load_kernel
from pyptx.errors import OptionError, ShapeError
from pyptx.views import MIME, Diff, LinkedView, linked
from pyptx.views.code.python_sources import display_names, python_rows


@pytest.fixture
def view() -> LinkedView:
    return linked(saxpy())


def python_row(view: LinkedView, line: int) -> int:
    return view.python.line.index(line)


def stack_lines(view: LinkedView, ptx_line: int) -> list[int]:
    stack = view.ptx.stack[ptx_line - 1]
    return [view.python.line[row] for row in view.stacks[stack]] if stack >= 0 else []


def test_the_python_pane_holds_the_kernel_first_and_the_helper_after_it(view):
    assert [(s.function, s.role, s.first, s.count) for s in view.python.sections] == [
        ("saxpy", "kernel", 6, 12),
        ("address", "helper", 1, 4),
    ]
    for section in view.python.sections:
        rows = range(section.start, section.start + section.count)
        assert [view.python.line[row] for row in rows] == list(range(section.first, section.first + section.count))
        assert [view.python.text[row] for row in rows] == SOURCE.splitlines()[section.first - 1 :][: section.count]
        assert view.python.line[section.start - 1] == 0, "a heading stands before each section"


def test_a_helper_called_from_two_lines_is_linked_with_both(view):
    assert stack_lines(view, 27) == [4, 12]
    assert stack_lines(view, 29) == [4, 13]
    assert stack_lines(view, 1) == []


def test_numbers_are_folded_to_the_line_and_to_its_callers(view):
    def of(line):
        row = python_row(view, line)
        return view.python.ptx[row], view.python.sass[row], view.python.live[row]

    assert of(9) == (4, 4, 3)
    assert of(12) == (2, 2, 6)
    assert of(13) == (2, 2, 6)
    assert of(4) == (2, 4, 6), "both calls"
    assert of(10) == (0, 0, 0)


def test_every_sass_row_has_a_ptx_row_or_is_added_by_ptxas(view):
    added = [view.sass.address[row] for row, ptx in enumerate(view.sass.ptx) if ptx < 0]
    assert added == [0x0, 0x90, 0x130]
    assert view.ptx.text[view.sass.ptx[view.sass.address.index(0x100)]].strip().startswith("fma.rn.f32")
    assert sum(view.ptx.sass) == len(view.sass.ptx) - len(added)


def test_control_fields_and_branch_targets_are_columns(view):
    row = view.sass.address.index(0xC0)
    assert (view.sass.stall[row], view.sass.wait[row], view.sass.reuse[row]) == (5, 1, 1)
    assert view.sass.write_barrier[view.sass.address.index(0xD0)] == 2
    assert view.sass.read_barrier[row] == -1
    end = view.sass.address.index(0x130)
    assert view.sass.target[end] == end
    assert len({len(column) for column in (view.sass.text, view.sass.live, view.sass.group, view.sass.target)}) == 1


def test_json_is_plain_and_gives_the_same_view_back(view):
    data = json.loads(json.dumps(view.to_json()))
    assert data == view.to_json()
    assert (data["kind"], data["version"]) == ("linked", 1)
    assert LinkedView.from_json(data) == view


def test_json_of_another_version_is_refused(view):
    with pytest.raises(ValueError, match="expected kind 'linked', version 1; got 'linked', 2"):
        LinkedView.from_json(view.to_json() | {"version": 2})


def test_the_mime_bundle_holds_data_html_and_text(view):
    bundle = view._repr_mimebundle_()
    assert list(bundle) == [MIME, "text/html", "text/plain"]
    assert bundle[MIME]["title"] == "saxpy"


def test_the_summary_of_an_entry(view):
    entry = view.entries[0]
    assert (entry.name, entry.start, entry.count, entry.registers, entry.live) == ("saxpy", 0, 20, 10, 6)
    assert entry.mix == {"constant": 7, "integer": 4, "control": 3, "global": 3, "move": 2, "float32": 1}
    assert entry.occupancy is None, "no block size is known"


def test_occupancy_needs_the_block_size():
    fits = linked(saxpy(), block=(32, 8, 1)).entries[0].occupancy
    assert (fits["threads"], fits["blocks"], fits["warps"], fits["max_warps"]) == (256, 8, 64, 64)
    assert fits["limiters"] == ["warps"]


def test_a_pane_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="expected one or more of 'python', 'ptx' and 'sass'"):
        linked(saxpy(), panes=("llvm",))


def test_ptx_without_python_has_no_python_rows():
    compiled = saxpy()
    compiled.lines = Lines([None] * len(PTX.splitlines()), compiled.lines.ptx_of)
    view = linked(compiled)
    assert view.python.text == ()
    assert view.stacks == ()
    assert view.to_json()["python"]["sections"] == []
    assert "PTX without a Python line" in view.text()


def test_registers_that_nvdisasm_could_not_count_are_left_open():
    compiled = saxpy()
    compiled.sass = tuple(SimpleNamespace(**vars(line) | {"live": None}) for line in compiled.sass)
    view = linked(compiled)
    assert set(view.sass.live) == {-1}
    assert view.entries[0].live == 0
    assert "live" not in view.text()


def test_warnings_of_the_assembler_name_their_lines():
    compiled = saxpy()
    place = compiled.lines.python_of_ptx(32)
    compiled.warnings = (SimpleNamespace(severity="warning", message="slow", line=32, place=place),)
    view = linked(compiled)
    assert (view.notes[0].ptx, view.python.line[view.notes[0].python]) == (31, 15)
    assert "warning, PTX line 32: slow" in view.text()
    assert LinkedView.from_json(view.to_json()) == view


def test_counters_are_projected_onto_machine_code():
    column = [-1] * len(PTX.splitlines())
    column[31] = 640
    view = linked(saxpy(), counters={"issues": column})
    assert view.ptx.counters["issues"][31] == 640, "the counts of PTX lines stay a column of their own"
    issued = {view.sass.text[row].split()[0]: count for row, count in enumerate(view.sass.issues) if count}
    assert issued == {"ULDC.64": 640, "ULDC": 640, "FFMA": 640}, "ptxas added ULDC.64 for the next instruction"
    assert view.ptx.issues[31] == sum(view.ptx.issues) == 1280
    assert view.python.issues[python_row(view, 15)] == sum(view.python.issues) == 1280
    assert "1 PTX, 2 SASS, 5 live, 66.7 % issued" in view.text()
    assert LinkedView.from_json(view.to_json()) == view
    with pytest.raises(ValueError, match="counters have {'issues': 3} lines, but the PTX has 36"):
        linked(saxpy(), counters={"issues": [1, 2, 3]})


def test_a_line_without_machine_code_issues_nothing():
    column = [-1] * 36
    column[25:27] = [10_000, 10]
    view = linked(saxpy(), counters={"issues": column})
    assert view.ptx.sass[25] == 0 and view.ptx.counters["issues"][25] == 10_000
    assert view.ptx.issues[25] == 0 and max(view.ptx.issues) == view.ptx.issues[26] == 20
    assert view.python.issues[python_row(view, 3)] == 0, "mul.wide was folded into other instructions"


def test_files_with_the_same_name_are_shown_with_their_folders():
    assert display_names(["/a/x/k.py", "/a/y/k.py", "/a/other.py", "<string>"]) == {
        "/a/x/k.py": "x/k.py",
        "/a/y/k.py": "y/k.py",
        "/a/other.py": "other.py",
        "<string>": "<string>",
    }


def test_cells_are_named_by_the_notebook():
    undo = name_files(lambda file: "Cell In[7]" if file == "/tmp/cell.py" else None)
    try:
        assert display_names(["/tmp/cell.py"]) == {"/tmp/cell.py": "Cell In[7]"}
    finally:
        undo()
    assert display_names(["/tmp/cell.py"]) == {"/tmp/cell.py": "cell.py"}
    assert display_names(["/x/ipykernel_77/1234.py"]) == {"/x/ipykernel_77/1234.py": "notebook cell"}


def test_functions_inside_one_another_are_one_section():
    source = "def saxpy(x, y, n, a):\n    emit(1)\n    def inner():\n        emit(1)\n    inner()\n    emit(1)\n"
    rows = python_rows(places("nested.py", source, 20))
    assert [(s.function, s.first, s.count) for s in rows.sections] == [("saxpy", 1, 6)]


def test_a_kernel_that_a_function_makes_is_shown_without_its_indentation():
    source = "def make():\n    @kernel\n    def inner(x):\n        y = x\n\n        return y\n    return inner\n"
    inside = python_rows(inner("factory.py", source))
    assert inside.text[:3] == ("@kernel", "def inner(x):", "    y = x") and inside.line[:3] == (2, 3, 4)
    tabs = python_rows(inner("tabs.py", source.replace("    ", "\t")))
    assert tabs.text[1:3] == ("def inner(x):", "\ty = x")
    left = python_rows(inner("left.py", source.replace("        y = x", "# said at the margin\n        y = x")))
    assert left.text[1] == "    def inner(x):"


def inner(file, source):
    """The places of a function inside another, from its first line to its last."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    outer = compile(source, file, "exec").co_consts[0]
    code = next(const for const in outer.co_consts if hasattr(const, "co_code"))
    return [SourceLocation(code, offset) for offset in range(0, len(code.co_code), 2)]


def test_lines_without_source_are_marked():
    found = places("gone.py")
    del linecache.cache["gone.py"]
    rows = python_rows(found)
    assert "(source not found)" in rows.text


def test_views_are_values(view):
    assert replace(view, title="other") != view
    assert "LinkedView('saxpy', sm_90a:" in repr(view)


def a_diff(left: LinkedView, right: LinkedView, verdict: str = "Nothing differs.") -> Diff:
    rows = [Row(n, n, 0) for n in range(len(left.sass.text))]
    return Diff("sass", left, right, Comparison(tuple(rows), group_hunks(rows)), (), verdict)


def test_a_view_may_carry_a_diff_with_itself_on_the_right(view):
    with_diff = linked(saxpy(), diff=a_diff(replace(view, title="saxpy@1"), replace(view, title="saxpy@2")))
    data = json.loads(json.dumps(with_diff.to_json()))
    assert data["diff"]["right"] == {"title": "saxpy@2"}, "not written twice"
    assert data["diff"]["left"]["title"] == "saxpy@1"
    assert LinkedView.from_json(data) == with_diff
    assert "diff" not in view.to_json()
    for form in (with_diff.text(), with_diff.html()):
        assert form.count("Nothing differs.") == 1


def test_a_diff_of_another_kernel_is_refused(view):
    other = replace(view, title="saxpy@9", sass=replace(view.sass, text=("NOP",) * len(view.sass.text)))
    with pytest.raises(
        ValueError, match="the right side of the diff is saxpy@9; expected the kernel of the view, saxpy"
    ):
        linked(saxpy(), diff=a_diff(view, other))


def test_the_launch_and_the_hardware_are_known_to_the_view():
    found = linked(saxpy(), block=128, dynamic_shared_bytes=4096)
    assert (found.entries[0].dynamic_shared_bytes, found.entries[0].code_bytes) == (4096, 320)
    assert found.limits["warps_per_sm"] == 64
    assert "shared memory 4 KiB (0 B static, 4 KiB dynamic)" in found.text()
    assert "SASS instructions 20 (320 B of code)" in found.text()


def test_opcodes_of_ptx_and_sass_are_explained(view):
    assert view.help["fma"] == "Multiply and add with one rounding."
    assert view.help["FFMA"] == "Multiplies and adds f32 with one rounding."
    assert {text.split()[0].partition(".")[0] for text in view.sass.text if text[0] != "@"} <= view.help.keys()


def test_bank_conflicts_are_folded_to_the_python_line():
    column = [-1] * 36
    column[25:30] = [0, 5, 0, 7, 3]
    view = linked(saxpy(), counters={"issues": [1] * 36, "shared_conflicts": column})
    assert view.python.counters["shared_conflicts"][python_row(view, 4)] == 12
    assert view.python.counters["shared_conflicts"][python_row(view, 12)] == 5
    assert "12 bank conflicts" in view.html()
    assert "5 bank conflicts" in view.text()


def test_data_of_an_older_pyptx_is_still_read(view):
    data = view.to_json()
    for pane, name in (
        ("python", "spill"),
        ("ptx", "flow"),
        ("ptx", "links"),
        ("sass", "flow"),
        ("sass", "spill"),
        ("sass", "issues"),
        ("ptx", "issues"),
    ):
        del data[pane][name]
    del data["limits"]
    older = LinkedView.from_json(data)
    assert older.sass.text == view.sass.text
    assert older.text()


def test_a_block_that_cannot_launch_is_reported_instead_of_an_occupancy_of_zero():
    view = linked(saxpy(), block=2048)
    fact = "launch impossible (a block of 2048 threads; the limit is 1024)"
    assert fact in view.text() and "occupancy" not in view.text()
    assert "a block of 2048 threads; the limit is 1024" in view.html()


def test_registers_by_line_add_up_to_the_number_in_the_header():
    view = linked(saxpy(), block=128)
    (entry,) = view.entries
    assert sum(count for _, count in entry.holders) == entry.live == 6


def test_the_modeled_time_of_a_launch_is_shown_beside_the_lines(checkout: Path):
    vector_add = load_kernel(str(checkout / "examples" / "vector_add.py"))
    view, found = vector_add.view(N=4096, device="h100"), vector_add.estimate(N=4096, device="h100")
    inside = sum(one.seconds for one in found.attribution.instructions) / found.seconds
    assert sum(view.sass.modeled) == pytest.approx(1e6 * inside, abs=len(view.sass.modeled))
    by_ptx = [
        sum(t for t, row in zip(view.sass.modeled, view.sass.ptx, strict=True) if row == n)
        for n in range(len(view.ptx.text))
    ]
    assert list(view.ptx.modeled) == by_ptx and max(view.python.modeled) > 0
    assert any("scoreboard" in text for text in view.sass.stalls)
    assert view.modeled == {"gpu": found.gpu, "seconds": found.seconds}
    assert LinkedView.from_json(json.loads(json.dumps(view.to_json()))) == view


def test_a_modeled_time_of_other_machine_code_is_refused(checkout: Path):
    vector_add = load_kernel(str(checkout / "examples" / "vector_add.py"))
    with pytest.raises(ShapeError, match="belongs to other machine code"):
        vector_add.view(N=4096, device="h100", options=["-O0"])


def test_entries_of_loaded_ptx_show_modeled_time_too(checkout: Path):
    vector_add = load_kernel(str(checkout / "examples" / "vector_add.py"))
    entry = pyptx.load(vector_add.ptx(N=4096))["vector_add"]
    x = np.zeros(4096, np.float32)
    config = {"grid": 1, "block": 256}
    view = entry.view(x, x, x, device="h100", **config)
    assert view.modeled == {"gpu": "H100 SXM", "seconds": entry.estimate(x, x, x, device="h100", **config).seconds}
    waiting = next(
        row for row, text in enumerate(view.sass.text) if text.startswith("FADD") and view.sass.stalled_on[row]
    )
    assert view.sass.text[waiting - view.sass.stalled_on[waiting][0]].startswith("LDG"), "an addition waits for a load"
    with pytest.raises(OptionError, match="view\\(\\) uses grid only with device="):
        entry.view(grid=1)


def test_instructions_are_explained_from_the_tables(view):
    reference = view.reference
    assert reference["syntax"]["fma.rn.f32"] == "fma.rnd{.ftz}{.sat}.f32  d, a, b, c"
    assert reference["section"]["fma.rn.f32"].endswith("#floating-point-instructions-fma")
    assert reference["section"]["add.u64"].endswith("#integer-arithmetic-instructions-add"), (
        "of the row, not the opcode"
    )
    assert (
        reference["pipe"]["FFMA"]
        == "fma pipe: 0.25 cycles of the SM per warp; result after 4 cycles (modeled, H200 SXM)"
    )
    assert "LDG.E" not in reference["pipe"], "the latency of a load depends on the access"
