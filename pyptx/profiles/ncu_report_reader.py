"""Reports read with NVIDIA's Python module `ncu_report`, which is part of Nsight Compute.

Source: Nsight Compute, "Python Report Interface".
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from pyptx.errors import InputError
from pyptx.profiles.metrics import COUNTERS, stall_of
from pyptx.profiles.report import KernelProfile, ProfiledInstruction, ProfileReport, Quantity

__all__ = ["read_report"]


def read_report(path: Path) -> ProfileReport:
    """Return the launches of a report with their instructions and metrics.

    Raises:
        InputError: the module cannot read the file.
    """
    try:
        context = import_module("ncu_report").load_report(str(path))
        actions = [action for group in context for action in group]
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(
            f"ncu_report cannot read {path}: {error}", hint="the module must not be older than the ncu that wrote it"
        ) from error
    kernels = tuple(_kernel(action, number) for number, action in enumerate(actions))
    return ProfileReport(path.name, "ncu_report", kernels)


def _kernel(action: Any, number: int) -> KernelProfile:
    metrics: dict[str, Quantity] = {}
    by_address: dict[str, dict[int, float]] = {}
    for name in action.metric_names():
        metric = action.metric_by_name(name)
        value = metric.value()
        if isinstance(value, int | float):
            metrics[name] = Quantity(float(value), metric.unit() or "")
        if _is_of_instructions(name) and metric.has_correlation_ids():
            addresses = metric.correlation_ids()
            by_address[name] = {
                int(addresses.value(i)): float(metric.value(i) or 0) for i in range(metric.num_instances())
            }
    addresses = sorted({address for values in by_address.values() for address in values})
    device = action.metric_by_name("device__attribute_display_name")
    return KernelProfile(
        action.name(),
        number,
        gpu=str(device.value()) if device is not None else "",
        instructions=tuple(_instruction(action, address, by_address) for address in addresses),
        metrics=metrics,
    )


def _is_of_instructions(name: str) -> bool:
    """Return True for a metric that has a value for each machine instruction."""
    known = any(name in (one.metric, one.ideal) for one in COUNTERS.values())
    return known or (name.startswith("smsp__pcsamp_") and stall_of(name) is not None)


def _instruction(action: Any, address: int, by_address: dict[str, dict[int, float]]) -> ProfiledInstruction:
    stalls = {
        reason: values[address]
        for name, values in by_address.items()
        if (reason := stall_of(name)) and values.get(address)
    }
    counters = {"samples": sum(stalls.values())} if any(stall_of(name) for name in by_address) else {}
    for key, one in COUNTERS.items():
        if one.metric not in by_address or (one.ideal and one.ideal not in by_address):
            continue
        value = by_address[one.metric].get(address, 0.0)
        counters[key] = value - by_address[one.ideal].get(address, 0.0) if one.ideal else value
    return ProfiledInstruction(address, (action.sass_by_pc(address) or "").strip(), counters, stalls)
