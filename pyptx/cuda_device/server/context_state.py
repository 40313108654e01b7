"""Contexts as data, green ones included."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyptx.cuda_device.server.device_resources import QueueConfig, Sms
from pyptx.cuda_device.server.stream_order import Clock
from pyptx.cuda_device.server.work_queue import Work

__all__ = ["Context", "GreenContext"]


@dataclass(eq=False)
class Context:
    """A context of the driver API.

    Attributes:
        error: the sticky error of a kernel, returned by every later call; 0 without one.
        limits: values of cuCtxSetLimit.
    """

    handle: int
    flags: int = 0
    is_primary: bool = False
    error: int = 0
    cache_config: int = 0
    limits: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class GreenContext:
    """A green context.

    Attributes:
        context: number by which it is made current, from cuCtxFromGreenCtx.
        primary: handle of the primary context.
        queues: configuration of its work queues.
        awaited: what work that is issued later in its streams follows, with its clocks.
    """

    handle: int
    context: int
    primary: int
    sms: Sms
    queues: QueueConfig
    awaited: list[tuple[Work | None, Clock | None]] = field(default_factory=list)
    missing = "INVALID_CONTEXT"
