"""`%%ptx`: views, launches, diffs, and errors at the lines of the cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter
from support.cells import PTX

import pyptx
from pyptx import history
from pyptx.jupyter.completion import completions
from pyptx.views import LinkedView

pytestmark = pytest.mark.usefixtures("own_history")

SCALE = "%%ptx\n" + PTX
OTHER = SCALE.replace("mul.f32 %v, %v, %f", "add.f32 %v, %v, %f")
TWO = SCALE + SCALE.split("\n", 4)[4].replace("scale(", "second(")


def asked(options: str, cell: str = SCALE) -> str:
    return cell.replace("%%ptx", f"%%ptx {options}", 1)


def test_the_cell_shows_ptx_and_sass_and_defines_the_entry(run, shell):
    ran = run(SCALE)
    assert ran.error is None
    view = ran.result
    assert isinstance(view, LinkedView)
    assert (view.title, view.target, view.panes) == ("scale", "sm_80", ("ptx", "sass"))
    assert "\n".join(view.ptx.text) == SCALE.split("\n", 1)[1].rstrip("\n")
    assert view.ptx.sass[13] > 0, "mul.f32 has an instruction"
    assert shell.user_ns["scale"].name == "scale"
    assert history.version("scale@1").cell_source == SCALE.rstrip("\n")


def test_the_program_and_its_label_have_the_given_name(run, shell):
    assert run(asked("--name mine")).result.title == "mine"
    assert isinstance(shell.user_ns["mine"], pyptx.Program)
    assert history.version("mine").ref == "scale@1"


def test_options_target_panes_and_silence(run):
    view = run(asked('--arch sm_90 --options "-O1" --panes sass')).result
    assert (view.target, view.panes) == ("sm_90", ("sass",))
    assert run(asked("-q")).result is None
    assert history.version("scale@1").options == ("-O1",)
    run("%ptxconfig --arch sm_86 -p N=3 --version 8.7")
    assert run(SCALE).result.target == "sm_86"


def test_a_launch_counts_and_writes_the_arrays(run, shell):
    shell.user_ns.update(x=np.arange(64, dtype=np.float32), n=64)
    ran = run(asked('--run "1, n, x, 3.0"'))
    assert ran.error is None
    np.testing.assert_array_equal(shell.user_ns["x"], 3 * np.arange(64, dtype=np.float32))
    counted = ran.result.ptx.counters["issues"]
    assert counted[13] == 2, "two warps"
    assert ran.result.entries[0].occupancy["threads"] == 64


@pytest.mark.parametrize(
    "launch, kind, says",
    [
        ("1, 64", "ArgumentTypeError", "scale.launch(1, 64)"),
        ("1, 64, nothing, 3.0", "NameError", "nothing"),
        ("1, 64,, x", "CellSyntaxError", "expected GRID, BLOCK, ARGUMENTS"),
        ("1", "TypeError", "block"),
    ],
)
def test_a_launch_that_cannot_be_fails_the_cell(run, shell, launch, kind, says):
    shell.user_ns["x"] = np.zeros(64, np.float32)
    ran = run(asked(f'--run "{launch}"'))
    assert type(ran.error).__name__ == kind
    shown = ran.shown if hasattr(ran.error, "_render_traceback_") else str(ran.error)
    assert says in shown
    assert "site-packages" not in shown
    assert "pyptx/jupyter" not in shown


def test_a_fault_of_a_launch_is_shown_at_its_line(run, shell):
    shell.user_ns["x"] = np.zeros(4, np.float32)
    shown = run(asked('--run "1, 64, x, 3.0"')).shown
    assert "Cell In[1], line 14" in shown
    assert "---->  14     ld.global.f32 %v, [%a];" in shown
    assert "outside" in shown
    run(SCALE)
    later = run("scale.launch(1, 64, x, 3.0)")
    assert later.error.place.line == 14, "the entry knows its cell afterwards too"


def test_an_edited_cell_is_compared_with_the_version_before(run):
    assert run(SCALE).result.diff is None
    found = run(OTHER).result.diff
    assert found.left.title == "scale@1"
    assert [row.why for row in found.compared.rows if row.kind] == ["instruction"]
    assert run(asked("--diff scale@2")).result.diff.left.title == "scale@2"
    assert run(asked("--no-diff")).result.diff is None


def test_a_version_is_listed_viewed_and_brought_back(run, shell):
    run(SCALE)
    run(OTHER)
    assert "scale@2" in run("%ptxhistory scale").result.text()
    view = run("%ptxhistory --view scale@1").result
    assert "mul.f32" in view.text()
    assert not view.python.text
    run("%ptxhistory --restore scale@1")
    assert shell.rl_next_input == SCALE.rstrip("\n")
    assert history.restore("scale@1").ptx == SCALE.split("\n", 1)[1]


def test_several_entries_are_all_there_and_one_is_meant(run, shell):
    view = run(asked("--entry second", TWO)).result
    assert view.title == "second"
    assert {entry.name for entry in view.entries} == {"scale", "second"}
    assert {"scale", "second"} <= shell.user_ns.keys()
    assert history.version("second@1")


@pytest.mark.parametrize(
    "options, cell, says",
    [
        ("--entry third", TWO, "--entry third: the cell's entries are scale, second"),
        ("--name scale", SCALE, "--name scale: an entry of the cell has this name"),
        ("--name 1x", SCALE, "--name 1x: expected a Python name"),
        ("--arch sm_1", SCALE, "--arch sm_1: expected one of sm_75"),
        ("", "%%ptx\n.version 8.0\n.target sm_80\n.address_size 64\n", "%%ptx: the cell has no .entry"),
        ("--diff nothing", SCALE, "no version is named 'nothing'"),
        ("-p N=3", SCALE, "unrecognized arguments: -p N=3"),
    ],
)
def test_wrong_arguments_name_the_accepted_ones(run, options, cell, says):
    ran = run(asked(options, cell))
    assert type(ran.error).__name__ == "UsageError"
    assert says in str(ran.error)


def test_a_wrong_line_is_shown_with_an_arrow(run, shell):
    ran = run(SCALE.replace("mul.f32 %v, %v, %f;", "mul.rn.ftz.f64 %v, %v, %f;"))
    assert type(ran.error).__name__ == "CompileError"
    lines = ran.shown.split("\n")
    assert lines[0].startswith("CompileError: the PTX of Cell In[1]: ")
    assert "Cell In[1], line 15" in lines
    at = lines.index("---->  15     mul.rn.ftz.f64 %v, %v, %f;")
    assert lines[at - 1] == "       14     ld.global.f32 %v, [%a];"
    assert set(lines[at + 1].strip()) == {"^"}
    assert "scale" not in shell.user_ns


def test_blank_lines_above_the_magic_are_counted(run):
    assert "Cell In[1], line 17" in run("\n\n" + SCALE.replace("mul.f32", "mull.f32")).shown


def test_every_fault_is_shown_and_syntax_too(run):
    broken = SCALE.replace("mul.f32", "mull.f32").replace("st.global.f32 [%a], %v;", "st.global.f32 [%b], %v")
    shown = run(broken).shown
    assert "line 15" in shown
    assert "line 16" in shown or "line 17" in shown
    assert "findings" in shown


def test_errors_of_the_assembler_are_shown_too(run, monkeypatch):
    """The table is let pass by hand here: what it takes and ptxas does not is rare."""
    from pyptx.errors import AssembleError, Diagnostic

    def refuse(*args, **kwargs):
        raise AssembleError([Diagnostic("error", "Illegal something", line=14)], summary="ptxas refused the PTX")

    monkeypatch.setattr("pyptx.assembly.assemble", refuse)
    shown = run(SCALE.replace("tid.x", "ctaid.x")).shown  # not in the cache
    assert "---->  15     mul.f32 %v, %v, %f;" in shown
    assert "error: Illegal something" in shown
    assert "PTX line" not in shown, "the line of the cell is enough"


def test_a_warning_of_the_assembler_is_shown_at_its_line(run):
    text = (Path(__file__).parents[1] / "toolchain" / "ptx" / "wgmma_sm_90a.ptx").read_text()
    line = next(line for line in text.split("\n") if "wgmma.wait_group" in line)
    ran = run("%%ptx\n" + text.replace(line, ""))
    assert ran.error is None
    assert "tile for sm_90a: 1 warning" in ran.stdout
    assert "Cell In[1], line " in ran.stdout
    assert "---->" in ran.stdout
    assert "warning: (C7517) wgmma.wait_group is injected" in ran.stdout
    assert [note.severity for note in ran.result.notes] == ["warning"]


SOURCE = """\
__global__ void scale(float* x) {
    x[threadIdx.x] *= 2;
}
"""


def test_source_lines_that_loc_refers_to_are_shown(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "scale.cu"
    file.write_text(SOURCE)
    cell = SCALE.replace("    mov.u32 %i", "    .loc 1 2 5\n    mov.u32 %i") + f'.file 1 "{file}"\n'
    view = run(cell).result
    assert view.panes == ("python", "ptx", "sass")
    assert [(section.file, section.function) for section in view.python.sections] == [("scale.cu", "scale")]
    assert "x[threadIdx.x] *= 2;" in view.python.text
    assert view.python.sass[view.python.text.index("x[threadIdx.x] *= 2;")] > 3


def test_the_help_lists_the_options(shell):
    text = shell.find_line_magic("ptxconfig").__func__.__doc__ + shell.find_cell_magic("ptx").__doc__
    for option in ("--arch", "--entry", "--run", "--name", "--diff", "--no-diff", "--options", "--panes", "--quiet"):
        assert option in text


@pytest.mark.parametrize(
    "line, offered",
    [
        ("%%ptx --en", "--entry"),
        ("%%ptx --arch sm_90", "sm_90a"),
        ("%%ptx --panes ptx,", "ptx,sass"),
        ("%%ptx --diff @", "@-1"),
        ("%%ptx --entry s", "second"),
        ("%%ptx --no", "--no-diff"),
    ],
)
def test_completions(run, line, offered):
    assert offered in [text for text, _ in completions(line, TWO)]


def test_entries_are_offered_by_the_shell(shell):
    cell = TWO.replace("%%ptx", "%%ptx --entry s", 1)
    with provisionalcompleter():
        offered = [one.text for one in shell.Completer.completions(cell, len("%%ptx --entry s"))]
    assert "second" in offered
