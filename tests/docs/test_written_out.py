"""The kernels that pages show have the machine code of the same kernels with one call for each instruction."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest
from support import written_out_pages

from pyptx import kernel

DOCS = Path(__file__).parents[2] / "docs"
SIZES = {"M": 1024, "N": 1024, "K": 1024}


def shown(page: str, tmp_path: Path, name: str):
    """The kernel of the first block of code of a page, without the code that runs it."""
    code = re.search(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)[1]
    (function,) = (node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef) and node.name == name)
    script = tmp_path / "page.py"
    script.write_text("\n".join(code.splitlines()[: function.end_lineno]), encoding="utf-8")
    return runpy.run_path(str(script))[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "written_out"),
    [
        ("tutorials/tiled-gemm.md", written_out_pages.tiled),
        ("tutorials/tma-pipeline.md", written_out_pages.hopper),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_page_shows_the_machine_code_of_the_long_spelling(page, written_out, tmp_path):
    short = shown(page, tmp_path, "gemm")
    own = short.declaration
    long = kernel(
        written_out, name="gemm", in_specs=own.in_specs, out_specs=own.out_specs, grid=own.grid, block=own.block, reqntid=own.reqntid
    )  # fmt: skip
    codes = [[line.text for line in one.compile(**SIZES).sass] for one in (short, long)]
    assert codes[0] == codes[1]


def test_the_first_kernel_has_the_machine_code_of_the_long_spelling(tmp_path):
    text = (DOCS / "start/first-kernel.md").read_text(encoding="utf-8")
    short, long = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)[:2]
    script = tmp_path / "page.py"
    script.write_text(short + long, encoding="utf-8")
    made = runpy.run_path(str(script))
    own = made["add"].declaration
    same = kernel(made["spelled_out"], in_specs=own.in_specs, out_specs=own.out_specs, grid=own.grid, block=own.block)
    codes = [[line.text for line in one.compile(N=1000).sass] for one in (made["add"], same)]
    assert codes[0] == codes[1] and len(codes[0]) > 10
