"""The build hook: contents of a wheel, with and without the compiled core. Downloads the build requirements."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import packaging.tags
import pytest
from support.processes import variables

pytestmark = pytest.mark.slow

LAB = "share/jupyter/labextensions/pyptx-lab"


def build(checkout: Path, folder: Path, switch: str, **others: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder), str(checkout)]
    return subprocess.run(
        command, env=variables({"PYPTX_BUILD_CORE": switch, **others}), text=True, capture_output=True
    )


@pytest.mark.parametrize("switch", ["0", "1"])
def test_a_wheel_holds_package_notebooks_and_if_wanted_the_core(checkout: Path, tmp_path: Path, switch: str):
    done = build(checkout, tmp_path, switch)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).infolist()
    names = [entry.filename for entry in inside]
    assert wheel.name.startswith("pyptx_workbench-")
    assert "pyptx/notebooks/01-first-kernel.ipynb" in names
    assert "pyptx/renderer/code/linked.js" in names
    assert not any(name.startswith(("tests/", "examples/")) for name in names)
    extension = [entry for entry in inside if "labextension" in entry.filename]
    assert {entry.filename.partition(".data/data/")[2].rpartition("/static/")[0] for entry in extension} >= {LAB}, names
    assert all(".data/data/share/" in entry.filename for entry in extension), "once, where JupyterLab looks for it"
    assert sum(entry.compress_size for entry in extension) < 300_000
    assert any(name.endswith(".data/data/etc/jupyter/jupyter_server_config.d/pyptx.json") for name in names)
    libraries = [name for name in names if name.startswith("pyptx/sim/core/pyptx_core-")]
    if switch == "0":
        assert libraries == []
        assert wheel.name.endswith("-py3-none-any.whl")
    else:
        assert libraries
        tags = {str(tag) for tag in packaging.tags.sys_tags()}
        assert wheel.stem.partition("-py3-")[2] in {tag.partition("-")[2] for tag in tags} and "-any" not in wheel.stem


def test_another_value_of_the_switch_is_refused(checkout: Path, tmp_path: Path):
    done = build(checkout, tmp_path, "maybe")
    assert done.returncode != 0
    assert "PYPTX_BUILD_CORE='maybe'; expected 0 (a pure-Python wheel) or 1 (the default)" in done.stdout + done.stderr


def test_an_unknown_platform_is_refused_with_the_known_ones(checkout: Path, tmp_path: Path):
    done = build(checkout, tmp_path, "1", PYPTX_WHEEL="win_arm64")
    assert done.returncode != 0
    assert (
        "no simulator core for PYPTX_WHEEL='win_arm64'; expected manylinux_2_17_x86_64, " in done.stdout + done.stderr
    )
