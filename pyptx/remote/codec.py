"""Values as JSON and binary parts. Decoding makes only the types listed here; nothing is unpickled or executed.

Binary data is referred to by its SHA-256, so that a part that the peer has is not sent again.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pyptx.analysis.model.attribution import Attribution, InstructionTime, LineTime
from pyptx.analysis.model.prediction import Prediction
from pyptx.analysis.occupancy import Occupancy
from pyptx.errors import ArgumentTypeError, InputError, PtxError
from pyptx.remote.framing import Bytes
from pyptx.remote.memory import ImageRef, MemoryRef, dtype_name, dtype_of
from pyptx.sim.counters import Counters
from pyptx.sim.memory.address_space import Buffer, Segment
from pyptx.sim.sanitizer import Access, AccessFinding
from pyptx.tensor_map import Im2col, TensorMap
from pyptx.tune.correctness import Tolerance
from pyptx.tune.job import Array, ArrayRef, Job, with_source

__all__ = ["CHUNK", "Decoder", "Encoder", "digest"]

_INLINE = 256  # bytes up to which binary data is in the message itself
CHUNK = 8 << 20  # bytes of a part; larger data is several, so that a transfer that was cut short resumes
_TAG = "~"
_RECORDS: Mapping[str, type] = {
    kind.__name__: kind
    for kind in (
        Access,
        AccessFinding,
        Array,
        ArrayRef,
        Attribution,
        Counters,
        ImageRef,
        Im2col,
        InstructionTime,
        Job,
        LineTime,
        MemoryRef,
        Occupancy,
        Prediction,
        Tolerance,
    )
}
_MAP = [name for name in inspect.signature(TensorMap).parameters if name not in ("array_or_address", "dtype")]
_ADDRESS = 1 << 20  # of the memory of a tensor map until it is known


def digest(data: Bytes) -> str:
    """Return the name of binary data: its SHA-256."""
    return hashlib.sha256(data).hexdigest()


class Encoder:
    """Encodes values.

    Attributes:
        parts: binary parts that the values refer to, by digest.
    """

    parts: dict[str, memoryview]

    def __init__(self) -> None:
        self.parts = {}

    def encode(self, value: Any) -> Any:
        """Return a value as JSON.

        Raises:
            ArgumentTypeError: values of this type are not sent to another machine.
        """
        match value:
            case None | bool() | str():
                return value
            case np.generic():
                return {_TAG: "number", "dtype": value.dtype.name, "data": self._data(value.tobytes())}
            case int():
                return int(value)
            case float():
                return float(value)
            case list():
                return [self.encode(item) for item in value]
            case tuple():
                return {_TAG: "tuple", "items": [self.encode(item) for item in value]}
            case Mapping():
                return {_TAG: "map", "items": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
            case bytes() | bytearray() | memoryview():
                return {_TAG: "bytes", "data": self._data(value)}
            case np.ndarray():
                return self._array(value)
            case np.dtype():
                return {_TAG: "dtype", "name": dtype_name(value)}
            case TensorMap():
                return self._tensor_map(value)
            case Segment():
                return self._segment(value)
        name = type(value).__name__
        if _RECORDS.get(name) is type(value):
            items = {f.name: self.encode(getattr(value, f.name)) for f in fields(value) if f.init}
            return {_TAG: name, "fields": items}
        raise ArgumentTypeError(
            f"a {type(value).__module__}.{name} cannot be sent to another machine",
            hint="arrays in host memory, numbers, strings, bytes and tensor maps can",
        )

    def _data(self, data: Bytes) -> Any:
        view = memoryview(data)
        if view.nbytes <= _INLINE:
            return base64.b64encode(view).decode()
        bytes_ = view.cast("B")
        names = []
        for start in range(0, view.nbytes, CHUNK):
            chunk = bytes_[start : start + CHUNK]
            names.append(digest(chunk))
            self.parts[names[-1]] = chunk
        return {"sha256": names}

    def _array(self, array: np.ndarray) -> Any:
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
        return {
            _TAG: "array",
            "dtype": dtype_name(array.dtype),
            "shape": list(array.shape),
            "data": self._data(flat.data),
        }

    def _tensor_map(self, value: TensorMap) -> Any:
        return {
            _TAG: "tensor_map",
            "source": self.encode(value.source),
            "address": None if value.source is not None else value.address,
            "element": value.element.name,
            "options": {name: self.encode(getattr(value, name)) for name in _MAP},
        }

    def _segment(self, value: Segment) -> Any:
        array = value.buffer.array
        return {
            _TAG: "segment",
            "address": int(value.address),
            "space": value.space,
            "name": value.buffer.name,
            "dtype": dtype_name(array.dtype),
            "shape": list(array.shape),
        }


class Decoder:
    """Decodes values.

    Args:
        part: returns a binary part by its digest; None if there is none.
    """

    def __init__(self, part: Callable[[str], Bytes | None]):
        self._part = part

    def decode(self, tree: Any) -> Any:
        """Return the value of JSON that `Encoder.encode` returned.

        Raises:
            InputError: it is none.
            KeyError: a part is missing.
        """
        try:
            return self._value(tree)
        except (InputError, _MissingPart):
            raise
        except (PtxError, TypeError, ValueError, LookupError, AttributeError, RecursionError) as wrong:
            raise InputError(f"the peer sent a malformed value: {wrong}") from None

    def _value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self._value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        kind = tree[_TAG]
        match kind:
            case "tuple":
                return tuple(self._value(item) for item in tree["items"])
            case "map":
                return {self._value(key): self._value(value) for key, value in tree["items"]}
            case "bytes":
                return bytes(self._data(tree["data"]))
            case "number":
                return np.frombuffer(self._data(tree["data"]), _dtype(tree["dtype"]))[0]
            case "array":
                return np.frombuffer(self._data(tree["data"]), _dtype(tree["dtype"])).reshape(tree["shape"])
            case "dtype":
                return _dtype(tree["name"])
            case "tensor_map":
                return self._tensor_map(tree)
            case "segment":
                array = np.zeros(tree["shape"], _dtype(tree["dtype"]))  # stands for memory of the other side
                return Segment(int(tree["address"]), Buffer(array, str(tree["name"])), str(tree["space"]))
        if kind not in _RECORDS:
            raise InputError(f"the peer sent a value of the unknown type {kind!r}")
        return _RECORDS[kind](**self._options(tree["fields"]))

    def _options(self, tree: Any) -> dict[str, Any]:
        return {str(name): self._value(value) for name, value in tree.items()}

    def _data(self, tree: Any) -> Bytes:
        if isinstance(tree, str):
            return base64.b64decode(tree, validate=True)
        found = []
        for name in tree["sha256"]:
            found.append(self._part(name))
            if found[-1] is None:
                raise _MissingPart(name)
        return found[0] if len(found) == 1 else b"".join(found)

    def _tensor_map(self, tree: Any) -> TensorMap:
        source, address = self._value(tree["source"]), tree["address"]
        found = TensorMap(address or _ADDRESS, dtype=str(tree["element"]), **self._options(tree["options"]))
        return found if source is None else with_source(found, source)


class _MissingPart(KeyError):
    """A part is missing; the argument is its digest."""


def _dtype(name: str) -> np.dtype:
    found = dtype_of(str(name))
    if found.hasobject or found.names is not None:
        raise InputError(f"the peer sent an array of {name}")
    return found
