"""`import pyptx` loads the standard library and pyptx, nothing else. (Its time: tests/benchmarks/import_time.py.)"""

from __future__ import annotations

import ast
from pathlib import Path

from support.processes import python

import pyptx

FOREIGN = """
import sys
before = set(sys.modules)
{statement}
tops = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(*sorted(tops - set(sys.stdlib_module_names) - {{"pyptx"}}))
"""


def foreign_packages_after(statement: str) -> str:
    done = python("-c", FOREIGN.format(statement=statement))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_pyptx_loads_the_standard_library_only():
    assert foreign_packages_after("import pyptx") == ""


def test_names_a_kernel_needs_load_the_standard_library_only():
    assert foreign_packages_after("from pyptx import kernel, reg, smem, ptx, Tile, Layout") == ""


def test_the_command_line_starts_with_the_standard_library_only():
    assert foreign_packages_after("import pyptx.cli") == ""


def test_type_checkers_see_the_names_that_are_loaded_on_use():
    tree = ast.parse(Path(pyptx.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name))
    found = {alias.name: statement.module for statement in block.body for alias in statement.names}
    loaded = {name: f"pyptx.{module}" for name, module in pyptx._NAMES.items()}
    assert found == {**loaded, **dict.fromkeys(pyptx._MODULES, "pyptx"), "kernel": "pyptx.kernel"}
    assert set(pyptx.__all__) == {*found, "__version__"}


def test_dir_shows_the_public_names_and_nothing_else():
    assert dir(pyptx) == sorted(pyptx.__all__)
