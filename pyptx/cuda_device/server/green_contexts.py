"""Green contexts: contexts with some of the device's SMs, which share everything else with the primary context.

Calls in a green context act on the primary one. Its SMs bound cooperative launches and occupancy; kernels run as in the
primary context, and modeled times are those of all SMs.
Source: CUDA Driver API, "Green Contexts".
"""

from __future__ import annotations

import struct

from pyptx.cuda_device.server.context_events import streams_of
from pyptx.cuda_device.server.contexts import release_primary, retain_primary
from pyptx.cuda_device.server.device_attributes import attribute
from pyptx.cuda_device.server.device_resources import (
    CONFIG,
    QUEUE,
    RESOURCE_BYTES,
    SM,
    GroupRequest,
    QueueConfig,
    Queues,
    Resource,
    Sms,
    all_sms,
    pack,
    split,
    split_by_count,
    unpack,
)
from pyptx.cuda_device.server.devices import check_device
from pyptx.cuda_device.server.errors import DriverError
from pyptx.cuda_device.server.handlers import handles
from pyptx.cuda_device.server.session import GreenContext, Session
from pyptx.cuda_device.server.streams import NON_BLOCKING, add_stream, stream_of

__all__: list[str] = []

_DEFAULT_STREAM = 1  # CU_GREEN_CTX_DEFAULT_STREAM
_CONNECTIONS = 8  # default of CUDA_DEVICE_MAX_CONNECTIONS
_REQUEST = struct.Struct("<4I48x")  # CU_DEV_SM_RESOURCE_GROUP_PARAMS


class Description:
    """Resources for a green context: a CUdevResourceDesc."""

    missing = "INVALID_VALUE"

    def __init__(self, sms: Sms, queues: QueueConfig):
        self.sms, self.queues = sms, queues


def _capability(session: Session) -> int:
    return 10 * (attribute(session.gpu, 75) or 0) + (attribute(session.gpu, 76) or 0)


def _device_sms(session: Session) -> Sms:
    return all_sms(session.gpu.sms, _capability(session))


# resources


def _resource(session: Session, kind: int, green: GreenContext | None, context: int) -> bytes:
    """Return the resource of a type of a green context, or of the device.

    Raises:
        DriverError: the type is unknown.
    """
    if kind == SM:
        return pack(green.sms if green is not None else _device_sms(session))
    if kind == CONFIG:
        return pack(green.queues if green is not None else QueueConfig(_CONNECTIONS))
    if kind == QUEUE and context:
        return pack(Queues(context))
    raise DriverError("INVALID_RESOURCE_TYPE", f"there is no resource of type {kind}")


@handles("cuDeviceGetDevResource")
def device_resource(session: Session, device: int, kind: int) -> bytes:
    check_device(device)
    return _resource(session, kind, None, 0)


@handles("cuCtxGetDevResource")
def context_resource(session: Session, handle: int, kind: int) -> bytes:
    green = session.green_contexts.get(handle) if handle else session.green
    context = session.get_context(handle or session.context).handle if green is None else green.context
    return _resource(session, kind, green, context)


@handles("cuGreenCtxGetDevResource")
def green_resource(session: Session, handle: int, kind: int) -> bytes:
    green = session.get(handle, GreenContext)
    return _resource(session, kind, green, green.context)


@handles("cuStreamGetDevResource")
def stream_resource(session: Session, handle: int, kind: int) -> bytes:
    green = _green_of(session, handle)
    return _resource(session, kind if kind == SM else 0, green, 0)


def _sms(data: bytes) -> Sms:
    found = unpack(data)
    if not isinstance(found, Sms):
        raise DriverError("INVALID_RESOURCE_TYPE", "only SMs can be divided, not work queues")
    return found


@handles("cuDevSmResourceSplitByCount")
def split_sms_by_count(
    session: Session, result: int, count: int, whole: bytes, remainder: int, flags: int, least: int
) -> None:
    wanted = int.from_bytes(session.read(count, 4), "little") if result else None
    groups, left = split_by_count(_sms(whole), wanted, flags, least, session.new_handle())
    if result:
        session.write(result, b"".join(map(pack, groups)))
        if remainder:
            session.write(remainder, pack(left))
    session.write(count, len(groups).to_bytes(4, "little"))


@handles("cuDevSmResourceSplit")
def split_sms(
    session: Session, result: int, count: int, whole: bytes, remainder: int, flags: int, requests: int
) -> None:
    if flags or not count:
        raise DriverError("INVALID_VALUE", f"cuDevSmResourceSplit: {count} groups, flags 0x{flags:x}; flags are 0")
    data = session.read(requests, _REQUEST.size * count)
    wanted = [GroupRequest(*words) for words in _REQUEST.iter_unpack(data)]
    groups, left = split(_sms(whole), wanted, session.new_handle(), _capability(session))
    if result and None in groups:
        place = groups.index(None)
        raise DriverError("INVALID_RESOURCE_CONFIGURATION", f"cuDevSmResourceSplit: no SMs are left for group {place}")
    for k, group in enumerate(groups):
        found = 0 if group is None else group.count
        session.write(requests + k * _REQUEST.size, found.to_bytes(4, "little"))
    if result:
        session.write(result, b"".join(map(pack, groups)))
    if remainder:
        session.write(remainder, pack(left))


@handles("cuDevResourceGenerateDesc")
def describe(session: Session, resources: int, count: int) -> int:
    if not count:
        raise DriverError("INVALID_VALUE", "cuDevResourceGenerateDesc: no resources")
    data = session.read(resources, RESOURCE_BYTES * count)
    found: list[Resource] = [unpack(data[k : k + RESOURCE_BYTES]) for k in range(0, len(data), RESOURCE_BYTES)]
    parts = [one for one in found if isinstance(one, Sms)]
    queues = [one for one in found if not isinstance(one, Sms)]
    if len({(part.split, part.alignment) for part in parts}) > 1 or len(queues) > 1:
        raise DriverError(
            "INVALID_RESOURCE_CONFIGURATION",
            "cuDevResourceGenerateDesc: the SMs come from different divisions, or there are several work queues",
        )
    mask = 0
    for part in parts:
        if mask & part.mask:
            raise DriverError("INVALID_RESOURCE_CONFIGURATION", "cuDevResourceGenerateDesc: an SM is given twice")
        mask |= part.mask
    whole = _device_sms(session)
    sms = Sms(mask, parts[0].smallest, parts[0].alignment, flags=parts[0].flags) if parts else whole
    config = queues[0] if queues and isinstance(queues[0], QueueConfig) else QueueConfig(_CONNECTIONS)
    return session.add(Description(sms, config))


# contexts


@handles("cuGreenCtxCreate")
def create(session: Session, description: int, device: int, flags: int) -> int:
    check_device(device)
    if flags & ~_DEFAULT_STREAM:
        raise DriverError("INVALID_VALUE", f"cuGreenCtxCreate: unknown flags 0x{flags:x}")
    given = session.get(description, Description)
    primary, handle, context = retain_primary(session, device), session.new_handle(), session.new_handle()
    made = GreenContext(handle, context, primary, given.sms, given.queues)
    session.green_contexts[context] = made
    return session.add(made, handle)


@handles("cuGreenCtxDestroy")
def destroy(session: Session, handle: int) -> None:
    green = session.get(handle, GreenContext)
    for stream in streams_of(session, green):
        stream.is_detached = True
        if stream.capture is not None:
            stream.capture.invalid = True
    session.discard(handle)
    del session.green_contexts[green.context]
    release_primary(session, 0)


@handles("cuCtxFromGreenCtx")
def context_of(session: Session, handle: int) -> int:
    return session.get(handle, GreenContext).context


@handles("cuGreenCtxGetId")
def identity(session: Session, handle: int) -> int:
    if not handle and session.green is not None:
        return session.green.handle
    return session.get(handle, GreenContext).handle


# streams


def _green_of(session: Session, handle: int) -> GreenContext | None:
    """Return the green context of a stream; a default stream has that of the calling thread."""
    stream = stream_of(session, handle)
    return session.green if stream.is_default else stream.green


@handles("cuGreenCtxStreamCreate")
def create_stream(session: Session, handle: int, flags: int, priority: int) -> int:
    green = session.get(handle, GreenContext)
    if flags != NON_BLOCKING:
        raise DriverError("INVALID_VALUE", f"cuGreenCtxStreamCreate: flags {flags}; expected CU_STREAM_NON_BLOCKING")
    return add_stream(session, flags, priority, green)


@handles("cuStreamGetGreenCtx")
def green_of_stream(session: Session, handle: int) -> int:
    green = _green_of(session, handle)
    return 0 if green is None else green.handle


@handles("cuStreamGetCtx_v2")
def contexts_of_stream(session: Session, handle: int) -> tuple[int, int]:
    stream, green = stream_of(session, handle), _green_of(session, handle)
    if green is not None:
        return green.primary, green.handle
    return stream.context or session.context, 0
