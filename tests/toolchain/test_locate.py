"""Locations of NVIDIA's tools, and the message when one is missing."""

from __future__ import annotations

import os
import sys

import pytest

from pyptx.errors import MissingToolError, ToolError
from pyptx.toolchain import TOOLS, detect_tools, find
from pyptx.toolchain.locate import _installed, version_of

NAMES = ["ptxas", "nvlink", "nvdisasm", "cuobjdump", "nvJitLink"]


@pytest.fixture
def no_wheels(monkeypatch):
    """As on a machine where none of NVIDIA's wheels is installed."""
    monkeypatch.setattr("pyptx.toolchain.locate._candidates", lambda tool: iter(()))
    _installed.cache_clear()
    yield
    _installed.cache_clear()


@pytest.mark.parametrize("name", NAMES)
def test_the_wheels_bring_every_tool(name):
    assert find(name).is_file()


def test_the_survey_names_version_and_origin_of_each():
    found = detect_tools()
    assert [one.tool.name for one in found] == NAMES
    for one in found:
        assert one.problem is None
        assert one.version.startswith("13.")
        assert one.origin == one.tool.package


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_tool_names_its_package_and_its_variable(name, no_wheels, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingToolError) as error:
        find(name)
    tool = TOOLS[name]
    for expected in (name, "CUDA toolkit", tool.installation, tool.variable):
        assert expected in str(error.value)
    assert isinstance(error.value, RuntimeError)


def test_packages_of_a_conda_environment_are_found(no_wheels, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ptxas").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(MissingToolError):
        find("ptxas")
    (tmp_path / "conda-meta").mkdir()
    _installed.cache_clear()
    assert find("ptxas") == tmp_path / "bin" / "ptxas"


def test_a_tool_on_path_is_named_and_not_used(no_wheels, monkeypatch, tmp_path):
    (tmp_path / "ptxas").write_text("#!/bin/sh\n")
    (tmp_path / "ptxas").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match=f"such as PYPTX_PTXAS={tmp_path}/ptxas"):
        find("ptxas")


@pytest.mark.parametrize("name", NAMES)
def test_the_variable_decides(name, monkeypatch, tmp_path):
    mine = tmp_path / "mine"
    mine.touch()
    monkeypatch.setenv(TOOLS[name].variable, str(mine))
    assert find(name) == mine


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_that_names_nothing_is_an_error(name, monkeypatch, tmp_path):
    monkeypatch.setenv(TOOLS[name].variable, str(tmp_path / "nothing"))
    with pytest.raises(MissingToolError, match="does not name a file\nhint: set it to the path of"):
        find(name)


def test_the_survey_says_what_is_wrong_and_raises_nothing(monkeypatch, tmp_path):
    broken = tmp_path / "ptxas"
    broken.write_text("not a program")
    broken.chmod(0o755)
    monkeypatch.setenv("PYPTX_PTXAS", str(broken))
    monkeypatch.setenv("PYPTX_NVJITLINK", str(broken))
    problems = {one.tool.name: one.problem for one in detect_tools()}
    assert "does not run" in problems["ptxas"]
    assert "not a usable nvJitLink" in problems["nvJitLink"]
    assert problems["nvdisasm"] is None


def test_a_tool_that_was_replaced_is_asked_for_its_version_again(monkeypatch, tmp_path):
    tool = tmp_path / "ptxas"
    monkeypatch.setenv("PYPTX_PTXAS", str(tool))
    for number, release in enumerate(("13.2.1", "13.5.37")):
        tool.write_text(f"#!{sys.executable}\nprint('CudaBackend compilation tools, release, V{release}')\n")
        tool.chmod(0o755)
        os.utime(tool, ns=(number, number))
        assert version_of("ptxas") == release


def test_a_program_that_names_no_version_is_an_error(monkeypatch, tmp_path):
    tool = tmp_path / "ptxas"
    tool.write_text(f"#!{sys.executable}\nprint('hello')\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PYPTX_PTXAS", str(tool))
    with pytest.raises(ToolError, match="reports no version: 'hello'"):
        version_of("ptxas")
