"""The state of a session as one JSON document, from which every view is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.debug.breakpoints.table import Breakpoint
from pyptx.debug.errors import DebugError
from pyptx.debug.inspect.barriers import Barrier, barriers_of, wait_reason
from pyptx.debug.inspect.displays import Display
from pyptx.debug.inspect.fragments import FragmentTile, named_fragments
from pyptx.debug.inspect.launch import StoppedLaunch
from pyptx.debug.inspect.memory import Tile
from pyptx.debug.inspect.values import bits_of, number_text, typed
from pyptx.debug.inspect.warp_state import MemoryView, PointerView, WarpState
from pyptx.debug.session_state import SessionState
from pyptx.debug.timeline import session_timeline
from pyptx.sim.core.debug_state import ResidentCta

__all__ = ["session_document", "value_text"]

_MOST_WARPS, _MOST_BARRIERS, _MOST_SPANS = 512, 256, 4000  # in a document
_MOST_VALUES = 4096  # of an array that is printed
_NO_PLACE = {"ptx": None, "line": None, "file": None, "stack": []}


def session_document(state: SessionState) -> dict[str, Any]:
    """Return the document of a session; the fields are those of DebugView in pyptx.views.debugger."""
    launch, stop = state.launch, state.stop
    plan, focus = launch.plan, launch.focus
    residents = launch.machine.residents()
    own = next((r for r in residents if r.id == focus.cta), None)
    cluster = [r for r in residents if own is not None and r.cluster == own.cluster]
    warp = launch.warp_state() if own is not None else None
    return {
        "kernel": launch.name,
        "arch": launch.specialization.module.target.targets[0],
        "schedule": plan.schedule,
        "seed": plan.seed,
        "grid": list(plan.grid),
        "block": list(plan.block),
        "cluster": list(plan.cluster),
        "step": launch.step_number,
        "last": state.last_step,
        "ended": state.ended,
        "stop": {"reason": stop.reason, "text": stop.text, "breakpoint": stop.breakpoint},
        "focus": {"cta": list(launch.cta_coordinates(focus.cta)), "warp": focus.warp, "lane": focus.lane},
        "place": _place(state, warp.instruction) if warp is not None else dict(_NO_PLACE),
        "warps": _warps(state, residents),
        "registers": _registers(state, warp) if warp is not None else [],
        "barriers": [_barrier(launch, b) for r in cluster for b in barriers_of(launch, r)][:_MOST_BARRIERS],
        "memory": [_tile(state, item) for item in state.displays.items if item.kind != "fragment"],
        "fragments": [_fragment(state, item) for item in state.displays.items if item.kind == "fragment"],
        "timeline": _timeline(state),
        "watches": [_watch(launch, text) for text in state.watches],
        "breakpoints": [_breakpoint(launch, b) for b in state.breakpoints],
        "available": _available(warp) if warp is not None else {"memory": [], "fragments": []},
    }


def _place(state: SessionState, instruction: int) -> dict[str, Any]:
    lines, frame = state.launch.lines, state.frame
    return {
        "ptx": lines.ptx(instruction),
        "line": frame.line if frame else None,
        "file": frame.file if frame else None,
        "stack": [{"file": p.file, "line": p.line, "function": p.function} for p in lines.stack(instruction)],
    }


def _warps(state: SessionState, residents: list[ResidentCta]) -> list[dict[str, Any]]:
    """Return the warps of all running CTAs, those of the focused cluster first."""
    launch = state.launch
    focus, turn = launch.focus.cta, launch.machine.position
    cluster = next((r.cluster for r in residents if r.id == focus), None)
    near = sorted(residents, key=lambda r: (r.cluster != cluster, r.id))
    steps = launch.warp_steps()
    found = []
    for resident in near:
        for warp in range(launch.plan.warps):
            if len(found) >= _MOST_WARPS:
                return found
            live = resident.live_lanes(warp)
            group = launch.group(resident.id, warp) if live else None
            runs = turn is not None and (turn.cta, turn.warp) == (resident.id, warp) and not state.stop.over
            able = group is None or group.state == "ready"
            status = "exited" if not live else "running" if runs else "ready" if able else "waiting"
            at = group.instruction if group is not None else None
            place = launch.lines.place(at) if at is not None else None
            found.append(
                {
                    "cta": list(launch.cta_coordinates(resident.id)),
                    "warp": warp,
                    "state": status,
                    "waits": wait_reason(launch, group) if status == "waiting" and group is not None else None,
                    "ptx": launch.lines.ptx(at) if at is not None else None,
                    "line": place.line if place else None,
                    "active": group.lanes if group is not None else 0,
                    "steps": steps.get((resident.id, warp), 0),
                }
            )
    return found


def _registers(state: SessionState, warp: WarpState) -> list[dict[str, Any]]:
    """Return the registers in scope of the focused warp."""
    names = state.launch.names
    owners = names.owners_at(warp.instruction) if names is not None else {}
    types = names.types_at(warp.instruction) if names is not None else {}
    now = warp.resident.registers(warp.warp)
    before = state.registers_before(warp.resident.id, warp.warp)
    offsets = state.launch.machine.register_offsets
    found = []
    for name, (register, declared) in warp.in_scope().items():
        bits = bits_of(offsets, now, register)
        lanes = _lanes(bits, types.get(name, declared))
        changed = before is not None and not np.array_equal(bits_of(offsets, before, register), bits)
        found.append(
            {
                "name": name,
                "python": owners.get(name),
                "type": f".{declared}",
                "lanes": lanes,
                "uniform": len(set(lanes)) == 1,
                "changed": bool(changed),
            }
        )
    return found


def _lanes(bits: np.ndarray, type_name: str) -> list[str]:
    """Return the 32 values of a register as text."""
    uniform = bool((bits == bits[..., :1]).all())
    values = typed(bits, type_name) if bits.ndim == 1 else bits
    return [_lane(values, 0)] * 32 if uniform else [_lane(values, k) for k in range(32)]


def _lane(values: np.ndarray, lane: int) -> str:
    if values.ndim == 1:
        return number_text(values[lane])
    if values.dtype == np.uint64:
        return f"0x{int(values[1][lane]):016x}{int(values[0][lane]):016x}"
    return "{" + ", ".join(number_text(part) for part in values[:, lane]) + "}"


def _barrier(launch: StoppedLaunch, barrier: Barrier) -> dict[str, Any]:
    return {
        "kind": barrier.kind,
        "cta": list(launch.cta_coordinates(barrier.cta)),
        "address": barrier.address,
        "name": barrier.name,
        "phase": barrier.phase,
        "pending": barrier.pending,
        "expected": barrier.expected,
        "tx": barrier.tx,
        "waiters": [[list(launch.cta_coordinates(cta)), warp] for cta, warp in barrier.waiters],
    }


def _read(state: SessionState, item: Display) -> Tile | FragmentTile | DebugError:
    try:
        return item.read(state.launch)
    except DebugError as error:
        return error


def _tile(state: SessionState, item: Display) -> dict[str, Any]:
    cta = list(state.launch.cta_coordinates(state.launch.focus.cta))
    tile = _read(state, item)
    if not isinstance(tile, Tile):
        return {
            "space": "tensor" if item.kind == "tmem" else "shared",
            "cta": cta,
            "name": item.name,
            "address": 0,
            "type": "",
            "shape": [0, 0],
            "swizzle": None,
            "first": [0, 0],
            "values": [],
            "changed": [],
            "bank": None,
            "title": f"{item.name}: {tile.message}" if isinstance(tile, DebugError) else item.name,
        }
    return {
        "space": tile.space,
        "cta": cta,
        "name": item.name,
        "address": tile.address,
        "type": tile.type,
        "shape": list(tile.shape),
        "swizzle": tile.swizzle,
        "first": list(tile.first),
        "values": [[number_text(v) for v in row] for row in tile.values],
        "changed": item.changed(np.asarray(tile.values)).tolist(),
        "bank": None if tile.bank is None else tile.bank.tolist(),
        "title": tile.title,
    }


def _fragment(state: SessionState, item: Display) -> dict[str, Any]:
    tile = _read(state, item)
    if not isinstance(tile, FragmentTile):
        return {
            "name": item.name,
            "instruction": "",
            "matrix": "",
            "shape": [0, 0],
            "first": [0, 0],
            "values": [],
            "changed": [],
            "owner": [],
            "title": f"{item.name}: {tile.message}" if isinstance(tile, DebugError) else item.name,
        }
    return {
        "name": item.name,
        "instruction": tile.title.partition(" of ")[2].partition(",")[0],
        "matrix": tile.operand.matrix,
        "shape": list(tile.shape),
        "first": list(tile.first),
        "values": [[number_text(v) for v in row] for row in tile.values],
        "changed": item.changed(np.asarray(tile.values)).tolist(),
        "owner": tile.owner.tolist(),
        "title": tile.title,
    }


def _timeline(state: SessionState) -> dict[str, Any]:
    launch, timeline = state.launch, session_timeline(state.launch)
    most = max(_MOST_SPANS // max(1, len(timeline.rows)), 40)
    rows = [
        {
            "name": row.name,
            "spans": [
                {
                    "from": s.start,
                    "to": s.end,
                    "kind": s.kind,
                    "text": s.text,
                    "ptx": launch.lines.ptx(s.instruction) if s.instruction is not None else None,
                }
                for s in row.spans[-most:]
            ],
        }
        for row in timeline.rows
    ]
    row_of = {(row.cta, row.warp): number for number, row in enumerate(timeline.rows) if row.warp is not None}
    marks = [
        {
            "step": access.step,
            "row": row_of.get((access.cta, access.warp)),
            "text": f"{access.role}: {launch.lines.text(access.instruction)} of warp {access.warp}, lane {access.lane}",
            "second": access.second,
            "ptx": launch.lines.ptx(access.instruction),
        }
        for access in state.accesses
    ]
    return {"rows": rows, "now": timeline.now, "marks": marks}


def value_text(value: Any, lane: int) -> str:
    """Return a value of an expression as text: one number, or that of a lane followed by all lanes."""
    if isinstance(value, MemoryView | PointerView):
        return repr(value)
    if isinstance(value, tuple):
        more = ", ..." if len(value) > 16 else ""
        return f"[{', '.join(value_text(part, lane) for part in value[:16])}{more}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {value_text(v, lane)}" for k, v in value.items()) + "}"
    if isinstance(value, bool | str):
        return repr(value)
    array = np.asarray(value)
    if array.shape == (32,):
        texts = [number_text(v) for v in array]
        return texts[0] if len(set(texts)) == 1 else f"{texts[lane]} (lane {lane}; lanes 0 to 31: {' '.join(texts)})"
    if array.ndim == 0:
        return number_text(array[()])
    if array.size > _MOST_VALUES:
        array = array[tuple(slice(0, 16) for _ in range(array.ndim))]
    return np.array2string(array, threshold=200, edgeitems=4, formatter={"all": number_text}, max_line_width=110)


def _watch(launch: StoppedLaunch, text: str) -> dict[str, Any]:
    try:
        return {"text": text, "value": value_text(launch.evaluate(text), launch.focus.lane), "error": None}
    except DebugError as error:
        return {"text": text, "value": None, "error": error.message}


def _breakpoint(launch: StoppedLaunch, found: Breakpoint) -> dict[str, Any]:
    place = launch.lines.place(found.instructions[0]) if found.instructions else None
    ptx = [row for i in found.instructions if (row := launch.lines.ptx(i)) is not None]
    return {
        "id": found.id,
        "text": found.place,
        "condition": found.condition,
        "hits": found.hits,
        "enabled": found.enabled,
        "ptx": ptx,
        "watch": found.watches,
        "line": place.line if place else None,
        "file": place.file if place else None,
        "warp": found.warp,
        "cta": found.cta,
    }


def _available(state: WarpState) -> dict[str, Any]:
    """Return the names of memory and fragments that can be displayed at this stop."""
    memory = []
    own = state.names.at(state.instruction) if state.names is not None else {}
    for name in own:
        try:
            value = state.lookup(name)
        except DebugError:
            continue
        if isinstance(value, MemoryView):
            swizzle = f", {value.swizzle}" if value.swizzle else ""
            text = f"{value.type} {' x '.join(map(str, value.shape))}{swizzle}"
            memory.append({"name": name, "space": value.space, "text": text})
    named = {m.symbol for m in state.names.memories.values()} if state.names is not None else set()
    memory += [
        {"name": v.name, "space": "shared", "text": f"{v.size} bytes" if v.size else "dynamic"}
        for v in state.run.program.shared_variables
        if v.address is not None and v.name not in named
    ]
    memory += [
        {"name": name, "space": "global", "text": f"{array.dtype} {' x '.join(map(str, array.shape))}"}
        for name, array in state.arguments.items()
        if isinstance(array, np.ndarray)
    ]
    if state.resident.tensor is not None and state.resident.tensor_columns:
        columns = ", ".join(f"{a} to {b - 1}" for a, b in state.resident.tensor_columns)
        memory.append({"name": "tmem", "space": "tensor", "text": f"columns {columns}"})
    fragments = [
        {"name": name, "text": f"{operand.matrix} of {state.run.program.instructions[operand.instruction].mnemonic}"}
        for name, operand in named_fragments(state)
    ]
    return {"memory": memory, "fragments": fragments}
