"""Random command lines over all subcommands, on odd files: an exit status and a message, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.commands import make_files

from pyptx import cli


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with ordinary and odd files, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "cache"))
    make_files(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str, str]:
    try:
        status = cli.main(list(arguments))
    except SystemExit as ended:
        status = int(ended.code or 0)
    return (status, *capsys.readouterr())


@pytest.mark.parametrize("command", ["ptx", "sass", "view", "run", "check", "debug", "roofline"])
@pytest.mark.parametrize("name", ["README.md", "x.cpp", "sub", "empty"])
def test_a_file_that_is_no_kernel_gets_one_line_with_the_accepted_kinds(folder, capsys, command: str, name: str):
    status, _, err = run(capsys, command, name)
    assert status and len(err.splitlines()) == 1 and "FILE.py:NAME" in err and "FILE.ptx:ENTRY" in err, err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["chek", "one.py"], "unknown command 'chek'; did you mean check?"),
        (["ptx", "two.ptx:call"], "did you mean calls?"),
        (["view", "ona.py"], "no file ona.py; did you mean one.py?"),
        (["transpile", "none.ptx"], "none.ptx: No such file or directory"),
        (["diff", "none.ptx", "two.ptx"], "no file none.ptx"),
        (["diff", "two.ptx:calls", "none.ptx:calls"], "no file none.ptx"),
    ],
)
def test_unknown_names_are_corrected(folder, capsys, arguments: list[str], message: str):
    status, _, err = run(capsys, *arguments)
    assert status and message in err and "Errno" not in err, err


def test_one_entry_is_listed_with_what_it_calls(folder, capsys):
    text = run(capsys, "ptx", "two.ptx:calls")[1]
    assert "twice" in text and "counts" not in text and "counter" not in text
    assert "counter" in run(capsys, "ptx", "two.ptx:counts")[1]
    assert "counts" not in run(capsys, "sass", "two.ptx:calls")[1]
    assert run(capsys, "diff", "two.ptx:calls", "two.ptx:calls")[0] == 0
    assert run(capsys, "diff", "two.ptx:calls", "two.ptx:counts")[0] == 1
