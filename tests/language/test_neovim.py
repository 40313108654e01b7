"""Neovim with the configuration of the documentation, as a client of `pyptx lsp`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyptx.validate import check_ptx

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "howto" / "editors.md"
PTX = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
  .reg .b32 %r<3>;
\t.reg .b64 %rd<2>;
\tld.param.u64 %rd1, [out] ;
\tmov.u32 %r1, %tid.x; // 𝔸
\tadd.s32 %r2, %r1, %r9;
\tst.global.u32 [%rd1], %r2;
\tret;
}
"""
PYTHON = "# 𝔸\nTEXT = '/* 𝔸 */.version 8.5\\n.target sm_90a\\n.entri'\n"


def version(nvim: str) -> tuple[int, int]:
    found = re.search(r"v(\d+)\.(\d+)", subprocess.run([nvim, "--version"], capture_output=True, text=True).stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@pytest.mark.slow
def test_neovim(tmp_path):
    nvim = shutil.which("nvim")
    if nvim is None or version(nvim) < (0, 11):
        pytest.skip("Neovim 0.11 or newer is not installed")
    [configuration] = re.findall(r"```lua\n(.*?)```", DOCS.read_text(), re.DOTALL)
    command = json.dumps([sys.executable, "-m", "pyptx", "lsp"])[1:-1]
    assert '"pyptx", "lsp"' in configuration
    lua, ptx, python = tmp_path / "init.lua", tmp_path / "kernel.ptx", tmp_path / "kernels.py"
    lua.write_text(configuration.replace('"pyptx", "lsp"', command))
    ptx.write_text(PTX)
    python.write_text(PYTHON)
    homes = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    done = subprocess.run(
        [nvim, "--clean", "-l", str(HERE / "neovim_session.lua"), str(lua), str(ptx), str(python)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **homes, "PYPTX_CACHE_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    found = json.loads(done.stdout[done.stdout.index('{"') :])
    [[line, column, message]] = found["first"]
    assert (line, column) == (9, 1) and "%r9 is not declared" in message
    assert "d = a + b" in found["hover"] and found["offered"] > 0
    assert found["hint"].endswith(" live") and "registers, no spills" in found["lens"] and found["sass"]
    assert "\tmov.u32 %value1, %tid.x; // 𝔸\n\tadd.s32 %value2, %value1, %value1;" in found["text"]
    assert "\t.reg .b32 %value<3>;" in found["text"] and "[out];" in found["text"] and check_ptx(found["text"]) == []
    [[line, column, _]] = found["python"]
    assert (line, PYTHON.split("\n")[1].encode()[column:].decode()) == (1, ".entri'")
