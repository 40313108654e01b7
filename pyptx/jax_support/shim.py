"""The handler for GPUs, launch.c: compiled against jaxlib's own header, loaded, and what it asks of Python."""

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
import jaxlib

from pyptx.cache import get_global_cache
from pyptx.errors import MissingToolError

__all__ = ["MAP_BYTES", "Record", "Shim", "Slot", "built"]

MAP_BYTES, _MESSAGE = 128, 1024
_SOURCE = Path(__file__).with_name("launch.c")
BUFFER, VALUE, MAP_POINTER, MAP_VALUE = range(4)


class Slot(ctypes.Structure):
    """A parameter, as launch.c has it."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("kind", "index", "offset", "size")]


class Record(ctypes.Structure):
    """A launch, as launch.c has it."""

    _fields_ = [("kernel", ctypes.c_void_p), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("cluster", ctypes.c_uint32 * 3), ("smem_bytes", ctypes.c_uint32), ("slots", ctypes.c_uint32),
                ("buffers", ctypes.c_uint32), ("maps", ctypes.c_uint32), ("block_bytes", ctypes.c_uint32),
                ("slot", ctypes.POINTER(Slot)), ("values", ctypes.c_char_p), ("name", ctypes.c_char_p)]


LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
                          ctypes.c_void_p)
_PREPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(ctypes.POINTER(Record)),
                            ctypes.POINTER(ctypes.c_char))
_ENCODE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(ctypes.c_uint64),
                           ctypes.POINTER(ctypes.c_ubyte), ctypes.POINTER(ctypes.c_char))


def built() -> Path:
    """The compiled handler in the cache folder, named by jaxlib's version and the source; compiled where it is missing.

    Raises:
        MissingToolError: there is no C compiler, or the compilation failed; the message holds the compiler's words.
    """
    source = _SOURCE.read_bytes()
    name = f"launch-jaxlib{jaxlib.__version__}-{hashlib.sha256(source).hexdigest()[:16]}.so"
    folder = get_global_cache().cache_dir / "jax"
    library = folder / name
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / name
        command = [*_compiler(), "-std=gnu11", "-O2", "-shared", "-fPIC", "-Wall", "-I", jax.ffi.include_dir(),
                   str(_SOURCE), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise MissingToolError("JAX on GPUs needs a small C library, which did not compile (the CUDA toolkit is "
                                   f"not needed; pip install ziglang, or set CC):\n{done.stderr.strip()}")
        os.replace(made, library)                               # whoever else builds it writes the same
    return library


def _compiler() -> list[str]:
    """The command of a C compiler: what CC names, else the package ziglang, else `cc` of this machine."""
    if told := os.environ.get("CC"):
        return shlex.split(told)
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all"]
    own = shutil.which("cc") or shutil.which("gcc")
    if own is None:
        raise MissingToolError("JAX on GPUs needs a small C library, which a C compiler has to make; there is none",
                               hint="pip install ziglang, or set CC to the command of a C compiler")
    return [own]


class Shim:
    """The handler, ready for XLA.

    Args:
        launch: address of cuLaunchKernelEx.
        prepare: from handle and GPU to the record of the launch, called once for each.
        encode: from handle, GPU and addresses of the buffers to the bytes of the maps, called once for each set.
        on_gpu: False on XLA's CPU platform, which has no streams.
    """

    def __init__(self, launch: int, prepare: Callable[[int, int], Record],
                 encode: Callable[[int, int, list[int]], list[bytes]], *, on_gpu: bool = True):
        self.library = ctypes.CDLL(str(built()))
        self._records: dict[tuple[int, int], Record] = {}
        self._prepare, self._encode = prepare, encode
        self._callbacks = _PREPARE(self._prepared), _ENCODE(self._encoded)
        self.library.pyptx_shim_start(ctypes.c_void_p(launch), *self._callbacks, ctypes.c_int(on_gpu))

    @property
    def capsule(self) -> Any:
        """What `jax.ffi.register_ffi_target` takes."""
        return jax.ffi.pycapsule(self.library.PyptxLaunch)

    def _prepared(self, handle: int, device: int, record: Any, message: Any) -> int:
        try:
            made = self._records[handle, device] = self._prepare(handle, device)
            record[0] = ctypes.pointer(made)
        except BaseException as fault:                          # nothing may escape into C; XLA raises it again
            return _tell(fault, message)
        return 0

    def _encoded(self, handle: int, device: int, buffers: Any, maps: Any, message: Any) -> int:
        try:
            count = self._records[handle, device].buffers
            data = b"".join(m.ljust(MAP_BYTES, b"\0") for m in self._encode(handle, device, buffers[:count]))
            ctypes.memmove(maps, data, len(data))
        except BaseException as fault:
            return _tell(fault, message)
        return 0


def _tell(fault: BaseException, message: Any) -> int:
    text = f"{type(fault).__name__}: {fault}".encode()[:_MESSAGE - 1] + b"\0"
    ctypes.memmove(message, text, len(text))
    return 1
