"""`%%ptxkernel` in an IPython shell: definitions, views and errors."""

from __future__ import annotations

import inspect
import re
import warnings

import pytest
from support.cells import GOOD, with_line_9

from pyptx.errors import CompileError, NoValueError
from pyptx.jupyter.completion import completions
from pyptx.kernel import Kernel
from pyptx.views import MIME, LinkedView


def test_the_cell_shows_the_linked_view_and_defines_the_kernel(run, shell):
    ran = run(GOOD)
    view = ran.result
    assert isinstance(view, LinkedView)
    assert (view.title, view.target) == ("double", "sm_80")
    assert isinstance(shell.user_ns["double"], Kernel)
    assert callable(shell.user_ns["load"])


def test_python_lines_are_the_lines_of_the_cell(run):
    view = run(GOOD).result
    cell = GOOD.splitlines()
    for row, number in enumerate(view.python.line):
        assert number == 0 or view.python.text[row] == cell[number - 1]
    assert {section.file for section in view.python.sections} == {"Cell In[1]"}
    assert [(s.function, s.role) for s in view.python.sections] == [("double", "kernel"), ("load", "helper")]


def test_every_sass_instruction_has_an_owner(run):
    view = run(GOOD).result
    for row, ptx in enumerate(view.sass.ptx):
        assert ptx < 0 or view.ptx.stack[ptx] >= 0, view.sass.text[row]
    assert any("FMUL" in text for text in view.sass.text)
    mul = next(row for row, text in enumerate(view.ptx.text) if "mul.f32" in text)
    assert [view.python.line[row] for row in view.stacks[view.ptx.stack[mul]]] == [9]


def test_the_occupancy_uses_the_kernels_block(run):
    fits = run(GOOD).result.entries[0].occupancy
    assert (fits["threads"], fits["max_warps"]) == (128, 64)


def test_the_source_can_be_inspected(run, shell):
    run(GOOD)
    assert inspect.getsource(shell.user_ns["load"]) == "\n".join(GOOD.splitlines()[11:15]) + "\n"


def test_blank_lines_above_the_magic_are_counted(run):
    view = run("\n\n" + GOOD).result
    assert view.python.line[view.python.text.index("    value = load(px)")] == 10


def test_the_same_code_in_a_later_cell_belongs_to_that_cell(run):
    run(GOOD)
    view = run(GOOD + "# the same again\n").result
    assert {section.file for section in view.python.sections} == {"Cell In[2]"}


def test_two_kernels_are_both_shown_and_parameters_go_where_they_fit(run, shell):
    second = GOOD.split("\n", 1)[1].replace("double", "triple").replace("factor", "scale")
    ran = run(GOOD.replace("N=256", "N=256 factor=4.0 scale=5.0") + second)
    assert [output.data[MIME]["title"] for output in ran.outputs] == ["double"]
    assert ran.result.title == "triple"
    assert any("0f40A00000" in line for line in ran.result.ptx.text)


def test_a_second_run_shows_only_what_the_cell_defines(run):
    run(GOOD)
    ran = run(GOOD.replace("double", "twice"))
    assert ran.result.title == "twice"
    assert ran.outputs == []


def test_a_kernel_that_the_cell_imports_or_renames_is_shown_each_time(run, shell):
    run(GOOD)
    for _ in range(2):
        assert run("%%ptxkernel -p N=128\nother = double\n").result.title == "double"
    assert run("%%ptxkernel -p N=128\nif True:\n    again, x = double, 1\n").error is None
    assert "defines no kernel" in str(run("%%ptxkernel\ndef f():\n    double = 1\n").error)


def test_the_last_expression_is_shown_as_in_any_cell(run):
    ran = run(GOOD + "6 * 7\n")
    assert [output.data["text/plain"] for output in ran.outputs[:1]] == ["42"]
    assert isinstance(ran.result, LinkedView)


def test_quiet_and_name(run, shell):
    ran = run(GOOD.replace("-p", "--quiet --name first -p"))
    assert ran.result is None
    assert ran.outputs == []
    assert shell.user_ns["first"].target == "sm_80"


def test_panes_version_and_options(run):
    view = run(GOOD.replace("-p", '--panes ptx,sass --version 8.7 --options "-O0 --maxrregcount=32" -p')).result
    assert view.panes == ("ptx", "sass")
    assert view.ptx.text[0] == ".version 8.7"


def test_values_come_from_the_notebook_in_braces(run, shell):
    shell.user_ns["size"] = 64
    shell.user_ns["by"] = 8
    view = run(GOOD.replace("N=256", "N={size*2} factor={float(by)}")).result
    assert any("0f41000000" in line for line in view.ptx.text)


# refusals -----------------------------------------------------------------------------------------------------------


def test_a_wrong_modifier_is_shown_at_its_line(run):
    ran = run(with_line_9("ptx.inst.mul.rn.ftz.f64(value, value, factor)"))
    assert isinstance(ran.error, CompileError)
    assert "Cell In[1], line 9, in double" in ran.shown
    assert "---->   9     ptx.inst.mul.rn.ftz.f64(value, value, factor)" in ran.shown
    assert "'.f64' cannot follow '.ftz'" in ran.shown
    assert "hint: for .f64 the form is mul{.rnd}.f64  d, a, b" in ran.shown
    assert "pyptx/" not in ran.shown


def test_a_fault_in_a_helper_names_its_caller(run):
    ran = run(GOOD.replace("ptx.inst.ld.global_.f32(value, ", "ptx.inst.ld.global_.f32(value, value, "))
    assert "line 14, in load" in ran.shown
    assert "called from Cell In[1], line 8: value = load(px)" in ran.shown


def test_every_fault_is_shown(run):
    ran = run(with_line_9("ptx.inst.mul.f32(value); ptx.inst.add.sat.u16(value, value, value)"))
    assert len(ran.error.diagnostics) >= 2
    assert "(1) error:" in ran.shown
    assert "(2) error:" in ran.shown


def test_branching_on_a_register_suggests_if_(run):
    ran = run(with_line_9("if value: pass"))
    assert isinstance(ran.error, NoValueError)
    assert "---->   9     if value: pass" in ran.shown
    assert "ptx.if_" in ran.shown


@pytest.mark.parametrize(
    "line, kind, where",
    [
        ("1 / 0", "ZeroDivisionError", "line 9, in double"),
        ("undefined_name", "NameError", "line 9, in double"),
    ],
)
def test_python_errors_show_the_cell_and_nothing_of_ours(run, line, kind, where):
    ran = run(with_line_9(line))
    assert type(ran.error).__name__ == kind
    assert where in ran.shown
    assert re.search(rf"> 9 +{re.escape(line)}", ran.shown)
    assert "/pyptx/" not in ran.shown
    assert "exec(" not in ran.shown


def test_errors_of_the_cell_itself_show_its_line(run):
    ran = run(GOOD + "undefined_name\n")
    assert isinstance(ran.error, NameError)
    assert "Cell In[1], line 16" in ran.shown
    assert "magics.py" not in ran.shown


def test_a_syntax_error_shows_the_cell_line(run):
    ran = run(with_line_9("if if:"))
    assert "Cell In[1], line 9" in ran.shown
    assert "SyntaxError: invalid syntax" in ran.shown
    assert "Cell In[1], line 9" in str(ran.error)


@pytest.mark.parametrize(
    "change, message",
    [
        (("-p N=256", "-p M=256"), "-p M: double takes N, factor"),
        (("-p N=256", "-p N"), "-p N: expected NAME=VALUE, as in -p N=1024"),
        (("-p N=256", "-p N=1 N=2"), "-p N is given twice"),
        (("-p N=256", "-p N={nothing}"), "-p N={nothing}: NameError: name 'nothing' is not defined"),
        (("sm_80", "sm_81"), "--arch sm_81: expected one of sm_75, sm_80, "),
        (("-p", "--version 8 -p"), "--version 8: expected MAJOR.MINOR, as in --version 8.7"),
        (("-p", "--panes llvm -p"), "--panes llvm: expected one or more of python,ptx,sass"),
        (("-p", "--name 1x -p"), "--name 1x: expected a Python name"),
        (("-p", "--nope -p"), "unrecognized arguments: --nope"),
    ],
)
def test_wrong_arguments_name_the_accepted_ones(run, shell, change, message):
    ran = run(GOOD.replace(*change))
    assert type(ran.error).__name__ == "UsageError"
    assert message in str(ran.error)


def test_a_cell_without_kernel_is_a_usage_error(run):
    ran = run("%%ptxkernel\nx = 1\n")
    assert "the cell defines no kernel; decorate a function with @kernel" in str(ran.error)


# help, completion, loading ------------------------------------------------------------------------------------------


def test_the_help_lists_the_options(shell):
    text = shell.find_cell_magic("ptxkernel").__doc__
    for option in ("--arch", "-p", "--version", "--options", "--panes", "--name", "--quiet"):
        assert option in text


@pytest.mark.parametrize(
    "line, expected",
    [
        ("%%ptxkernel --a", ["--arch"]),
        ("%%ptxkernel --arch sm_90", ["sm_90", "sm_90a"]),
        ("%%ptxkernel --panes ptx,", ["ptx,python", "ptx,sass"]),
        ("%%ptxkernel --panes s", ["sass"]),
    ],
)
def test_completions(line, expected):
    assert [text for text, _ in completions(line)] == expected


def test_the_shell_offers_the_completions_on_the_first_line_only(shell):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # completions() is a provisional name in IPython

        def offered(text, cursor):
            return [c.text for c in shell.Completer.completions(text, cursor)]

        assert set(offered("%%ptxkernel --arch sm_120\nx = 1", 25)) == {"sm_120", "sm_120a", "sm_120f"}
        assert "sm_120" not in offered("%%ptxkernel\n--arch sm_12", 24)


def test_unloading_undoes_everything(shell):
    matchers = len(shell.Completer.custom_matchers)
    shell.run_line_magic("unload_ext", "pyptx")
    assert shell.find_cell_magic("ptxkernel") is None
    assert len(shell.Completer.custom_matchers) == matchers - 1
    shell.run_line_magic("load_ext", "pyptx")
    assert shell.find_cell_magic("ptxkernel") is not None


def test_a_trailing_semicolon_is_not_swallowed_as_python(run):
    assert run(GOOD + "value = 1;\n").error is None


SPILLS = """\
%%ptxkernel --arch sm_90a -p N=4096 --options "--maxrregcount=24 --warn-on-spills"
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32

@kernel(in_specs=[Tile("N", f32)], out_specs=[Tile("N", f32)], grid=lambda N: (N, 1, 1), block=(128, 1, 1))
def many(x, y):
    px, py = ptx.global_ptrs(x, y)
    values = [reg.scalar(f32) for n in range(64)]
    for n, value in enumerate(values):
        ptx.inst.ld.volatile.global_.f32(value, ptx.addr(px, 4 * n))
    for n, value in enumerate(values):
        ptx.inst.st.volatile.global_.f32(ptx.addr(py, 4 * (63 - n)), value)
"""


def test_a_warning_is_shown_at_its_line_and_in_the_view_and_the_cell_passes(run):
    ran = run(SPILLS)
    assert ran.error is None
    assert "many for sm_90a: 1 warning\n\nCell In[1], line 5, in many\n" in ran.stdout
    assert "warning: Registers are spilled to local memory" in ran.stdout
    assert "PTX line" in ran.stdout
    [note] = ran.result.notes
    assert "Registers are spilled" in note.message
    assert ran.result.python.line[note.python] == 5


def test_a_warning_made_an_error_fails_the_cell_at_its_line(run):
    ran = run(SPILLS.replace("--warn-on-spills", "--warn-on-spills --warning-as-error"))
    assert type(ran.error).__name__ == "CompileError"
    assert "---->   5 @kernel(" in ran.shown
    assert "error: Registers are spilled" in ran.shown


def test_messages_name_a_plain_cell_and_its_line(run):
    """A kernel in a cell without a magic: the file a kernel compiles it under says nothing to a reader."""
    ran = run(
        "from pyptx import Tile, kernel, ptx, reg\nfrom pyptx.types import f32\n\n\n"
        "@kernel(in_specs=(Tile(4, f32),), grid=(1, 1, 1), block=(1, 1, 1))\ndef wrong(x):\n"
        "    ptx.inst.add.f32(reg.scalar(f32), 1.0)\n\n\nwrong.compile()"
    )
    assert str(ran.error).startswith("Cell In[1], line 7: add.f32")
