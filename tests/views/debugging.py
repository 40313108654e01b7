"""Debugging sessions written by hand: a pipeline with a producer and two consumers, and one too large to draw."""

from __future__ import annotations

import random
from typing import Any

from pyptx.views.debugger import DebugView

PYTHON = '''\
@kernel(in_specs=(Tile("M", "K", bf16),), out_specs=(Tile("M", "N", f32),))
def pipeline(a, d):
    """d = a @ a.T, one tile & two <stages>."""
    full, empty = barriers(2, count=1), barriers(2, count=2)
    tiles = smem.alloc(bf16, (2, 64, 64), swizzle="128B")
    acc = reg.array(f32, 64)
    with ptx.if_(warp_id == 8):
        for stage in range(2):
            ptx.mbarrier.wait(empty[stage], phase ^ 1)
            ptx.mbarrier.arrive_expect_tx(full[stage], 8192)
            load_tile(tiles[stage], a, stage, full[stage])
    with ptx.else_():
        for stage in range(2):
            ptx.mbarrier.wait(full[stage], phase)
            ptx.wgmma.fence()
            ptx.wgmma.mma_async(acc, tiles[stage], tiles[stage])
            ptx.wgmma.commit_group()
            ptx.wgmma.wait_group(0)
            ptx.mbarrier.arrive(empty[stage])
        store(acc, d)
'''.splitlines()
HELPER = '''\
def load_tile(tile, source, stage, barrier):
    """One box of 64 x 64 by TMA."""
    x = reg.from_(stage * 64, u32)
    ptx.cp.async_.bulk.tensor_2d(tile, source, x, 0, barrier)
'''.splitlines()
# (PTX, file, line of Python)
BODY = [
    (".version 8.5", None, None),
    (".target sm_90a", None, None),
    (".address_size 64", None, None),
    (".visible .entry pipeline(", None, None),
    ("\t.param .u64 a,", None, None),
    ("\t.param .u64 d", None, None),
    (")", None, None),
    ("{", None, None),
    ("\t.reg .b32 %r<12>;", None, None),
    ("\t.reg .f32 %f<64>;", None, None),
    ("\t.reg .pred %p<4>;", None, None),
    ("\tmov.u32 %r0, %tid.x;", 0, 7),
    ("\tshr.u32 %r1, %r0, 5;", 0, 7),
    ("\tsetp.eq.u32 %p0, %r1, 8;", 0, 7),
    ("\t@!%p0 bra $consumer;", 0, 7),
    ("\tmov.u32 %r2, 0;", 0, 8),
    ("$wait_empty:", 0, 9),
    ("\tmbarrier.try_wait.parity.shared.b64 %p1, [empty], 1;", 0, 9),
    ("\t@!%p1 bra $wait_empty;", 0, 9),
    ("\tmbarrier.arrive.expect_tx.shared.b64 _, [full], 8192;", 0, 10),
    ("\tshl.b32 %r3, %r2, 6;", 1, 3),
    (
        "\tcp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tiles], [a, {%r3, 0}], [full];",
        1,
        4,
    ),
    ("\tbra $done;", 0, 12),
    ("$consumer:", 0, 14),
    ("\tmbarrier.try_wait.parity.shared.b64 %p1, [full], 0;", 0, 14),
    ("\t@!%p1 bra $consumer;", 0, 14),
    ("\twgmma.fence.sync.aligned;", 0, 15),
    ("\twgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;", 0, 16),
    ("\twgmma.commit_group.sync.aligned;", 0, 17),
    ("\twgmma.wait_group.sync.aligned 0;", 0, 18),
    ("\tmbarrier.arrive.shared.b64 _, [empty];", 0, 19),
    ("\tst.global.f32 [%rd3], %f0;", 0, 20),
    ("$done:", 0, 20),
    ("\tret;", 0, 20),
    ("}", None, None),
]
LAST = 420


def sources() -> dict[str, Any]:
    stacks = [([] if file is None else [[1, line], [0, 11]] if file == 1 else [[0, line]]) for _, file, line in BODY]
    return {
        "python": [
            {"file": "pipeline.py", "first": 1, "lines": PYTHON, "function": "pipeline", "role": "kernel"},
            {"file": "tiles.py", "first": 10, "lines": HELPER, "function": "load_tile", "role": "helper"},
        ],
        "ptx": [text for text, _, _ in BODY],
        "line_of_ptx": [line if file != 1 else 9 + line for _, file, line in BODY],
        "file_of_ptx": [file for _, file, _ in BODY],
        "stack_of_ptx": [[[f, at + 9 if f == 1 else at] for f, at in stack] for stack in stacks],
    }


def register(
    name: str, lanes: list[Any], *, python: str | None = None, type: str = ".b32", changed: bool = False
) -> dict[str, Any]:
    text = [None if value is None else str(value) for value in lanes]
    return {
        "name": name,
        "python": python,
        "type": type,
        "lanes": text,
        "uniform": len(set(text)) == 1,
        "changed": changed,
    }


def warp(
    number: int,
    state: str,
    ptx: int,
    *,
    waits: str | None = None,
    active: int = 0xFFFFFFFF,
    role: str | None = None,
    steps: int = 0,
) -> dict[str, Any]:
    return {
        "cta": [0, 0, 0],
        "warp": number,
        "state": state,
        "waits": waits,
        "ptx": ptx,
        "line": BODY[ptx - 1][2],
        "active": active,
        "steps": steps,
        "role": role,
    }


def span(start: int, end: int | None, kind: str, text: str = "", ptx: int | None = None) -> dict[str, Any]:
    return {"from": start, "to": end, "kind": kind, "text": text, "ptx": ptx}


def document(step: int = 212, **others: Any) -> dict[str, Any]:
    """The pipeline while the first wgmma is under way: the producer waits, a consumer has hit a breakpoint."""
    rng = random.Random(step)
    tile = [[round(rng.gauss(0, 1), 2) for _ in range(32)] for _ in range(16)]
    accumulator = [[round(rng.gauss(0, 8), 2) for _ in range(16)] for _ in range(16)]
    owner = [[[0, 4 * (r % 8) + c % 8 // 2, c // 8 * 4 + r // 8 * 2 + c % 2] for c in range(16)] for r in range(16)]
    return {
        "kernel": "pipeline",
        "arch": "sm_90a",
        "schedule": "late",
        "seed": 0,
        "grid": [1, 1, 1],
        "block": [288, 1, 1],
        "cluster": [1, 1, 1],
        "step": step,
        "last": LAST,
        "ended": False,
        "stop": {"reason": "breakpoint", "text": "1 at pipeline.py:16 if lane == 3", "breakpoint": 1},
        "focus": {"cta": [0, 0, 0], "warp": 0, "lane": 3},
        "place": {
            "ptx": 28,
            "line": 16,
            "file": "pipeline.py",
            "stack": [{"file": "pipeline.py", "line": 16, "function": "pipeline"}],
        },
        "warps": [
            warp(0, "running", 28, steps=31, role="consumer 0"),
            *(warp(n, "ready", 27, steps=30, role="consumer 0") for n in range(1, 4)),
            *(
                warp(n, "waiting", 25, waits="mbarrier full[1], phase 0", steps=24, role="consumer 1")
                for n in range(4, 7)
            ),
            warp(7, "exited", 34, steps=44, role="consumer 1"),
            warp(8, "waiting", 18, waits="mbarrier empty[0], phase 1", active=1, steps=60, role="producer"),
        ],
        "registers": [
            register("%r0", list(range(32)), python="tid", type=".u32"),
            register("%r1", [0] * 32, python="warp_id", type=".u32"),
            register("%r2", [0] * 16 + [None] * 16, type=".b32"),
            register("%rd1", ["0x4000004000010040"] * 32, python="desc", type=".b64"),
            *(
                register(
                    f"%f{n}",
                    [round(rng.gauss(0, 8), 3) for _ in range(32)],
                    python=f"acc[{n}]",
                    type=".f32",
                    changed=n < 2,
                )
                for n in range(8)
            ),
            register("%p1", ["true"] * 31 + ["false"], type=".pred", changed=True),
        ],
        "barriers": [
            {
                "kind": "mbarrier",
                "cta": [0, 0, 0],
                "address": 0x8000,
                "name": "full[0]",
                "phase": 1,
                "pending": 1,
                "expected": 1,
                "tx": 8192,
                "waiters": [],
            },
            {
                "kind": "mbarrier",
                "cta": [0, 0, 0],
                "address": 0x8008,
                "name": "full[1]",
                "phase": 0,
                "pending": 0,
                "expected": 1,
                "tx": 4096,
                "waiters": [[[0, 0, 0], n] for n in (4, 5, 6)],
            },
            {
                "kind": "mbarrier",
                "cta": [0, 0, 0],
                "address": 0x8010,
                "name": "empty[0]",
                "phase": 0,
                "pending": 1,
                "expected": 2,
                "tx": 0,
                "waiters": [[[0, 0, 0], 8]],
            },
            {
                "kind": "named",
                "cta": [0, 0, 0],
                "address": None,
                "name": "bar 1",
                "phase": None,
                "pending": 128,
                "expected": 128,
                "tx": None,
                "waiters": [],
            },
        ],
        "memory": [
            {
                "space": "shared",
                "cta": [0, 0, 0],
                "name": "tiles[0]",
                "address": 0x400,
                "type": ".bf16",
                "shape": [64, 64],
                "first": [0, 0],
                "swizzle": "128B",
                "values": [[str(value) for value in line] for line in tile],
                "changed": [[r == 3 and c < 8 for c in range(32)] for r in range(16)],
                "bank": [[((c * 2 // 16) ^ (r % 8)) * 4 + c % 8 // 2 for c in range(32)] for r in range(16)],
            }
        ],
        "fragments": [
            {
                "name": "acc",
                "instruction": "wgmma.mma_async.m64n64k16.f32.bf16.bf16",
                "matrix": "D",
                "shape": [64, 64],
                "values": [[str(value) for value in line] for line in accumulator],
                "owner": owner,
            }
        ],
        "timeline": {
            "now": step,
            "rows": [
                {
                    "name": "warp 8 / producer",
                    "spans": [
                        span(0, 40, "run"),
                        span(40, 100, "wait", "empty[1]", 18),
                        span(100, 120, "run"),
                        span(120, None, "wait", "empty[0]", 18),
                    ],
                },
                {
                    "name": "warp 0 / consumer 0",
                    "spans": [span(0, 20, "run"), span(20, 150, "wait", "full[0]", 25), span(150, None, "run", "", 28)],
                },
                {"name": "warp 4 / consumer 1", "spans": [span(0, 24, "run"), span(24, None, "wait", "full[1]", 25)]},
                {
                    "name": "TMA tiles[0]",
                    "spans": [
                        span(36, 38, "issued", "8192 bytes", 22),
                        span(38, 140, "in flight", "8192 bytes", 22),
                        span(140, 152, "completed", "", 22),
                        span(152, 156, "waited", "", 25),
                    ],
                },
                {
                    "name": "TMA tiles[1]",
                    "spans": [
                        span(110, 112, "issued", "8192 bytes", 22),
                        span(112, None, "in flight", "4096 bytes pending", 22),
                    ],
                },
                {
                    "name": "wgmma",
                    "spans": [span(200, 204, "issued", "group 0", 28), span(204, None, "in flight", "group 0", 28)],
                },
            ],
        },
        "watches": [
            {"text": "acc[0] + 1", "value": "3.5", "error": None},
            {"text": "nothing", "value": None, "error": "nothing: no register, name or array is called so"},
        ],
        "breakpoints": [
            {
                "id": 1,
                "text": "pipeline.py:16",
                "condition": "lane == 3",
                "hits": 2,
                "enabled": True,
                "ptx": [28],
                "line": 16,
                "file": "pipeline.py",
                "watch": False,
            },
            {
                "id": 2,
                "text": "ptx:30",
                "condition": None,
                "hits": 0,
                "enabled": False,
                "ptx": [30],
                "line": None,
                "file": None,
                "watch": False,
            },
        ],
        "available": {
            "memory": [
                {"name": "tiles[1]", "space": "shared", "text": "bf16 64 x 64, 128B"},
                {"name": "a", "space": "global", "text": "bf16 64 x 128"},
            ],
            "fragments": [{"name": "acc", "text": "wgmma D 64 x 64"}],
        },
        **others,
    }


def view(**others: Any) -> DebugView:
    return DebugView(sources(), document(**others))


def large(ptx: int = 20_000, warps: int = 4096, registers: int = 900) -> DebugView:
    """A kernel with more of everything than fits."""
    lines = [f"\tadd.f32 %f{n % 200}, %f{n % 200}, %f{n % 7};" for n in range(ptx)]
    python = [f"    acc += {n}" for n in range(200)]
    own = document()
    states = ("ready", "waiting", "exited")
    state = own | {
        "grid": [warps // 8, 1, 1],
        "block": [256, 1, 1],
        "focus": {"cta": [300, 0, 0], "warp": 5, "lane": 0},
        "place": {"ptx": ptx // 2, "line": 100, "file": "large.py", "stack": []},
        "warps": [
            {
                "cta": [n // 8, 0, 0],
                "warp": n % 8,
                "state": "running" if n == 2405 else states[n % 3],
                "waits": None,
                "ptx": 1 + n * 3 % ptx,
                "line": 1 + n % 200,
                "active": 0xFFFFFFFF,
                "steps": n,
            }
            for n in range(warps)
        ],
        "registers": [register(f"%f{n}", list(range(n, n + 32)), type=".f32") for n in range(registers)],
        "memory": [
            own["memory"][0]
            | {
                "shape": [256, 256],
                "values": [["1.5"] * 64 for _ in range(64)],
                "changed": [[False] * 64 for _ in range(64)],
                "bank": None,
            }
        ],
        "timeline": {
            "now": 100_000,
            "rows": [
                {
                    "name": f"CTA {n} warp 0",
                    "spans": [span(at, at + 6, "run" if at % 200 else "wait") for at in range(0, 100_000, 100)],
                }
                for n in range(64)
            ],
        },
        "step": 100_000,
        "last": 100_000,
        "breakpoints": [],
    }
    return DebugView(
        {
            "python": [{"file": "large.py", "first": 1, "lines": python}],
            "ptx": lines,
            "line_of_ptx": [1 + n * 200 // ptx for n in range(ptx)],
            "file_of_ptx": [0] * ptx,
        },
        state,
    )
