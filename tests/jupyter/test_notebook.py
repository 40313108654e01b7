"""A notebook executed without a front end: outputs are in it, a failing cell fails it."""

from __future__ import annotations

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from support.cells import GOOD, with_line_9
from support.processes import PACKAGE_PARENT

from pyptx.views import MIME, LinkedView


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Run cells in a fresh kernel of this Python; the executed notebook."""
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE_PARENT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")

    def run(*sources: str, allow_errors: bool = False):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
        NotebookClient(notebook, km=manager, timeout=120, allow_errors=allow_errors).execute()
        return notebook
    return run


def test_the_outputs_of_good_and_failing_cells(execute):
    notebook = execute("%load_ext pyptx", GOOD, with_line_9("ptx.inst.mul.rn.ftz.f64(value, value, factor)"),
                       with_line_9("if if:"), "%%ptxkernel --nope\nx = 1", allow_errors=True)
    good, refused, syntax, usage = (cell.outputs for cell in notebook.cells[1:])

    [output] = good
    assert set(output.data) == {MIME, "text/html", "text/plain"}
    view = LinkedView.from_json(output.data[MIME])
    assert {section.file for section in view.python.sections} == {"Cell In[2]"}
    assert "ipykernel" not in str(output.data), "no path of this machine"

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


@pytest.mark.parametrize("cell, name", [
    (with_line_9("ptx.inst.mul.rn.ftz.f64(value, value, factor)"), "CompileError"),
    ("%%ptxkernel --nope\n", "UsageError")])
def test_a_failing_cell_fails_the_run(execute, cell, name):
    with pytest.raises(CellExecutionError, match=name):
        execute("%load_ext pyptx", cell, "print('never')")
