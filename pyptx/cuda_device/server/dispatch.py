"""The loop that serves a client: decodes requests, calls their handlers, and encodes the results."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from inspect import signature
from struct import Struct
from typing import Any, NamedTuple

from pyptx.cuda_device.entry_points import SCALARS, EntryPoint, remote
from pyptx.cuda_device.server import (  # noqa: F401 - they register handlers
    allocations,
    array_copies,
    arrays,
    batch_copies,
    captures,
    context_events,
    contexts,
    copies,
    devices,
    events,
    generic_nodes,
    graph_changes,
    graph_memory,
    graph_text,
    graphs,
    green_contexts,
    host_access,
    host_functions,
    host_registration,
    kernel_attributes,
    launches,
    linking,
    managed_ranges,
    memory_operation_nodes,
    modules,
    node_params,
    notifications,
    occupancy_queries,
    older_launches,
    pools,
    progress,
    shared_pools,
    sharing,
    stream_attributes,
    streams,
    tensor_map_encoding,
    textures,
    user_objects,
    value_operations,
    virtual_memory,
)
from pyptx.cuda_device.server.connection import ClosedError, Connection, Request
from pyptx.cuda_device.server.errors import DriverError, code
from pyptx.cuda_device.server.handlers import HANDLERS
from pyptx.cuda_device.server.logs import log
from pyptx.cuda_device.server.session import Session
from pyptx.cuda_device.server.streams import LEGACY
from pyptx.cuda_device.server.work_queue import WAIT_FOR_ALL, WAIT_FOR_COPY

__all__ = ["serve"]

_SHOWN = {
    "pyptxLaunch": "cuLaunchKernel",
    "pyptxProgress": "late work",
    "pyptxUnread": "end of the program",
    "pyptxHostAccess": "access of the host",
    "pyptxParameters": "layout of the parameters",
}
_NOTHING = (1 << 64) - 1  # length of a blob whose pointer is null
_WORDS = {name: letter for name, (_, letter) in SCALARS.items()}


class _Call(NamedTuple):
    """An entry point with the layout of its messages."""

    entry: EntryPoint
    handler: Callable[..., Any]
    words: Struct
    blobs: tuple[int, ...]  # indices of the arguments that are blobs
    results: tuple[str, ...]  # "" for a blob, else the format of the word


def _call(entry: EntryPoint) -> _Call:
    given = [a for a in entry.arguments if not a.result]
    return _Call(
        entry,
        HANDLERS[entry.symbol],
        Struct("<" + "".join(_WORDS.get(a.type, "Q") for a in given)),
        tuple(k for k, a in enumerate(given) if a.type not in _WORDS),
        tuple(_WORDS.get(a.type, "") for a in entry.arguments if a.result),
    )


CALLS = {entry.number: _call(entry) for entry in remote()}


def serve(session: Session, connection: Connection) -> None:
    """Serve requests until the client ends."""
    try:
        while True:
            handle(session, connection.receive())
    except ClosedError:
        sys.stdout.flush()


def handle(session: Session, request: Request) -> None:
    """Handle one request and reply to it."""
    call = CALLS[request.function]
    before = session.context, session.green, session.thread, session.sites
    session.thread, session.sites = request.thread, request.sites
    session.enter(request.context)
    began, status = time.perf_counter() if session.trace is not None else 0.0, 0
    try:
        if call.entry.place == "server":
            context = session.get_context(session.context)
            if context.error:
                raise _Sticky(context.error)
        if call.entry.symbol in WAIT_FOR_ALL:
            session.work.complete_all()
        if session.order is not None:
            session.order.before_call(call.entry.symbol)
        result = call.handler(session, *_arguments(call, request.payload))
        if call.entry.symbol in WAIT_FOR_COPY:
            session.work.complete(session.work.last(LEGACY))
        if session.order is not None:
            session.order.after_call(call.entry.symbol)
        payload = _results(call, result)
    except _Sticky as sticky:
        status = sticky.number
        session.connection.reply(status)
    except DriverError as error:
        report(session, call, error)
        if session.checks is not None and error.diagnosis:
            symbol = _SHOWN.get(call.entry.symbol, call.entry.symbol)
            session.checks.failed(symbol, error.name, error.diagnosis, session.process, session.sites)
        status = error.code
        session.connection.reply(status)
    except (ClosedError, KeyboardInterrupt):
        raise
    except Exception as error:  # a defect of this package must not end the program that runs on it
        sys.excepthook(type(error), error, error.__traceback__)
        message = "internal error of the simulated device"
        print(f"pyptx: {call.entry.symbol}: {message}", file=sys.stderr, flush=True)
        if session.checks is not None:
            session.checks.failed(call.entry.symbol, "UNKNOWN", message, session.process, session.sites)
        session.connection.reply(code("UNKNOWN"))
    else:
        session.connection.reply(0, payload)
    finally:
        if session.trace is not None:
            session.trace.call(_SHOWN.get(call.entry.symbol, call.entry.symbol), request.thread, began, status)
        session.context, session.green, session.thread, session.sites = before


class _Sticky(Exception):
    """The context has the error of an earlier kernel."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def report(session: Session, call: _Call, error: DriverError) -> None:
    """Print the diagnosis of an error, and log it."""
    if error.diagnosis:
        sys.stdout.flush()
        print(f"pyptx: CUDA_ERROR_{error.name}: {error.diagnosis}", file=sys.stderr, flush=True)
        log(session, _SHOWN.get(call.entry.symbol, call.entry.symbol), error)


def _arguments(call: _Call, payload: memoryview) -> list[Any]:
    values: list[Any] = list(call.words.unpack_from(payload))
    at = call.words.size
    for k in call.blobs:
        size = values[k]
        if size == _NOTHING:
            values[k] = _null(call, k)
        else:
            values[k] = bytes(payload[at : at + size])
            at += size
    return values


def _null(call: _Call, number: int) -> None:
    """Accept a null pointer where the handler takes None.

    Raises:
        DriverError: it does not.
    """
    parameter = list(signature(call.handler).parameters.values())[number + 1]  # the first one is the session
    if "None" not in str(parameter.annotation):
        raise DriverError("INVALID_VALUE", f"{call.entry.symbol}: {parameter.name} is a null pointer")


def _results(call: _Call, result: Any) -> bytes:
    if not call.results:
        return b""
    values = result if isinstance(result, tuple) else (result,)
    words, blobs = [], []
    for letter, value in zip(call.results, values, strict=True):
        words.append(Struct("<" + letter).pack(value) if letter else len(value).to_bytes(8, "little"))
        blobs.append(b"" if letter else value)
    return b"".join([*words, *blobs])
