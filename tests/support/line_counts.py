"""Count the lines of kernels, for `docs/more/comparison.md`.

    python tests/support/line_counts.py docs/tutorials/tma-pipeline.md:gemm flash_fwd_sm90.py:FlashAttentionForwardSm90.kernel

A place is a file and a function, `Class.method` for a method. Counted are the lines of the body, without docstring, comments and blank
lines.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["count"]


def count(place: str, root: Path = Path()) -> int:
    """Return the lines of the body of a kernel in a Python file, the Python blocks of a page, or a CUDA file."""
    path, name = place.rsplit(":", 1)
    code = (root / path).read_text(encoding="utf-8")
    if path.endswith(".cu"):
        return _cuda_lines(code, name)
    if path.endswith(".md"):
        code = "\n".join(re.findall(r"^```python\n(.*?)^```", code, re.M | re.S))
    return _python_lines(code, name)


def _python_lines(code: str, name: str) -> int:
    (function,) = (found for path, found in _functions(ast.parse(code), ()) if name in (path, found.name))
    body = function.body[1:] if ast.get_docstring(function) else function.body
    lines = code.splitlines()[body[0].lineno - 1 : function.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


def _functions(tree: ast.AST, outer: tuple[str, ...]) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        inner = (*outer, node.name) if isinstance(node, ast.ClassDef | ast.FunctionDef) else outer
        if isinstance(node, ast.FunctionDef):
            yield ".".join(inner), node
        yield from _functions(node, inner)


def _cuda_lines(code: str, name: str) -> int:
    """Count up to the closing brace in the first column."""
    body = re.search(rf"__global__ void {name}\(.*?\n(.*?)^\}}", code, re.M | re.S)[1]
    return sum(bool(line.strip()) for line in body.splitlines())


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print(f"{count(given):6}  {given}")
