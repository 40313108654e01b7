"""The JSON form of views: each says its kind and the version of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["require_kind"]


def require_kind(data: Mapping[str, Any], kind: str, version: int) -> None:
    """Raise ValueError for data of another kind, or of another version."""
    if data.get("kind") != kind or data.get("version") != version:
        raise ValueError(f"expected kind '{kind}', version {version}; "
                         f"got {data.get('kind')!r}, {data.get('version')!r}")
