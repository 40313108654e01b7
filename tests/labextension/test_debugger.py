"""The debugger in JupyterLab: keys, clicks, commands of cells, and the saved view without a kernel."""

from __future__ import annotations

import nbformat
import pytest
from selenium.webdriver import Keys

pytestmark = pytest.mark.browser

KERNEL = """%load_ext pyptx
import numpy as np
from pyptx import Tile, kernel, ptx, reg, smem
from pyptx.types import f32, u32

@kernel(in_specs=(Tile(64, f32),), out_specs=(Tile(64, f32),), grid=(1, 1, 1), block=(64, 1, 1))
def reverse(x, y):
    tid = reg.from_(ptx.special.tid.x(), u32)
    x_at, y_at = ptx.global_ptrs(x, y)
    for pointer in (x_at, y_at):
        ptx.inst.mad.wide.u32(pointer, tid, 4, pointer)
    buffer = smem.alloc(f32, 64)
    tile = reg.from_(buffer.name, u32)
    value = reg.scalar(f32)
    ptx.inst.ld.global_.f32(value, ptx.addr(x_at))
    ptx.inst.st.shared.f32(ptx.addr(tile + (tid << 2)), value)
    ptx.bar.sync(0)
    ptx.inst.ld.shared.f32(value, ptx.addr(tile + ((tid ^ 63) << 2)))
    ptx.inst.st.global_.f32(ptx.addr(y_at), value)

x = np.arange(64, dtype=np.float32)
"""
LINE = next(number for number, line in enumerate(KERNEL.splitlines(), 1) if "st.shared" in line)
WIDGET = "[...document.querySelectorAll('.pyptx-debug')].find(e => !e.closest('.pyptx-output'))"


@pytest.fixture(scope="module")
def debugged(lab):
    """A notebook with a session that stands at a breakpoint."""
    magic = f'session = %ptxdebug --break {LINE} --watch "value * 2" --run reverse(x)\nsession'
    lab.write("debug.ipynb", KERNEL, magic, "session.step(2)")
    lab.open("debug.ipynb")
    lab.wait_for_kernel()
    lab.js("jupyterapp.shell.currentWidget.content.activeCellIndex = 0")
    lab.command("notebook:run-cell-and-select-next")
    lab.command("notebook:run-cell-and-select-next")
    lab.wait(f"return {WIDGET}?.querySelector('.pyptx-stop').innerText.includes('breakpoint')", limit_s=120)
    lab.js(f"{WIDGET}.scrollIntoView()")
    return lab


def stop(lab) -> str:
    return lab.js(f"return {WIDGET}.querySelector('.pyptx-stop').innerText")


def step(lab) -> int:
    return int(lab.js(f"return {WIDGET}.querySelector('.pyptx-count').innerText").split()[1])


def test_keys_move_forward_and_back(debugged):
    lab = debugged
    assert f"line {LINE}" in stop(lab) and "warp 0" in stop(lab)
    assert "Cell In[1]" in lab.js(f"return {WIDGET}.querySelector('.pyptx-python .pyptx-name').innerText")
    lab.shot("30-debugger")
    start = step(lab)
    lab.js(f"{WIDGET}.querySelector('.pyptx-ptx .pyptx-list').focus()")
    cells = lab.js("return jupyterapp.shell.currentWidget.content.widgets.length")
    lab.keys("n")
    lab.wait(f"return {WIDGET}.querySelector('.pyptx-stop').innerText.includes('line {LINE + 1}')")
    lab.keys("S")
    lab.wait(f"return {WIDGET}.querySelector('.pyptx-stop').innerText.includes('line {LINE},')")
    assert start < step(lab)
    lab.keys("b", "R")
    lab.wait(f"return {WIDGET}.querySelector('.pyptx-count').innerText === 'step 0'")
    assert lab.js("return jupyterapp.shell.currentWidget.content.widgets.length") == cells, "b adds no cell"
    lab.keys("c")
    lab.wait(f"return {WIDGET}.querySelector('.pyptx-stop').innerText.includes('breakpoint')")
    assert step(lab) == start
    lab.theme("JupyterLab Dark")
    lab.shot("31-debugger-dark")
    lab.theme("JupyterLab Light")


def test_memory_is_chosen_and_the_reason_of_a_refusal_is_said(debugged):
    lab = debugged
    lab.js(f"""const root = {WIDGET};
        [...root.querySelectorAll('[role=tab]')].find(tab => tab.innerText.startsWith('Mem')).click();
        const select = root.querySelector('[aria-label="Memory or fragment"]');
        select.value = [...select.options].find(option => option.text.includes('buffer')).value;
        select.nextElementSibling.click()""")
    lab.wait(f"return {WIDGET}.querySelectorAll('.pyptx-matrix td[title]').length >= 32")
    lab.js(f"[...{WIDGET}.querySelectorAll('[role=tab]')].find(tab => tab.innerText.startsWith('Watches')).click()")
    field = lab.one("[aria-label='Watch an expression']")
    field.send_keys("nobody +", Keys.ENTER)
    lab.wait(f"return {WIDGET}.querySelector('[role=alert]').innerText.startsWith('Not done')")
    assert field.get_attribute("value") == "nobody +"
    lab.shot("32-debugger-memory")
    assert lab.complaints == []


MEASURE = """
const done = arguments[arguments.length - 1], root = [...document.querySelectorAll('.pyptx-debug')].find(e => !e.closest('.pyptx-output'));
const count = root.querySelector('.pyptx-count'), list = root.querySelector('.pyptx-ptx .pyptx-list'), times = [];
list.focus();
let started = 0;
const watch = new MutationObserver(() => requestAnimationFrame(() => {
  times.push(performance.now() - started);
  if (times.length >= 20) { watch.disconnect(); done(times); } else setTimeout(go, 30);
}));
watch.observe(count, {childList: true, characterData: true, subtree: true});
const go = () => { started = performance.now(); list.dispatchEvent(new KeyboardEvent('keydown', {key: 's', bubbles: true})); };
go();
"""
STEP_LIMIT_MS = 150


def test_a_step_is_shown_within_its_budget(debugged):
    """From the key to the drawn state, the median of 20; measured idle, where a loaded machine takes longer."""
    lab = debugged
    lab.js(f"{WIDGET}.querySelector('[data-act=rewind]').click()")
    lab.wait(f"return {WIDGET}.querySelector('.pyptx-count').innerText === 'step 0'")
    times = sorted(lab.chrome.execute_async_script(MEASURE))
    print("step in the widget, ms:", [round(time) for time in times])
    assert times[len(times) // 2] < 5 * STEP_LIMIT_MS


def test_it_follows_a_cell_and_stays_when_the_kernel_is_gone(debugged):
    lab = debugged
    before = step(lab)
    lab.js("jupyterapp.shell.currentWidget.content.activeCellIndex = 2")
    lab.command("notebook:run-cell")
    lab.wait(f"return {WIDGET}.querySelector('.pyptx-count').innerText !== 'step {before}'")
    lab.wait(
        "return jupyterapp.shell.currentWidget.content.model.cells.get(1).outputs.toJSON()[0]"
        f".data['text/plain'].includes({WIDGET}.querySelector('.pyptx-count').innerText)"
    )
    now = step(lab)
    lab.command("docmanager:save")
    [output] = nbformat.read(lab.folder / "debug.ipynb", 4).cells[1].outputs
    assert f"step {now}" in output.data["text/html"]
    lab.js("void jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    lab.open("debug.ipynb")
    lab.wait(f"return document.querySelector('.pyptx-output .pyptx-debug .pyptx-count')?.innerText === 'step {now}'")
    assert lab.js("return document.querySelectorAll('.pyptx-output .pyptx-debug [data-act]').length") == 0
    lab.shot("33-debugger-saved")
