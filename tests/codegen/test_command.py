"""`python -m pyptx.codegen` and `pyptx transpile`."""

from __future__ import annotations

import io
import sys

import pytest

from pyptx import cli
from pyptx.codegen.__main__ import main

TEXT = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry one() { ret; }
.visible .entry two() { ret; }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.ptx"
    path.write_text(TEXT)
    return path


def test_python_is_printed(file, capsys):
    assert main([str(file)]) == 0
    assert capsys.readouterr().out.startswith("from pyptx import kernel, reg, smem, ptx\n")


def test_options_may_stand_before_the_file(file, capsys):
    assert main(["--name", "first", "--sugar", "--kernel", "two", str(file)]) == 0
    out = capsys.readouterr().out
    assert "def first():" in out and 'name="two"' in out and "one" not in out


def test_standard_input_is_read(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["-"]) == 0
    assert "def two():" in capsys.readouterr().out


def test_several_files_go_into_a_folder(file, tmp_path):
    other = tmp_path / "other.ptx"
    other.write_text(TEXT)
    assert main([str(file), str(other), "-o", str(tmp_path / "out")]) == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["other.py", "some.py"]


def test_the_output_of_one_file_is_named(file, tmp_path):
    assert cli.main(["transpile", str(file), "-o", str(tmp_path / "k.py")]) == 0
    assert "def one():" in (tmp_path / "k.py").read_text()


def test_without_a_file_the_usage_is_shown(capsys):
    assert main([]) == 1
    assert "usage" in capsys.readouterr().err
    assert cli.main(["transpile"]) == 1


@pytest.mark.parametrize(
    "text, message",
    [(TEXT + "}", "bad.ptx: Parse error at 6:1"), (None, "No such file"), (TEXT, "the module has no entry 'three'")],
)
def test_errors_name_the_file_and_the_cause(text, message, tmp_path, capsys):
    path = tmp_path / "bad.ptx"
    if text:
        path.write_text(text)
    assert main([str(path), *(["--kernel", "three"] if text == TEXT else [])]) == 1
    assert message in capsys.readouterr().err
