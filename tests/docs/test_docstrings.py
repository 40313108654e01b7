"""Public names have docstrings; the examples in docstrings run and show the output that they state."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from support.processes import python

import pyptx
from pyptx import Layout, Tile, kernel, ptx, reg, smem, types

PACKAGE = Path(pyptx.__file__).parent
PUBLIC = (
    "analysis",
    "check",
    "codegen",
    "compiled",
    "debug",
    "emitter",
    "errors",
    "history",
    "ir",
    "isa",
    "kernel",
    "lib",
    "parser",
    "program",
    "ptx",
    "reg",
    "runtime",
    "sim",
    "smem",
    "spec",
    "specs",
    "tensor_map",
    "testing",
    "texture",
    "toolchain",
    "tune",
    "types",
    "unit",
    "validate",
    "views",
    "wgmma_layout",
)
SLOW = ("differentiable_kernel", "load_ipython_extension", "unload_ipython_extension")  # they load torch and Jupyter
IMPORTED = {
    "np": np,
    "pyptx": pyptx,
    "Layout": Layout,
    "Tile": Tile,
    "kernel": kernel,
    "ptx": ptx,
    "reg": reg,
    "smem": smem,
    **{name: getattr(types, name) for name in types.__all__},
}


def named(path: Path) -> str:
    parts = ("pyptx", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


WITH_EXAMPLES = sorted(named(path) for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
ALONE = {"pyptx.cuda_device.in_process"}  # a simulated GPU stays in a process: other tests would run on it


@pytest.mark.parametrize("module", sorted(ALONE))
def test_the_examples_of_a_module_run_in_a_process_of_their_own(module: str):
    program = f"""
import doctest, importlib, pyptx
found = doctest.testmod(importlib.import_module({module!r}), extraglobs={{"pyptx": pyptx}})
assert found.attempted and not found.failed
"""
    done = python("-c", program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", sorted({*WITH_EXAMPLES} - ALONE))
def test_the_examples_of_a_module_run(module: str):
    finder, runner = (
        doctest.DocTestFinder(),
        doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE),
    )
    said: list[str] = []
    for example in finder.find(importlib.import_module(module), extraglobs=IMPORTED):
        runner.run(example, out=said.append)
    assert runner.tries and not runner.failures, "".join(said)


def undocumented(value: Any, name: str, seen: set[int]) -> Iterator[str]:
    """Public functions, classes and their methods that say nothing of themselves."""
    if isinstance(value, property | cached_property | classmethod | staticmethod):
        value = value.fget if isinstance(value, property) else getattr(value, "func", None) or value.__func__
    if not isinstance(value, type | FunctionType):
        return
    if id(value) in seen or not value.__module__.startswith("pyptx"):
        return
    seen.add(id(value))
    if not (vars(value).get("__doc__") if isinstance(value, type) else value.__doc__):
        yield name
    if isinstance(value, type):
        for attribute, inner in vars(value).items():
            if not attribute.startswith("_"):
                yield from undocumented(inner, f"{name}.{attribute}", seen)


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_everything_public_has_a_docstring(name: str):
    module: ModuleType = importlib.import_module(f"pyptx.{name}".rstrip("."))
    assert inspect.getdoc(module)
    found = [
        missing
        for public in module.__all__
        if public not in SLOW
        for missing in undocumented(getattr(module, public), f"{module.__name__}.{public}", set())
    ]
    assert not found
