"""Addresses of far machines: `ssh://user@host:port?device=cuda:1&python=/opt/venv/bin/python`, `dask://scheduler:8786`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from pyptx._frozen import frozen
from pyptx.errors import OptionError

__all__ = ["OPTIONS", "Address"]

SCHEMES = ("ssh", "dask")
OPTIONS = ("device", "python")
_HOST = re.compile(r"[A-Za-z0-9_.:%\[\]-]+")
_EXAMPLE = "ssh://user@host, ssh://host:2222?device=cuda:1, or dask://scheduler:8786"


@frozen
class Address:
    """A far machine and what is used of it.

    Attributes:
        scheme: "ssh" or "dask".
        host: name of the host, also one of the user's SSH configuration.
        user, port: None: as the SSH configuration has them.
        device: "cuda:1", "sim", or a GPU of the table, which is simulated there; "" for its first GPU, else the simulator.
        python: Python on the far side; "" for the one that `pyptx remote setup` installs, else `python3`.
    """

    scheme: str
    host: str
    user: str | None = None
    port: int | None = None
    device: str = ""
    python: str = ""

    @classmethod
    def parse(cls, text: str, options: Mapping[str, str] | None = None) -> Address:
        """Return the address of a text; a name without a scheme is a host for SSH.

        Args:
            options: `device` and `python`, which replace those of the text.
        Raises:
            OptionError: it is not an address.
        """
        try:
            found = urlsplit(text if "://" in text else f"ssh://{text}")
            port, host, user = found.port, found.hostname, found.username
        except ValueError as wrong:
            raise OptionError(f"{text!r} is not an address: {wrong}", hint=f"for example {_EXAMPLE}") from None
        host = found.netloc.rpartition("@")[2].partition(":")[0] if host and ":" not in host else host  # keeps its case
        if found.scheme not in SCHEMES or not host or not _HOST.fullmatch(host) or host.startswith("-"):
            raise OptionError(f"{text!r} is not an address of a machine", hint=f"for example {_EXAMPLE}")
        if found.password or found.path not in ("", "/") or found.fragment:
            part = "a password" if found.password else "a path"
            raise OptionError(f"{text!r} has {part}", hint="use keys or an agent of SSH; for example " + _EXAMPLE)
        given = {**dict(parse_qsl(found.query)), **(options or {})}
        if unknown := given.keys() - set(OPTIONS):
            raise OptionError(f"{text!r}: unknown option {min(unknown)!r}; options: {', '.join(OPTIONS)}")
        if user is not None and (user := unquote(user)).startswith("-"):
            raise OptionError(f"{text!r}: {user!r} is not a user name")
        return cls(found.scheme, host, user, port, **{name: str(value) for name, value in given.items()})

    def __str__(self) -> str:
        query = urlencode(
            {name: value for name in OPTIONS if (value := getattr(self, name))}, safe=":/~", quote_via=quote
        )
        return f"{self.scheme}://{self.machine}" + (f"?{query}" if query else "")

    @property
    def machine(self) -> str:
        """User, host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (f"{self.user}@" if self.user else "") + host + (f":{self.port}" if self.port else "")
