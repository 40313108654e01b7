"""The environment a time holds for: the GPU and its driver, or the performance model and its version; and ptxas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from pyptx.analysis.gpus import gpu as gpu_of
from pyptx.analysis.model import MODEL_VERSION
from pyptx.toolchain import assembler
from pyptx.tune.clusters import OtherMachine
from pyptx.tune.dask_cluster import dask_children
from pyptx.tune.problem import Problem
from pyptx.tune.result_store import Key

__all__ = ["device_ordinal", "measured_environment", "modeled_environment", "study_key"]

_START_S = 120.0  # to start a process, create its context and flush the L2


def study_key(
    problem: Problem,
    gpu: str | None = None,
    options: Sequence[str] = (),
    cluster: Any = None,
    machine: OtherMachine | None = None,
) -> Key:
    """Return the key for results of a problem: measured where its arrays are on a GPU, modeled elsewhere.

    Args:
        problem: the kernel with its arguments.
        gpu: the GPU to model; None: the usual one of the kernel's target.
        options: ptxas options.
        cluster: Dask cluster whose workers measure; the GPU of the first worker stands for all.
        machine: another machine, which runs the study.
    """
    if machine is not None and machine.measures:
        about = machine.device()
        return Key(problem.key(), measured_environment(about["name"], about["driver"], options))
    if problem.runtime.name == "cuda" and cluster is not None:
        with dask_children(cluster) as workers:
            about = workers[0].ask("gpu", workers[0].ordinal, {}, limit_s=_START_S)
        return Key(problem.key(), measured_environment(about["gpu"], about["driver"], options))
    if problem.runtime.name == "cuda":
        driver = import_module("pyptx.runtime.cuda").BACKEND.driver
        name = driver.device(device_ordinal(problem)).name
        return Key(problem.key(), measured_environment(name, str(driver.version), options))
    return Key(problem.key(), modeled_environment(gpu_of(gpu or problem.kernel.arch).name, options))


def device_ordinal(problem: Problem) -> int:
    """Return the number of the GPU that holds a problem's arrays."""
    return int((problem.runtime.device or "cuda:0").partition(":")[2] or 0)


def measured_environment(gpu: str, driver: str, options: Sequence[str] = ()) -> Mapping[str, str]:
    """Return the environment of measured times."""
    return {"kind": "measured", "gpu": gpu, "driver": driver, **_assembler(options)}


def modeled_environment(gpu: str, options: Sequence[str] = ()) -> Mapping[str, str]:
    """Return the environment of modeled times."""
    return {"kind": "modeled", "gpu": gpu, "model": str(MODEL_VERSION), **_assembler(options)}


def _assembler(options: Sequence[str]) -> Mapping[str, str]:
    return {"ptxas": assembler()} | ({"options": " ".join(options)} if options else {})
