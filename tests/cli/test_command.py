"""The `pyptx` command and most of its subcommands."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.cells import FILE
from support.processes import python

from pyptx import cli
from pyptx.cli.kernels import CommandError, load_kernel, parameters

SECOND = """

@kernel
def wrong():
    value = reg.scalar(f32)
    ptx.inst.add.f33(value, value, value)
"""


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "one.py"
    path.write_text(FILE)
    return path


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.py"
    path.write_text(FILE + SECOND)
    return path


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = cli.main(list(map(str, arguments)))
    return (status, *capsys.readouterr())


def test_python_m_pyptx_lists_the_subcommands():
    done = python("-m", "pyptx", "--help")
    assert done.returncode == 0
    for command in ("demo", "lab", "doctor", "ptx", "sass", "view", "cache"):
        assert f"\n    {command} " in done.stdout


def test_help_does_not_suggest_another_package_of_the_same_name(capsys):
    for command in ("demo", "lab", "doctor", "ptx", "sass", "view", "cache"):
        with pytest.raises(SystemExit, match="0"):
            cli.main([command, "--help"])
        out = capsys.readouterr().out
        assert out.startswith("usage: ") and "pip install pyptx" not in out


def test_an_unknown_argument_is_an_error(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["doctor", "--loud"])
    assert caught.value.code == 2
    assert "unrecognized arguments: --loud" in capsys.readouterr().err


def test_ptx_prints_the_text_of_the_only_kernel_of_a_file(capsys, one: Path):
    status, out, err = run(capsys, "ptx", one, "-p", "N=64", "-p", "factor=3.0")
    assert (status, err) == (0, "")
    assert ".visible .entry double(" in out
    assert "0f40400000" in out  # 3.0


def test_ptx_takes_another_target(capsys, one: Path):
    _, out, _ = run(capsys, "ptx", one, "-p", "N=64", "--arch", "sm_80")
    assert ".target sm_80" in out


def test_ptx_writes_to_a_file(capsys, one: Path, tmp_path: Path):
    status, out, _ = run(capsys, "ptx", one, "-p", "N=64", "-o", tmp_path / "double.ptx")
    assert (status, out) == (0, "")
    assert (tmp_path / "double.ptx").read_text().startswith(".version")


def test_sass_prints_machine_code_and_its_resources(capsys, one: Path):
    status, out, _ = run(capsys, "sass", f"{one}:double", "-p", "N=64")
    assert status == 0
    assert out.startswith("// double for sm_90a")
    assert "double:  // " in out and " registers" in out
    assert "/*0000*/" in out
    assert "FMUL" in out
    assert "EXIT" in out


def test_sass_shows_control_fields_and_owners(capsys, one: Path):
    status, out, _ = run(capsys, "sass", f"{one}:double", "-p", "N=64", "--control")
    assert status == 0
    assert " live " in out and "wait ------ R- W" in out
    assert " PTX " in out


def test_a_ptx_file_is_a_kernel_too(capsys, one: Path, tmp_path: Path):
    text = tmp_path / "double.ptx"
    assert run(capsys, "ptx", one, "-p", "N=64", "-o", text)[0] == 0
    assert run(capsys, "ptx", text)[1] == text.read_text()
    status, out, _ = run(capsys, "sass", f"{text}:double", "--arch", "sm_90a")
    assert status == 0 and "FMUL" in out
    assert "FMUL" in run(capsys, "view", text)[1]
    status, _, err = run(capsys, "view", text, "-p", "N=64")
    assert status and "takes no -p" in err
    status, _, err = run(capsys, "sass", f"{text}:triple")
    assert status and "kernels there: double" in err


def test_view_prints_the_linked_lines(capsys, one: Path):
    status, out, _ = run(capsys, "view", one, "-p", "N=64")
    assert status == 0
    assert "ptx.inst.mul.f32(value, value, factor)" in out
    assert "FMUL" in out


def test_view_writes_a_standalone_page(capsys, one: Path, tmp_path: Path):
    page = tmp_path / "double.html"
    status, out, _ = run(capsys, "view", one, "-p", "N=64", "-o", page)
    assert (status, out) == (0, f"wrote {page}\n")
    text = page.read_text(encoding="utf-8")
    assert "FMUL" in text
    assert 'src="http' not in text and 'href="http' not in text


def test_view_writes_its_data(capsys, one: Path, tmp_path: Path):
    data = tmp_path / "double.json"
    assert run(capsys, "view", one, "-p", "N=64", "-o", data)[0] == 0
    assert json.loads(data.read_text())["kind"] == "linked"


def test_view_reads_source_lines_below_the_named_folder_only(capsys, one: Path, tmp_path: Path, monkeypatch):
    source, ptx = tmp_path / "src" / "k.cu", tmp_path / "k.ptx"
    source.parent.mkdir()
    source.write_text("the kernel line\n")
    ptx.write_text(
        f'.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "{source}"\n.visible .entry k()\n'
        "{\n.loc 1 1 0\nret;\n}\n"
    )
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert "the kernel line" in run(capsys, "view", ptx, "--source", source.parent)[1]
    assert "(source not found)" in run(capsys, "view", ptx, "--source", other)[1]
    assert "(source not found)" in run(capsys, "view", ptx)[1], "the working directory is the default"
    assert "not a folder" in run(capsys, "view", ptx, "--source", tmp_path / "none")[2]
    assert "--source applies to" in run(capsys, "view", one, "--source", tmp_path)[2]


def test_view_rejects_other_output_formats(capsys, one: Path, tmp_path: Path):
    status, _, err = run(capsys, "view", one, "-p", "N=64", "-o", tmp_path / "double.pdf")
    assert status == 1
    assert "expected a name that ends in .html or .json" in err


def test_an_invalid_instruction_is_reported_at_its_line(capsys, two: Path):
    status, _, err = run(capsys, "sass", f"{two}:wrong")
    assert status == 1
    assert f"{two}:20: " in err
    assert "'.f33'" in err


def test_a_missing_size_is_one_clear_line(capsys, one: Path):
    status, _, err = run(capsys, "ptx", f"{one}:double", "-p", "M=3")
    assert status == 1
    assert "no template parameter M" in err


def test_an_exception_of_a_kernel_is_reported_at_its_line(capsys):
    example = Path(__file__).parents[2] / "examples" / "sgemm.py"
    status, _, err = run(capsys, "ptx", example, "-p", "M=100", "-p", "N=64", "K=16", "BM=96")
    assert status == 1
    assert f"{example}:" in err
    assert "ValueError: sgemm: BM=96 is not a multiple of 64" in err


@pytest.mark.parametrize(
    "name, message",
    [
        ("missing.py", "no file missing.py"),
        ("missing.py:double", "no file missing.py"),
        ("no_such_module:double", "no file and no module 'no_such_module'"),
        ("json:double", "json defines no kernel 'double'; kernels there: none"),
        ("json", "json defines no kernel (a function decorated with @kernel)"),
    ],
)
def test_a_kernel_that_does_not_exist_is_an_error(capsys, name: str, message: str):
    status, _, err = run(capsys, "ptx", name)
    assert status == 1
    assert message in err


def test_a_file_with_two_kernels_needs_a_name(capsys, two: Path):
    status, _, err = run(capsys, "ptx", two)
    assert status == 1
    assert "defines 2 kernels (double, wrong); name one as" in err


def test_a_kernel_is_found_in_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "kernels_in_a_module.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    assert load_kernel("kernels_in_a_module:double").__name__ == "double"
    del sys.modules["kernels_in_a_module"]


def test_parameters_are_python_literals_or_text():
    assert parameters(["N=1024", "eps=1e-6", "fast=True", "mode=warp"]) == {
        "N": 1024,
        "eps": 1e-6,
        "fast": True,
        "mode": "warp",
    }


@pytest.mark.parametrize(
    "given, message",
    [(["N"], "expected NAME=VALUE"), (["3=N"], "expected NAME=VALUE"), (["N=1", "N=2"], "-p N is given twice")],
)
def test_invalid_parameters_are_errors(given: list[str], message: str):
    with pytest.raises(CommandError, match=message):
        parameters(given)


def test_lab_copies_the_notebooks_once_and_overwrites_nothing(tmp_path: Path):
    from pyptx.cli.lab import copy_notebooks

    folder = tmp_path / "mine"
    first = copy_notebooks(folder)
    assert "01-first-kernel.ipynb" in first
    (folder / first[0]).write_text("changed")
    assert copy_notebooks(folder) == []
    assert (folder / first[0]).read_text() == "changed"


def test_lab_explains_how_to_install_jupyterlab(capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("pyptx.cli.lab.find_spec", lambda name: None)
    status, _, err = run(capsys, "lab", tmp_path / "mine")
    assert status == 1
    assert "JupyterLab is not installed" in err
    assert "pip install '.[lab]'" in err
    assert not (tmp_path / "mine").exists()


def test_lab_passes_other_arguments_to_jupyterlab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    called = []
    monkeypatch.setattr("pyptx.cli.lab.find_spec", lambda name: object())
    monkeypatch.setattr("pyptx.cli.lab.become", lambda command, folder, environment: called.append((command, folder)))
    cli.main(["lab", str(tmp_path / "mine"), "--no-browser", "--port", "9000"])
    ((command, folder),) = called
    assert command[1:] == ["-m", "jupyterlab", "--no-browser", "--port", "9000"]
    assert folder == (tmp_path / "mine").resolve()


def test_doctor_lists_components_and_abilities(capsys):
    status, out, err = run(capsys, "doctor")
    found, works = out.split("\n\n")
    lines = {line[:10].rstrip(): line[11:] for line in found.splitlines()}
    tools = ["ptxas", "nvlink", "nvdisasm", "cuobjdump", "nvJitLink"]
    assert list(lines)[:9] == ["pyptx", "Python", "system", *tools, "simulator"]
    assert list(lines)[-2:] == ["cache", "variables"] and {"driver", "torch", "jax", "jupyterlab", "extension"} <= set(
        lines
    )
    assert lines["ptxas"].startswith("13.") and lines["simulator"].startswith("compiled core (")
    assert (status, err) == (0, "")
    for ability in ("machine code, and views of it", "NumPy arrays on the CPU, at full speed"):
        assert f"works  {ability}\n" in works
    if "cuda:0" not in lines:
        assert "-      kernels on a GPU\n       driver no NVIDIA driver on this machine" in works
        assert "-> install an NVIDIA GPU and its driver" in works


def test_doctor_prints_json(capsys):
    status, out, _ = run(capsys, "doctor", "--json")
    report = json.loads(out)
    assert status == 0 and report["ok"] and {"name", "usable", "text", "fix"} == set(report["findings"][0])
    assert {
        "name": "machine code, and views of it",
        "works": True,
        "needed": True,
        "reason": None,
        "fix": None,
    } in report["works"]


def test_doctor_reports_missing_components(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    done = python(
        "-m",
        "pyptx",
        "doctor",
        env={"PYPTX_PTXAS": str(tmp_path / "none"), "PYPTX_CACHE_DIR": str(tmp_path / "file" / "cache")},
    )
    assert done.returncode == 1
    assert "\nptxas      not usable (assembles PTX)\n" in done.stdout
    assert "BROKEN machine code, and views of it\n" in done.stdout
    assert "BROKEN shared cache of assembled kernels\n" in done.stdout
    assert f"PYPTX_PTXAS={tmp_path / 'none'} does not name a file" in done.stderr
    assert "cannot be written; set PYPTX_CACHE_DIR to another folder" in done.stderr


def test_doctor_on_other_machines(monkeypatch, tmp_path: Path):
    from pyptx.cli import environment
    from pyptx.sim.core import library
    from pyptx.toolchain import TOOLS, DetectedTool

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(
        environment.toolchain, "detect_tools", lambda: [DetectedTool(tool, problem="gone") for tool in TOOLS.values()]
    )
    monkeypatch.setattr(library, "problem", lambda: "the compiled core is missing")
    paths = tmp_path / "share" / "labextensions" / "pyptx-lab", tmp_path / "labconfig" / "page_config.json"
    paths[0].mkdir(parents=True)
    paths[1].parent.mkdir()
    paths[1].write_text('{"disabledExtensions": {"pyptx-lab": true}}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    found = environment.findings()
    of, works = {one.name: one for one in found}, {one.name: one for one in environment.abilities(found)}
    assert of["ptxas"].text.startswith("not published for") and not works["machine code, and views of it"].needed
    assert works["NumPy arrays on the CPU, at full speed"] == environment.Ability(
        "NumPy arrays on the CPU, at full speed",
        False,
        True,
        "simulator slow Python engine",
        "kernels run on the simulator's slow Python engine: the compiled core is missing",
    )
    if "jupyter_core" in sys.modules:
        assert of["extension"].text == f"disabled in {paths[1]}"
        assert of["extension"].fix == "jupyter labextension enable pyptx-lab"
        paths[1].write_text("{}")
        assert [one.usable for one in environment._jupyter() if one.name == "extension"] == [True]


def test_a_missing_tool_is_one_clear_error(one: Path, tmp_path: Path):
    done = python("-m", "pyptx", "sass", str(one), "-p", "N=64", env={"PYPTX_PTXAS": str(tmp_path / "none")})
    assert done.returncode == 1
    assert done.stderr.startswith(f"pyptx: PYPTX_PTXAS={tmp_path / 'none'} does not name a file")
    assert "Traceback" not in done.stderr


def test_cache_shows_and_clears_assembled_kernels(one: Path, tmp_path: Path, monkeypatch, capsys):
    from pyptx import cache

    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(cache, "_global", None)
    assert run(capsys, "cache")[1] == f"{tmp_path / 'kept'}: 0 B of at most 1.0 GiB\n"
    assert python("-m", "pyptx", "sass", str(one), "-p", "N=64").returncode == 0
    assert "KiB of at most" in run(capsys, "cache")[1]
    path = next((tmp_path / "kept").glob("*.cubin"))
    path.write_bytes(b"no cubin")
    verified = run(capsys, "cache", "verify")[1]
    assert "3 damaged files removed:" in verified and path.name in verified and not path.exists()
    cleared = run(capsys, "cache", "clear")[1]
    assert cleared.startswith("removed ") and "KiB from" in cleared
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_closed_output_pipe_ends_quietly(one: Path):
    import subprocess

    command = f"'{sys.executable}' -m pyptx sass '{one}' -p N=64 | head -1"
    from support.processes import variables

    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], env=variables(), text=True, capture_output=True)
    assert done.stdout.startswith("// double for ")
    assert done.stderr == ""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text, says",
    [
        (b"def f(:\n", ":1: SyntaxError: invalid syntax\n    def f(:"),
        (
            b"import no_such_thing\n",
            ":1: ModuleNotFoundError: No module named 'no_such_thing'\n    import no_such_thing",
        ),
        (b"x = 1\nraise RuntimeError('boom')\n", ":2: RuntimeError: boom"),
        (b"import sys\nsys.exit('no')\n", ":2: SystemExit: no"),
        (b"\x7fELF\0\0", "null bytes"),
        (b"", "defines no kernel (a function decorated with @kernel)"),
    ],
)
@pytest.mark.parametrize("command", ["ptx", "run", "check", "roofline"])
def test_a_file_that_cannot_be_executed_is_one_clear_error(capsys, tmp_path: Path, command, text, says):
    file = tmp_path / "wrong.py"
    file.write_bytes(text)
    status, out, err = run(capsys, command, file)
    assert status in (1, 2) and out == "" and err.startswith("pyptx: ") and str(file) in err
    assert says in err and "Traceback" not in err


@pytest.mark.parametrize(
    "name, says",
    [
        ("", "is a folder"),
        ("none.ptx", "no file"),
        ("empty.ptx", "empty.ptx: Parse error at 1:1: expected .version"),
        ("binary.ptx", "binary.ptx: Lex error"),
        ("binary.cubin", "not a complete cubin: its headers refer beyond its 90 bytes"),
    ],
)
def test_invalid_ptx_and_cubins_are_errors(capsys, tmp_path: Path, name: str, says: str):
    (tmp_path / "empty.ptx").write_text("")
    (tmp_path / "binary.ptx").write_bytes(b"\x7fELF\x02\x01\xff")
    (tmp_path / "binary.cubin").write_bytes(b"\x7fELF\x02\x01" + b"\xff" * 84)
    status, _, err = run(capsys, "view", tmp_path / name if name else tmp_path)
    assert status == 1 and says in err and "Traceback" not in err


@pytest.mark.parametrize(
    "words",
    [
        ("view", "{one}", "-p", "N=64", "-o"),
        ("check", "{one}", "--sarif"),
        ("run", "{one}", "--save"),
        ("roofline", "{one}", "--out"),
        ("tune", "{one}", "--space", "N=1", "--out"),
        ("ptx", "{one}", "-o"),
    ],
)
def test_an_output_that_cannot_be_written_is_reported_before_any_work(capsys, one: Path, tmp_path: Path, words):
    with pytest.raises(SystemExit) as ended:
        run(capsys, *(word.format(one=one) for word in words), tmp_path / "none" / "x.html")
    assert ended.value.code == 2 and f"no folder {tmp_path / 'none'}" in capsys.readouterr().err


def test_a_warning_is_one_line(capsys, tmp_path: Path, one: Path):
    loud = tmp_path / "loud.py"
    loud.write_text("import warnings\nwarnings.warn('mind this')\n" + one.read_text())
    status, out, err = run(capsys, "ptx", loud, "-p", "N=64")
    assert (status, err) == (0, f"{loud}:2: UserWarning: mind this\n") and ".version" in out


def test_doctor_reports_missing_widgets(monkeypatch: pytest.MonkeyPatch):
    from pyptx.cli import environment

    known = environment._version
    monkeypatch.setattr(environment, "_version", lambda name: None if name == "anywidget" else known(name) or "1.0")
    found = {one.name: one for one in environment._jupyter()}["widgets"]
    assert not found.usable and found.text.startswith("anywidget not installed") and "pip install '.[lab]'" in found.fix
