"""`pyptx check --replay`: the debugger at a finding, on the command line."""

from __future__ import annotations

import io
from pathlib import Path

from check import racy

from pyptx import cli

FILE = f"{Path(racy.__file__)}:barrier_missing"


def test_replay_opens_the_debugger_at_the_second_access(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("step\nquit\n"))
    assert cli.main(["check", FILE, "--replay", "data-race"]) == 1
    report, _, session = capsys.readouterr().out.partition("`help` lists the commands")
    assert "error[data-race]" in report and "error[data-race]" in session
    assert session.index("st.shared") < session.index("(pyptx) step"), "it is stopped at the second access"


def test_a_rule_without_a_finding_is_refused(capsys):
    assert cli.main(["check", FILE, "--replay", "deadlock"]) == 2
    assert "it has: data-race" in capsys.readouterr().err
