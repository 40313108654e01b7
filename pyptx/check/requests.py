"""Which addresses the lanes of a warp have at some instructions: read off a launch that stops there."""

from __future__ import annotations

import io
from collections.abc import Collection
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyptx.check.trial import Trial, copies_of
from pyptx.sim import Program
from pyptx.sim.actions.products import LoadMatrix, StoreMatrix
from pyptx.sim.core.stopped import Mark, Reason
from pyptx.sim.debug import Debugged

__all__ = ["Request", "bytes_of", "requests_of", "suppliers"]

STOPS = 4                       # at each instruction, the fullest of which counts
_MATRIX_ROW = 16                # bytes that a lane's address stands for in ldmatrix and stmatrix


@dataclass(frozen=True, slots=True)
class Request:
    """What a warp asked for: the lanes that took part, their addresses, bytes of each, and the array, if it is one."""

    lanes: tuple[int, ...]
    addresses: tuple[int, ...]
    bytes: int
    tensor: str | None = None


def bytes_of(action: Any) -> int:
    """Bytes that a lane reads or writes; 0 for what has no address of each lane."""
    if isinstance(action, LoadMatrix | StoreMatrix):
        return _MATRIX_ROW
    size, count = getattr(action, "size", 0), getattr(action, "count", 1)
    return size * count if hasattr(action, "address") and isinstance(size, int) and isinstance(count, int) else 0


def suppliers(action: Any) -> int:
    """Lanes whose addresses count, from the first on: all, or those that give the row of a matrix."""
    if isinstance(action, LoadMatrix | StoreMatrix):
        return action.count * (16 if action.shape == "m16n16" else 8)
    return 32


def requests_of(trial: Trial, instructions: Collection[int]) -> dict[int, Request]:
    """Of each instruction the fullest of its first requests, in a run in the eager schedule; none where it is not run.

    Addresses of matrices are those of the lanes that give one.
    """
    program, found, left = trial.program, {}, dict.fromkeys(instructions, STOPS)
    settings = {k: v for k, v in trial.settings.items() if k in ("max_steps", "tensor_cores")}
    launch = Debugged(program, trial.plan.grid, trial.plan.block, copies_of(trial.args), cluster=trial.plan.cluster,
                      smem_bytes=trial.plan.smem_bytes, **settings)
    try:
        launch.marks[list(left)] = Mark.STOP
        while left:
            with redirect_stdout(io.StringIO()):                # what it prints was printed
                if launch.run() is not Reason.MARK:
                    break
            turn = launch.machine.turn
            at = turn.instruction
            request = _request(program, launch, at, turn.cta, turn.warp, turn.lanes)
            if request is not None and (at not in found or len(request.lanes) > len(found[at].lanes)):
                found[at] = request
            left[at] -= 1
            if not left[at]:
                del left[at]
                launch.marks[at] = 0
    finally:
        launch.close()
    return found


def _request(program: Program, launch: Debugged, instruction: int, cta: int, warp: int, mask: int) -> Request | None:
    action = program.actions[instruction]
    resident = next(r for r in launch.machine.residents() if r.id == cta)
    registers, offsets = resident.registers(warp), launch.machine.offsets
    guard = program.guards[instruction]
    if guard is not None:
        register, negated = guard
        bits = int(registers[offsets[register.index]:][:4].view(np.uint32)[0])
        mask &= ~bits if negated else bits
    bytes_, base = bytes_of(action), action.address.base
    lanes = [lane for lane in range(suppliers(action)) if mask >> lane & 1]
    if not lanes or not bytes_ or base is None:
        return None
    width = np.dtype(f"u{max(base.width, 32) // 8}")
    values = registers[offsets[base.index]:][:32 * width.itemsize].view(width)
    addresses = tuple(int(values[lane]) + action.address.offset for lane in lanes)
    segment = launch.segment_at(addresses[0]) if action.address.space in ("global", "generic") else None
    return Request(tuple(lanes), addresses, bytes_, segment.buffer.name if segment is not None else None)
