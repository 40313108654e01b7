"""The renderer's modules: bundling, imports, and the pure functions tested by Node."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pyptx.errors import UnsupportedError
from pyptx.renderer import FOLDER, bundle


def test_the_bundler_refuses_unsupported_imports_and_exports(tmp_path):
    (tmp_path / "a.js").write_text("export default function f() {}\n")
    with pytest.raises(UnsupportedError, match=r"a\.js: the bundler does not support 'export default"):
        bundle("a", tmp_path)
    (tmp_path / "b.js").write_text('import { c } from "./c.js";\nexport const b = 1;\n')
    (tmp_path / "c.js").write_text('import { b } from "./b.js";\nexport const c = 1;\n')
    with pytest.raises(UnsupportedError, match="modules import each other: b -> c -> b"):
        bundle("b", tmp_path)


def test_modules_import_existing_files_by_relative_path():
    for path in FOLDER.rglob("*.js"):
        for target in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8")):
            assert (path.parent / target).is_file(), f"{path.name} imports {target}"


@pytest.mark.browser
def test_the_pure_functions_in_node():
    node = shutil.which("node")
    assert node, "node is not installed"
    files = map(str, sorted((Path(__file__).parent / "js").glob("*.test.mjs")))
    done = subprocess.run([node, "--test", *files], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.browser
@pytest.mark.parametrize("entry", ["renderer", "sweeps/widget", "debugger/widget"])
def test_each_bundle_is_valid_javascript(entry: str, tmp_path: Path):
    node, script = shutil.which("node"), tmp_path / "bundle.mjs"
    assert node, "node is not installed"
    script.write_text(bundle(entry), encoding="utf-8")
    done = subprocess.run([node, "--check", str(script)], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
