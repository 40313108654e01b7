"""Memory requests of a warp: the addresses of its lanes at an instruction, read from a launch that stops there."""

from __future__ import annotations

import io
from collections.abc import Collection
from contextlib import redirect_stdout
from dataclasses import dataclass

import numpy as np

from pyptx.check.argument_copies import copy_launch
from pyptx.check.runner import Runner
from pyptx.sim import Program
from pyptx.sim.actions import Action, Address, LoadMatrix, StoreMatrix
from pyptx.sim.core.debug_state import Mark, Reason
from pyptx.sim.debug import DebugLaunch

__all__ = ["Request", "access_bytes", "address_lanes", "collect_requests"]

STOPS = 4  # at each instruction; the request with the most lanes is taken
_MATRIX_ROW = 16  # bytes at the address of a lane in ldmatrix and stmatrix


@dataclass(frozen=True, slots=True)
class Request:
    """A memory request of a warp: its active lanes, their addresses, bytes of each, and the array, if known."""

    lanes: tuple[int, ...]
    addresses: tuple[int, ...]
    bytes: int
    tensor: str | None = None


def access_bytes(action: Action) -> int:
    """Return the bytes that a lane reads or writes; 0 for actions without an address per lane."""
    if isinstance(action, LoadMatrix | StoreMatrix):
        return _MATRIX_ROW
    size, count = getattr(action, "size", 0), getattr(action, "count", 1)
    return size * count if hasattr(action, "address") and isinstance(size, int) and isinstance(count, int) else 0


def address_lanes(action: Action) -> int:
    """Return how many lanes, from lane 0 on, provide addresses: all, or those with the row of a matrix."""
    if isinstance(action, LoadMatrix | StoreMatrix):
        return action.count * (16 if action.shape == "m16n16" else 8)
    return 32


def collect_requests(runner: Runner, instructions: Collection[int]) -> dict[int, Request]:
    """Return one request of each instruction, in the eager schedule: of its first ones, the one with the most lanes.

    Instructions that are not executed are missing. Requests of ldmatrix and stmatrix have the lanes that provide addresses.
    """
    program, remaining = runner.program, dict.fromkeys(instructions, STOPS)
    found: dict[int, Request] = {}
    settings = {k: v for k, v in runner.settings.items() if k in ("max_steps", "tensor_cores")}
    args, reachable = copy_launch(runner.args, runner.settings)
    launch = DebugLaunch(
        program,
        runner.plan.grid,
        runner.plan.block,
        args,
        cluster=runner.plan.cluster,
        smem_bytes=runner.plan.smem_bytes,
        reachable=reachable,
        **settings,
    )
    try:
        launch.marks[list(remaining)] = Mark.STOP
        while remaining:
            with redirect_stdout(io.StringIO()):  # printf was printed by an earlier run
                if launch.run() is not Reason.MARK:
                    break
            turn = launch.machine.position
            if turn is None:
                break
            at = turn.instruction
            request = _request(program, launch, at, turn.cta, turn.warp, turn.lanes)
            if request is not None and (at not in found or len(request.lanes) > len(found[at].lanes)):
                found[at] = request
            remaining[at] -= 1
            if not remaining[at]:
                del remaining[at]
                launch.marks[at] = 0
    finally:
        launch.close()
    return found


def _request(program: Program, launch: DebugLaunch, instruction: int, cta: int, warp: int, mask: int) -> Request | None:
    action = program.actions[instruction]
    resident = next(r for r in launch.machine.residents() if r.id == cta)
    registers, offsets = resident.registers(warp), launch.machine.register_offsets
    guard = program.guards[instruction]
    if guard is not None:
        register, negated = guard
        bits = int(registers[offsets[register.index] :][:4].view(np.uint32)[0])
        mask &= ~bits if negated else bits
    bytes_, address = access_bytes(action), getattr(action, "address", None)
    lanes = [lane for lane in range(address_lanes(action)) if mask >> lane & 1]
    if not lanes or not bytes_ or not isinstance(address, Address) or address.base is None:
        return None
    base = address.base
    width = np.dtype(f"u{max(base.width, 32) // 8}")
    values = registers[offsets[base.index] :][: 32 * width.itemsize].view(width)
    addresses = tuple(int(values[lane]) + address.offset for lane in lanes)
    segment = launch.segment_at(addresses[0]) if address.space in ("global", "generic") else None
    return Request(tuple(lanes), addresses, bytes_, segment.buffer.name if segment is not None else None)
