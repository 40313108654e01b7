"""The FFI handler for GPUs, launch.c: compilation against jaxlib's header, loading, and its callbacks into Python."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
from jaxlib.version import __version__ as jaxlib_version

from pyptx.cache import get_global_cache
from pyptx.errors import MissingToolError

__all__ = ["MAP_BYTES", "Record", "Shim", "Slot", "built"]

MAP_BYTES, _MESSAGE = 128, 1024
_SOURCE = Path(__file__).with_name("launch.c")
BUFFER, VALUE, MAP_POINTER, MAP_VALUE = range(4)


class Slot(ctypes.Structure):
    """`struct pyptx_slot` of launch.c: a parameter."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("kind", "index", "offset", "size")]


class Record(ctypes.Structure):
    """`struct pyptx_record` of launch.c: a launch."""

    _fields_ = [
        ("kernel", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("cluster", ctypes.c_uint32 * 3),
        ("smem_bytes", ctypes.c_uint32),
        ("slots", ctypes.c_uint32),
        ("buffers", ctypes.c_uint32),
        ("maps", ctypes.c_uint32),
        ("block_bytes", ctypes.c_uint32),
        ("slot", ctypes.POINTER(Slot)),
        ("values", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
    ]


LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
)
_PREPARE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.POINTER(Record)),
    ctypes.POINTER(ctypes.c_char),
)
_ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ctypes.c_ubyte),
    ctypes.POINTER(ctypes.c_char),
)


def built() -> Path:
    """Return the compiled handler in the cache folder, keyed by jaxlib's version and the source; compile it if missing.

    Raises:
        MissingToolError: no C compiler was found, or the compilation failed; the message contains the compiler's output.
    """
    source = _SOURCE.read_bytes()
    name = f"launch-jaxlib{jaxlib_version}-{hashlib.sha256(source).hexdigest()[:16]}.so"
    folder = get_global_cache().cache_dir / "jax"
    library = folder / name
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / name
        command = [
            *_compiler(),
            "-std=gnu11",
            "-O2",
            "-shared",
            "-fPIC",
            "-Wall",
            "-I",
            jax.ffi.include_dir(),
            str(_SOURCE),
            "-o",
            str(made),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise MissingToolError(
                "JAX on GPUs needs a small C library, which did not compile (the CUDA toolkit is "
                f"not needed; pip install ziglang, or set CC):\n{done.stderr.strip()}"
            )
        os.replace(made, library)  # concurrent builds write identical files
    return library


def _compiler() -> list[str]:
    """Return the command of a C compiler: the variable CC, else the package ziglang, else `cc` or `gcc`."""
    if told := os.environ.get("CC"):
        return shlex.split(told)
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all"]
    own = shutil.which("cc") or shutil.which("gcc")
    if own is None:
        raise MissingToolError(
            "JAX on GPUs needs a small C library, but no C compiler was found",
            hint="pip install ziglang, or set CC to the command of a C compiler",
        )
    return [own]


class Shim:
    """The loaded handler.

    Args:
        launch: address of cuLaunchKernelEx.
        prepare: (handle, GPU, description) -> record of the launch, called once for each handle and GPU.
        encode: (handle, GPU, buffer addresses) -> bytes of the tensor maps, called once for each set of addresses.
        on_gpu: False on XLA's CPU platform, which has no streams.
    """

    def __init__(
        self,
        launch: int,
        prepare: Callable[[int, int, str], Record],
        encode: Callable[[int, int, list[int]], list[bytes]],
        *,
        on_gpu: bool = True,
    ):
        self.library = ctypes.CDLL(str(built()))
        self._records: dict[tuple[int, int], Record] = {}
        self._prepare, self._encode = prepare, encode
        self._callbacks = _PREPARE(self._prepared), _ENCODE(self._encoded)
        self.library.pyptx_shim_start(ctypes.c_void_p(launch), *self._callbacks, ctypes.c_int(on_gpu))

    @property
    def capsule(self) -> Any:
        """The PyCapsule for `jax.ffi.register_ffi_target`."""
        return jax.ffi.pycapsule(self.library.PyptxLaunch)

    def _prepared(self, handle: int, device: int, text: Any, size: int, record: Any, message: Any) -> int:
        try:
            description = ctypes.string_at(text, size).decode() if size else ""
            made = self._records[handle, device] = self._prepare(handle, device, description)
            record[0] = ctypes.pointer(made)
        except BaseException as fault:  # exceptions must not propagate into C; XLA raises the error again
            return _report(fault, message)
        return 0

    def _encoded(self, handle: int, device: int, buffers: Any, maps: Any, message: Any) -> int:
        try:
            count = self._records[handle, device].buffers
            data = b"".join(m.ljust(MAP_BYTES, b"\0") for m in self._encode(handle, device, buffers[:count]))
            ctypes.memmove(maps, data, len(data))
        except BaseException as fault:
            return _report(fault, message)
        return 0


def _report(fault: BaseException, message: Any) -> int:
    text = f"{type(fault).__name__}: {fault}".encode()[: _MESSAGE - 1] + b"\0"
    ctypes.memmove(message, text, len(text))
    return 1
