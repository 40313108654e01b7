"""The order of the layers: a module imports what stands before it, wherever in the file the import is written.

The rule, read from the source with `ast`:

* A part of pyptx (a module or package directly under it) imports only parts listed before it in `LAYERS`.
* That holds inside functions and under TYPE_CHECKING too. A function may import late what is slow to load;
  it may not import upwards, which would hide a cycle.
* A package from elsewhere is imported only in the modules `EDGES` names for it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import pyptx

PACKAGE = Path(pyptx.__file__).parent

LAYERS = (
    (
        "_version",
        "_distribution",
        "_frozen",
        "_lazy",
        "_gc",
        "_notebook",
        "_import_hook",
        "_dominators",
        "_loc",
        "errors",
        "types",
        "environment_variables",
    ),
    ("isa",),
    ("ir",),
    ("parser", "emitter", "linker", "grid_batch", "validate", "compat", "spec", "launch_config", "language"),
    (
        "tracing",
        "_trace",
        "wgmma_layout",
        "reg",
        "elements",
        "smem",
        "specs",
        "tensor_map",
        "texture",
        "tensor",
        "ptx",
        "lib",
    ),
    ("toolchain", "codegen", "cache", "nvrtc", "store", "assembly", "sim"),
    ("runtime", "torch_support", "jax_support"),
    ("_params", "unit", "jit"),
    (
        "renderer",
        "highlight",
        "analysis",
        "profiles",
        "views",
        "compiled",
        "history",
        "ledger",
        "tune",
        "check",
        "debug",
    ),
    ("workbench", "kernel", "program", "testing", "triton", "cuda_device", "benchmarking", "remote"),
    ("jupyter", "cli", "pytest_plugin", "__main__"),
    ("__init__",),
)
ORDER = {part: place for place, part in enumerate(part for layer in LAYERS for part in layer)}

# package from elsewhere -> the modules that may import it, each with all that lies below it
EDGES = {
    "IPython": {"pyptx.jupyter"},
    "anywidget": {"pyptx.jupyter.view_widget"},
    "backports": {"pyptx.cuda_device.images.compression"},
    "compression": {"pyptx.cuda_device.images.compression"},  # of the standard library from Python 3.14
    "cuda": {"pyptx.runtime.cuda", "pyptx.runtime.device", "pyptx.nvrtc.library"},
    "distributed": {"pyptx.tune.dask_cluster"},
    "jax": {"pyptx.jax_support"},
    "jaxlib": {"pyptx.jax_support"},
    "jupyter_client": {"pyptx.cli.notebooks"},
    "jupyter_core": {"pyptx.cli.environment"},
    "jupyter_server": {"pyptx.jupyter.server"},
    "lsprotocol": {"pyptx.cli.language_server"},
    "matplotlib": {"pyptx.views.rooflines.plot"},
    "ml_dtypes": {"pyptx.jax_support", "pyptx.runtime.numpy_arrays"},
    "ncu_report": {"pyptx.profiles.ncu_report_reader"},
    "nbclient": {"pyptx.cli.notebooks"},
    "nbformat": {"pyptx.cli.notebooks"},
    "numba": {"pyptx.workbench.numba_kernels"},
    "numpy": {
        "pyptx.sim",
        "pyptx.runtime",
        "pyptx.jax_support",
        "pyptx.analysis",
        "pyptx.benchmarking",
        "pyptx.views",
        "pyptx.check",
        "pyptx.debug",
        "pyptx.cli",
        "pyptx.jit",
        "pyptx.workbench",
        "pyptx.testing",
        "pyptx.tune",
        "pyptx.remote",
        "pyptx.triton",
        "pyptx.cuda_device.server",
    },
    "elftools": {"pyptx.debug.inspect.dwarf"},
    "optuna": {"pyptx.tune.strategies"},
    "pandas": {"pyptx.tune.study"},
    "platformdirs": {"pyptx.cache"},
    "pygments": {"pyptx.highlight", "pyptx.views"},
    "pygls": {"pyptx.cli.language_server"},
    "pytest": {"pyptx.pytest_plugin"},
    "rich": {"pyptx.cli.terminal"},
    "shtab": {"pyptx.cli.completion"},
    "torch": {"pyptx.torch_support"},
    "tornado": {"pyptx.jupyter.server"},
    "traitlets": {"pyptx.jupyter"},
    "triton": {"pyptx.triton"},
    "ziglang": {"pyptx.sim.core.build_core", "pyptx.cuda_device.build_client"},
}


class Import(NamedTuple):
    module: str  # "pyptx.reg", "numpy.random"
    line: int


SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = ("pyptx", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of the file, and every import_module("...") with its name written out."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[Import]:
    package = ("pyptx", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                yield from (Import(name.name, node.lineno) for name in names)
            case ast.ImportFrom(module, names, level):
                base = ".".join([*package[: len(package) + 1 - level], *filter(None, [module])]) if level else module
                yield from (Import(f"{base}.{name.name}", node.lineno) for name in names)
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield Import(name, node.lineno)


def part_of(module: str) -> str:
    """The part of pyptx that a dotted name lies in; names of the package itself lie in its __init__."""
    part = module.split(".")[1] if "." in module else "__init__"
    inside = (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").is_file()
    return part if inside else "__init__"


def offences(path: Path) -> Iterator[str]:
    source = module_name(path)
    here = part_of(source)
    for module, line in imports(path):
        top = module.partition(".")[0]
        if top == "pyptx":
            part = part_of(module)
            if part != here and ORDER.get(part, -1) > ORDER[here]:
                yield f"{source}:{line} imports {module}, but {here} stands below {part}"
        elif top not in sys.stdlib_module_names:
            allowed = EDGES.get(top, set())
            if not any(source == edge or source.startswith(edge + ".") for edge in allowed):
                yield f"{source}:{line} imports {top}; {', '.join(sorted(allowed)) or 'no module'} may"


def test_every_part_has_its_place_in_the_order():
    parts = {part_of(module_name(path)) for path in SOURCES}
    assert parts <= ORDER.keys(), f"not in LAYERS: {sorted(parts - ORDER.keys())}"


def test_imports_go_down_and_other_packages_stay_at_their_edge():
    found = [offence for path in SOURCES for offence in offences(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("from pyptx import views", "but ir stands below views"),
        (
            "def f():\n    from pyptx.kernel import Kernel",
            "x:2 imports pyptx.kernel.Kernel, but ir stands below kernel",
        ),
        ("from ..kernel import Kernel", "but ir stands below kernel"),
        ("import importlib\nimportlib.import_module('pyptx.views')", "x:2 imports pyptx.views"),
        ("from pyptx import __version__", "but ir stands below __init__"),
        ("import numpy as np", "imports numpy; pyptx.analysis, "),
        ("import scipy", "imports scipy; no module may"),
        ("from . import nodes\nfrom pyptx import isa\nimport os", ""),
    ],
)
def test_the_reader_of_imports_sees(text: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    for part in ORDER:
        (tmp_path / f"{part}.py").touch()
    (tmp_path / "ir").mkdir()
    path = tmp_path / "ir" / "x.py"
    path.write_text(text)
    found = "\n".join(offences(path))
    assert expected in found
    assert bool(expected) == bool(found)


# the simulator ------------------------------------------------------------------------------------------------------

SIM_LAYERS = (
    ("abi", "abi_structures", "value_types"),
    ("layouts",),
    ("actions",),
    ("arithmetic", "memory"),
    ("symbols",),
    ("variables",),
    ("decode",),
    ("program",),
    ("counters", "progress", "plan", "sanitizer"),
    ("special_registers", "faults"),
    ("core", "reference"),
    ("simulation",),
    ("prepared_launch", "profile", "debug"),
    ("__init__",),
)
SIM_ORDER = {part: number for number, layer in enumerate(SIM_LAYERS) for part in layer}
SIM_SOURCES = [path for path in SOURCES if path.is_relative_to(PACKAGE / "sim")]


def sim_part(path: Path) -> str:
    return path.relative_to(PACKAGE / "sim").with_suffix("").parts[0]


def sim_imports(path: Path) -> Iterator[tuple[Path, int]]:
    """The files of the simulator that a file imports, with the line."""
    for module, line in imports(path):
        parts = module.split(".")
        if parts[:2] == ["pyptx", "sim"]:
            target = PACKAGE.joinpath(*parts[1:])
            choices = (target.with_suffix(".py"), target / "__init__.py", target.parent.with_suffix(".py"))
            yield next((choice for choice in choices if choice.is_file()), target.parent / "__init__.py"), line


def test_a_part_of_the_simulator_imports_only_parts_below_it():
    found = [
        f"{path.relative_to(PACKAGE)}:{line} imports {sim_part(target)}, which is not below {sim_part(path)}"
        for path in SIM_SOURCES
        for target, line in sim_imports(path)
        if sim_part(target) != sim_part(path) and SIM_ORDER[sim_part(target)] >= SIM_ORDER[sim_part(path)]
    ]
    assert not found, "\n".join(found)


def test_no_two_modules_of_the_simulator_import_each_other():
    remaining = {path: {target for target, _ in sim_imports(path)} - {path} for path in SIM_SOURCES}
    while leaves := {path for path, targets in remaining.items() if not targets & remaining.keys()}:
        remaining = {path: targets for path, targets in remaining.items() if path not in leaves}
    assert not remaining, f"an import cycle among {sorted(map(module_name, remaining))}"
