"""The lines of code that `docs/more/comparison.md` states are those of the kernels it names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/more/comparison.md").read_text(encoding="utf-8")


def python_lines(code: str, name: str) -> int:
    """Lines of a function's body, without docstring, comments and blank lines."""
    (function,) = (n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.FunctionDef) and n.name == name)
    body = function.body[1:] if ast.get_docstring(function) else function.body
    lines = code.splitlines()[body[0].lineno - 1 : function.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


def cuda_lines(code: str, name: str) -> int:
    """Lines of a kernel's body, up to its closing brace in the first column."""
    body = re.search(rf"__global__ void {name}\(.*?\n(.*?)^\}}", code, re.M | re.S)[1]
    return sum(bool(line.strip()) for line in body.splitlines())


def count(place: str) -> int:
    path, name = place.split(":")
    code = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".cu"):
        return cuda_lines(code, name)
    if path.endswith(".md"):
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", code, re.M | re.S))
    return python_lines(code, name)


@pytest.mark.parametrize(
    ("lines", "place"), re.findall(r"\| (\d+) \|[^|\n]*\| `([\w./-]+:\w+)` \|", PAGE), ids=lambda value: value
)
def test_a_kernel_has_the_lines_that_are_stated(lines: str, place: str):
    assert count(place) == int(lines)


def test_every_row_is_counted():
    table = PAGE[PAGE.index("## Lines of code") :]
    table = re.sub(r"^.*\(https://github.com/.*$", "", table, flags=re.M)  # rows of other repositories have links
    assert len(re.findall(r"\| \d+ \|", table)) == len(re.findall(r"`[\w./-]+:\w+` \|", table)) >= 8
