"""Dispatch of matrix instructions; ldmatrix, stmatrix, movmatrix, wmma loads and stores."""

from __future__ import annotations

import numpy as np

from pyptx.sim import actions as act
from pyptx.sim.layouts import fragments
from pyptx.sim.reference import access, lane_values, mma, wgmma
from pyptx.sim.reference._registry import HANDLERS
from pyptx.sim.reference.state import ALL, Fault, Runner, lanes_of

__all__ = ["run"]


def run(runner: Runner, action: act.Collective, mask: int) -> None:
    """Execute a matrix instruction.

    Raises:
        Fault: lanes are missing.
    """
    if mask != ALL:
        raise Fault("warp", lanes_of(mask)[0], mask)
    match action:
        case act.Mma():
            mma.run(runner, action)
        case act.Wgmma():
            wgmma.run(runner, action)
        case act.WgmmaGroup():
            wgmma.group(runner, action)
        case act.LoadMatrix():
            _load_matrix(runner, action)
        case act.StoreMatrix():
            _store_matrix(runner, action)
        case act.MoveMatrix(data, value):
            _move_matrix(runner, data, value)
        case act.LoadFragment() | act.StoreFragment():
            _fragment(runner, action)
        case _:
            HANDLERS[type(action)](runner, action, mask)


def _rows(runner: Runner, action: act.LoadMatrix | act.StoreMatrix) -> list:
    """Resolve the memory of the rows of 16 bytes, lane by lane."""
    lanes = action.count * (16 if action.shape == "m16n16" else 8)
    mask = (1 << lanes) - 1
    addresses = access.addresses_of(runner, action.address, mask)
    return access.places(
        runner, action.address.space, lanes_of(mask), addresses, 16, isinstance(action, act.StoreMatrix)
    )[0]


def _unpacked(row: int, kind: str) -> list[int]:
    """Return the 16 bytes that a row of memory (a little-endian number) expands to."""
    match kind:
        case "b6":
            return [row >> 6 * k & 63 for k in range(16)]
        case "b4":
            return [row >> 4 * k & 15 for k in range(16)]
        case "s4":
            return [(row >> 4 * k & 15) | (0xF0 if row >> 4 * k & 8 else 0) for k in range(16)]
    return list(row.to_bytes(16, "little"))


def _load_matrix(runner: Runner, action: act.LoadMatrix) -> None:
    rows = [_unpacked(place.get(0, 16), action.format) for place in _rows(runner, action)]
    for r, register in enumerate(action.data):
        values = []
        for lane in range(32):
            g, t = lane // 4, lane % 4
            match action.shape, action.transposed:
                case "m16n16", _:
                    top = 16 * (r // 2) + 4 * t + 2 * (r % 2)
                    found = [rows[top][g], rows[top + 1][g], rows[top][g + 8], rows[top + 1][g + 8]]
                case _, True:
                    found = [rows[8 * r + 2 * t + j][2 * g + b] for j in range(2) for b in range(2)]
                case _:
                    found = rows[8 * r + g][4 * t : 4 * t + 4]
            values.append(int.from_bytes(bytes(found), "little"))
        lane_values.write(runner, register, ALL, values)


def _store_matrix(runner: Runner, action: act.StoreMatrix) -> None:
    places = _rows(runner, action)
    rows = np.zeros((8 * action.count, 16), np.uint8)
    for r, value in enumerate(action.source):
        for lane, word in enumerate(lane_values.read(runner, value, ALL)):
            g, t = lane // 4, lane % 4
            for b, byte in enumerate((word & 0xFFFFFFFF).to_bytes(4, "little")):
                if action.shape == "m16n8":
                    rows[8 * r + 2 * t + b % 2, g + 8 * (b // 2)] = byte
                elif action.transposed:
                    rows[8 * r + 2 * t + b // 2, 2 * g + b % 2] = byte
                else:
                    rows[8 * r + g, 4 * t + b] = byte
    for place, row in zip(places, rows, strict=True):
        place.put(0, 16, int.from_bytes(row.tobytes(), "little"))


def _move_matrix(runner: Runner, data: act.Reg, value: act.Value) -> None:
    words = np.array(lane_values.read(runner, value, ALL), np.uint64)
    matrix = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16) & np.uint64(0xFFFF)], axis=1).reshape(8, 8)
    turned = matrix.T.reshape(32, 2)
    lane_values.write(runner, data, ALL, [int(low | high << np.uint64(16)) for low, high in turned])


def _fragment(runner: Runner, action: act.LoadFragment | act.StoreFragment) -> None:
    source = action.source if isinstance(action, act.StoreFragment) else None
    bytes_, accesses = fragments.accesses(action.fragment, action.major, action.bits)
    base = access.addresses_of(runner, action.address, ALL)
    strides = [action.leading] * 32 if action.stride is None else lane_values.read(runner, action.stride, ALL)
    lanes = list(range(32))
    loaded: dict[int, list[int]] = {}
    matrices = isinstance(action, act.LoadFragment) and action.matrices
    for register, shift, line, within in accesses:
        addresses = [
            b + (int(k) * (s & 0xFFFFFFFF) + int(j)) * action.bits // 8 & (1 << 64) - 1
            for b, s, k, j in zip(base, strides, line, within, strict=True)
        ]
        places, _ = access.places(
            runner, action.address.space, lanes, addresses, bytes_, source is not None, counted=not matrices
        )
        if source is not None:
            for place, value in zip(places, lane_values.read(runner, source[register], ALL), strict=True):
                place.put(0, bytes_, value >> shift)
        else:
            words = loaded.setdefault(register, [0] * 32)
            for lane, place in enumerate(places):
                words[lane] |= place.get(0, bytes_) << shift
    if matrices:
        rows = fragments.matrix_rows(action.fragment, action.major)
        starts = [base[0] + 2 * (int(line) * (strides[0] & 0xFFFFFFFF) + int(first)) for line, first in rows]
        for k in range(0, len(starts), 32):
            some = starts[k : k + 32]
            runner.run.counters.shared_conflicts[runner.pc] += access.extra_wavefronts(lanes[: len(some)], some, 16)
    if isinstance(action, act.LoadFragment):
        for register, words in loaded.items():
            lane_values.write(runner, action.data[register], ALL, words)
