"""Loading of PTX text on a GPU, under the name of the public 0.1 API."""

from __future__ import annotations

import re
from typing import Any

from pyptx.errors import DeviceError, PtxError
from pyptx.runtime.cuda import BACKEND
from pyptx.runtime.cuda.driver import Driver
from pyptx.toolchain import assemble

__all__ = ["compile_ptx_to_cubin"]


def compile_ptx_to_cubin(
    ptx: str, arch: str, kernel_name: str = "", dynamic_smem_bytes: int = 0, api: Any = None
) -> tuple[int, Any] | None:
    """Assemble PTX and load it on the current GPU.

    Args:
        ptx: PTX text.
        arch: target, for example "sm_90a".
        kernel_name: name of the entry; default: the first one.
        dynamic_smem_bytes: maximum dynamic shared memory of launches, in bytes.
        api: replacement of `cuda.bindings.driver`.
    Returns:
        The CUfunction as an int and the library it belongs to; None without cuda-bindings, a driver or a GPU.
    Raises:
        DeviceError: ptxas or the driver refused it; the message starts with "pyptx: failed to JIT-compile PTX".
    """
    driver = BACKEND.driver if api is None else Driver(api)
    try:
        if not driver.count:
            return None
    except PtxError:
        return None
    entry = kernel_name or next(iter(re.findall(r"\.entry\s+([\w$%]+)", ptx)), "")
    try:
        cubin = assemble(ptx, target=arch).data
        with driver.on(driver.device(driver.current())):
            library = driver.call("cuLibraryLoadData", cubin, [], [], 0, [], [], 0)
            kernel = driver.call("cuLibraryGetKernel", library, entry.encode())
            function = driver.call("cuKernelGetFunction", kernel)
            if dynamic_smem_bytes:
                attribute = driver.api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                driver.call("cuFuncSetAttribute", function, attribute, dynamic_smem_bytes)
    except PtxError as refused:
        raise DeviceError(f"pyptx: failed to JIT-compile PTX for {arch}: {refused}") from refused
    return int(function), library
