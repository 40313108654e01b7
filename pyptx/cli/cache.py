"""`pyptx cache`: where assembled kernels are kept, and how much room they take."""

from __future__ import annotations

import argparse

from pyptx.cache import get_global_cache

__all__ = ["add", "run", "size"]


def add(subparsers) -> None:
    summary = "show or clear the cache of assembled kernels"
    command = subparsers.add_parser(
        "cache", help=summary, description=summary.capitalize() + ". PYPTX_CACHE_DIR names another folder.")
    command.add_argument("action", nargs="?", choices=("show", "clear"), default="show", help="default: %(default)s")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    cache = get_global_cache()
    used = cache.disk_bytes()
    if arguments.action == "clear":
        cache.clear(disk=True)
        print(f"removed {size(used - cache.disk_bytes())} from {cache.cache_dir}")
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
