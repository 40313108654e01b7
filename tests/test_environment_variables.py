"""The list of environment variables is that of the sources."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pyptx
from pyptx.cli.environment import _variables
from pyptx.environment_variables import VARIABLES, unknown_variables

PACKAGE = Path(pyptx.__file__).parent
BUILD = Path(__file__).parents[1] / "hatch_build.py"
NAMES = {variable.name for variable in VARIABLES}


def in_python(path: Path) -> set[str]:
    """Names that are whole strings of a file."""
    text = path.read_text(encoding="utf-8")
    strings = ast.walk(ast.parse(text)) if "PYPTX_" in text else ()
    values = {node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {value for value in values if re.fullmatch(r"PYPTX_[A-Z_]+", value)}


def in_c(path: Path) -> set[str]:
    return set(re.findall(r'"(PYPTX_[A-Z_]+)"', path.read_text(encoding="utf-8")))


def test_every_variable_of_the_sources_is_listed_and_no_other():
    sources = [path for path in PACKAGE.rglob("*.py") if path.name != "environment_variables.py"]
    read = set().union(*map(in_python, [*sources, BUILD]), *map(in_c, PACKAGE.rglob("*.c")))
    from pyptx.toolchain import TOOLS

    composed = {tool.variable for tool in TOOLS.values()}  # their names are not in the sources
    assert composed <= {variable.name for variable in VARIABLES if variable.group == "tools"}
    assert read - composed == NAMES - composed
    assert len(NAMES) == len(VARIABLES)


def test_an_unknown_variable_has_a_suggestion(monkeypatch):
    assert unknown_variables({"PYPTX_CACHEDIR": "x", "PYPTX_CHECK": "1", "HOME": "/"}) == {
        "PYPTX_CACHEDIR": "PYPTX_CACHE_DIR"
    }
    monkeypatch.setenv("PYPTX_CACHEDIR", "/x")
    assert any("did you mean PYPTX_CACHE_DIR?" in finding.text for finding in _variables())
