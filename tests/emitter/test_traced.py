"""The text of a traced kernel parses to the IR it was emitted from."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
from support.tracing import Cases, module_of, trace

from pyptx import ptx, reg
from pyptx.cli.kernels import load_module
from pyptx.emitter import emit
from pyptx.ir.nodes import CompoundExpr, Module
from pyptx.parser import parse
from pyptx.types import u32

pytestmark = pytest.mark.quick


TESTS = Path(__file__).parents[1]
KERNELS = (
    ("examples/rms_norm.py", "rms_norm", {"M": 4, "N": 1024}),
    ("examples/sgemm.py", "sgemm", {"M": 128, "N": 128, "K": 64}),
)


def loaded(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"traced_{path.stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_expressions(node):
    """Replace every `ptx.expr()` by its instructions: the text does not show where one begins."""
    inside = "directives" if isinstance(node, Module) else "body"
    if isinstance(node, CompoundExpr) or not hasattr(node, inside):
        return node
    held = (n.body if isinstance(n, CompoundExpr) else (without_expressions(n),) for n in getattr(node, inside))
    return replace(node, **{inside: tuple(chain.from_iterable(held))})


def reads_back(module: Module) -> None:
    text = emit(module)
    again = parse(text)
    assert again == without_expressions(module)
    assert emit(again) == text


@pytest.mark.parametrize("path, name, parameters", KERNELS, ids=str)
def test_an_example_round_trips(path: str, name: str, parameters: dict):
    reads_back(getattr(load_module(str(TESTS.parent / path)), name).module(**parameters))


@pytest.mark.parametrize("path", sorted((TESTS / "ptx").glob("test_*.py")), ids=lambda path: path.stem)
def test_every_dsl_call_round_trips(path: Path):
    for table in vars(loaded(path)).values():
        for case in table.cases if isinstance(table, Cases) else ():
            try:
                reads_back(module_of({"k": trace(case.body, case.version)}, case.target, case.version))
            except AssertionError as wrong:
                raise AssertionError(f"{case}: {wrong}") from wrong


@pytest.mark.parametrize(
    "text",
    [
        "name",
        "%r1",
        "-1",
        "0x10",
        "1.5",
        ".5",
        "WARP_SZ",
        "(1+2)",
        "~3",
        "a+4",
        "a + 4",
        "{%a, %b}",
        "[%a+4]",
        "%a|%b",
        "!%p",
        "-%r1",
        "v.x",
        "%v.x",
        "_",
    ],
)
def test_an_operand_given_as_text_round_trips(text: str):
    reads_back(module_of({"k": trace(lambda: ptx.inst.mov.b32(reg.scalar(u32), text))}, "sm_90a"))


@pytest.mark.parametrize(
    "base, offset", [("dyn+4096", 16), ("dyn", "+4"), ("dyn", ", {a,b}"), ("%r1", -4), ("dyn+4", "%r1")]
)
def test_an_address_given_as_text_round_trips(base: str, offset: object):
    reads_back(module_of({"k": trace(lambda: ptx.inst.ld.u32(reg.scalar(u32), ptx.addr(base, offset)))}, "sm_90a"))
