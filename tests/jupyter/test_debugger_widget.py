"""The debugger widget: messages, responses, saved outputs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.sessions import FakeSession

from pyptx import Tile, kernel, ptx, reg
from pyptx.debug.session import _COMMANDS
from pyptx.jupyter import debugger_widget
from pyptx.jupyter import view_widget as widgets
from pyptx.jupyter.debugger_widget import DebuggerWidget, display_session
from pyptx.jupyter.view_widget import LIVE_MIME, WIDGET_MIME
from pyptx.renderer import FOLDER
from pyptx.types import u32
from pyptx.views._packed import unpack
from pyptx.views.debugger import DebugView

LIMIT_S = 30


def until(true: Callable[[], Any]) -> None:
    limit = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.fixture
def widget(monkeypatch):
    made = DebuggerWidget(FakeSession())
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(made, "send", sent.append)
    yield made, made.session, sent
    made.close()


def ask(made, sent, command: str, /, **values: Any) -> dict[str, Any]:
    """What the front end is told in the end."""
    made._on_message(made, {"number": "7", "request": command, "values": values}, [])
    until(lambda: any("working" not in message for message in sent))
    assert sent.pop(0) == {"number": "7", "working": True}
    return sent.pop()


def test_a_widget_holds_the_document_and_its_fallbacks(widget):
    made, session, _ = widget
    assert made.document == session.document() and made.sources == session.sources()
    bundle = made._repr_mimebundle_()
    assert set(bundle) == {LIVE_MIME, WIDGET_MIME, "text/html", "text/plain"}
    assert DebugView.from_json(bundle[LIVE_MIME]["view"]) == made.view()
    assert "breakpoint: 1 at pipeline.py:16" in bundle["text/plain"]
    assert "https://" not in made._esm + made._css


def test_commands_move_the_session_and_the_document_follows(widget):
    made, session, sent = widget
    assert ask(made, sent, "step", n=3) == {"number": "7", "data": None}
    assert session.asked == [("step", {"n": 3})]
    assert made.document["step"] == 215


def test_what_cannot_be_done_is_said_and_nothing_is_lost(widget):
    made, _, sent = widget
    before = made.document
    assert ask(made, sent, "watch", text="xyz")["error"] == "xyz: no register is called so"
    assert ask(made, sent, "run_to", place="99")["error"] == "there is no line 99"
    assert ask(made, sent, "rewind")["error"] == "KeyError: 'lost'"
    made._on_message(made, "nonsense", [])
    made._on_message(made, {"number": "8"}, [])
    assert made.document == before and sent == []


def test_a_run_is_paused_while_it_runs(widget):
    made, _, sent = widget
    made._on_message(made, {"number": "1", "request": "resume"}, [])
    made._on_message(made, {"number": "2", "request": "pause"}, [])
    until(lambda: {"number": "1", "data": None} in sent)
    assert {"number": "2", "data": None} in sent and {"number": "1", "working": True} in sent
    assert made.document["stop"]["reason"] == "interrupt"


def test_what_a_cell_does_is_shown_soon_and_saved_later(widget, monkeypatch):
    made, session, _ = widget
    saved: list[dict[str, Any]] = []
    monkeypatch.setattr(debugger_widget, "SAVE_DELAY_S", 0.2)
    monkeypatch.setattr(widgets, "display", lambda *a, **k: None)
    monkeypatch.setattr(widgets, "update_display", lambda bundle, **_: saved.append(bundle))
    made._ipython_display_()
    for _ in range(100):
        session.step()
    until(lambda: made.document["step"] == 312)
    until(lambda: saved)
    assert unpack(saved[-1][LIVE_MIME]["view"])["document"]["step"] == 312 and len(saved) <= 2
    made.close()
    assert session.told == []


def test_a_session_has_one_widget(monkeypatch):
    shown: list[Any] = []
    monkeypatch.setattr(debugger_widget, "display", shown.append)
    session = FakeSession()
    display_session(session)
    display_session(session)
    assert shown[0] is shown[1] and shown[0].session is session
    shown[0].close()


@pytest.fixture
def real(monkeypatch):
    """The widget of a session that simulates, of a kernel that loops forever when `again` is 1."""

    @kernel(in_specs=(Tile(32, u32),), out_specs=(Tile(32, u32),), grid=(1, 1, 1), block=(32, 1, 1))
    def rounds(again, y):
        again_at, y_at = ptx.global_ptrs(again, y)
        turns, more = reg.scalar(u32, init=0), reg.scalar(u32)
        ptx.inst.ld.global_.u32(more, ptx.addr(again_at))
        with ptx.loop("round", pred=more == 1):
            ptx.inst.add.u32(turns, turns, 1)
        ptx.inst.st.global_.u32(ptx.addr(y_at), turns)

    made: list[DebuggerWidget] = []
    sent: list[dict[str, Any]] = []

    def start(again: int) -> tuple[DebuggerWidget, list[dict[str, Any]]]:
        made.append(DebuggerWidget(rounds.debug(np.full(32, again, np.uint32))))
        monkeypatch.setattr(made[-1], "send", sent.append)
        return made[-1], sent

    yield start
    for widget in made:
        widget.close()
        widget.session.close()


def test_a_real_session_moves_shows_and_goes_back(real):
    made, sent = real(0)
    assert made.document["step"] == 0 and made.sources["python"][0]["name"] == "test_debugger_widget.py"
    assert ask(made, sent, "step", n=3)["data"] is None and made.document["step"] == 3
    assert ask(made, sent, "watch", text="turns + 1")["data"] is None
    assert made.document["watches"][0]["value"] is not None
    assert ask(made, sent, "show", kind="memory", name="again")["data"] is None
    assert made.document["memory"][0]["shape"][1] == 32
    assert ask(made, sent, "break", place="op:st.global", condition="lane == 5")["data"] is None
    assert ask(made, sent, "resume")["data"] is None
    assert made.document["stop"]["reason"] == "breakpoint" and made.document["place"]["line"]
    assert ask(made, sent, "goto", step=2)["data"] is None and made.document["step"] == 2
    assert "9999" in ask(made, sent, "break", place="ptx:9999")["error"]
    assert DebugView.from_json(json.loads(json.dumps(made.view().to_json()))).text().startswith("rounds on ")


def test_a_run_that_does_not_end_is_paused(real):
    made, sent = real(1)
    made._on_message(made, {"number": "1", "request": "resume"}, [])
    until(lambda: {"number": "1", "working": True} in sent)
    time.sleep(0.3)
    assert {"number": "1", "data": None} not in sent
    made._on_message(made, {"number": "2", "request": "pause"}, [])
    until(lambda: {"number": "1", "data": None} in sent)
    assert made.document["stop"]["reason"] == "interrupt" and made.document["step"] > 1000


def test_every_command_of_the_widget_is_one_of_the_session():
    asked = set()
    for file in FOLDER.glob("debugger/*.js"):
        text = file.read_text(encoding="utf-8")
        asked |= set(re.findall(r'this\.act\("(\w+)"', text)) | set(re.findall(r'add\("(\w+)"\)', text))
    moves = re.search(r"MOVES = \[(.*?)\];", (FOLDER / "debugger/toolbar.js").read_text(encoding="utf-8"), re.S)[1]
    asked |= set(re.findall(r'\["(\w+)",', moves))
    assert {"step", "resume", "break", "watchpoint", "focus", "show"} <= asked <= _COMMANDS.keys()
