"""ldmatrix, stmatrix, movmatrix, and wmma from load to store, on both engines, compared with the manual's layouts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from oracle.examples import examples, supporting_target
from oracle.nodes import instruction
from sim.engines import run_both
from sim.matrices import SIZE, bits_of, random_matrix, values_of
from sim.text import entry
from sim.text import statement as parse

from pyptx import ir, isa, sim
from pyptx.errors import SimulationError

ROWS = 32  # rows of 16 bytes in shared memory


def program(lines: list, params: str, target: str = "sm_100a"):
    shell = entry("", params, target=target)
    body = [parse(line) if isinstance(line, str) else line for line in (*lines, "ret")]
    function = ir.Function(True, "test", shell.functions[0].params, body=tuple(body))
    return ir.Module(shell.version, shell.target, shell.address_size, (function,))


def move(text: str, registers: int, memory: np.ndarray, order: np.ndarray, values: np.ndarray | None = None):
    """Run a statement on `%row`, the address of row order[lane] of shared memory; %r0.. and the memory after."""
    body = [
        ".shared .align 128 .b8 buffer[512]",
        ".reg .b32 %r<9>",
        ".reg .b64 %a<9>",
        ".reg .b32 %t<9>",
        ".reg .b32 %row",
        "ld.param.u64 %a0, [memory]",
        "ld.param.u64 %a1, [order]",
        "ld.param.u64 %a2, [regs]",
        "mov.u32 %t0, %tid.x",
        "mul.wide.u32 %a3, %t0, 4",
        "add.u64 %a0, %a0, %a3",
        "add.u64 %a1, %a1, %a3",
        "add.u64 %a2, %a2, %a3",
        "mov.u32 %t1, buffer",
        "shl.b32 %t2, %t0, 2",
        "add.u32 %t2, %t1, %t2",
        "ld.global.u32 %row, [%a1]",
        "shl.b32 %row, %row, 4",
        "add.u32 %row, %t1, %row",
    ]
    for at in range(0, 512, 128):
        body += [f"ld.global.b32 %t3, [%a0+{at}]", f"st.shared.b32 [%t2+{at}], %t3"]
    body += [f"ld.global.b32 %r{i}, [%a2+{128 * i}]" for i in range(registers)]
    body += ["bar.warp.sync -1", instruction(text), "bar.warp.sync -1"]
    body += [f"st.global.b32 [%a2+{128 * i}], %r{i}" for i in range(registers)]
    for at in range(0, 512, 128):
        body += [f"ld.shared.b32 %t3, [%t2+{at}]", f"st.global.b32 [%a0+{at}], %t3"]
    out = np.zeros((registers, 32), np.uint32) if values is None else values.copy()
    run_both(program(body, "u64 memory, u64 order, u64 regs"), 1, 32, (memory, order, out))
    return out


def _setup():
    rng = np.random.default_rng(3)
    memory = rng.integers(0, 256, (ROWS, 16), dtype=np.uint8)
    return rng, memory, rng.permutation(ROWS).astype(np.uint32)


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_of_16_bits(count, trans):
    """Thread T of 8 x 8 matrix m: row T / 4, columns 2 * (T % 4) and the next; transposed the other way round."""
    _, memory, order = _setup()
    registers = ", ".join(f"%r{i}" for i in range(count))
    out = move(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%row];", count, memory, order)
    matrices = memory.view(np.uint16)[order].reshape(4, 8, 8)
    for m in range(count):
        for lane in range(32):
            row, column = lane // 4, 2 * (lane % 4)
            pair = matrices[m, column : column + 2, row] if trans else matrices[m, row, column : column + 2]
            assert out[m, lane] == int(pair[0]) | int(pair[1]) << 16


@pytest.mark.parametrize("kind", ["b16", "b6x16_p32", "b4x16_p64", "s4"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix_of_rows_of_16_elements(count, kind):
    """Four neighbouring elements of row T / 4, in a byte each."""
    _, memory, order = _setup()
    registers = ", ".join(f"%r{i}" for i in range(count))
    words = {"b16": "m8n8.x{}.shared.b16", "s4": "m8n16.x{}.shared.s8.s4"}.get(kind, "m8n16.x{}.shared.b8x16." + kind)
    out = move(f"ldmatrix.sync.aligned.{words.format(count)} {{{registers}}}, [%row];", count, memory, order)
    rows = memory[order].reshape(4, 8, 16)
    for m in range(count):
        for lane in range(32):
            number = int.from_bytes(rows[m, lane // 4].tobytes(), "little")
            for b in range(4):
                k = 4 * (lane % 4) + b
                if kind == "b16":
                    element = int(rows[m, lane // 4, k])
                elif kind == "b6x16_p32":
                    element = number >> 6 * k & 63
                else:
                    element = number >> 4 * k & 15
                    if kind == "s4" and element & 8:
                        element |= 0xF0
                assert out[m, lane] >> 8 * b & 255 == element


@pytest.mark.parametrize("kind", ["b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"])
@pytest.mark.parametrize("count", [1, 2])
def test_ldmatrix_of_16_by_16_elements_transposed(count, kind):
    _, memory, order = _setup()
    registers = ", ".join(f"%r{i}" for i in range(2 * count))
    out = move(
        f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{kind} {{{registers}}}, [%row];", 2 * count, memory, order
    )
    bits = {"b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}[kind]
    rows = [int.from_bytes(row.tobytes(), "little") for row in memory[order]]
    for r in range(2 * count):
        for lane in range(32):
            for b in range(4):
                row = 16 * (r // 2) + 4 * (lane % 4) + 2 * (r % 2) + b % 2
                assert out[r, lane] >> 8 * b & 255 == rows[row] >> bits * (lane // 4 + 8 * (b // 2)) & (1 << bits) - 1


@pytest.mark.parametrize("form", ["m8n8.x{}.shared.b16", "m8n8.x{}.trans.shared.b16", "m16n8.x{}.trans.shared.b8"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix(count, form):
    rng, memory, order = _setup()
    before, values = memory.copy(), rng.integers(0, 1 << 32, (count, 32), dtype=np.uint32)
    registers = ", ".join(f"%r{i}" for i in range(count))
    move(f"stmatrix.sync.aligned.{form.format(count)} [%row], {{{registers}}};", count, memory, order, values)
    for m in range(count):
        for lane in range(32):
            for b, byte in enumerate(int(values[m, lane]).to_bytes(4, "little")):
                g, t = lane // 4, lane % 4
                row, column = (
                    (2 * t + b % 2, g + 8 * (b // 2))
                    if "m16n8" in form
                    else (2 * t + b // 2, 2 * g + b % 2)
                    if "trans" in form
                    else (g, 4 * t + b)
                )
                before[order[8 * m + row], column] = byte
    assert (memory == before).all()


def test_movmatrix_transposes():
    rng, memory, order = _setup()
    values = rng.integers(0, 1 << 32, (1, 32), dtype=np.uint32)
    out = move("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;", 1, memory, order, values)
    assert (out.view(np.uint16).reshape(8, 8) == values.view(np.uint16).reshape(8, 8).T).all()


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(("offset", "message"), [(8, "not a multiple of 16"), (496, "out of bounds")])
def test_a_row_is_checked(engine, offset, message):
    module = entry(
        f"""
        .shared .align 128 .b8 buffer[512]
        .reg .b32 %r<4>; .reg .b32 %a
        mov.u32 %a, buffer; mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 4; add.u32 %a, %a, %r0
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r0, %r1, %r2, %r3}}, [%a+{offset}]
        ret""",
        "u64 x",
    )
    with pytest.raises(SimulationError, match=message):
        sim.launch(sim.load(module), 1, 32, (np.zeros(1, np.uint32),), engine=engine)


# wmma ---------------------------------------------------------------------------------------------------------------

PRODUCTS = [form for form in isa.OPS["wmma"].forms if "wmma.mma" in form.syntax]


def _memory(matrix: np.ndarray, type_name: str, layout: str, stride: int) -> np.ndarray:
    """A matrix as bytes, lines of `stride` elements."""
    lines = bits_of(matrix if layout == "row" else matrix.T, type_name)
    bits = SIZE[type_name]
    padded = np.zeros((lines.shape[0], stride), np.uint64)
    padded[:, : lines.shape[1]] = lines
    if bits >= 8:
        return padded.astype(f"u{bits // 8}").reshape(-1).view(np.uint8)
    per = 8 // bits
    return (padded.reshape(-1, per) << (bits * np.arange(per, dtype=np.uint64))).sum(axis=1).astype(np.uint8)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", PRODUCTS, ids=lambda form: form.syntax)
def test_wmma_from_load_to_store(form):
    for number, example in enumerate(examples(form)):
        rng = np.random.default_rng(number)
        words = example.text.split()[0].split(".")
        m, n, k = map(int, re.search(r"\.m(\d+)n(\d+)k(\d+)", example.text).groups())
        types = [w for w in words if w in SIZE]
        d, a, b, c = types if len(types) == 4 else (types[0], "f16", "f16", types[1])
        counts = [len(v.split(",")) for v in re.findall(r"\{([^}]*)\}", example.text)]
        layouts = dict(zip("ab", [w for w in words if w in ("row", "col")], strict=True))
        layouts |= {name: str(rng.choice(["row", "col"])) for name in "cd"}
        sizes = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}
        kinds = dict(zip("dabc", (d, a, b, c), strict=True))
        matrices = {name: random_matrix(rng, *sizes[name], kinds[name]) for name in "abc"}
        if kinds["c"] == "f16":
            matrices["c"] = np.round(matrices["c"])
        body = [".reg .b64 %p<4>", ".reg .b32 %s"]
        strides, memory = {}, []
        for i, name in enumerate("dabc"):
            rows, columns = sizes[name]
            leading = columns if layouts[name] == "row" else rows
            strides[name] = leading if name == "d" else leading + (64 if SIZE[kinds[name]] < 8 else 16) * number
            kind = {"f64": "f64", "f32": "f32", "s32": "s32"}.get(kinds[name], "b32")
            body += [f".reg .{kind} %{name}<{counts[i]}>", f"ld.param.u64 %p{i}, [{name}]"]
            if name != "d":
                memory.append(_memory(matrices[name], kinds[name], layouts[name], strides[name]))
        names = {
            name: "{" + ", ".join(f"%{name}{i}" for i in range(count)) + "}"
            for name, count in zip("dabc", counts, strict=True)
        }
        shape = f"m{m}n{n}k{k}"
        for i, name in enumerate("abc", 1):
            body += [f"mov.u32 %s, {strides[name]}"]
            body.append(
                instruction(
                    f"wmma.load.{name}.sync.aligned.{layouts[name]}.{shape}.global.{kinds[name]} "
                    f"{names[name]}, [%p{i}], %s;"
                )
            )
        body.append(instruction(f"{words[0]}.{'.'.join(words[1:])} {', '.join(names[x] for x in 'dabc')};"))
        body.append(instruction(f"wmma.store.d.sync.aligned.{layouts['d']}.{shape}.global.{d} [%p0], {names['d']};"))
        out = np.zeros(m * n * SIZE[d] // 8, np.uint8)
        run_both(program(body, "u64 d, u64 a, u64 b, u64 c", supporting_target(example)), 1, 32, (out, *memory))
        result = values_of(out.view(f"u{SIZE[d] // 8}"), d)
        result = result.reshape(m, n) if layouts["d"] == "row" else result.reshape(n, m).T
        a_, b_ = matrices["a"], matrices["b"]
        total = matrices["c"] + (a_ @ (1 - b_) + (1 - a_) @ b_ if "xor" in words else a_ @ b_)
        if d == "s32":
            total = (
                np.clip(total, -(2.0**31), 2.0**31 - 1)
                if "satfinite" in words
                else total.astype(np.int64).astype(np.uint32).view(np.int32)
            )
        np.testing.assert_array_equal(result, total, err_msg=example.text)
