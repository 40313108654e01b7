"""What this machine has of what launching on a GPU needs, for `pyptx doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyptx.errors import DeviceError, LaunchError
from pyptx.runtime.cuda.driver import Driver, version_text

__all__ = ["survey"]


def survey(api: Any = None) -> Iterator[tuple[str, str]]:
    """Name and finding: the driver, each GPU, and what would make the rest work.

    Args:
        api: `cuda.bindings.driver`, or what stands for it.
    """
    driver = Driver(api)
    try:
        count = driver.count
        yield "driver", f"CUDA {version_text(driver.version)}"
    except LaunchError as missing:
        yield "driver", f"none ({missing.message}); NumPy arrays run on the simulator"
        return
    if not count:
        yield "GPU", "none; NumPy arrays run on the simulator"
    for ordinal in range(count):
        try:
            device = driver.device(ordinal)
        except (LaunchError, DeviceError) as refused:
            yield f"cuda:{ordinal}", f"not usable: {refused.message}"
            continue
        yield f"cuda:{ordinal}", (f"{device.name}, sm_{device.target.number}, {device.smem_per_cta // 1024} KiB of "
                                  "shared memory for a CTA")
