"""The public API: the modules that users import, what editors show of them, and that all of it has types.

Other modules are internal, whether or not their names start with an underscore; they may change in any release.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path
from types import ModuleType

import pytest

import pyptx

PACKAGE_PARENT = Path(pyptx.__file__).parents[1]  # the checkout, or the site-packages of an installed pyptx
DOCS = Path(__file__).parents[1] / "docs"

PUBLIC_MODULES = (
    "pyptx",
    # kernels
    "pyptx.kernel",
    "pyptx.program",
    "pyptx.unit",
    "pyptx.compiled",
    "pyptx.launch_config",
    "pyptx.errors",
    # the language
    "pyptx.types",
    "pyptx.specs",
    "pyptx.reg",
    "pyptx.smem",
    "pyptx.ptx",
    "pyptx.lib",
    "pyptx.tensor_map",
    "pyptx.texture",
    "pyptx.wgmma_layout",
    # trees and text
    "pyptx.ir",
    "pyptx.ir.nodes",
    "pyptx.ir.types",
    "pyptx.parser",
    "pyptx.emitter",
    "pyptx.validate",
    "pyptx.isa",
    "pyptx.codegen",
    # tools
    "pyptx.analysis",
    "pyptx.cache",
    "pyptx.check",
    "pyptx.debug",
    "pyptx.history",
    "pyptx.runtime",
    "pyptx.sim",
    "pyptx.testing",
    "pyptx.tune",
    "pyptx.benchmarking",
    "pyptx.ledger",
    "pyptx.profiles",
    "pyptx.views",
    # frameworks
    "pyptx.jax_support",
    "pyptx.torch_support",
    "pyptx.triton",
)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_a_public_module_lists_its_names(name: str):
    module = importlib.import_module(name)
    assert sorted(set(module.__all__)) == sorted(module.__all__), "no name twice"
    assert not [public for public in module.__all__ if not hasattr(module, public)]


def test_public_modules_are_documented():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert not [name for name in PUBLIC_MODULES if name not in text]


SAMPLE = """
import pyptx
from pyptx import LaunchConfig, Tile, kernel
from pyptx.types import f32

@kernel
def bare(): ...

@kernel(in_specs=(Tile("N", f32),), out_specs=(Tile("N", f32),))
def called(x, y): ...

entry = pyptx.load("k.ptx")["k"]

reveal_type(bare)
reveal_type(called)
reveal_type(called.view(N=64))
reveal_type(called.check(N=64))
reveal_type(called.debug(N=64))
reveal_type(called.roofline(N=64))
reveal_type(called.estimate(N=64))
reveal_type(called.compile(N=64))
reveal_type(called.compile(N=64).view())
reveal_type(called.launch(LaunchConfig(1), 0))
reveal_type(entry)
reveal_type(entry.view())
reveal_type(entry.check(1, 32))
reveal_type(entry.debug(1, 32))
reveal_type(entry.compile())
reveal_type(pyptx.history.version("k@1").view())
"""
REVEALED = """Kernel Kernel LinkedView Report Session Roofline Prediction Compiled LinkedView LaunchResult
Entry LinkedView Report Session Compiled LinkedView""".split()


def pyright(*arguments: str) -> dict:
    command = shutil.which("pyright") or pytest.skip("pyright is not installed")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE_PARENT)}
    done = subprocess.run(
        [command, "--outputjson", *arguments], capture_output=True, text=True, env=environment, cwd=PACKAGE_PARENT
    )
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_front_door_has_real_types(tmp_path: Path):
    (tmp_path / "sample.py").write_text(SAMPLE)
    found = pyright("--pythonpath", sys.executable, str(tmp_path / "sample.py"))["generalDiagnostics"]
    revealed = [re.search(r' is "(.+)"$', each["message"])[1] for each in found if each["severity"] == "information"]
    assert revealed == REVEALED
    assert not [each["message"] for each in found if each["severity"] == "error"]


def test_the_typed_overload_of_the_decorator_lists_the_options_that_it_accepts():
    _, typed = map(inspect.signature, typing.get_overloads(pyptx.kernel))
    fn, *accepted = inspect.signature(pyptx.kernel).parameters.values()
    assert fn.default is None
    assert [(p.name, p.default) for p in typed.parameters.values()] == [(p.name, p.default) for p in accepted]
    assert inspect.signature(pyptx.Kernel).parameters.keys() == {"fn", *typed.parameters}


def test_an_unknown_option_of_the_decorator_is_refused_where_it_is_written():
    with pytest.raises(TypeError, match="no option gird"):
        pyptx.kernel(gird=1)


@pytest.mark.slow
def test_public_names_have_complete_types():
    """`pyright --verifytypes`, for the names that public modules list and the members of their classes."""
    report = pyright("--verifytypes", "pyptx", "--ignoreexternal")["typeCompleteness"]
    public = set()
    for module in map(importlib.import_module, PUBLIC_MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                continue
            owner, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
            public.add(f"{owner}.{own}" if owner and own else f"{module.__name__}.{name}")
    incomplete = [
        symbol["name"]
        for symbol in report["symbols"]
        if symbol["isExported"]
        and not symbol["isTypeKnown"]
        and any(symbol["name"] == name or symbol["name"].startswith(f"{name}.") for name in public)
    ]
    assert not incomplete, "\n".join(sorted(incomplete))


@pytest.mark.parametrize(
    ("code", "members"),
    [
        ("called.", {"check", "compile", "debug", "estimate", "launch", "roofline", "view"}),
        ("called.check(N=64).", {"findings", "ok", "text", "to_json"}),
        ("called.debug(N=64).", {"breakpoints", "evaluate", "resume", "step"}),
        ("called.view(N=64).", {"html", "text", "to_json"}),
        ("called.compile(N=64).", {"cubin", "sass", "view"}),
        ("entry.", {"check", "compile", "debug", "launch", "roofline", "view"}),
        ("entry.check(1, 32).", {"findings", "ok"}),
    ],
)
def test_completion_offers_the_members(code: str, members: set[str]):
    jedi = pytest.importorskip("jedi")
    head = "\n".join(line for line in SAMPLE.splitlines() if not line.startswith("reveal_type"))
    script = jedi.Script(f"{head}\n{code}", project=jedi.Project(str(PACKAGE_PARENT)))
    assert members <= {found.name for found in script.complete()}
