"""Status of a far machine: Python, pyptx, devices and who uses them, and the size of its cache."""

from __future__ import annotations

from typing import Any

from pyptx.errors import PtxError
from pyptx.remote.address import Address
from pyptx.remote.child import SshChild

__all__ = ["status", "text"]


def status(address: Address) -> dict[str, Any]:
    """Return the status of a machine that is reached by SSH.

    Returns:
        {"address", "host", "python", "pyptx", "cpus", "executable", "cache_bytes", "cache_limit", "device", "gpus",
        "conditions", "queue"}: `device` is the one that launches would use, `queue` who has it and who waits, in order.
    Raises:
        RemoteError: it cannot be reached, or cannot serve.
    """
    child = SshChild(address)
    connection = child.connection
    try:
        found: dict[str, Any] = child.request(("status", address.device), 120)
    except PtxError as error:
        found = {
            "device": {"backend": None, "name": f"not usable: {error}", "queue": None},
            "gpus": [],
            "conditions": {},
        }
    queue = found["device"]["queue"]
    reply = connection.ask({"op": "status", "queue": queue})
    reply.wait()
    child.end()
    names = ("host", "python", "pyptx", "cpus", "executable")
    return {
        "address": str(address),
        **{name: connection.about.get(name) for name in names},
        **found,
        **{name: reply.message[name] for name in ("cache_bytes", "cache_limit", "queue")},
    }


def text(found: dict[str, Any]) -> str:
    """Return a status as lines for a terminal."""
    device = found["device"]
    more = [f"driver for CUDA {device['cuda']}"] if "cuda" in device else []
    now = found["conditions"]
    more += [f"{now['clock_hz'] / 1e6:.0f} MHz"] if "clock_hz" in now else []
    more += [f"{now['watts']:.0f} W"] if "watts" in now else []
    more += [f"{now['temperature']} °C"] if "temperature" in now else []
    lines = [
        found["address"],
        f"  host    {found['host']}, {found['cpus']} CPUs",
        f"  python  {found['python']}, {found['executable']}",
        f"  pyptx   {found['pyptx']}",
        f"  device  {', '.join([device['name'], *more])}",
    ]
    lines += [f"  gpus    {', '.join(found['gpus'])}"] if found["gpus"] else []
    lines += [f"  queue   {'; then '.join(found['queue']) or 'free'}"] if device["queue"] else []
    lines.append(f"  cache   {found['cache_bytes'] / 1e6:.1f} MB of at most {found['cache_limit'] / 1e9:.1f} GB")
    return "\n".join(lines)
