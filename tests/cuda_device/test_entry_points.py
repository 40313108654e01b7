"""The table of entry points, compared with NVIDIA's headers and with the handlers."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from pyptx.cuda_device.entry_points import entry_points, remote
from pyptx.cuda_device.error_codes import CODES
from pyptx.cuda_device.server.device_attributes import ATTRIBUTES
from pyptx.cuda_device.server.dispatch import CALLS
from pyptx.errors import BackendError


def header(name: str) -> str:
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations if spec and spec.submodule_search_locations else ():
        for path in Path(folder).glob(f"*/include/{name}"):
            return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.DOTALL)
    pytest.skip(f"no {name}: nvidia-cuda-runtime is not installed")


def test_the_table_has_every_function_of_the_headers_and_its_version():
    text = header("cudaTypedefs.h") + header("cudaProfilerTypedefs.h") + header("cudaGLTypedefs.h")
    declared = set(re.findall(r"\*PFN_(cu\w+?)_v(\d+)\)\(", text))
    named = {(e.base, str(e.since)) for e in entry_points() if e.place != "internal"}
    assert {pair for pair in declared if pair[0].startswith("cu")} == named


def test_variants_for_per_thread_streams_are_those_of_the_headers():
    text = header("cudaTypedefs.h") + header("cudaGLTypedefs.h")
    declared = set(re.findall(r"\*PFN_(cu\w+?)_v\d+_(ptsz|ptds)\)\(", text))
    assert {(e.base, e.variant) for e in entry_points() if e.variant} == declared


def test_every_entry_point_of_the_server_has_a_handler():
    assert {call.entry.symbol for call in CALLS.values()} == {entry.symbol for entry in remote()}


def test_a_refused_entry_point_says_why():
    assert all(entry.reason for entry in entry_points() if entry.place == "refused")


def test_error_codes_and_device_attributes_are_those_of_the_header():
    text = header("cuda.h")
    names = dict(re.findall(r"(CUDA_SUCCESS|CUDA_ERROR_\w+)\s*=\s*(\d+)", text))
    assert {name: str(code) for code, (name, _) in CODES.items()}.items() <= names.items()
    numbers = dict(re.findall(r"CU_DEVICE_ATTRIBUTE_(\w+)\s*=\s*(\d+)", text))
    assert {name: str(number) for number, (name, _) in ATTRIBUTES.items()}.items() <= numbers.items()


def test_a_client_library_of_other_sources_is_refused(monkeypatch: pytest.MonkeyPatch):
    from pyptx.cuda_device import environment

    assert environment.client_library().name == "libcuda.so.1"
    monkeypatch.setattr(environment, "source_hash", lambda: "0" * 16)
    with pytest.raises(
        BackendError, match=r"was built from other sources\nhint: .* python -m pyptx.cuda_device.build_client"
    ):
        environment.client_library()
