"""`pyptx debug`: scripts of commands, their output, and the exit status."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyptx.cli import main
from pyptx.cli.debugging.prompt import Prompt
from pyptx.cli.debugging.registry import COMMANDS
from tests.debug import kernels

HERE = str(Path(kernels.__file__))
GEMM = str(Path(__file__).parents[2] / "examples" / "hopper" / "gemm.py")
SMALL = ["-p", "M=128", "N=64", "K=128", "BM=128", "BN=64", "BK=64", "STAGES=2"]


def line_of(text: str, file: str = HERE) -> int:
    return next(n for n, line in enumerate(Path(file).read_text(encoding="utf-8").split("\n"), 1) if text in line)


def debug(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str]:
    """Exit status and output of the command with these commands."""
    options = [part for command in arguments[1:] if command[:1] != "-" for part in ("-c", command)]
    status = main(
        [
            "debug",
            arguments[0],
            *(SMALL if "gemm.py" in arguments[0] else []),
            *(a for a in arguments[1:] if a[:1] == "-"),
            *options,
        ]
    )
    return status, capsys.readouterr().out


def test_a_script_shows_each_stop_with_its_lines(capsys):
    status, out = debug(
        capsys,
        f"{HERE}:split",
        f"break {line_of('add(total, 1)')}",
        "continue",
        "where",
        "step",
        "next",
        "print total",
        "print/x lane",
        "continue",
        "info breakpoints",
    )
    assert status == 0
    assert f"->{line_of('add(total, 1)'):>5}          add(total, 1)".replace("        add", "            add") in out
    assert "calls kernels.py:" in out and "in add: ptx.inst.add.u32(total, total, twice)" in out
    assert "lanes 0xaaaaaaaa" in out and "total = " in out and "0x1f" in out
    assert re.search(r"breakpoint 1 kernels.py:\d+, 2 hits", out)


def test_a_deadlock_is_a_stop_that_can_be_inspected(capsys):
    status, out = debug(capsys, f"{HERE}:stuck", "continue", "info barriers", "info warps", "back", "continue")
    assert status == 1
    assert "deadlock: every thread of CTA (0, 0, 0)" in out and "bar was initialized with 2 arrivals; 1 arrived" in out
    assert re.search(r"bar +0 +0x400 +0 +1 of 2 arrivals +warp 0, warp 1, warp 2, warp 3", out)


def test_a_fault_stops_at_the_faulting_instruction(capsys):
    status, out = debug(capsys, f"{HERE}:scale", "-pN=100", "continue", "print i", "back", "print value")
    assert status == 0 and "fault: ld.global.f32" in out and "0 bytes past the end of x[100] float32" in out
    assert "i = 96, 97 .. 127" in out and "value = 0.0 in all lanes" in out


def test_a_race_is_found_by_going_back_from_a_wrong_element(capsys):
    """A thread reads an element that the other warp has not written yet."""
    status, out = debug(
        capsys,
        f"{HERE}:racy",
        "watch y[0]",
        "continue",
        "back 3",
        "print other",
        "print shared('f32', start + (63 - tid) * 4)",
        "info warps",
    )
    assert status == 0 and "by warp 0 of CTA 0 at kernels.py:" in out
    assert "other = 0.0 in all lanes" in out and re.search(r"  0  1 +ready +kernels.py:\d+ +mov.u32 %r0, smem", out)
    assert "= 0.0 in all lanes" in out


def test_a_product_shows_matrices_tiles_and_the_timeline(capsys):
    status, out = debug(
        capsys,
        f"{GEMM}:gemm",
        "--schedule=late",
        "break op:wgmma.wait_group if stage.index == 1",
        "continue",
        "fragment parts[0].sums rows=0,2 columns=0,4",
        "fragment parts[0].sums rows=0,1 owners",
        "tile ring.memory[0] type=bf16 shape=128,64 swizzle=128B rows=0,2 columns=0,8",
        "tile ring.memory[0] type=bf16 shape=128,64 swizzle=128B rows=1,1 banks",
        "info operations",
        "timeline",
        "info locals",
        "info registers",
        "info registers stage.index",
        "x/4bf16 ring.start",
        "info arguments",
        "display stage.index",
        "display fragment parts[0].sums rows=0,1 columns=0,2",
        "step",
        "list",
        "list ptx",
        "focus warp 5 lane 3",
        "finish",
        "goto 100",
        "rewind",
    )
    assert status == 0
    assert "parts[0].sums: D 64 x 64 f32 of wgmma.mma_async" in out and "w4t0r0  w4t0r1  w4t1r0" in out
    assert "ring.memory[0]: bf16 128 x 64 at 0x400, shared, swizzle 128B" in out
    assert re.search(r"\n +1 +4 +4 +5 +5 +6 +6 +7 +7", out)  # banks of row 1: chunk 0 is in place 1
    assert re.search(r"CTA 0 wgmma +~", out) and "stage.index = 1" in out
    assert re.search(r"c +bfloat16\[128, 64\] +0x7", out)


@pytest.mark.parametrize(
    "command, message",
    [
        ("frobnicate", "no command 'frobnicate'"),
        ("print", "the expression is missing"),
        ("break", "the location is missing"),
        ("print/q total", "expected /x, /b, /d, or a type"),
        ("info nothing", "expected one of breakpoints, warps"),
        ("focus warp", "expected focus"),
        ("step x", "N is an integer"),
        ("tile", "the name or address is missing"),
        ("tile lane swizzle=5B", "expected none, 32B, 64B, or 128B"),
        ("fragment lane", "is not an operand of a matrix"),
        ("tile lane color=red", "unknown option color="),
        ("watch lane[3]", "cannot be watched"),
        ("x lane", "as in x/8f32"),
        ("tile total", "total"),
        ("d 7", "no breakpoint 7; breakpoints: none"),
        ("print lane +", "is not a Python expression"),
    ],
)
def test_a_failing_command_explains_itself_and_ends_the_script(capsys, command: str, message: str):
    status, out = debug(capsys, f"{HERE}:split", "until op:setp", command, "rewind")
    if command == "tile total":  # a number may be an address
        assert status == 2 and "are outside of the CTA's shared memory" in out
        return
    assert status == 2 and message in out and "(pyptx) rewind" not in out


def test_every_command_has_help(capsys):
    status, out = debug(capsys, f"{HERE}:split", "help", *(f"help {name}" for name in COMMANDS), "? b")
    assert status == 0
    assert all(f"\n    {known.name}" in out and known.examples for known in COMMANDS.values())
    shorts = [short for known in COMMANDS.values() for short in known.shorts]
    assert len(set(shorts) | COMMANDS.keys()) == len(shorts) + len(COMMANDS)


def test_commands_are_read_from_a_file_or_standard_input(capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = tmp_path / "commands.txt"
    script.write_text("# comment\nnext\n\nsave out.npz\nquit\nframble\n")
    monkeypatch.chdir(tmp_path)
    assert main(["debug", f"{HERE}:split", "-x", str(script)]) == 0
    assert "wrote x, y to out.npz" in capsys.readouterr().out and (tmp_path / "out.npz").is_file()
    with script.open() as lines:
        monkeypatch.setattr("sys.stdin", lines)
        assert main(["debug", f"{HERE}:split"]) == 0
    assert "(pyptx) next" in capsys.readouterr().out


def test_a_kernel_or_script_that_does_not_exist_is_an_error(capsys):
    assert main(["debug", f"{HERE}:nothing"]) == 2 and "defines no kernel 'nothing'" in capsys.readouterr().err
    assert main(["debug", f"{HERE}:split", "-x", "nowhere.txt"]) == 2 and "no such file" in capsys.readouterr().err


def test_tab_completes_commands_locations_and_names():
    import numpy as np

    with kernels.split.debug(np.zeros(32, np.uint32)) as session:
        prompt = Prompt(session)
        assert prompt.completions("cont", "cont") == ["continue "]
        assert f"kernels.py:{line_of('lane = reg.from_(ptx.special.tid')}" in prompt.completions("b kern", "kern")
        assert prompt.completions("info b", "b") == ["barriers", "breakpoints"]
        assert {"total", "lane"} <= set(prompt.completions("p ", ""))
        assert prompt.completions("p %r", "%r")
