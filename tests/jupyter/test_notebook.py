"""Notebooks executed without a front end: outputs, failing cells."""

from __future__ import annotations

import re

import pytest
from support.cells import GOOD, with_line_9

from pyptx.views import MIME, LinkedView


def test_the_outputs_of_good_and_failing_cells(execute):
    notebook = execute(
        "%load_ext pyptx",
        GOOD,
        with_line_9("ptx.inst.mul.rn.ftz.f64(value, value, factor)"),
        with_line_9("if if:"),
        "%%ptxkernel --nope\nx = 1",
        allow_errors=True,
    )
    good, refused, syntax, usage = (cell.outputs for cell in notebook.cells[1:])

    [output] = good
    assert set(output.data) == {MIME, "text/html", "text/plain"}
    view = LinkedView.from_json(output.data[MIME])
    assert {section.file for section in view.python.sections} == {"Cell In[2]"}
    assert "ipykernel" not in str(output.data), "no path of this machine"

    from nbconvert import HTMLExporter

    page, _ = HTMLExporter(theme="dark").from_notebook_node(notebook)
    assert "Cell In[2], kernel <b>double</b>" in page, "nbconvert takes the static HTML"

    [output] = refused
    assert output.ename == "CompileError"
    shown = "\n".join(output.traceback)
    assert "Cell In[3]" in shown
    assert "line 9" in shown
    assert "ptx.inst.mul.rn.ftz.f64(value, value, factor)" in shown

    assert "line 9" in "\n".join(syntax[-1].traceback)
    assert usage[-1].text == "UsageError: unrecognized arguments: --nope\n"


@pytest.mark.parametrize(
    "cell, name",
    [
        (with_line_9("ptx.inst.mul.rn.ftz.f64(value, value, factor)"), "CompileError"),
        ("%%ptxkernel --nope\n", "UsageError"),
    ],
)
def test_a_failing_cell_fails_the_run(execute, cell, name):
    from nbclient.exceptions import CellExecutionError

    with pytest.raises(CellExecutionError, match=name):
        execute("%load_ext pyptx", cell, "print('never')")


PTX = """%%ptx --run "1, 32, x"
.version 7.8
.target sm_80
.address_size 64
.visible .entry one(.param .u64 x)
{
    .reg .b64 %a;
    .reg .b32 %i;
    ld.param.u64 %a, [x];
    mov.u32 %i, %tid.x;
    mad.wide.u32 %a, %i, 4, %a;
    st.global.u32 [%a], %i;
    ret;
}
"""


def test_cells_of_ptx_are_run_shown_and_refused(execute):
    wrong, other = PTX.replace("st.global.u32", "st.global.q32"), PTX.replace("%i, 4,", "%i, 0,")
    notebook = execute(
        "%load_ext pyptx\nimport numpy as np\nx = np.zeros(32, np.uint32)",
        PTX,
        "int(x.sum())",
        wrong,
        other,
        allow_errors=True,
    )
    shown, total, refused, edited = (cell.outputs for cell in notebook.cells[1:])
    view = LinkedView.from_json(shown[-1].data[MIME])
    assert (view.title, view.panes) == ("one", ("ptx", "sass"))
    assert "st.global.u32" in shown[-1].data["text/plain"]
    assert "[%a], %i;" in re.sub("<[^>]*>", "", shown[-1].data["text/html"])
    assert total[0].data["text/plain"] == str(sum(range(32)))
    assert refused[-1].ename == "CompileError"
    assert "line 12" in "\n".join(refused[-1].traceback)
    assert LinkedView.from_json(edited[-1].data[MIME]).diff.left.title == "one@1"


def test_a_restarted_notebook_finds_its_versions(execute, tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))
    execute("%load_ext pyptx", GOOD.replace("-p", "--name base -p"))
    notebook = execute(
        "import pyptx",
        "%load_ext pyptx",
        "%ptxhistory",
        "%ptxhistory --restore base",
        "pyptx.history.restore('double@-1')",
        "%ptxhistory --view double@9",
        allow_errors=True,
    )
    listed, restored, compiled, refused = (cell.outputs for cell in notebook.cells[2:])
    assert set(listed[0].data) == {"text/plain", "text/html"}
    assert "double@1" in listed[0].data["text/html"]
    view = LinkedView.from_json(restored[0].data[MIME])
    assert view.title == "double@1"
    assert {section.file for section in view.python.sections} == {"<double@1: Cell In[2]>"}
    assert "    ptx.inst.mul.f32(value, value, factor)" in view.python.text
    assert compiled[0].data["text/plain"].startswith("<Compiled double for sm_80")
    assert "UsageError: double has no version 'double@9'; it has double@1, labels base" in refused[-1].text
