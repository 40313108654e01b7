"""Findings of misuse of the driver API: conflicts of work that nothing orders, and calls that fail."""

from __future__ import annotations

from collections.abc import Callable

from pyptx.check import Finding
from pyptx.check.finding import Location
from pyptx.cuda_device.server.stream_order import Conflict, Operation

__all__ = ["conflict_finding", "device_access", "failed_call", "unread_error", "unrecorded_event"]

_ORDER = (
    "record an event after the first operation (cudaEventRecord) and have the stream of the second wait for it "
    "(cudaStreamWaitEvent), or wait for the first stream in the host before the second operation is issued"
)
_WAIT = "wait for the operation (cudaStreamSynchronize, cudaEventSynchronize) before the host uses the memory"


def conflict_finding(
    found: Conflict,
    memory: Callable[[int], str],
    places: Callable[[Operation, str], tuple[Location, ...]],
    access: Location,
) -> Finding:
    """Return the finding of a conflict.

    Args:
        memory: describes a byte by its address, such as "byte 4 of device memory #1".
        places: returns the locations of an operation, with its role.
        access: location of an access of the host, where it is known.
    """
    first, second, where = found.first, found.second, memory(found.address)
    if second is None:
        done = "writes" if found.first_writes else "reads"
        if found.site:
            message = (
                f"The host {'writes' if found.second_writes else 'reads'} {where}, which {_name(first)} {done}; nothing between the call and "
                "the access waits for the operation, so that a GPU may carry it out before, during or after the access."
            )
            return Finding("host-access", "error", message, _WAIT, (*places(first, done), access))
        message = (
            f"The host changed {where} while {_name(first)} could still be {done[:-1].removesuffix('e')}ing it: nothing "
            f"between the call and the change waits for the operation, which {done} this memory."
        )
        return Finding("host-access", "error", message, _WAIT, places(first, f"{done}, unordered"))
    roles = ["writes" if wrote else "reads" for wrote in (found.first_writes, found.second_writes)]
    message = (
        f"{_name(second).capitalize()} {roles[1]} {where}, which {_name(first)} {roles[0]}; nothing orders the two "
        "operations, so that a GPU may run them in either order or at the same time."
    )
    at = *places(first, roles[0]), *places(second, f"{roles[1]}, unordered")
    return Finding("stream-order", "error", message, _ORDER, at)


def _name(operation: Operation) -> str:
    stream = "the default stream" if operation.stream == 1 else f"stream 0x{operation.stream:x}"
    article = "" if operation.label.startswith(("the ", "a ")) else "the "
    return f"{article}{operation.label} in {stream}"


def device_access(diagnosis: str, place: Location) -> Finding:
    """Return the finding of an access of the host to memory of the device."""
    message, _, hint = diagnosis.partition("\nhint: ")
    return Finding("host-access", "error", f"{message[:1].upper()}{message[1:]}", hint, (place,))


def unrecorded_event(symbol: str, place: Location) -> Finding:
    """Return the finding of a wait for an event that was never recorded; `place` is that of the call."""
    message = f"{symbol} is given an event that was never recorded, so that it waits for nothing."
    return Finding("unrecorded-event", "warning", message, "record it before the wait (cudaEventRecord)", (place,))


def unread_error(count: int, last: Finding | None) -> Finding:
    """Return the finding of launches whose errors nothing has read; `last` is that of the last one that failed."""
    which = "A launch" if count == 1 else f"In {count} threads a launch"
    failed = f": {last.message}" if last is not None else "."
    return Finding(
        "unread-error",
        "error",
        f"{which} failed, and the program ended without reading the error{failed}",
        "call cudaGetLastError after each launch by <<<...>>>",
        () if last is None else last.places,
    )


def failed_call(symbol: str, name: str, diagnosis: str, place: Location) -> Finding:
    """Return the finding of a call that the driver refuses.

    Args:
        name: of the status, without CUDA_ERROR_.
        place: of the call.
    """
    message, _, hint = diagnosis.partition("\nhint: ")
    freed = "has been freed" in message
    if symbol.startswith("cuMemFree"):
        rule, severity = "invalid-free", "error"
        hint = hint or "free each allocation once, with the function of its kind"
    elif freed:
        rule, severity = "use-after-free", "error"
        hint = hint or "free the memory after its last use"
    else:
        rule, severity = "failed-call", "warning"
    return Finding(rule, severity, f"{symbol} failed with CUDA_ERROR_{name}: {message}", hint or None, (place,))
