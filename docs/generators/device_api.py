"""The pages of the CUDA driver API and runtime API of the simulated device."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.cuda_device.entry_points import entry_points
from pyptx.cuda_device.runtime.functions import runtime_functions

__all__ = ["driver_api", "runtime_api"]


def driver_api() -> Iterator[str]:
    entries = [entry for entry in entry_points() if entry.place != "internal"]
    done = [entry for entry in entries if entry.place != "refused"]
    yield "# Driver API of the simulated device"
    yield ""
    yield (
        f"The `libcuda.so.1` of `pyptx exec` exports {len(entries)} functions of the CUDA driver API, as the headers of "
        f"CUDA 13.5 declare them, and their variants for per-thread default streams. {len(done)} are implemented; the "
        "others return `CUDA_ERROR_NOT_SUPPORTED` and say so once on stderr. Functions for EGL and VDPAU are absent."
    )
    yield ""
    yield "| function | since | |"
    yield "| --- | --- | --- |"
    for entry in entries:
        state = "" if entry.place != "refused" else f"refused: {entry.reason}"
        yield f"| `{entry.symbol}` | {entry.since // 1000}.{entry.since % 1000 // 10} | {state} |"


def runtime_api() -> Iterator[str]:
    reasons = {entry.symbol: entry.reason for entry in entry_points()}
    states = {f.name: f.reason or reasons.get(f.driver, "") for f in runtime_functions()}
    public = {name: state for name, state in states.items() if not name.startswith("__")}
    yield "# Runtime API of the simulated device"
    yield ""
    yield (
        f"The `libcudart.so.13` of `pyptx exec` exports the {len(public)} functions of NVIDIA's library of that name, "
        f"and their variants for per-thread default streams. {list(public.values()).count('')} are implemented, over the "
        "[driver API](driver-api.md); the others return `cudaErrorNotSupported` and say so once on stderr."
    )
    yield ""
    yield "| function | |"
    yield "| --- | --- |"
    for name, reason in public.items():
        yield f"| `{name}` | {f'refused: {reason}' if reason else ''} |"
