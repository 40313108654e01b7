"""`pyptx diff`: its operands, and the exit status of diff(1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cells import FILE

from pyptx import cli, history
from pyptx.cli.kernels import load_kernel


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.py"
    path.write_text(FILE)
    return path


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = cli.main(list(map(str, arguments)))
    return (status, *capsys.readouterr())


def test_identical_kernels_give_0(capsys, one: Path):
    status, out, err = run(capsys, "diff", one, one, "-p", "N=64")
    assert (status, err) == (0, "")
    assert "Identical." in out


def test_another_parameter_on_one_side_gives_1(capsys, one: Path):
    status, out, err = run(capsys, "diff", f"{one}:double", "-p", "N=64", "-b", "factor=3.0")
    assert (status, err) == (1, "")
    assert "Different: 1 instruction differs." in out
    assert "occupancy" in out, "the kernel knows its block"
    assert run(capsys, "diff", one, "-p", "N=64", "-a", "factor=3.0", "-b", "factor=3.0")[0] == 0
    assert run(capsys, "diff", one, "-p", "N=64", "-b", "factor=3.0", "--level", "python")[0] == 0


def test_another_architecture_and_other_options(capsys, one: Path):
    status, out, _ = run(capsys, "diff", f"{one}:double@sm_80", f"{one}:double@sm_90a", "-p", "N=64")
    assert status == 1
    assert "double (sm_80)  |  double (sm_90a)" in out
    assert run(capsys, "diff", one, "-p", "N=64", "--options-a=-O3")[0] == 0


def test_ptx_files_may_be_compared(capsys, one: Path, tmp_path: Path):
    text = tmp_path / "double.ptx"
    assert run(capsys, "ptx", one, "-p", "N=64", "-o", text)[0] == 0
    assert run(capsys, "diff", text, text)[0] == 0
    other = tmp_path / "other.ptx"
    other.write_text(text.read_text().replace("0f40000000", "0f40400000"))
    status, out, _ = run(capsys, "diff", text, other)
    assert (status, "Different: 1 instruction differs." in out) == (1, True), out


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("ONE:nothing", "-p", "N=64"), "defines no kernel 'nothing'"),
        (("ONE", "missing.ptx", "-p", "N=64"), "missing.ptx"),
        (("missing.ptx", "-a", "N=64"), "is assembled as it is"),
        (("ONE", "-p", "N=64", "-o", "diff.txt"), "ends in .html or .json"),
        (("ONE", "-p", "M=64"), "M"),
        (("ONE", "-p", "N=64", "-b", "arch=sm_100a"), "@sm_100a"),
        (("ONE@sm_1", "-p", "N=64"), "sm_1"),
        (("ONE", "-p", "N=64", "--context", "-1"), "--context -1"),
    ],
)
def test_errors_have_exit_status_2(capsys, one: Path, arguments, says):
    status, out, err = run(capsys, "diff", *(part.replace("ONE", str(one)) for part in arguments))
    assert (status, out) == (2, "")
    assert says in err


def test_kept_versions_may_be_compared(capsys, one: Path):
    kernel = load_kernel(str(one))
    first, second = (history.keep(kernel.compile(N=64, factor=factor)).ref for factor in (2.5, 3.5))
    status, out, _ = run(capsys, "diff", first, second)
    assert status == 1
    assert out.startswith(f"{first} (")
    assert "Different: 1 instruction differs." in out
    assert run(capsys, "diff", second, one, "-p", "N=64", "factor=3.5")[0] == 0


def test_titles_of_the_sides_have_their_own_options(capsys, one: Path):
    out = run(capsys, "diff", one, "-p", "N=64", "-b", "factor=3.0", "--options-b=-O1")[1]
    assert "|  double factor=3.0 -O1 (" in out


def test_a_file_that_does_not_run_is_trouble_and_no_difference(capsys, tmp_path: Path):
    path = tmp_path / "broken.py"
    path.write_text("raise RuntimeError('no')")
    status, out, err = run(capsys, "diff", path, path)
    assert (status, out) == (2, "")
    assert "RuntimeError: no" in err


def test_output_goes_to_a_file(capsys, one: Path, tmp_path: Path):
    for suffix in (".html", ".json"):
        path = tmp_path / f"diff{suffix}"
        status, out, _ = run(capsys, "diff", one, "-p", "N=64", "-b", "factor=3.0", "-o", path)
        assert status == 1
        assert out.endswith(f"wrote {path}\n")
    assert json.loads(path.read_text())["kind"] == "diff"


@pytest.mark.slow
def test_cubins_may_be_compared_viewed_and_listed(capsys, one: Path, tmp_path: Path):
    compiled = load_kernel(str(one)).compile(N=64)
    cubin = compiled.save(tmp_path / "double.cubin")
    status, out, err = run(capsys, "diff", one, cubin, "-p", "N=64", "--level", "ptx")
    assert (status, err) == (0, ""), out
    assert run(capsys, "diff", one, cubin, "-p", "N=64")[:1] == (0,)
    status, out, err = run(capsys, "view", cubin)
    assert (status, err) == (0, "")
    assert "double for sm_90a" in out
    assert "mul.f32" in out
    assert f"registers {compiled.resources['double'].registers}" in out
    assert run(capsys, "ptx", cubin)[1].split() == compiled.ptx.split(), "ptxas keeps no blanks in front"
    assert run(capsys, "sass", cubin)[1] == compiled.listing()


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("view", "missing.cubin"), "no file missing.cubin"),
        (("sass", "x.cubin", "--arch", "sm_90"), "x.cubin is already compiled"),
        (("diff", "x.cubin", "-a", "N=3"), "x.cubin is compared as it is"),
    ],
)
def test_options_that_do_not_apply_to_a_cubin_are_errors(capsys, arguments, says):
    status, _, err = run(capsys, *arguments)
    assert status == 2 or (status == 1 and arguments[0] != "diff")
    assert says in err
