"""`pyptx package`: the package is loaded from any folder, twice beside its source, and by the `kernels` library."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.processes import python

from pyptx.cli import main

STEPS = "FACTOR = 3.0\n"
BODY = '''"""A kernel whose body is in another module."""
from pyptx import ptx, reg
from pyptx.types import f32, u32

from pieces import steps as numbers
import pieces


def body(x, y):
    i = reg.from_(ptx.special.ctaid.x(), u32) * 32 + reg.from_(ptx.special.tid.x(), u32)
    with ptx.if_(i < x.shape[0]):
        x_at, y_at = ptx.global_ptrs(x, y)
        value = reg.scalar(f32)
        ptx.inst.ld.global_.f32(value, ptx.addr(x_at + i * 4))
        ptx.inst.st.global_.f32(ptx.addr(y_at + i * 4), value * numbers.FACTOR)
'''
MAIN = """
from pieces.bodies import body as computed
from pyptx import Tile, kernel
from pyptx.types import f32

TILE = Tile("N", f32)


def of(name):
    return kernel(computed, name=name, in_specs=(TILE,), out_specs=(TILE,), grid=lambda N: (N + 31) // 32, block=32)


tripled, again = of("tripled"), of("again")
"""
LOADED = """
import sys
from pathlib import Path
import kernels, torch
module = kernels.get_local_kernel(Path(sys.argv[1]))
assert module.__all__ == ["tripled"] and torch.equal(module.tripled(torch.ones(4)), torch.full((4,), 3.0))
"""
X = np.arange(40, dtype=np.float32)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of two kernels that imports a package beside it."""
    pieces = tmp_path / "pieces"
    pieces.mkdir()
    (pieces / "__init__.py").write_text("")
    (pieces / "steps.py").write_text(STEPS)
    (pieces / "bodies.py").write_text(BODY)
    (tmp_path / "main.py").write_text(MAIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pieces", "main")]:
        del sys.modules[name]


def imported(file: Path, name: str) -> ModuleType:
    """Import a package from its folder under a name of its own, as the `kernels` library does."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.transform("Hugging Face", "a folder that `pyptx package` wrote, without the source", "supported")
def test_a_package_is_loaded_without_its_source(project: Path, capsys):
    assert main(["package", "my-kernels", "main.py", "--license", "mit", "--version", "2"]) == 0
    assert "my-kernels: tripled, again" in capsys.readouterr().out
    variant = project / "my-kernels" / "build" / "torch-universal"
    metadata = json.loads((variant / "metadata.json").read_text())
    assert (metadata["name"], metadata["version"], metadata["license"]) == ("my-kernels", 2, "mit")
    for path in [*project.glob("pieces/*.py"), project / "main.py"]:
        path.unlink()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("pieces", "main")]:
        del sys.modules[name]
    first = imported(variant / "__init__.py", metadata["id"])
    older = imported(variant / "my_kernels" / "__init__.py", "my_kernels")
    for module in (first, older):
        assert module.__all__ == ["tripled", "again"]
        assert np.array_equal(module.tripled(X), 3 * X)
    assert first.tripled is not older.tripled and first.tripled.identity.startswith(metadata["id"])


@pytest.mark.transform("Hugging Face", "`kernels.get_local_kernel`, kernels 0.17", "supported")
def test_the_kernels_library_loads_a_package(project: Path):
    try:
        importlib.metadata.version("kernels")  # not an import: a user's own kernels.py has this name, too
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package kernels of Hugging Face is not installed")
    assert main(["package", "mine", "main.py:tripled", "--license", "mit"]) == 0
    done = python("-c", LOADED, str(project / "mine"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["mine", "main.py:tripling"], "main.py has no kernel 'tripling'; kernels there: tripled, again"),
        (["mine", "pieces/steps.py"], "pieces/steps.py has no kernel"),
        (["9mine", "main.py"], "package name '9mine': expected a letter"),
        (["mine", "main.py:again", "main.py:again"], "two kernels are named again"),
        (["mine", "main.py", "--version", "0"], "--version 0: expected 1 or more"),
        (["pieces/built", "main.py"], "build exists; remove it, or write to another folder"),
        (["mine", "dotted.py"], "dotted.py:2: this import cannot be packaged"),
    ],
)
def test_what_cannot_be_packaged_is_refused(project: Path, capsys, arguments: list[str], message: str):
    (project / "pieces" / "built" / "build").mkdir(parents=True)
    (project / "dotted.py").write_text("from main import again\nimport pieces.steps\n")
    assert main(["package", *arguments, "--license", "mit"]) == 1
    assert message in capsys.readouterr().err
    assert not (project / "mine").exists()
