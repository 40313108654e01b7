"""`pyptx cache`: the location, size, integrity and traces of the cache of assembled kernels."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pyptx.cache import get_global_cache
from pyptx.cli.kernels import help_options

__all__ = ["add", "run", "size"]


def add(subparsers: Any) -> None:
    summary = "show, clear or verify the cache of assembled kernels and traces"
    command = subparsers.add_parser(
        "cache",
        **help_options(
            summary,
            "pyptx cache",
            "pyptx cache clear",
            "pyptx cache traces",
            "PYPTX_CACHE_BYTES=500M pyptx cache info --json",
            more="PYPTX_CACHE_DIR sets the folder, PYPTX_CACHE_BYTES the size limit, such as 500M or 2G; "
            "PYPTX_TRACE_CACHE=0 traces kernels in every process.",
        ),
    )
    command.add_argument(
        "action",
        nargs="?",
        choices=("info", "clear", "verify", "traces"),
        default="info",
        help="default: %(default)s; verify reads every entry and deletes damaged ones; traces lists the kernels that a "
        "launch on a GPU need not trace, and why others are not cached",
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    cache = get_global_cache()
    used, good, bad = cache.disk_bytes(), 0, []
    facts = {"folder": str(cache.cache_dir), "limit": cache.max_bytes}
    if arguments.action == "clear":
        cache.clear(disk=True)
        facts |= {"bytes": cache.disk_bytes(), "removed": used - cache.disk_bytes()}
    elif arguments.action == "verify":
        good, bad = cache.verify()
        facts |= {"bytes": cache.disk_bytes(), "whole": good, "damaged": [path.name for path in bad]}
    elif arguments.action == "traces":
        facts |= {"bytes": used, "traces": _traces()}
    else:
        facts |= {"bytes": used}
    if arguments.json:
        print(json.dumps(facts, indent=1))
    elif arguments.action == "clear":
        print(f"removed {size(facts['removed'])} from {cache.cache_dir}")
    elif arguments.action == "verify":
        print(f"{cache.cache_dir}: {good} intact, {len(bad)} damaged files removed" + ":" * bool(bad))
        for path in bad:
            print(f"  {path.name}")
    elif arguments.action == "traces":
        for trace in facts["traces"]:
            state = f"not cached: {trace['refused']}" if trace["refused"] else f"cached, {trace['target']}"
            print(f"{trace['kernel']}: {state}")
        print(f"{len(facts['traces'])} traces in {cache.cache_dir}")
    else:
        print(f"{cache.cache_dir}: {size(used)} of at most {size(cache.max_bytes)}")
    return 0


def _traces() -> list[dict[str, Any]]:
    """Return kernel, target and reason of each recorded trace."""
    found = []
    for trace in get_global_cache().traces():
        targets = (trace.get("record") or {}).get("targets") or [None]
        found.append({"kernel": trace.get("kernel"), "target": targets[0], "refused": trace.get("refused")})
    return found


def size(count: int) -> str:
    """Return a number of bytes as text: `size(2_500_000)` is "2.4 MiB"."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
