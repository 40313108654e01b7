"""Modeled times of launches for Triton's autotuner: cached on disk, and computed on all cores."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import wraps
from importlib.metadata import version
from typing import Any

import numpy as np

from pyptx.analysis.model import MODEL_VERSION
from pyptx.cache import CacheEntry, CacheKey, get_global_cache
from pyptx.launch_config import LaunchConfig
from pyptx.sim.memory.array_pointer import ArrayPointer
from pyptx.workbench.program import Entry

__all__ = ["modeled_seconds", "modeling_in_parallel"]


def modeled_seconds(entry: Entry, config: LaunchConfig, values: Sequence[Any]) -> float:
    """Return the modeled time of a launch in seconds, from the cache if its PTX, sizes and argument values are known."""
    about = _values_digest(values)
    if about is None:
        return entry.estimate(config, *values).seconds
    sizes = (config.grid, config.block, config.cluster, config.smem_bytes)
    key = CacheKey(
        "modeled time:" + hashlib.sha256(entry._specialization.emitted.text.encode()).hexdigest(),
        {"model": MODEL_VERSION, "version": version("pyptx-workbench"), "entry": entry.name},
        (sizes, about),
        entry._specialization.module.target.targets[0],
    )
    kept = get_global_cache().get(key)
    if kept is not None and "seconds" in kept.metadata:
        return float(kept.metadata["seconds"])
    seconds = entry.estimate(config, *values).seconds
    get_global_cache().put(CacheEntry(key, "", None, {"seconds": seconds}))
    return seconds


def _values_digest(values: Sequence[Any]) -> str | None:
    """Return a digest of arguments and of the memory that they point to; None if one is of another kind."""
    digest = hashlib.sha256()
    numbers: dict[int, int] = {}  # arrays that are digested, by their address
    for value in values:
        if isinstance(value, ArrayPointer):
            address = value.array.__array_interface__["data"][0]
            digest.update(f"{numbers.setdefault(address, len(numbers))}+{value.offset}+{address % 128}".encode())
            array = value.array if numbers[address] == len(numbers) - 1 else None
        elif isinstance(value, np.ndarray):
            array = value if value.flags.c_contiguous else None
        elif isinstance(value, int | float | bytes | np.generic | None):
            digest.update(repr(value).encode())
            continue
        else:
            return None
        if array is not None:
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(array.reshape(-1).view(np.uint8).data)
        digest.update(b";")
    return digest.hexdigest()


def modeling_in_parallel(
    prune: Callable[..., Sequence[Any]], model: Callable[[Callable[[], Any]], object]
) -> Callable[..., Sequence[Any]]:
    """Return `Autotuner.prune_configs` which also compiles and models the configurations on all cores.

    Triton then measures them one after another, with everything in caches. Configurations with hooks, which change
    arguments, are left to Triton.

    Args:
        prune: Triton's method.
        model: calls a function while launches are modeled instead of executed.
    """

    @wraps(prune)
    def prune_configs(self: Any, kwargs: dict[str, Any]) -> Sequence[Any]:
        configs = prune(self, kwargs)
        if len(configs) > 1 and not any(config.pre_hook for config in configs):
            model(lambda: _run_all(self, tuple(self.nargs.values()), kwargs, configs))
        return configs

    return prune_configs


def _run_all(tuner: Any, args: Sequence[Any], kwargs: dict[str, Any], configs: Sequence[Any]) -> None:
    def run(config: Any) -> None:
        with suppress(Exception):  # Triton makes the launch again, and raises or handles what is wrong with it
            tuner.fn.run(*args, **{**kwargs, **config.all_kwargs()})

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(run, configs))
