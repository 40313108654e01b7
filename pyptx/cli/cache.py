"""`pyptx cache`: where assembled kernels are kept, how much room they take, and whether they are whole."""

from __future__ import annotations

import argparse

from pyptx.cache import get_global_cache

__all__ = ["add", "run", "size"]


def add(subparsers) -> None:
    summary = "show, clear or verify the cache of assembled kernels"
    command = subparsers.add_parser(
        "cache", help=summary, description=summary.capitalize() + ". PYPTX_CACHE_DIR names another folder, "
        "PYPTX_CACHE_BYTES its limit: a number of bytes, or such as 500M and 2G.")
    command.add_argument("action", nargs="?", choices=("info", "clear", "verify"), default="info", help="default: "
                         "%(default)s; verify reads every entry and deletes what is damaged, which is then made anew")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    cache = get_global_cache()
    used = cache.disk_bytes()
    if arguments.action == "clear":
        cache.clear(disk=True)
        print(f"removed {size(used - cache.disk_bytes())} from {cache.cache_dir}")
    elif arguments.action == "verify":
        good, bad = cache.verify()
        print(f"{cache.cache_dir}: {good} whole, {len(bad)} damaged files removed" + ":" * bool(bad))
        for path in bad:
            print(f"  {path.name}")
    else:
        print(f"{cache.cache_dir}: {size(used)} of at most {size(cache.max_bytes)}")
    return 0


def size(count: int) -> str:
    """Bytes in words: `size(2_500_000)` is "2.4 MiB"."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
