"""`%ptxdebug` and `%%ptxkernel --debug`: accepted calls, options of the session."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.error import UsageError
from support.cells import GOOD
from support.sessions import FakeSession

from pyptx.jupyter.completion import completions
from pyptx.kernel import Kernel


class Session(FakeSession):
    """Also what the magic asks."""

    def __init__(self, args: tuple, options: dict[str, Any]):
        super().__init__()
        self.args, self.options, self.stops, self.watched = args, options, [], []
        self.breakpoints = SimpleNamespace(add=lambda place, condition=None: self.stops.append((place, condition)))

    def watch(self, text: str) -> None:
        self.watched.append(text)

    def resume(self) -> None:
        self.asked.append(("resume", {}))


@pytest.fixture(autouse=True)
def debugged(monkeypatch) -> None:
    """Kernels are debugged by a session that only looks like one."""
    monkeypatch.setattr(Kernel, "debug", lambda self, *args, **options: Session(args, options), raising=False)


def test_a_call_is_debugged_with_values_of_the_notebook(run):
    run(GOOD), run("x = [1, 2]")
    session = run("%ptxdebug double(x, block=128)").result
    assert session.args == ([1, 2],) and session.options == {"block": 128} and session.stops == []


def test_options_stop_watch_and_run(run):
    run(GOOD), run("x = 1")
    session = run(
        '%ptxdebug --break 12 --break "ptx:40 if lane == 3" --watch "acc[0] + 1" --schedule random --seed 7 '
        "--run double(x)"
    ).result
    assert session.stops == [("12", None), ("ptx:40", "lane == 3")]
    assert session.watched == ["acc[0] + 1"] and session.asked == [("resume", {})]
    assert session.options == {"schedule": "random", "seed": 7}
    assert run("%ptxdebug --sanitize double(x)").result.options == {"sanitize": True}
    assert run("%ptxdebug --seed 7 double(x, seed=1)").result.options == {"seed": 1}, "the call's own goes first"


@pytest.mark.parametrize(
    "line, words",
    [
        ("", "expected a call of a kernel, such as %ptxdebug gemm"),
        ("double", "double: expected a call of a kernel"),
        ("double(", "expected a call of a kernel"),
        ("print(1)", "print is not a kernel"),
        ("--break 3", "expected a call of a kernel"),
        ("double(x) --run", "options go before the call"),
    ],
)
def test_only_calls_of_kernels_can_be_debugged(run, line, words):
    run(GOOD)
    error = run(f"%ptxdebug {line}").error
    assert isinstance(error, UsageError) and words in str(error)


def test_a_cell_opens_the_debugger_instead_of_the_view(run, shell):
    cell = GOOD.partition("\n")[2]
    ran = run(f'%%ptxkernel --debug "double(x)"\nx = 5\n{cell}')
    assert isinstance(ran.result, Session) and ran.result.args == (5,)
    assert not any("text/html" in output.data and "double" in output.data["text/html"] for output in ran.outputs)
    error = run(f'%%ptxkernel --debug "other(x)"\n{cell}').error
    assert isinstance(error, UsageError) and "--debug other(x): expected a call of a kernel of this cell" in str(error)


def test_options_are_completed():
    assert ("--schedule", "option") in completions("%ptxdebug --")
    assert ("--debug", "option") in completions("%%ptxkernel --d")
