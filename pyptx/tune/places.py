"""What a time depends on beside the problem: the GPU and its driver, or the model and its version; ptxas."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pyptx.analysis
from pyptx.analysis.gpus import gpu as gpu_of
from pyptx.toolchain import assembler
from pyptx.tune.cluster import connected
from pyptx.tune.problem import Problem
from pyptx.tune.results import Key

__all__ = ["device_of", "key_of", "measured", "model_version", "modelled"]

_START_S = 120.0                                        # for a process, its context and the write over the L2

def key_of(problem: Problem, gpu: str | None = None, options: Sequence[str] = (), cluster: Any = None) -> Key:
    """Under which results of a problem are stored: measured where its arrays are on a GPU, modelled elsewhere.

    Args:
        gpu: whose times are modelled; None: the usual one of the kernel's target.
        options: of ptxas.
        cluster: whose workers measure; the first one's GPU stands for all.
    """
    if problem.runtime.name == "cuda" and cluster is not None:
        with connected(cluster) as workers:
            about = workers[0].ask("gpu", workers[0].ordinal, {}, limit_s=_START_S)
        return Key(problem.key(), measured(about["gpu"], about["driver"], options))
    if problem.runtime.name == "cuda":
        driver = import_module("pyptx.runtime.cuda").BACKEND.driver
        return Key(problem.key(), measured(driver.device(device_of(problem)).name, str(driver.version), options))
    return Key(problem.key(), modelled(gpu_of(gpu or problem.kernel.arch).name, options))


def device_of(problem: Problem) -> int:
    """The number of the GPU a problem's arrays are on."""
    return int((problem.runtime.device or "cuda:0").partition(":")[2] or 0)


def measured(gpu: str, driver: str, options: Sequence[str] = ()) -> Mapping[str, str]:
    return {"kind": "measured", "gpu": gpu, "driver": driver, **_common(options)}


def modelled(gpu: str, options: Sequence[str] = ()) -> Mapping[str, str]:
    return {"kind": "modelled", "gpu": gpu, "model": model_version(), **_common(options)}


def _common(options: Sequence[str]) -> Mapping[str, str]:
    return {"ptxas": assembler()} | ({"options": " ".join(options)} if options else {})


@cache
def model_version() -> str:
    """Eight hexadecimal digits of the model's sources: times of another version are not its own."""
    summed = hashlib.sha256()
    for path in sorted(Path(pyptx.analysis.__file__).parent.rglob("*.py")):
        summed.update(path.read_bytes())
    return summed.hexdigest()[:8]
