"""Accesses of the host to memory of the device, and of kernels to memory of the host."""

from __future__ import annotations

import json
import signal

import pytest
from support.cuda_programs import PROGRAMS
from support.nvcc import build


@pytest.fixture(scope="session")
def host_access(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("host_access") / "host_access", [PROGRAMS / "host_access.cu"], "-g"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, text",
    [
        ("destination read", "The host reads byte 36 of host memory #2"),
        ("source written", "The host writes byte 36 of host memory #2"),
        ("source written by memset", "The host writes host memory #2"),
        ("managed read during a kernel", "which the kernel fill in stream"),
        ("managed variable read during a kernel", "The host reads byte 36 of variable"),
    ],
)
def test_the_line_that_uses_memory_too_early_is_reported(execute, host_access, tmp_path, name: str, text: str):
    done = execute([host_access, name], "--check", "--sarif", str(tmp_path / "found.sarif"))
    assert (done.returncode, done.stdout) == (1, name + "\n"), done.stderr
    assert text in done.stderr
    (result,) = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "host-access"
    source = (PROGRAMS / "host_access.cu").read_text().splitlines()
    at = [one["physicalLocation"]["region"]["startLine"] for one in result["locations"] + result["relatedLocations"]]
    branch = "\n".join(source).partition(f'is("{name}")) {{')[2].partition("} else if")[0]
    assert any("// wrong" in source[line - 1] and source[line - 1] in branch for line in at), at


@pytest.mark.slow
def test_accesses_after_a_wait_and_to_other_bytes_have_no_findings(execute, host_access):
    done = execute([host_access, "right"], "--check")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, what",
    [("device memory", "it is byte 36 of device memory #1"), ("freed memory", "host memory #2, which has been freed")],
)
def test_the_host_cannot_access_memory_of_the_device(execute, host_access, name: str, what: str):
    done = execute([host_access, name])
    assert done.returncode == 128 + signal.SIGSEGV
    assert "host code reads 0x3" in done.stderr and what in done.stderr
    checked = execute([host_access, name], "--check")
    assert "error[host-access]" in checked.stderr and "// wrong" in checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--schedule", "late"), ("--check",)], ids=["eager", "late", "checked"])
def test_kernels_access_registered_memory(execute, tmp_path, options: tuple[str, ...]):
    done = execute([str(build(tmp_path / "registered", [PROGRAMS / "registered.cu"]))], *options)
    assert done.stdout == "kernels access registered memory\n", done.stderr
