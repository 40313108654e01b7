"""The table of runtime functions, compared with NVIDIA's library and headers, and with the library that is built from it."""

from __future__ import annotations

import re
import struct
from importlib.util import find_spec
from pathlib import Path

import pytest

from pyptx.cuda_device.build_client import HERE, host_target
from pyptx.cuda_device.entry_points import entry_points
from pyptx.cuda_device.runtime.error_names import ERRORS
from pyptx.cuda_device.runtime.functions import runtime_functions
from pyptx.toolchain.elf import sections, string_at

OURS = HERE / "lib" / "libcudart.so.13"


def nvidia(pattern: str) -> Path:
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        for path in Path(folder).glob(f"cu13/{pattern}"):
            return path
    pytest.skip(f"no {pattern}: nvidia-cuda-runtime is not installed")


def exported(library: Path) -> set[str]:
    """Functions that a shared library defines."""
    parts = {section.name: section.data for section in sections(library.read_bytes())}
    table, names = parts[".dynsym"], parts[".dynstr"]
    found = set()
    for at in range(0, len(table), 24):
        name, kind, _, section = struct.unpack_from("<IBBH", table, at)
        if kind & 15 == 2 and section:
            found.add(string_at(names, name))
    return {name for name in found if name.startswith(("cuda", "__cuda"))}


@pytest.mark.skipif(host_target() is None, reason="needs Linux with glibc")
def test_the_library_exports_what_nvidias_does():
    assert exported(OURS) == exported(nvidia("lib/libcudart.so.13"))


def test_the_table_has_every_function_once():
    names = [function.name for function in runtime_functions()]
    base = {re.sub(r"_pt[sd][sz]$", "", name) for name in exported(nvidia("lib/libcudart.so.13"))}
    assert sorted(names) == sorted(base)


def test_functions_are_forwarded_to_entry_points_of_the_driver():
    known = {entry.symbol for entry in entry_points() if entry.place != "internal"}
    assert {f.driver for f in runtime_functions() if f.driver} <= known


def test_forwards_have_the_parameters_of_the_header():
    text = re.sub(r"/\*.*?\*/", "", nvidia("include/cuda_runtime_api.h").read_text(), flags=re.DOTALL)
    counts: dict[str, set[int]] = {}
    for name, parameters in re.findall(r"CUDARTAPI\s+(cuda\w+)\s*\(([^;{]*?)\)\s*;", text):
        listed = re.sub(r"\([^)]*\)", "", parameters).strip()
        counts.setdefault(name, set()).add(0 if listed in ("", "void") else listed.count(",") + 1)
    wrong = {f.name: f.count for f in runtime_functions() if f.count and f.count not in counts.get(f.name, {f.count})}
    assert not wrong


def test_errors_are_those_of_the_header():
    text = nvidia("include/driver_types.h").read_text()
    names = {int(number): name for name, number in re.findall(r"(cudaError\w+|cudaSuccess)\s*=\s*(\d+)", text)}
    assert {code: name for code, (name, _) in ERRORS.items()}.items() <= names.items()
