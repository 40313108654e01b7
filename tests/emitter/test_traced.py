"""The text of a traced kernel reads back as the very tree it was printed from."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from support.tracing import Cases, module_of, trace

from pyptx.emitter import emit
from pyptx.ir.nodes import Module
from pyptx.parser import parse

TESTS = Path(__file__).parents[1]
KERNELS = (("examples/rms_norm.py", "rms_norm", {"M": 4, "N": 1024}),
           ("examples/sgemm.py", "sgemm", {"M": 128, "N": 128, "K": 64}))


def loaded(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"traced_{path.stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reads_back(module: Module) -> None:
    text = emit(module)
    again = parse(text)
    assert again == module
    assert emit(again) == text


@pytest.mark.parametrize("path, name, parameters", KERNELS, ids=str)
def test_an_example(path: str, name: str, parameters: dict):
    reads_back(getattr(loaded(TESTS.parent / path), name).module(**parameters))


@pytest.mark.parametrize("path", sorted((TESTS / "ptx").glob("test_*.py")), ids=lambda path: path.stem)
def test_every_call_of_the_language(path: Path):
    for table in vars(loaded(path)).values():
        for case in table.cases if isinstance(table, Cases) else ():
            try:
                reads_back(module_of({"k": trace(case.body, case.version)}, case.target, case.version))
            except AssertionError as wrong:
                raise AssertionError(f"{case}: {wrong}") from wrong
