"""Attributes of kernels, their parameters and resources."""

from __future__ import annotations

import struct
from math import prod

from pyptx.analysis.occupancy import occupancy
from pyptx.assembly import Assembly, compile_module
from pyptx.cuda_device.server.devices import check_device
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.modules import Kernel
from pyptx.cuda_device.server.session import Session
from pyptx.errors import PtxError
from pyptx.isa import targets
from pyptx.launch_config import dim3
from pyptx.toolchain.cubin_info import read_cubin_info

__all__ = ["DEFAULT_SHARED_BYTES", "attribute", "dynamic_limit", "registers", "required_cluster", "resident_ctas"]

DEFAULT_SHARED_BYTES = 48 << 10  # of a CTA without opt-in
_PORTABLE_CLUSTER = 8

# CUfunction_attribute
MAX_THREADS, SHARED, CONST, LOCAL, REGISTERS, PTX_VERSION, BINARY_VERSION, CACHE_CA, MAX_DYNAMIC, CARVEOUT = range(10)
CLUSTER_REQUIRED, CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH, NON_PORTABLE, CLUSTER_POLICY = range(10, 16)
_SETTABLE = (MAX_DYNAMIC, CARVEOUT, CLUSTER_WIDTH, CLUSTER_HEIGHT, CLUSTER_DEPTH, NON_PORTABLE, CLUSTER_POLICY)


def directives(kernel: Kernel) -> dict[str, tuple[int, ...]]:
    """Return the performance directives of a kernel, such as reqntid."""
    return {d.name: tuple(map(int, d.values)) for d in kernel.program.entry.directives if d.values}


def required_cluster(kernel: Kernel) -> tuple[int, ...] | None:
    """Return the cluster that `.reqnctapercluster` requires; None without it."""
    found = directives(kernel).get("reqnctapercluster")
    return None if found is None else dim3(found, "reqnctapercluster")


def most_threads(kernel: Kernel) -> int:
    """Return the limit on threads of a CTA that its directives and registers set."""
    found = directives(kernel)
    limit = min(1024, *(prod(found[name]) for name in ("reqntid", "maxntid") if name in found), 1024)
    per_warp = -(-32 * registers(kernel) // 256) * 256
    return min(limit, 65536 // per_warp // 4 * 4 * 32) if per_warp else limit


def registers(kernel: Kernel) -> int:
    """Return the registers of a thread: of the cubin that was loaded, else as ptxas assembles the PTX.

    Without ptxas it is the most that its launch bounds permit.
    """
    known = kernel.__dict__.get("_registers")
    if known is None:
        known = kernel.__dict__["_registers"] = _registers(kernel)
    return known


def _registers(kernel: Kernel) -> int:
    module = kernel.module
    try:
        if module.image.startswith(b"\x7fELF"):
            found = read_cubin_info(module.image).resources
        else:
            text = module.text
            compiled: Assembly = compile_module(
                module.tree, text, [None] * (text.count("\n") + 1), target=_target(kernel), name=kernel.name
            )
            found = compiled.resources
        return found[kernel.name].registers
    except (PtxError, KeyError):
        bounds = directives(kernel)
        if "maxnreg" in bounds:
            return bounds["maxnreg"][0]
        threads = min(1024, *(prod(bounds[name]) for name in ("reqntid", "maxntid") if name in bounds), 1024)
        return min(255, 65536 // max(threads, 32) // 8 * 8)


def _target(kernel: Kernel) -> str:
    """Return the target to assemble for: the GPU's, with the suffix of the module."""
    wanted = targets.parse(kernel.module.tree.target.targets[0])
    number = targets.parse(kernel.module.session.gpu.target).number
    return f"sm_{number}{wanted.suffix}"


def resident_ctas(kernel: Kernel, threads: int, dynamic: int) -> int:
    """Return the CTAs of a kernel that an SM holds at a time, with so many threads and bytes of dynamic shared memory."""
    if not 0 < threads <= most_threads(kernel) or dynamic > dynamic_limit(kernel):
        return 0
    found = occupancy(
        kernel.module.session.gpu.target,
        threads=threads,
        registers=registers(kernel),
        shared_bytes=kernel.program.symbols.shared_bytes,
        dynamic_shared_bytes=dynamic,
    )
    return found.blocks


def dynamic_limit(kernel: Kernel) -> int:
    """Return the most dynamic shared memory that a launch may have, in bytes."""
    return kernel.settings.get(MAX_DYNAMIC, max(0, DEFAULT_SHARED_BYTES - kernel.program.symbols.shared_bytes))


def attribute(kernel: Kernel, number: int) -> int:
    """Return a function attribute.

    Raises:
        DriverError: it is unknown.
    """
    program, cluster = kernel.program, required_cluster(kernel) or (0, 0, 0)
    match number:
        case 0:
            return most_threads(kernel)
        case 1:
            return program.symbols.shared_bytes
        case 2:
            return len(program.symbols.const_bytes)
        case 3:
            return program.symbols.local_bytes
        case 4:
            return registers(kernel)
        case 5:  # the virtual architecture, compute_90: libraries choose their code by it
            return targets.parse(kernel.module.tree.target.targets[0]).number
        case 6:
            return targets.parse(kernel.module.session.gpu.target).number
        case 7:
            return 0
        case 8:
            return dynamic_limit(kernel)
        case 9:
            return kernel.settings.get(CARVEOUT, -1)
        case 10:
            return int(cluster != (0, 0, 0))
        case 11 | 12 | 13:
            return kernel.settings.get(number, cluster[number - CLUSTER_WIDTH])
        case 14 | 15:
            return kernel.settings.get(number, 0)
    raise DriverError("INVALID_VALUE", f"function attribute {number} is unknown")


def _set(session: Session, kernel: Kernel, number: int, value: int) -> None:
    if number not in _SETTABLE:
        raise DriverError("INVALID_VALUE", f"{kernel.name}: function attribute {number} cannot be set")
    if number == MAX_DYNAMIC:
        most = session.gpu.limits.smem_per_cta - kernel.program.symbols.shared_bytes
        if not 0 <= value <= most:
            raise DriverError(
                "INVALID_VALUE",
                f"{kernel.name}: {value} bytes of dynamic shared memory; a CTA of this GPU has at most {most} beside "
                "the static ones",
            )
    if number == CARVEOUT and not -1 <= value <= 100:
        raise DriverError("INVALID_VALUE", f"{kernel.name}: a carve-out of {value} %; expected -1 to 100")
    if number == CLUSTER_POLICY and value not in (0, 1, 2):
        raise DriverError("INVALID_VALUE", f"{kernel.name}: cluster scheduling policy {value} is unknown")
    if number == NON_PORTABLE and value not in (0, 1):
        raise DriverError(
            "INVALID_VALUE", f"{kernel.name}: NON_PORTABLE_CLUSTER_SIZE_ALLOWED is {value}; expected 0 or 1"
        )
    kernel.settings[number] = value
    session.admitted.clear()


@handles("cuFuncGetAttribute")
def function_attribute(session: Session, number: int, handle: int) -> int:
    return attribute(session.get(handle, Kernel), number)


@handles("cuKernelGetAttribute")
def kernel_attribute(session: Session, number: int, handle: int, device: int) -> int:
    check_device(device)
    return attribute(session.get(handle, Kernel), number)


@handles("cuFuncSetAttribute")
def set_function_attribute(session: Session, handle: int, number: int, value: int) -> None:
    _set(session, session.get(handle, Kernel), number, value)


@handles("cuKernelSetAttribute")
def set_kernel_attribute(session: Session, number: int, value: int, handle: int, device: int) -> None:
    check_device(device)
    _set(session, session.get(handle, Kernel), number, value)


@handles("cuFuncSetCacheConfig", "cuFuncSetSharedMemConfig")
def set_cache_config(session: Session, handle: int, config: int) -> None:
    session.get(handle, Kernel)


@handles("cuKernelSetCacheConfig")
def set_kernel_cache_config(session: Session, handle: int, config: int, device: int) -> None:
    session.get(handle, Kernel)


@handles("cuFuncIsLoaded")
def is_loaded(session: Session, handle: int) -> int:
    return int("program" in session.get(handle, Kernel).__dict__)


@handles("cuFuncLoad")
def load(session: Session, handle: int) -> None:
    _ = session.get(handle, Kernel).program


# parameters


@handles("cuFuncGetParamInfo", "cuKernelGetParamInfo")
def parameter(session: Session, handle: int, index: int) -> tuple[int, int]:
    params = session.get(handle, Kernel).program.symbols.params
    if index >= len(params):
        raise DriverError("INVALID_VALUE")  # how programs find the last parameter
    return params[index].offset, params[index].size


@handles("cuFuncGetParamCount", "cuKernelGetParamCount")
def parameter_count(session: Session, handle: int) -> int:
    return len(session.get(handle, Kernel).program.symbols.params)


@handles("pyptxParameters")
def parameters(session: Session, handle: int, capacity: int) -> bytes:
    """Return the number of parameters, their bytes in total, and offset and size of each, as 32-bit words."""
    params = session.get(handle, Kernel).program.symbols.params
    words = [len(params), params[-1].offset + params[-1].size if params else 0]
    for slot in params:
        words += [slot.offset, slot.size]
    data = struct.pack(f"<{len(words)}I", *words)
    if len(data) > capacity:
        raise DriverError("INVALID_VALUE", f"{len(params)} parameters are more than the client library can pass")
    return data
