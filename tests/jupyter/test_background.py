"""Cells that are compiled while they are typed: declarations only, on a copy of the namespace, cancelable."""

from __future__ import annotations

import ast
import re
import threading
import time
from typing import Any

import pytest
from support.cells import GOOD, LINE_9, with_line_9

from pyptx.jupyter.background.declarations import is_declaration
from pyptx.jupyter.background.service import TypingService
from pyptx.jupyter.background.typed_cell import TypedCell

pytestmark = pytest.mark.usefixtures("own_history")


@pytest.fixture
def last(shell) -> dict[str, Any]:
    return shell.find_cell_magic("ptxkernel").__self__.recorder.last


@pytest.fixture
def service(shell, last):
    made = TypingService(shell, last)
    yield made
    made.cancel()


def typed(service: TypingService, source: str, number: int = 1) -> list[dict[str, Any]]:
    """All answers to a request."""
    answers, done = [], threading.Event()

    def send(answer: dict[str, Any]) -> None:
        answers.append(answer)
        if answer["done"]:
            done.set()

    service.start(number, source, send)
    assert done.wait(60)
    return answers


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import numpy as np", True),
        ("from pyptx import kernel", True),
        ("import antigravity", False),
        ("BM, BN = 64, 2 * 64", True),
        ("spec = Tile('N', f32)", True),
        ("N = max(1, len(shape))", True),
        ("f = lambda N: launch(N)", True),
        ("def helper(x: int = 3) -> int: return launch(x)", True),
        ("@kernel(in_specs=(Tile('N', f32),), grid=lambda N: N)\ndef k(x): pass", True),
        ("@kernel(unit=unit)\ndef k(x): pass", False),
        ("@launch\ndef k(x): pass", False),
        ("@launch()\ndef k(x): pass", False),
        ("def helper(x=launch()): pass", False),
        ("class Sizes:\n    BM = 64\n    def rows(self): return launch()", True),
        ("class Sizes:\n    BM = launch()", False),
        ("y = launch(x)", False),
        ("x[0] = 1", False),
        ("x.attribute = 1", False),
        ("print('text')", False),
        ("open('file', 'w')", False),
        ("y = [launch(x) for x in xs]", False),
        ("for x in range(3): pass", False),
        ("del x", False),
    ],
)
def test_only_statements_that_define_names_are_executed(statement, expected):
    import numpy  # noqa: F401  (a loaded module may be imported)

    from pyptx import Tile, kernel
    from pyptx.types import f32

    namespace = {"kernel": kernel, "Tile": Tile, "f32": f32, "launch": print, "xs": [], "shape": ()}
    assert is_declaration(ast.parse(statement).body[0], namespace) is expected


def test_nothing_reaches_the_namespace_and_the_outside(shell, service, tmp_path):
    shell.user_ns["seen"] = seen = []
    before = dict(shell.user_ns)
    source = GOOD + f"open({str(tmp_path / 'made')!r}, 'w')\nseen.append(1)\n"
    text = typed(service, source)[-1]["text"]
    assert re.fullmatch(r"\d+ registers, \d+ instructions, occupancy \d+ %, modeled [\d.]+ us", text)
    assert {name: value for name, value in shell.user_ns.items() if before.get(name) is not value} == {}
    assert seen == [] and not (tmp_path / "made").exists()
    assert not any("being typed" in name for name in __import__("linecache").cache)


def test_the_line_is_the_difference_from_the_last_run(run, service):
    run(GOOD)
    [first, second] = typed(service, GOOD)
    assert first["text"] == second["text"] == "same machine code as in the last run"
    changed = GOOD.replace(LINE_9, LINE_9 + 8 * "    ptx.inst.fma.rn.f32(value, value, value, factor)\n")
    [first, second] = typed(service, changed)
    assert first["text"].startswith("+8 FFMA") and not first["done"] and second["done"]
    assert re.fullmatch(re.escape(first["text"]) + r", modeled [\d.]+ us → [\d.]+ us", second["text"])


def test_sizes_that_the_magic_does_not_give_are_those_of_the_last_run(run, service):
    run(GOOD.replace("N=256", "N=256 factor=3.0"))
    assert typed(service, GOOD.replace(" -p N=256", ""))[-1]["text"] == "same machine code as in the last run"
    assert typed(service, GOOD)[-1]["text"] == "same machine code as in the last run"
    other = typed(service, GOOD.replace("N=256", "factor=5.0"))[-1]["text"]
    assert "other operands" in other


def test_errors_are_at_their_lines(service):
    [answer] = typed(service, with_line_9("ptx.inst.mul.f32(value, value)"))
    [found] = answer["diagnostics"]
    assert (found["severity"], found["line"]) == ("error", 9) and answer["text"] == ""
    [answer] = typed(service, with_line_9("undefined_name + 1"))
    assert [(one["line"], "undefined_name" in one["message"]) for one in answer["diagnostics"]] == [(9, True)]
    [answer] = typed(service, with_line_9("ptx.inst.mul.f32(value,"))
    assert answer["diagnostics"][0]["severity"] == "error"
    [answer] = typed(service, GOOD.replace("sm_80", "sm_1"))
    assert answer["diagnostics"][0]["line"] == 1 and "--arch sm_1" in answer["diagnostics"][0]["message"]


def test_a_name_that_the_cell_computes_is_a_note(service):
    source = GOOD.replace("@kernel", "scale = int(input())\n\n@kernel").replace("value, factor)", "value, scale)")
    [answer] = typed(service, source)
    assert answer["diagnostics"] == [] and "scale is computed when the cell runs" in answer["note"]


def test_running_a_cell_cancels(shell, service, monkeypatch):
    entered, release, answers = threading.Event(), threading.Event(), []

    def slowly(self, last):
        entered.set()
        assert release.wait(20)
        yield from ()

    monkeypatch.setattr(TypedCell, "compiled", slowly)
    service.start(1, GOOD, answers.append)
    assert entered.wait(20)
    service.cancel()
    release.set()
    limit = time.monotonic() + 20
    while service._thread is not None:
        assert time.monotonic() < limit
        time.sleep(0.01)
    assert answers == []
