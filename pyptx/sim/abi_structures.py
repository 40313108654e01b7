"""The structures that Python and the C core share; see `abi` for the constants.

A structure is declared in C and read by Python, with the same name and fields on both sides.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any, ClassVar

_structures: list[type[_Structure]] = []

_CTYPES = {
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "Handler": ctypes.c_void_p,
}


def _match(pattern: str, text: str) -> tuple[str, ...]:
    found = re.fullmatch(pattern, text, re.DOTALL)
    assert found is not None, f"not a declaration of a field: {text!r}"
    return found.groups(default="")


def _declarations(text: str) -> Iterator[tuple[str, str, int]]:
    """The base type ("u8 *", a pointer, for one), name and array length (0: no array) of each field of a C structure."""
    for declaration in filter(None, map(str.strip, text.split(";"))):
        const, base, declarators = _match(r"(const )?(\w+)\s*(.*)", declaration)
        for declarator in declarators.split(","):
            stars, name, length = _match(r"\s*(\**)(\w+)(?:\[(\d+)\])?\s*", declarator)
            yield f"{const}{base}{' ' * bool(stars)}{stars}", name, int(length or 0)


def _fields(text: str) -> list[tuple[str, Any]]:
    fields = []
    for base, name, length in _declarations(text):
        type_: Any = ctypes.c_void_p if "*" in base else _CTYPES[base]
        fields.append((name, type_ * length if length else type_))
    return fields


class _Structure(ctypes.Structure):
    """A structure of both languages; subclasses are exported."""

    declaration: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _structures.append(cls)


class Op(_Structure):
    """An operation. `flip` is XORed to the guard; what `mod`, `imm`, `aux` and `aux2` are depends on the handler."""

    declaration = """
        Handler fn;
        u32 d, a, b, c, e;
        u32 guard, flip;
        u32 instr;
        u16 code, flags;
        u32 mod;
        u64 imm;
        u32 aux, aux2;
    """
    _fields_ = _fields(declaration)


class Segment(_Structure):
    """A range of global or constant memory: `host` holds `bytes` bytes that appear at address `va`."""

    declaration = "u64 va, bytes; u8 *host; u64 read_only;"
    _fields_ = _fields(declaration)


class Event(_Structure):
    """An event of a debugged launch; `kind` is an EventKind."""

    declaration = "u64 step, cta; u32 kind, warp, instr, lanes; u64 a, b;"
    _fields_ = _fields(declaration)


class TrailEntry(_Structure):
    """An instruction that the followed warp began."""

    declaration = "u64 step, instr;"
    _fields_ = _fields(declaration)


class WatchedBytes(_Structure):
    """Bytes whose change stops a debugged launch: of a warp or a CTA, located when that runs, or at `host`.

    `current` is their last known value and `before` the one that a change replaced.
    """

    declaration = "u64 space, cta, warp, offset, bytes; u8 *current, *before; const u8 *host;"
    _fields_ = _fields(declaration)


class Debug(_Structure):
    """The state of a debugged launch that both sides read and write.

    Attributes:
        marks: bits of Mark for each instruction.
        events, trail: ring buffers: entry number k is at k % room; `trail` is NULL when it is not recorded.
        step: instructions begun; the launch stops before number `until`.
        follow: one of FOLLOWED, for the warp `warp` of `cta`.
        changed: index of the watched bytes that changed.
        resuming: the next instruction is the one where the launch stopped.
        turn: instructions of this turn; `in_turn` is set once it has begun.
        serial: asynchronous operations issued so far.
        last_cta, last_warp, last_instr: the instruction begun last.
        stop_at_findings: a finding of the sanitizer stops the launch; `findings` counts them.
    """

    declaration = """
        u8 *marks;
        WatchedBytes *watched;
        Event *events;
        TrailEntry *trail;
        u64 nwatched, nevents, events_room, ntrail, trail_room;
        u64 step, until;
        u64 follow, cta, warp;
        u64 reason, changed;
        u64 resuming;
        u64 turn, in_turn, serial;
        u64 last_cta, last_warp, last_instr;
        u64 stop_at_findings, findings;
    """
    _fields_ = _fields(declaration)


class Launch(_Structure):
    """The arguments of `core_open`. The arrays belong to the caller and outlive the context."""

    declaration = """
        Op *ops;
        u32 *pool;
        Segment *segments;
        u8 *param;
        u32 *initial;
        const u8 *consts;
        const u8 *warp_specials;
        u64 *issues, *lanes, *divergent, *conflicts, *requests, *sectors, *excess, *waits;
        u64 *async_operations, *tma_bytes, *tensor_flops;
        u64 *next_cluster;
        u32 *shared_addresses;
        u64 *warp_issues;
        u8 **marks;
        u32 *links;
        u16 *barriers;
        u64 *lines, *bank_passes, *wide_passes, *fresh_loads, *recent, *masked_sectors, *atomic_turns, *atomic_passes, *read_segments;
        u64 *synchronizations;
        const u32 *sanitizer;
        Debug *debug;
        u64 nops, npool, nsegments, ninstr, ninitial, nshared;
        u64 const_bytes, warp_special_bytes, param_bytes, local_bytes, reg_bytes;
        u64 smem_start, smem_bytes;
        u64 shared_window, local_window, const_window, param_window, function_window;
        u64 max_steps, cta_quantum, warp_quantum, max_resident;
        u64 last_cluster;
        u64 yields;
        u64 tensor_cores, schedule, seed, maxnreg;
        u64 sanitizer_bytes;
        u64 grid[3], block[3], cluster[3];
        u64 initial_threads[2];
    """
    _fields_ = _fields(declaration)


class FaultInfo(_Structure):
    """The point where execution stopped: the fault and its thread. `active` are the lanes of the operation."""

    declaration = "u64 kind, lane, op, warp, active, cta, address, extra;"
    _fields_ = _fields(declaration)


class HostCall(_Structure):
    """A call of a driver function: the operation, its lanes and the registers of the warp."""

    declaration = "u64 op, lanes; u8 *registers;"
    _fields_ = _fields(declaration)


class GroupInfo(_Structure):
    """Lanes of a warp that are at the same operation, and what they wait for.

    Attributes:
        barrier, arrived, expected: the CTA barrier they wait at; warps.
        address, word, phase: the mbarrier of the first lane, its 8 bytes, the phase whose end it waits for.
        missing: lanes of the warp that have not arrived at the cluster barrier.
        registers, free: registers of each thread of the warp; those left in the pool of the CTA (setmaxnreg).
    """

    declaration = """
        u64 state, op, lanes;
        u64 barrier, arrived, expected;
        u64 live;
        u64 address, word, phase;
        u64 missing, registers, free;
    """
    _fields_ = _fields(declaration)


class CtaInfo(_Structure):
    """A resident CTA. `left` are its warps that have not exited, `barriers` a bit for each barrier in use."""

    declaration = """
        u64 id, cluster, rank, left, registers;
        u8 *shared, *specials;
        u64 barriers;
        u8 *tensor;
        u64 tensor_blocks;
    """
    _fields_ = _fields(declaration)


class WarpInfo(_Structure):
    """A warp of a resident CTA, with the host addresses of its registers and of its local memory [lane][byte]."""

    declaration = "u8 *registers, *specials, *local; u64 live, group, maxnreg, local_bytes;"
    _fields_ = _fields(declaration)


class BarrierInfo(_Structure):
    """A CTA barrier in use: warps that arrived and that are expected, and the thread count named (0: all)."""

    declaration = "u64 arrived, expected, count;"
    _fields_ = _fields(declaration)


class AsyncInfo(_Structure):
    """An asynchronous operation in flight."""

    declaration = """
        u64 serial, instr, cta, warp, lanes;
        u64 track, group, stage, stages;
        u64 signals, barrier_cta, barrier, tx, arrivals;
    """
    _fields_ = _fields(declaration)


class FindingInfo(_Structure):
    """A finding of the sanitizer: a rule of FINDINGS and the two accesses, the earlier first (instr NONE: there is none)."""

    declaration = """
        u64 rule, instr[2], access[2], accessor[2], thread[2], cluster[2];
        u64 space, place, count, cta, offset;
        u64 swizzle[2];
    """
    _fields_ = _fields(declaration)


def c_structures() -> list[str]:
    """Return the structures as lines of C, each with a check of its size."""
    lines = [f"typedef struct {cls.__name__} {cls.__name__};" for cls in _structures]
    for cls in _structures:
        lines.append(f"struct {cls.__name__} {{")
        for base, name, length in _declarations(cls.declaration):
            lines.append(f"    {base} {name}{f'[{length}]' if length else ''};")
        lines.append("};")
        lines.append(f'_Static_assert(sizeof({cls.__name__}) == {ctypes.sizeof(cls)}, "{cls.__name__}");')
    return lines
