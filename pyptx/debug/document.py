"""How a session stands as one JSON document: what every view of it shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyptx.debug.errors import DebugError
from pyptx.debug.looking.barriers import Barrier, barriers_of, named
from pyptx.debug.looking.fragments import FragmentTile, named_fragments
from pyptx.debug.looking.memory import Tile
from pyptx.debug.looking.state import Place, State
from pyptx.debug.looking.values import bits_of, shown, typed
from pyptx.debug.timeline import timeline_of
from pyptx.sim.core.stopped import Resident
from pyptx.sim.faults.deadlocks import Group, doing

__all__ = ["document_of", "value_text", "waits_for"]

_WARPS, _BARRIERS, _SPANS = 512, 256, 4000              # of a document, at most
_NO_PLACE = {"ptx": None, "line": None, "file": None, "stack": []}


def document_of(session: Any) -> dict[str, Any]:
    """The document of a session; the fields are those of DebugView in pyptx.views.debugger."""
    plan, stop, focus = session.run.plan, session.stop, session.focus
    residents = session.run.machine.residents()
    own = next((r for r in residents if r.id == focus.cta), None)
    state = session.state() if own is not None else None
    return {
        "kernel": session.name, "arch": session.variant.module.target.targets[0], "schedule": plan.schedule,
        "seed": plan.seed, "grid": list(plan.grid), "block": list(plan.block), "cluster": list(plan.cluster),
        "step": session.step_number, "last": session.last, "ended": session.ended,
        "stop": {"reason": stop.reason, "text": stop.text, "breakpoint": stop.breakpoint},
        "focus": {"cta": list(session.cta_place(focus.cta)), "warp": focus.warp, "lane": focus.lane},
        "place": _place(session, state.instruction) if state is not None else dict(_NO_PLACE),
        "warps": _warps(session, residents), "registers": _registers(session, state) if state is not None else [],
        "barriers": [_barrier(session, b) for r in _near(residents, own) for b in barriers_of(session, r)][:_BARRIERS],
        "memory": [_tile(session, item, found) for item, found in _shown(session, Tile)],
        "fragments": [_fragment(item, found) for item, found in _shown(session, FragmentTile)],
        "timeline": _timeline(session), "watches": [_watch(session, text) for text in session.watches],
        "breakpoints": [_breakpoint(session, b) for b in session.breakpoints],
        "available": _available(state) if state is not None else {"memory": [], "fragments": []}}


def _near(residents: list[Resident], own: Resident | None) -> list[Resident]:
    """The CTAs of the focused cluster."""
    return [r for r in residents if own is not None and r.cluster == own.cluster]


def _place(session: Any, instruction: int) -> dict[str, Any]:
    lines = session.lines
    place = session.frame
    stack = [{"file": p.file, "line": p.line, "function": p.function} for p in lines.stack(instruction)]
    return {"ptx": lines.ptx(instruction), "line": place.line if place else None,
            "file": place.file if place else None, "stack": stack}


def _warps(session: Any, residents: list[Resident]) -> list[dict[str, Any]]:
    focus, turn = session.focus.cta, session.run.machine.turn
    cluster = next((r.cluster for r in residents if r.id == focus), None)
    near = sorted(residents, key=lambda r: (r.cluster != cluster, r.id))
    steps = session.warp_steps()
    found = []
    for resident in near:
        for warp in range(session.run.plan.warps):
            if len(found) >= _WARPS:
                return found
            live = resident.warp(warp)[0]
            group = session.group(resident.id, warp) if live else None
            runs = turn is not None and (turn.cta, turn.warp) == (resident.id, warp) and not session.stop.over
            able = group is None or group.state == "ready"
            state = "exited" if not live else "running" if runs else "ready" if able else "waiting"
            at = group.instruction if group is not None else None
            place = session.lines.place(at) if at is not None else None
            waits = waits_for(session, group) if state == "waiting" else None
            found.append({"cta": list(session.cta_place(resident.id)), "warp": warp, "state": state, "waits": waits,
                          "ptx": session.lines.ptx(at) if at is not None else None,
                          "line": place.line if place else None, "active": group.lanes if group is not None else 0,
                          "steps": steps.get((resident.id, warp), 0)})
    return found


def waits_for(session: Any, group: Group) -> str:
    """What lanes wait for, in words that go on from "waits for"."""
    if group.state == "barrier":
        return f"{group.expected} warps at barrier {group.barrier}, {group.arrived} came"
    text = named(session, doing(session.run.program, group)).removeprefix("waits").strip()
    return text.removeprefix("for ") or session.lines.text(group.instruction)


def _registers(session: Any, state: State) -> list[dict[str, Any]]:
    """All registers in scope that instructions name; those with names of Python first."""
    names = session.names
    owners = names.owners if names is not None else {}
    types = names.types if names is not None else {}
    now = state.resident.registers(state.warp)
    before = session.changed_since(state.resident.id, state.warp)
    offsets = session.run.machine.offsets
    found = []
    for name, (register, declared) in state.in_scope().items():
        bits = bits_of(offsets, now, register)
        lanes = _lanes(bits, types.get(name, declared))
        changed = before is not None and not np.array_equal(bits_of(offsets, before, register), bits)
        found.append({"name": name, "python": owners.get(name), "type": f".{declared}", "lanes": lanes,
                      "uniform": len(set(lanes)) == 1, "changed": bool(changed)})
    return found


def _lanes(bits: np.ndarray, type_name: str) -> list[str]:
    """The values of a register as text; mostly all lanes have the same."""
    alike = bool((bits == bits[..., :1]).all())
    values = typed(bits, type_name) if bits.ndim == 1 else bits
    return [_lane(values, 0)] * 32 if alike else [_lane(values, k) for k in range(32)]


def _lane(values: np.ndarray, lane: int) -> str:
    if values.ndim == 1:
        return shown(values[lane])
    if values.dtype == np.uint64:
        return f"0x{int(values[1][lane]):016x}{int(values[0][lane]):016x}"
    return "{" + ", ".join(shown(part) for part in values[:, lane]) + "}"


def _barrier(session: Any, barrier: Barrier) -> dict[str, Any]:
    return {"kind": barrier.kind, "cta": list(session.cta_place(barrier.cta)), "address": barrier.address,
            "name": barrier.name, "phase": barrier.phase, "pending": barrier.pending, "expected": barrier.expected,
            "tx": barrier.tx, "waiters": [[list(session.cta_place(cta)), warp] for cta, warp in barrier.waiters]}


def _shown(session: Any, kind: type) -> list[tuple[Any, Any]]:
    found = []
    for item in session.shown.items:
        if (item.kind == "fragment") == (kind is FragmentTile):
            try:
                found.append((item, item.read(session)))
            except DebugError as error:
                found.append((item, error))
    return found


def _tile(session: Any, item: Any, tile: Tile | DebugError) -> dict[str, Any]:
    cta = list(session.cta_place(session.focus.cta))
    if isinstance(tile, DebugError):
        return {"space": "tensor" if item.kind == "tmem" else "shared", "cta": cta, "name": item.name, "address": 0,
                "type": "", "shape": [0, 0], "swizzle": None, "first": [0, 0], "values": [], "changed": [],
                "bank": None, "title": f"{item.name}: {tile.message}"}
    return {"space": tile.space, "cta": cta, "name": item.name, "address": tile.address, "type": tile.type,
            "shape": list(tile.shape), "swizzle": tile.swizzle, "first": list(tile.first),
            "values": [[shown(v) for v in row] for row in tile.values],
            "changed": item.changed(np.asarray(tile.values)).tolist(),
            "bank": None if tile.bank is None else tile.bank.tolist(), "title": tile.title}


def _fragment(item: Any, tile: FragmentTile | DebugError) -> dict[str, Any]:
    if isinstance(tile, DebugError):
        return {"name": item.name, "instruction": "", "matrix": "", "shape": [0, 0], "first": [0, 0], "values": [],
                "changed": [], "owner": [], "title": f"{item.name}: {tile.message}"}
    return {"name": item.name, "instruction": tile.title.partition(" of ")[2].partition(",")[0],
            "matrix": tile.operand.matrix, "shape": list(tile.shape), "first": list(tile.first),
            "values": [[shown(v) for v in row] for row in tile.values],
            "changed": item.changed(np.asarray(tile.values)).tolist(), "owner": tile.owner.tolist(),
            "title": tile.title}


def _timeline(session: Any) -> dict[str, Any]:
    timeline = timeline_of(session)
    rows, left = [], _SPANS
    for row in timeline.rows:
        spans = row.spans[-max(left // max(1, len(timeline.rows)), 40):]
        rows.append({"name": row.name, "spans": [
            {"from": s.start, "to": s.end, "kind": s.kind, "text": s.text,
             "ptx": session.lines.ptx(s.instruction) if s.instruction is not None else None} for s in spans]})
    return {"rows": rows, "now": timeline.now}


def value_text(value: Any, lane: int) -> str:
    """A value of an expression: one number, or that of the focused lane with what the others have."""
    if isinstance(value, Place):
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
        texts = [shown(v) for v in array]
        return texts[0] if len(set(texts)) == 1 else f"{texts[lane]} (lane {lane}; lanes 0 to 31: {' '.join(texts)})"
    if array.ndim == 0:
        return shown(array[()])
    if array.size > 4096:
        array = array[tuple(slice(0, 16) for _ in range(array.ndim))]
    return np.array2string(array, threshold=200, edgeitems=4, formatter={"all": shown}, max_line_width=110)


def _watch(session: Any, text: str) -> dict[str, Any]:
    try:
        return {"text": text, "value": value_text(session.evaluate(text), session.focus.lane), "error": None}
    except DebugError as error:
        return {"text": text, "value": None, "error": error.message}


def _breakpoint(session: Any, found: Any) -> dict[str, Any]:
    place = session.lines.place(found.instructions[0]) if found.instructions else None
    ptx = [row for i in found.instructions if (row := session.lines.ptx(i)) is not None]
    return {"id": found.id, "text": found.place, "condition": found.condition, "hits": found.hits,
            "enabled": found.enabled, "ptx": ptx, "watch": found.watches, "line": place.line if place else None,
            "file": place.file if place else None, "warp": found.warp, "cta": found.cta}


def _available(state: State) -> dict[str, Any]:
    """What can be shown here, by name."""
    memory = []
    own = state.names.at(state.instruction) if state.names is not None else {}
    for name in own:
        try:
            value = state.lookup(name)
        except DebugError:
            continue
        if isinstance(value, Place):
            swizzle = f", {value.swizzle}" if value.swizzle else ""
            memory.append({"name": name, "space": value.space,
                           "text": f"{value.type} {' x '.join(map(str, value.shape))}{swizzle}"})
    held = {m.symbol for m in state.names.memories.values()} if state.names is not None else set()
    memory += [{"name": v.name, "space": "shared", "text": f"{v.size} bytes" if v.size else "dynamic"}
               for v in state.run.program.shared_variables if v.address is not None and v.name not in held]
    memory += [{"name": name, "space": "global", "text": f"{array.dtype} {' x '.join(map(str, array.shape))}"}
               for name, array in state.arguments.items() if isinstance(array, np.ndarray)]
    if state.resident.tensor is not None and state.resident.tensor_columns:
        columns = ", ".join(f"{a} to {b - 1}" for a, b in state.resident.tensor_columns)
        memory.append({"name": "tmem", "space": "tensor", "text": f"columns {columns}"})
    fragments = [{"name": name, "text": f"{operand.matrix} of "
                  f"{state.run.program.instructions[operand.instruction].mnemonic}"}
                 for name, operand in named_fragments(state)]
    return {"memory": memory, "fragments": fragments}
