"""The compact form of a view's JSON data: raw deflate in base64, with integer columns as differences.

`renderer/packed.js` reads it. The packed form keeps the fields that identify a view: kind, version and title.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

__all__ = ["pack", "unpack"]

_RAW_DEFLATE = -15  # zlib's name for deflate without a header, with a window of 32 KiB
_COLUMN = 16  # shorter lists are kept as they are


def pack(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the packed form of a view's JSON data: kind, version, title and the string `packed`."""
    text = json.dumps(_encoded(data), separators=(",", ":"), ensure_ascii=False)
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW_DEFLATE)
    packed = packer.compress(text.encode()) + packer.flush()
    names = {name: data[name] for name in ("kind", "version", "title") if name in data}
    return names | {"packed": b64encode(packed).decode()}


def unpack(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the data that `pack` packed; other data is returned unchanged."""
    if "packed" not in data:
        return data
    return _decoded(json.loads(zlib.decompress(b64decode(data["packed"]), _RAW_DEFLATE)))


def _encoded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _encoded(item) for name, item in value.items()}
    if not isinstance(value, list | tuple) or not value:
        return value
    if not all(type(item) is int for item in value):
        nested = value[0] is None or isinstance(value[0], Mapping | list | tuple)  # else it has no columns
        return [_encoded(item) for item in value] if nested else list(value)
    if len(value) < _COLUMN:
        return list(value)
    steps = [value[0], *(after - before for before, after in pairwise(value))]
    return {"delta": steps} if len(set(steps)) < len(set(value)) else list(value)


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"delta"}:
            return list(accumulate(value["delta"]))
        return {name: _decoded(item) for name, item in value.items()}
    return [_decoded(item) for item in value] if isinstance(value, list) else value
