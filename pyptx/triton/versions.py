"""Supported versions of Triton."""

from __future__ import annotations

from importlib import metadata

from pyptx.errors import BackendError

__all__ = ["SUPPORTED", "require_triton"]

SUPPORTED = ((3, 8), (3, 9))
"""Minor versions whose driver interface pyptx implements and tests."""

_HINT = "pip install 'pyptx-workbench[triton]'"


def require_triton() -> str:
    """Return the version of Triton.

    Raises:
        BackendError: it is not installed, or its version is not supported.
    """
    try:
        version = metadata.version("triton")
    except metadata.PackageNotFoundError:
        raise BackendError("Triton is not installed", hint=_HINT) from None
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) not in SUPPORTED:
        listed = " and ".join(".".join(map(str, minor)) for minor in SUPPORTED)
        raise BackendError(f"Triton {version} is installed; pyptx supports {listed}", hint=_HINT)
    return version
