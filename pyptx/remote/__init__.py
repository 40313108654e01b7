"""Launches, sweeps and measurements on another machine, through the user's own SSH client or a Dask cluster.

`pyptx.use("ssh://user@host")` and `pyptx.use("dask://scheduler:8786")` select it. The far side needs this version of pyptx
only; `pyptx remote setup HOST` installs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyptx.remote.address import OPTIONS, Address
from pyptx.remote.backend import RemoteBackend
from pyptx.remote.far import DaskFar, SshFar

__all__ = ["backend_at", "split_options"]

_backends: dict[str, RemoteBackend] = {}


def split_options(name: str, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the address with the options that are part of it, `device` and `python`, and the other options.

    Raises:
        OptionError: it is not an address.
    """
    own = {key: value for key, value in options.items() if key in OPTIONS}
    return str(Address.parse(name, own)), {key: value for key, value in options.items() if key not in own}


def backend_at(name: str) -> RemoteBackend:
    """Return the backend of an address, "ssh://user@host" or "dask://scheduler:8786"; it connects when it is used.

    Raises:
        OptionError: it is not an address.
    """
    found = _backends.get(name)
    if found is None:
        address = Address.parse(name)
        far = SshFar(address) if address.scheme == "ssh" else DaskFar(address)
        found = _backends[name] = _backends.setdefault(str(address), RemoteBackend(str(address), far))
    return found
