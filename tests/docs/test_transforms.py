"""The table of transforms in the documentation equals the tests marked with `transform`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "howto" / "frameworks.md"
FOLDERS = ("torch_support", "jax_support", "examples", "cli")
HEAD = "| framework | transform | behavior |\n| --- | --- | --- |\n"


def marks(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield framework, transform and behavior of each `pytest.mark.transform(...)` of a file, in order."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.transform":
                framework, transform, behavior = (ast.literal_eval(argument) for argument in decorator.args)
                yield framework, transform, behavior


def table() -> str:
    rows = [
        row for folder in FOLDERS for path in sorted(TESTS.joinpath(folder).glob("test_*.py")) for row in marks(path)
    ]
    frameworks = list(dict.fromkeys(framework for framework, _, _ in rows))
    ordered = sorted(
        rows, key=lambda row: (frameworks.index(row[0]), row[2].startswith("refused"), row[1] != "eager call")
    )
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in ordered)


def test_the_table_of_transforms_is_that_of_the_tests(request: pytest.FixtureRequest):
    page = PAGE.read_text(encoding="utf-8")
    start = page.index(HEAD)
    end = page.index("\n\n", start) + 1 if "\n\n" in page[start:] else len(page)
    if request.config.getoption("--bless"):
        PAGE.write_text(page[:start] + table() + page[end:], encoding="utf-8")
    else:
        assert page[start:end] == table(), "update it with: pytest tests/docs/test_transforms.py --bless"
