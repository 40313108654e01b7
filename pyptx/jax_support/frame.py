"""The part of XLA's FFI that a Python handler needs: call frames, errors, metadata.

Source: xla/ffi/api/c_api.h of jaxlib, API version 0, whose structures only grow at their ends.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from pyptx.errors import UnknownNameError

__all__ = ["HANDLER", "CallFrame", "arrays", "fail", "is_metadata_request", "scalar_attribute", "text_attribute"]

_API_VERSION = (0, 1)
_METADATA, _INTERNAL = 1, 13
_DTYPES = {
    1: np.bool_,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    6: np.uint8,
    7: np.uint16,
    8: np.uint32,
    9: np.uint64,
    10: np.float16,
    11: np.float32,
    12: np.float64,
    16: ml_dtypes.bfloat16,
    19: ml_dtypes.float8_e5m2,
    20: ml_dtypes.float8_e4m3fn,
}


class _Extension(ctypes.Structure):
    pass


_Extension._fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(_Extension))]


class _Version(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    ]


class _Metadata(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("version", _Version), ("traits", ctypes.c_uint32)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", ctypes.POINTER(_Metadata))]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


class _Buffers(ctypes.Structure):
    """Arguments, or results."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("items", ctypes.POINTER(ctypes.POINTER(_Buffer))),
    ]


class _Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Attributes(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("names", ctypes.POINTER(ctypes.POINTER(_Text))),
        ("items", ctypes.POINTER(ctypes.c_void_p)),
    ]


class _ErrorArguments(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    ]


class _Api(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("version", _Version),
        ("internal", ctypes.c_void_p),
        ("create_error", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_ErrorArguments))),
    ]


class CallFrame(ctypes.Structure):
    """Argument of an FFI handler."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension", ctypes.POINTER(_Extension)),
        ("api", ctypes.POINTER(_Api)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("args", _Buffers),
        ("rets", _Buffers),
        ("attrs", _Attributes),
    ]


HANDLER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CallFrame))


def is_metadata_request(frame: CallFrame) -> bool:
    """Answer a request for the handler's API version; return True if the call was such a request."""
    extension = frame.extension
    while extension:
        if extension.contents.type == _METADATA:
            metadata = ctypes.cast(extension, ctypes.POINTER(_MetadataExtension)).contents.metadata.contents
            metadata.version.major, metadata.version.minor = _API_VERSION
            metadata.traits = 0
            return True
        extension = extension.contents.next
    return False


def arrays(buffers: _Buffers, *, writeable: bool) -> Iterator[np.ndarray]:
    """Yield the buffers of a CPU call as arrays over the same memory."""
    for k in range(buffers.size):
        buffer = buffers.items[k].contents
        shape, dtype = tuple(buffer.dims[: buffer.rank]), np.dtype(_DTYPES[buffer.dtype])
        count = int(np.prod(shape, dtype=np.int64))
        memory = memoryview((ctypes.c_ubyte * (count * dtype.itemsize)).from_address(buffer.data) if count else b"")
        array = np.frombuffer(memory, dtype, count).reshape(shape)
        array.flags.writeable = writeable
        yield array


def scalar_attribute(frame: CallFrame, name: str) -> int:
    """Return the value of a 64-bit integer attribute."""
    address = _attribute(frame, name)
    if address is None:
        raise UnknownNameError(name)
    scalar = ctypes.cast(address, ctypes.POINTER(_Scalar)).contents
    return ctypes.cast(scalar.value, ctypes.POINTER(ctypes.c_int64)).contents.value


def text_attribute(frame: CallFrame, name: str) -> str:
    """Return the value of a string attribute; "" if there is none."""
    address = _attribute(frame, name)
    if address is None:
        return ""
    text = ctypes.cast(address, ctypes.POINTER(_Text)).contents
    return ctypes.string_at(text.data, text.size).decode()


def _attribute(frame: CallFrame, name: str) -> int | None:
    for k in range(frame.attrs.size):
        text = frame.attrs.names[k].contents
        if ctypes.string_at(text.data, text.size).decode() == name:
            return frame.attrs.items[k]
    return None


def fail(frame: CallFrame, message: str) -> int:
    """Return an error object for XLA to raise."""
    arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, message.encode(), _INTERNAL)
    return frame.api.contents.create_error(ctypes.byref(arguments))


def handler(function: Callable[[CallFrame], None]) -> Any:
    """Return an FFI handler that runs `function` and converts exceptions to errors of the computation."""

    def run(frame: Any) -> int | None:
        if is_metadata_request(frame.contents):
            return None
        try:
            function(frame.contents)
        except BaseException as error:  # exceptions must not propagate into XLA, which raises the error again
            return fail(frame.contents, f"{type(error).__name__}: {error}")
        return None

    return HANDLER(run)
