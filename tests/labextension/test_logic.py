"""The extension's plain modules, by Node's own test runner."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser  # where Node is needed


def test_the_plain_modules_in_node():
    node = shutil.which("node")
    assert node, "node is not installed"
    files = map(str, sorted((Path(__file__).parent / "js").glob("*.test.mjs")))
    done = subprocess.run([node, "--test", *files], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
