"""Report of the driver and GPUs, for `pyptx doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyptx.errors import DeviceError, LaunchError
from pyptx.runtime.cuda.driver import Driver, newer, remedy, version_text

__all__ = ["probe"]


def probe(api: Any = None, *, assembler: str | None = None) -> Iterator[tuple[str, bool, str, str | None]]:
    """Yield (name, usable, finding, suggested fix) of the driver and of each GPU.

    Args:
        api: `cuda.bindings.driver`, or a replacement.
        assembler: name and version of the assembler, for example "ptxas 13.5.37".
    """
    driver = Driver(api)
    try:
        count, known = driver.count, driver.version
    except (LaunchError, DeviceError) as missing:
        what = "the package cuda-bindings" if "cuda-bindings" in missing.message else "an NVIDIA GPU and its driver"
        yield "driver", False, missing.message, f"install {what}"
        return
    release = (assembler or "").rpartition(" ")[2]
    if newer(release, known, minor=False):
        yield (
            "driver",
            False,
            f"CUDA {version_text(known)}, too old for machine code of {assembler}",
            remedy(release, known),
        )
    else:
        yield "driver", True, f"CUDA {version_text(known)}", None
    if not count:
        yield "cuda:0", False, "no GPU", "NumPy arrays run on the simulator, other arrays under pyptx.use('sim')"
    for ordinal in range(count):
        try:
            device = driver.device(ordinal)
        except (LaunchError, DeviceError) as refused:
            yield f"cuda:{ordinal}", False, f"not usable: {refused.message}", None
            continue
        yield (
            f"cuda:{ordinal}",
            True,
            (f"{device.name}, sm_{device.target.number}, {device.smem_per_cta // 1024} KiB of shared memory per CTA"),
            None,
        )
