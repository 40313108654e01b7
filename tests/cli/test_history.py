"""`pyptx history`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.tracing import module_of, trace

from pyptx import cli, history, ptx, reg
from pyptx.assembly import compile_module
from pyptx.emitter import emit_lines
from pyptx.types import f32


def body(factor: float) -> None:
    value = reg.scalar(f32)
    ptx.inst.mul.f32(value, value, factor)


@pytest.fixture(autouse=True)
def two(own_cache: Path) -> None:
    """A history of two versions of the kernel `k`."""
    for factor in (2.0, 3.0):
        module = module_of({"k": trace(lambda factor=factor: body(factor))}, "sm_90a")
        emitted = emit_lines(module)
        compiled = compile_module(module, emitted.text, emitted.places, target="sm_90a", name="k")
        cell = f"# the cell of {factor}" if factor == 3 else None
        history.keep(compiled, params={"factor": factor}, cell_source=cell)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    status = cli.main(["history", *arguments])
    return (status, *capsys.readouterr())


def test_versions_are_listed(capsys):
    status, out, _ = run(capsys)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ["version", "k@1", "k@2"]
    assert "factor=2.0" in out
    assert run(capsys, "k")[1] == out


def test_the_list_as_json(capsys):
    run(capsys, "--name", "k@2", "fast")
    first, second = json.loads(run(capsys, "--json")[1])
    assert (first["ref"], first["params"], first["labels"]) == ("k@1", {"factor": 2.0}, [])
    assert (second["ref"], second["labels"], second["target"]) == ("k@2", ["fast"], "sm_90a")


def test_a_version_is_labelled_and_shown(capsys):
    assert "base" in run(capsys, "--name", "k@1", "base")[1]
    assert run(capsys, "--view", "base")[1].startswith("k@1 for sm_90a, PTX ")
    assert run(capsys, "k", "--ptx", "@-1")[1] == history.version("k@2").ptx


def test_the_source_is_the_cell_or_else_the_functions(capsys):
    assert run(capsys, "--source", "k@2")[1] == "# the cell of 3.0\n"
    assert "    ptx.inst.mul.f32(value, value, factor)\n" in run(capsys, "--source", "k@1")[1]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["j"], "'j' has no recorded version\nhint: recorded: k@1 to @2"),
        (["--view", "k@3"], "k has no version 'k@3'; it has k@1, k@2 and no labels"),
        (["--name", "k@1", "1"], "'1' is not a label"),
    ],
)
def test_an_unknown_version_is_one_clear_error(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("pyptx: ")
    assert message in err


def test_two_versions_are_compared(capsys):
    assert cli.main(["diff", "k@1", "k@2", "--level", "ptx"]) == 1
    out, _ = capsys.readouterr()
    assert "k@1" in out
    assert "k@2" in out
    assert cli.main(["diff", "k@1", "k@1"]) == 0
    capsys.readouterr()
    assert cli.main(["diff", "k@1", "k@9"]) == 2
    assert "k has no version 'k@9'" in capsys.readouterr().err
