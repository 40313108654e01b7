"""The client library: where it is, and how programs are made to load it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pyptx.cuda_device.build_client import HERE, LIBRARY, host_target, source_hash
from pyptx.cuda_device.listener import VARIABLE
from pyptx.errors import BackendError

__all__ = ["GPU_VARIABLE", "client_library", "program_environment"]

GPU_VARIABLE = "PYPTX_DEVICE_GPU"  # name of the simulated GPU, for `pyptx.device`
SITES_VARIABLE = "PYPTX_CALL_SITES"  # src/connection.c


def client_library() -> Path:
    """Return the path of libcuda.so.1.

    Raises:
        BackendError: it cannot run on this system, was not built, or was built from other sources.
    """
    if host_target() is None:
        raise BackendError("the simulated CUDA device needs Linux on x86-64 or 64-bit Arm")
    path = HERE / LIBRARY
    hint = "in a source tree run: python -m pyptx.cuda_device.build_client"
    if not path.exists():
        raise BackendError(f"the client library {path} is missing; wheels of pyptx for Linux contain it", hint=hint)
    if f"pyptx-sources:{source_hash()}".encode() not in path.read_bytes():
        raise BackendError(f"the client library {path} was built from other sources", hint=hint)
    return path


def program_environment(
    socket: Path, gpu: str, environment: Mapping[str, str] = os.environ, *, check: bool = False
) -> dict[str, str]:
    """Return the environment of a program that is to use the device behind a socket.

    Args:
        socket: in the private folder of the device, which gets a link to the library.
        gpu: name of the simulated GPU.
        check: the device wants to know where the program calls the driver.
    """
    library = client_library()
    link = socket.parent / library.stem  # libcuda.so, the name by which some programs load it, which wheels cannot have
    if not link.is_symlink():
        link.symlink_to(library)
    before = environment.get("LD_LIBRARY_PATH")
    search = f"{library.parent}:{link.parent}" + (f":{before}" if before else "")
    own = {"LD_LIBRARY_PATH": search, VARIABLE: str(socket), GPU_VARIABLE: gpu}
    return {**environment, **own, **({SITES_VARIABLE: "1"} if check else {})}
