"""Contexts and their limits; the stack of each thread is in the client."""

from __future__ import annotations

from pyptx.cuda_device.entry_points import DRIVER_VERSION
from pyptx.cuda_device.server.devices import check_device
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import Context, Session

__all__ = ["release_primary", "retain_primary"]

# CUlimit: name and initial value. Source: CUDA Driver API, "Context Management".
_LIMITS = {0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048, 5: 128, 6: 0, 11: 8192, 12: 0}
_GREATEST_PRIORITY = -5
_SCHEDULING, _KNOWN_FLAGS = 7, 0xFF


def _check_flags(flags: int) -> None:
    """Raise DriverError for unknown flags of a context, and for more than one way to wait."""
    if flags & ~_KNOWN_FLAGS or flags & _SCHEDULING not in (0, 1, 2, 4):
        raise DriverError("INVALID_VALUE", f"flags 0x{flags:x} of a context are unknown, or name two ways to wait")


def _create(session: Session, flags: int, device: int, *, primary: bool = False) -> Context:
    check_device(device)
    _check_flags(flags)
    handle = session.new_handle()
    context = Context(handle, flags, primary, limits=dict(_LIMITS))
    session.add(context, handle)
    return context


@handles("cuCtxCreate_v2")
def create(session: Session, flags: int, device: int) -> int:
    return _create(session, flags, device).handle


@handles("cuCtxCreate_v3")
def create_with_affinity(session: Session, params: int, count: int, flags: int, device: int) -> int:
    if count:
        raise DriverError("NOT_SUPPORTED", "cuCtxCreate: execution affinity is not simulated")
    return _create(session, flags, device).handle


@handles("cuCtxCreate_v4")
def create_with_params(session: Session, params: int, flags: int, device: int) -> int:
    if params and any(session.read(params, 32)):
        raise DriverError("NOT_SUPPORTED", "cuCtxCreate: execution affinity and graphics contexts are not simulated")
    return _create(session, flags, device).handle


@handles("cuCtxDestroy", "cuCtxDestroy_v2")
def destroy(session: Session, handle: int) -> None:
    context = _context(session, handle)
    if context.is_primary:
        raise DriverError("INVALID_CONTEXT", "a primary context is released, not destroyed")
    session.destroy_context(context)


@handles("cuDevicePrimaryCtxRetain")
def retain_primary(session: Session, device: int) -> int:
    check_device(device)
    if session.primary is None:
        session.primary = _create(session, session.primary_flags, device, primary=True)
    session.retained += 1
    return session.primary.handle


@handles("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2")
def release_primary(session: Session, device: int) -> None:
    check_device(device)
    if session.primary is None or not session.retained:
        raise DriverError("INVALID_CONTEXT", "the primary context was released more often than retained")
    session.retained -= 1
    if not session.retained:
        reset_primary(session, device)


@handles("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2")
def reset_primary(session: Session, device: int) -> None:
    check_device(device)
    if session.primary is not None:
        session.destroy_context(session.primary)
        session.primary, session.retained = None, 0


@handles("cuDevicePrimaryCtxSetFlags", "cuDevicePrimaryCtxSetFlags_v2")
def set_primary_flags(session: Session, device: int, flags: int) -> None:
    check_device(device)
    _check_flags(flags)
    session.primary_flags = flags
    if session.primary is not None:
        session.primary.flags = flags


@handles("cuDevicePrimaryCtxGetState")
def primary_state(session: Session, device: int) -> tuple[int, int]:
    check_device(device)
    return session.primary_flags, int(session.primary is not None)


def _context(session: Session, handle: int) -> Context:
    """Return a context by its handle; 0 is the calling thread's."""
    return session.get_context(handle or session.context)


@handles("cuCtxGetDevice")
def context_device(session: Session) -> int:
    return 0


@handles("cuCtxGetDevice_v2")
def device_of_context(session: Session, handle: int) -> int:
    _context(session, handle)
    return 0


@handles("cuCtxGetId")
def context_id(session: Session, handle: int) -> int:
    green = session.green_contexts.get(handle) if handle else session.green
    return _context(session, handle).handle if green is None else green.handle


@handles("cuCtxGetApiVersion")
def api_version(session: Session, handle: int) -> int:
    _context(session, handle)
    return DRIVER_VERSION


@handles("cuCtxGetFlags")
def context_flags(session: Session) -> int:
    return _context(session, 0).flags


@handles("cuCtxSetFlags")
def set_context_flags(session: Session, flags: int) -> None:
    _context(session, 0).flags = flags


@handles("cuCtxEnablePeerAccess")
def enable_peer_access(session: Session, peer: int, flags: int) -> None:
    if flags:
        raise DriverError("INVALID_VALUE", f"cuCtxEnablePeerAccess: unknown flags 0x{flags:x}")
    if session.get_context(peer) is session.get_context(session.context):
        raise DriverError("INVALID_CONTEXT", "cuCtxEnablePeerAccess: a context is no peer of itself")
    raise DriverError("PEER_ACCESS_UNSUPPORTED", "there is one device, which is no peer of itself")


@handles("cuCtxDisablePeerAccess")
def disable_peer_access(session: Session, peer: int) -> None:
    session.get_context(peer)
    raise DriverError("PEER_ACCESS_NOT_ENABLED", "there is one device, which is no peer of itself")


@handles("cuCtxGetLimit")
def limit(session: Session, number: int) -> int:
    found = _context(session, 0).limits.get(number)
    if found is None:
        raise DriverError("UNSUPPORTED_LIMIT", f"limit {number} is unknown")
    return found


@handles("cuCtxSetLimit")
def set_limit(session: Session, number: int, value: int) -> None:
    limits = _context(session, 0).limits
    if number not in limits:
        raise DriverError("UNSUPPORTED_LIMIT", f"limit {number} is unknown")
    limits[number] = value


@handles("cuCtxGetCacheConfig")
def cache_config(session: Session) -> int:
    return _context(session, 0).cache_config


@handles("cuCtxSetCacheConfig")
def set_cache_config(session: Session, config: int) -> None:
    _context(session, 0).cache_config = config


@handles("cuCtxGetSharedMemConfig")
def shared_memory_config(session: Session) -> int:
    return 1  # banks of four bytes, all that GPUs since Maxwell have


@handles("cuCtxSetSharedMemConfig")
def set_shared_memory_config(session: Session, config: int) -> None:
    """Do nothing, as on GPUs since Maxwell."""


@handles("cuCtxGetStreamPriorityRange")
def stream_priority_range(session: Session) -> tuple[int, int]:
    return 0, _GREATEST_PRIORITY


@handles("cuCtxResetPersistingL2Cache")
def reset_persisting_cache(session: Session) -> None:
    """Do nothing: there is no cache."""
