"""`pyptx remote setup` and `status`, with a real sshd, a real virtual environment, and a wheel of the pyptx of these tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from support.processes import PACKAGE_PARENT, variables
from support.sshd import Sshd
from tune.kernels import double

import pyptx
from pyptx.remote import backend_at

pytestmark = pytest.mark.slow

X = np.arange(1 << 12, dtype=np.float32)


def wheel(folder: Path) -> Path:
    """A wheel of the pyptx of these tests."""
    name = f"pyptx_workbench-{pyptx.__version__}"
    path = folder / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted((PACKAGE_PARENT / "pyptx").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts and "labextension" not in file.parts:
                archive.write(file, file.relative_to(PACKAGE_PARENT))
        archive.writestr(
            f"{name}.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: pyptx-workbench\nVersion: {pyptx.__version__}\n",
        )
        archive.writestr(
            f"{name}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{name}.dist-info/RECORD", "")
    return path


def command(*words: str, server: Sshd) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pyptx", "remote", *words],
        env=variables({"PYPTX_SSH": server.ssh}),
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_setup_installs_this_pyptx_and_status_says_what_is_there(server: Sshd, tmp_path: Path):
    site = tmp_path / "site"  # its dependencies: the environment there installs none
    site.mkdir()
    for path in Path(np.__file__).parents[1].iterdir():
        if not path.name.startswith(("pyptx", "_pyptx", "__editable__")):
            (site / path.name).symlink_to(path)
    config = server.folder / "sshd_config"
    config.write_text(
        config.read_text().replace(f"PYTHONPATH={PACKAGE_PARENT}", f"PYTHONPATH={site} PIP_NO_INDEX=1 PIP_NO_COMPILE=1")
    )
    server.reload()
    done = command("setup", "far", "--from", str(wheel(tmp_path)), "--python", sys.executable, server=server)
    assert done.returncode == 0, done.stderr
    found = json.loads(command("status", "far", "--json", server=server).stdout)
    assert found["executable"] == str(server.folder / "home/.local/share/pyptx/remote/bin/python")
    assert (
        found["pyptx"] == pyptx.__version__
        and found["device"]["name"] == "simulator"
        and found["cpus"] == os.cpu_count()
    )
    assert list(server.folder.glob("home/.local/share/pyptx/remote/lib/python*/site-packages/pyptx/remote/serve.py"))
    unusable = command("status", "ssh://far?device=cuda:7", server=server)
    assert unusable.returncode == 1 and "  device  not usable: " in unusable.stdout
    assert "  device  simulator\n" in done.stdout and "  cache   " in done.stdout
    with pyptx.use("ssh://far?device=sim"):
        assert np.array_equal(double()(X), 2 * X)
    assert backend_at("ssh://far?device=sim").device()["backend"] == "sim"
    missing = command("status", "refused", server=server)
    assert missing.returncode == 1 and "Permission denied" in missing.stderr
