"""The extension in JupyterLab: loading, rendering, highlighting, updates after runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from selenium.webdriver import ActionChains, Keys
from support.processes import variables

pytestmark = pytest.mark.browser

KERNEL = """%%ptxkernel -p N=1000
from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

@kernel(in_specs=(Tile("N", f32),) * 2, out_specs=(Tile("N", f32),), grid=lambda N: (N + 127) // 128, block=128)
def add(a, b, c):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 128 + reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i < a.shape[0]):
        a_at, b_at, c_at = ptx.global_ptrs(a, b, c)
        for pointer in (a_at, b_at, c_at):
            ptx.inst.mad.wide.u32(pointer, i, 4, pointer)
        x, y = reg.scalar(f32), reg.scalar(f32)
        ptx.inst.ld.global_.f32(x, ptx.addr(a_at))
        ptx.inst.ld.global_.f32(y, ptx.addr(b_at))
        ptx.inst.st.global_.f32(ptx.addr(c_at), x + y)
"""
PTX = """.version 8.7
.target sm_90a
.address_size 64

// adds one
.visible .entry one(.param .u64 at)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, %tid.x;
    add.f33 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def test_is_listed_as_enabled(jupyter_paths):
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "labextension", "list"],
        env=variables(jupyter_paths),
        text=True,
        capture_output=True,
        timeout=120,
    )
    listed = next(line for line in (done.stdout + done.stderr).splitlines() if "pyptx-lab" in line)
    assert "enabled" in listed and "OK" in listed, listed
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "server", "extension", "list"],
        text=True,
        env=variables(jupyter_paths),
        capture_output=True,
        timeout=120,
    )
    listed = next(line for line in (done.stdout + done.stderr).splitlines() if "pyptx.jupyter.server" in line)
    assert "enabled" in listed, listed


@pytest.fixture(scope="module")
def kernel_page(lab):
    """A notebook whose kernel cell was run."""
    lab.write("norms.ipynb", "%load_ext pyptx", KERNEL)
    lab.open("norms.ipynb")
    lab.run_all()
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-linked')")
    return lab


def test_draws_the_view_in_the_output(kernel_page):
    lab = kernel_page
    assert lab.text(".jp-OutputArea .pyptx-title").startswith("add")
    assert lab.js("return document.querySelectorAll('.jp-OutputArea .pyptx-sass .pyptx-row').length") > 10
    tops = lab.js("return [...document.querySelectorAll('.jp-OutputArea .pyptx-fact')].map(f => f.offsetTop)")
    assert len(set(tops)) == 1, "the facts stand side by side"
    lab.shot("1-view-in-notebook")
    assert lab.complaints == []


def margin(lab) -> list[list[str]]:
    """Numbers beside the lines of the kernel cell: machine instructions, live registers."""
    return lab.js(
        "return [...document.querySelectorAll('.pyptx-mark')]"
        ".map(mark => [...mark.children].map(number => number.innerText))"
    )


def test_the_margin_has_the_numbers_of_the_view(kernel_page):
    lab = kernel_page
    shown = lab.wait("return document.querySelectorAll('.pyptx-mark').length") and margin(lab)
    assert len(shown) == 6 and all(int(sass) and int(live) for sass, live in shown), shown


def test_a_click_in_the_margin_shows_the_machine_code(kernel_page):
    lab = kernel_page
    lab.all(".pyptx-mark")[2].click()
    lab.hover(lab.one(".jp-NotebookPanel-toolbar"))  # away from the lines of the view, which has come into sight
    linked = lab.wait("return [...document.querySelectorAll('.pyptx-sass .pyptx-exact')].map(r => r.dataset.row)")
    assert len(linked) == int(margin(lab)[2][0])
    assert "Python line 11" in lab.text(".pyptx-status")
    lab.shot("2-margin-click")


def test_a_key_shows_the_machine_code_of_the_line_with_the_cursor(kernel_page):
    lab = kernel_page
    lab.js("jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    lab.js(
        "const {content} = jupyterapp.shell.currentWidget; content.mode = 'edit'; "
        "content.activeCell.editor.setCursorPosition({line: 12, column: 0}); content.activeCell.editor.focus()"
    )
    ActionChains(lab.chrome).key_down(Keys.CONTROL).key_down(Keys.ALT).send_keys("s").perform()
    ActionChains(lab.chrome).key_up(Keys.CONTROL).key_up(Keys.ALT).perform()
    lab.hover(lab.one(".jp-NotebookPanel-toolbar"))
    lab.wait("return document.querySelector('.pyptx-status')?.innerText.startsWith('Python line 13')")


def test_the_settings_hide_the_margin_and_choose_panes_and_colors(kernel_page):
    lab = kernel_page
    lab.command("pyptx:toggle-margin")
    lab.wait("return document.querySelectorAll('.pyptx-mark').length === 0")
    lab.command("pyptx:toggle-margin")
    lab.wait("return document.querySelectorAll('.pyptx-mark').length === 6")
    settings = "/lab/api/settings/pyptx-lab:plugin"
    assert lab.request(settings)["settings"]["margin"] is True
    palette = lab.js(
        "return jupyterapp.commands.listCommands().filter(name => name.startsWith('pyptx:'))"
        ".map(name => [name, jupyterapp.commands.label(name)])"
    )
    assert len(palette) == 8 and all(label for _, label in palette), palette
    lab.put(settings, {"raw": '{"panes": ["sass"], "colors": ["rebeccapurple", "no color"]}'})
    lab.command("docmanager:save")
    lab.open("norms.ipynb")
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-sass')")
    assert lab.all(".jp-OutputArea .pyptx-python") == []
    assert (
        lab.js("return getComputedStyle(document.querySelector('.pyptx-linked')).getPropertyValue('--px-c0')")
        == "rebeccapurple"
    )
    lab.put(settings, {"raw": "{}"})
    lab.open("norms.ipynb")
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-python')")


def test_the_panel_lists_the_kernels_of_the_notebook(kernel_page):
    lab = kernel_page
    lab.command("pyptx:show-panel")
    lab.wait("return document.querySelector('.pyptx-panel-live')")
    name = lab.text(".pyptx-panel-name")
    assert "add" in name and "sm_90a" in name
    facts = lab.text(".pyptx-panel-facts")
    assert "registers" in facts and "100 %" in facts
    assert lab.text(".pyptx-status-item") == "PTX: simulator"


def test_an_edited_cell_is_stale_until_it_runs_again_and_the_panel_follows(kernel_page):
    lab = kernel_page
    lab.js(
        "const cell = jupyterapp.shell.currentWidget.content.widgets[1]; "
        "cell.model.sharedModel.setSource(cell.model.sharedModel.getSource().replace('x + y', 'x * y + 1.0'))"
    )
    stale = lab.wait("return [...document.querySelectorAll('.pyptx-mark')].map(m => m.hasAttribute('data-stale'))")
    assert stale == [True] * 5, "the changed line has lost its mark, the others are stale"
    lab.js("document.querySelector('.pyptx-mark').scrollIntoView({block: 'center'})")
    lab.shot("3-stale")
    lab.run_all()
    lab.wait(
        "return document.querySelectorAll('.pyptx-mark').length === 6 && "
        "!document.querySelector('.pyptx-mark[data-stale]')"
    )
    lab.wait("return document.querySelector('.pyptx-panel-versions summary')?.innerText === '2 versions'")


def test_two_versions_are_compared(kernel_page):
    lab = kernel_page
    lab.one(".pyptx-panel-versions summary").click()
    lab.wait("return document.querySelectorAll('.pyptx-panel-versions li').length === 2")
    for place in (0, 1):
        lab.all(".pyptx-panel-versions input")[place].click()
    button = lab.one(".pyptx-panel-compare")
    assert button.text == "Compare add@1 with add@2"
    button.click()
    lab.wait("return document.querySelector('.pyptx-document .pyptx-diff, .pyptx-document .pyptx-left')")
    lab.shot("4-panel-and-diff")
    lab.all(".pyptx-panel-link")[1].click()
    lab.wait("return document.querySelectorAll('.pyptx-document .pyptx-title').length === 2")
    assert lab.complaints == []


def test_three_versions_are_compared_side_by_side(kernel_page):
    lab = kernel_page
    lab.command("pyptx:compare-versions", {"versions": ["add@1", "add@2", "add@1"]})
    lab.wait("return document.querySelectorAll('.pyptx-comparison thead th').length === 3")
    assert lab.text(".pyptx-comparison tbody th") == "registers"
    lab.shot("4-comparison")
    assert lab.complaints == []


def test_the_panel_survives_a_restart_of_the_kernel(kernel_page):
    lab = kernel_page
    lab.js(
        "for (const widget of [...jupyterapp.shell.widgets('main')]) "
        "if (widget.context?.path !== 'norms.ipynb') widget.close()"
    )
    lab.wait("return jupyterapp.shell.currentWidget?.context?.path === 'norms.ipynb'")
    lab.command("pyptx:show-panel")  # another worker may have run the test that opens it
    lab.wait("return document.querySelector('.pyptx-panel-live')")
    versions = lab.text(".pyptx-panel-versions summary")
    lab.js("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    lab.wait("return document.querySelector('.pyptx-panel-name') && !document.querySelector('.pyptx-panel-live')")
    assert lab.text(".pyptx-panel-versions summary") == versions
    lab.wait("return !document.querySelector('.pyptx-status-item')?.offsetParent")


def test_letters_belong_to_the_view_that_has_the_focus(kernel_page):
    lab = kernel_page
    cells = lab.js("return jupyterapp.shell.currentWidget.content.widgets.length")
    lab.one(".jp-OutputArea .pyptx-sass .pyptx-row[data-row='3'] .pyptx-code").click()
    lab.keys("x", "n")
    assert lab.js("return jupyterapp.shell.currentWidget.content.widgets.length") == cells, "x cuts no cell"
    assert lab.js("return document.activeElement.closest('.pyptx-linked') !== null")


def test_draws_without_a_kernel_and_in_the_dark(kernel_page):
    lab = kernel_page
    lab.command("docmanager:save")
    lab.open_without_kernel("norms.ipynb")
    assert "No Kernel" in lab.text(".jp-NotebookPanel-toolbar, .jp-Toolbar-kernelName")
    lab.wait("return document.querySelectorAll('.jp-OutputArea .pyptx-sass .pyptx-row').length > 10")
    lab.wait("return document.querySelectorAll('.pyptx-mark').length === 6")
    light = lab.js("return getComputedStyle(document.querySelector('.pyptx-linked')).backgroundColor")
    lab.theme("JupyterLab Dark")
    dark = lab.wait(
        "const c = getComputedStyle(document.querySelector('.pyptx-linked')).backgroundColor; "
        "return c !== arguments[0] && c",
        light,
    )
    assert dark != light
    lab.shot("5-dark")
    lab.theme("JupyterLab Light")
    assert lab.complaints == []


def test_ptx_files_are_highlighted_and_checked(lab):
    (lab.folder / "one.ptx").write_text(PTX)
    lab.open("one.ptx")
    lab.wait("return document.querySelector('.jp-FileEditor .cm-content')?.innerText.includes('ld.param')")
    colors = lab.wait("""
        const spans = [...document.querySelectorAll('.jp-FileEditor .cm-line span')];
        const words = ['ld', '.param', '.u64', '%tid', '1', '// adds one'];
        const found = words.map(word => spans.find(span => span.innerText === word));
        return found.every(Boolean) && found.map(span => getComputedStyle(span).color)""")
    assert len(set(colors)) >= 5, colors
    mark = lab.one(".jp-FileEditor .cm-lintRange-error")
    assert "f33" in mark.text
    lab.hover(mark)
    lab.wait("return document.querySelector('.cm-tooltip-lint')?.innerText.includes('f33')")
    lab.shot("6-ptx-file-squiggle")
    assert lab.complaints == []


def test_hovering_an_instruction_explains_it(lab):
    lab.theme("JupyterLab Dark")
    word = next(span for span in lab.all(".jp-FileEditor .cm-line span") if span.text == "st")
    lab.hover(word)
    help_text = lab.wait("return document.querySelector('.pyptx-help')?.innerText")
    assert help_text.startswith("st") and "st{.weak}" in help_text
    lab.shot("7-ptx-hover-dark")
    lab.theme("JupyterLab Light")


def test_tab_completes_ptx_from_the_table(lab):
    lab.js("""
        const editor = jupyterapp.shell.currentWidget.content.editor, text = editor.model.sharedModel;
        const at = text.getSource().indexOf('    ret;');
        text.updateSource(at, at, '    wgmma.m\\n');
        editor.focus();
        editor.setCursorPosition({line: editor.getPositionAt(at).line, column: 11})""")
    lab.command("completer:invoke-file")
    offered = lab.wait("return document.querySelector('.jp-Completer:not(.lm-mod-hidden)')?.innerText")
    assert ".mma_async" in offered
    lab.shot("8-ptx-completion")
    lab.keys(Keys.ESCAPE)
    lab.js("""
        const editor = jupyterapp.shell.currentWidget.content.editor, text = editor.model.sharedModel;
        const at = text.getSource().indexOf('    ret;');
        text.updateSource(at, at, '    mov.u32 %r\\n');
        editor.setCursorPosition({line: editor.getPositionAt(at).line, column: 14})""")
    lab.command("completer:invoke-file")
    lab.wait("return document.querySelector('.jp-Completer:not(.lm-mod-hidden)')?.innerText.includes('%r2')")
    lab.keys(Keys.ESCAPE)


def test_ptx_in_a_string_of_a_python_cell_is_completed_and_explained(lab):
    program = PTX.replace("mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.x; ad")
    lab.write("strings.ipynb", f"text = '''{program}'''")
    lab.open("strings.ipynb")
    lab.wait("return document.querySelector('.jp-CodeCell .cm-line')")
    lab.wait_for_kernel()
    line = program[: program.index("; ad")].count("\n")
    lab.js(
        "const {content} = jupyterapp.shell.currentWidget; content.mode = 'edit'; const {editor} = content.activeCell; "
        "editor.focus(); editor.setCursorPosition({line: arguments[0], column: arguments[1]})",
        line,
        len(program.split("\n")[line]),
    )
    lab.command("completer:invoke-notebook")
    lab.wait("return document.querySelector('.jp-Completer:not(.lm-mod-hidden)')?.innerText.includes('addc')")
    lab.shot("84-completion-in-string")
    lab.keys(Keys.ESCAPE)
    lab.hover(
        lab.js(
            "return [...document.querySelectorAll('.jp-CodeCell .cm-line span')].find(s => s.innerText.trim() === 'ret;')"
        )
    )
    lab.wait("return document.querySelector('.pyptx-help')?.innerText.startsWith('ret')")
    lab.shot("85-help-in-string")
    assert lab.complaints == []


def test_a_cubin_opens_as_a_view(lab):
    from pyptx import load

    text = PTX.replace(".f33", ".u32")
    compiled = load(text).compile()
    (lab.folder / "one.cubin").write_bytes(compiled.cubin)
    lab.open("one.cubin")
    lab.wait("return document.querySelectorAll('.pyptx-document .pyptx-sass .pyptx-row').length > 5")
    assert "one.cubin" in lab.text(".pyptx-document .pyptx-title")
    lab.shot("9-cubin")
    (lab.folder / "bad.cubin").write_bytes(b"not a cubin")
    lab.open("bad.cubin")
    lab.wait("return document.querySelector('.pyptx-message')?.innerText.includes('not a cubin')")
    assert all("422" in text for text in lab.complaints)


def test_cuda_is_checked_in_files_and_cells_and_a_file_opens_as_a_view(lab):
    text = '#include "of_the_user.cuh"\n__global__ void k(float *x) {\n    x[threadIdx.x] = half_of(x[0]);\n    y = 1;\n}\n'
    (lab.folder / "of_the_user.cuh").write_text("__device__ float half_of(float x) { return x / 2; }\n")
    (lab.folder / "k.cu").write_text(text)
    lab.open("k.cu")
    mark = lab.wait("return document.querySelector('.jp-FileEditor .cm-lintRange-error')")
    assert mark.text == "y" and len(lab.all(".jp-FileEditor .cm-lintRange-error")) == 1  # the header was found
    lab.shot("11-cuda-file")
    lab.write(
        "cuda.ipynb", "%%cuda -D SIZE={n}\n__global__ void k(int *x) { x[0] = SIZE + z; }", "%%cuda\nint a;", "x = 1"
    )
    lab.open("cuda.ipynb")
    cells = "[...document.querySelectorAll('.jp-CodeCell .cm-lintRange-error')]"
    lab.wait(f"return {cells}.map(mark => mark.innerText).join() === 'z'")
    lab.shot("12-cuda-cells")
    (lab.folder / "k.cu").write_text(text.replace("    y = 1;\n", ""))
    lab.js("jupyterapp.commands.execute('docmanager:open', {path: 'k.cu', factory: 'pyptx view'})")
    lab.wait("return document.querySelectorAll('.pyptx-document .pyptx-sass .pyptx-row').length > 5")
    lab.wait("return document.querySelector('.pyptx-document .pyptx-python').innerText.includes('half_of')")
    lab.shot("13-cuda-view")
    assert lab.complaints == []


def test_ptx_cells_are_ptx_and_kernel_cells_are_python(lab):
    lab.write("cells.ipynb", "%%ptx\n" + PTX, "%%ptxkernel\nx = 1", "x = 1")
    lab.open("cells.ipynb")
    languages = "return [...document.querySelectorAll('.jp-CodeCell .cm-content')].map(c => c.dataset.language)"
    lab.wait(f"{languages.replace('return ', 'return (')}).join() === 'ptx,python,python'")
    lab.wait("return document.querySelector('.jp-CodeCell .cm-lintRange-error')?.innerText.includes('f33')")
    lab.js("jupyterapp.shell.currentWidget.content.widgets[0].model.sharedModel.setSource('x = 2')")
    lab.wait(f"{languages.replace('return ', 'return (')}).join() === 'python,python,python'")
    lab.shot("10-cells")


def test_a_ptx_cell_runs_and_is_in_the_panel(lab):
    lab.write("ptx.ipynb", "%load_ext pyptx", "%%ptx\n" + PTX.replace(".f33", ".u32"))
    lab.open("ptx.ipynb")
    lab.run_all()
    lab.wait("return document.querySelectorAll('.jp-OutputArea .pyptx-sass .pyptx-row').length > 5")
    lab.command("pyptx:show-panel")
    lab.wait("return document.querySelector('.pyptx-panel-name')?.innerText.includes('one')")
    lab.wait("return document.querySelector('.pyptx-panel-live')")
    assert len(margin(lab)) == 4
    lab.all(".pyptx-mark")[2].click()
    lab.hover(lab.one(".jp-NotebookPanel-toolbar"))
    lab.wait("return document.querySelector('.pyptx-status')?.innerText.startsWith('PTX 13')")
    lab.shot("10b-ptx-cell")


def test_the_launcher_makes_a_notebook_that_runs(lab):
    lab.open("", page="lab")
    card = lab.wait(
        "return [...document.querySelectorAll('.jp-LauncherCard')]"
        ".find(card => card.innerText.includes('PTX notebook'))"
    )
    lab.shot("11-launcher")
    card.click()
    lab.wait("return document.querySelectorAll('.jp-Notebook .jp-Cell').length === 3")
    lab.run_all()
    lab.wait("return document.querySelector('.jp-OutputArea .pyptx-linked')")
    assert "issues" in lab.text(".jp-OutputArea .pyptx-linked"), "it ran, and was counted"
    lab.shot("12-new-notebook")


def test_the_pages_load_nothing_from_elsewhere(lab):
    origins = lab.js("return [...new Set(performance.getEntriesByType('resource').map(e => new URL(e.name).origin))]")
    assert [origin for origin in origins if origin != lab.url and origin.startswith("http")] == []
