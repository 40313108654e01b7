"""Every simulated form that works on registers, on the simulator and on a GPU: the same inputs, compared bit by bit.

    PYTHONPATH=.:tests python tests/device/forms.py --out FOLDER [--only mma] [--seconds 300]

From the table: forms with a meaning, and those of the warp and the tensor cores that take and give registers alone,
each with up to MOST choices of its modifiers, 64 lanes of values that are likely to meet an edge. A form is a kernel, a
few of them a module; what ptxas refuses in a module is assembled alone. Written after each module to forms.json: how
many registers were compared, and every difference with its statement, lane, inputs, and both results. NaN equals NaN.
Approximate functions may differ: the largest distance in units of the last place is told. Products of tensor cores are
simulated with `tensor_cores="hw"`. Forms in forms.json already are not run again, but exact ones that differ. A module
whose process hung, died or lost the GPU to a fault is run form by form in the next process; so that one is found.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [
    str(folder) for folder in (Path(__file__).parents[1], Path(__file__).parents[2]) if str(folder) not in sys.path
]

from oracle.examples import examples  # noqa: E402
from oracle.nodes import type_of  # noqa: E402
from sim.registers import LANES, Stored, program_of, some_examples  # noqa: E402

import pyptx  # noqa: E402
from pyptx import ir, isa, sim  # noqa: E402
from pyptx.emitter import emit  # noqa: E402
from pyptx.errors import CompileError, PtxError, SimulationError  # noqa: E402
from pyptx.isa import satisfied_needs, targets  # noqa: E402

__all__ = ["MOST", "Probe", "compare", "main", "probes", "run", "written"]

MOST, TOGETHER, SHOWN = 12, 24, 6  # statements of a form, forms of a module, differences told
WARP = ("shfl", "vote", "match", "redux", "movmatrix", "activemask")  # their last register is a mask of lanes
VIDEO = re.compile(r"v(add|sub|absdiff|min|max|shl|shr|set|mad|avrg)\d?$")
NOT_NUMBERS = re.compile(r"%(f16|f16x2|bf16|bf16x2|f32|f64)_")
# Of sparse products: the pairs of four columns that are there, (0, 1) and (2, 3) in turn; right in every format.
METADATA = 0x4E4E4E4E
# What a fault of a kernel leaves behind in every later call: ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, ASSERT .. LAUNCH_FAILED.
STICKY = frozenset({700, 702, *range(710, 720)})


@dataclass(frozen=True)
class Probe:
    """A form's kernel.

    Attributes:
        columns: (registers, LANES) of u64, what its registers hold before.
        stored: what the columns of the result are.
    """

    form: str
    statements: tuple[str, ...]
    function: ir.Function
    columns: np.ndarray
    stored: tuple[Stored, ...]


def candidates() -> Iterator[Any]:
    """Forms that take registers and numbers and give registers."""
    for op in isa.OPS.values():
        for form in op.forms:
            if (form.semantics and op.opcode != "mov") or op.opcode in (*WARP, "mma") or VIDEO.match(op.opcode):
                yield form


def probes(target: str = "sm_90a", only: str = "") -> Iterator[Probe]:
    """A kernel for every form that the target has and the simulator runs."""
    chip = targets.parse(target)
    for number, form in enumerate(candidates()):
        if only not in form.syntax:
            continue
        there = {example.text for example in examples(form) if satisfied_needs(example.needs, chip)}
        rng = random.Random(form.syntax)
        statements = [s for s in (*some_examples(form, rng, MOST), *sorted(there)) if "%" in s and "b128" not in s]
        kept = [s for s in dict.fromkeys(statements) if s in there or _needs(form, s, chip)][:MOST]
        kept = [s for s in kept if _simulated(s)]
        if kept:
            module, columns, stored = program_of(kept, rng, name=f"k{number}", target=target, column=_column)
            yield Probe(form.syntax, tuple(kept), module.functions[0], columns, tuple(stored))


def _needs(form: Any, statement: str, chip: Any) -> bool:
    """Whether the chip has a statement of a form; those that no example spells are asked of the checker."""
    module, *_ = program_of([statement], random.Random(0), target=str(chip))
    return not any(found.severity == "error" for found in pyptx.check_ptx(emit(module)))


def _simulated(statement: str) -> bool:
    try:
        sim.load(program_of([statement], random.Random(0))[0])
    except SimulationError:
        return False
    return True


def _column(statement: str, register: str, width: int) -> list[int] | None:
    """Values of a register where any would not do: masks of all lanes, metadata, factors of middle size."""
    opcode = re.match(r"\w+", statement)[0]
    registers = re.findall(r"%[a-z]\w*_\d+", statement)
    if opcode in WARP and opcode not in ("activemask", "movmatrix") and register == registers[-1]:
        return [0xFFFFFFFF] * LANES
    if opcode != "mma":
        return None
    if statement.startswith("mma.sp") and register == registers[-1]:
        return [METADATA] * LANES
    rng = random.Random(statement + register)
    kinds = statement.partition(" ")[0]
    keep, put = next(((keep, put) for word, keep, put in _MIDDLE if word in kinds), (~0, 0))
    if type_of(register) == "f32" or (type_of(register) == "b32" and ".tf32" in kinds):
        keep, put = 0x83FFFFFF, 0x3C000000
    if width == 64:
        keep, put = 0x801FFFFFFFFFFFFF, 0x3FE0000000000000
    return [rng.getrandbits(width) & keep | put for _ in range(LANES)]


# Formats of packed operands, which bits are random, and which are set, so that numbers are near one.
_MIDDLE = (
    (".bf16", 0x81FF81FF, 0x3E003E00),
    (".f16", 0x8FFF8FFF, 0x30003000),
    ("e4m3", 0xB7B7B7B7, 0x10101010),
    ("e5m2", 0xB3B3B3B3, 0x30303030),
)


# running ------------------------------------------------------------------------------------------------------------


def batches(found: Iterator[Probe], size: int = TOGETHER) -> Iterator[list[Probe]]:
    held: list[Probe] = []
    for probe in found:
        held.append(probe)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def text_of(group: Sequence[Probe], target: str, version: ir.Version) -> str:
    return emit(ir.Module(version, ir.Target((target,)), ir.AddressSize(64), tuple(probe.function for probe in group)))


def run(group: Sequence[Probe], target: str, backend: str, version: ir.Version) -> list[np.ndarray | str]:
    """What each kernel leaves behind, or why it was refused."""
    text, refused = text_of(group, target, version), None
    program = pyptx.load(text)
    if backend == "sim":
        refused = next((found.message for found in pyptx.check_ptx(text) if found.severity == "error"), None)
    else:
        try:
            program.compile()
        except CompileError as error:  # a missing tool is no refusal
            refused = str(error).strip()
    if refused is not None:
        if len(group) == 1:
            return [refused]
        return [one for probe in group for one in run([probe], target, backend, version)]
    results: list[np.ndarray | str] = []
    options = {"tensor_cores": "hw"} if backend == "sim" else {}
    for probe in group:
        out = np.zeros_like(probe.columns)
        try:
            program[probe.function.name].launch(1, LANES, probe.columns.copy(), out, backend=backend, **options)
            results.append(out)
        except PtxError as refused:
            if getattr(refused, "code", None) in STICKY:
                raise Faulted(str(refused).strip()) from refused
            results.append(str(refused).strip())
    return results


class Faulted(Exception):
    """A kernel's fault ended the GPU's context; this process can launch nothing more."""


def compare(probe: Probe, simulated: np.ndarray | str, measured: np.ndarray | str) -> dict[str, Any]:
    """A row of the results."""
    row: dict[str, Any] = {"form": probe.form, "statements": len(probe.statements)}
    for name, found in (("simulator", simulated), ("gpu", measured)):
        if isinstance(found, str):
            return row | {"refused_by": name, "why": found[:2000]}
    row |= {"compared": 0, "differ": 0, "differences": []}
    wrong = np.zeros(len(probe.statements), int)
    furthest = 0
    for one in probe.stored:
        ours, theirs = (array[one.column] for array in (simulated, measured))
        row["compared"] += LANES
        differ = np.flatnonzero((ours != theirs) & ~_both_nan(ours, theirs, one))
        if not differ.size:
            continue
        text = probe.statements[one.statement]
        wrong[one.statement] = 1
        row["differ"] += int(differ.size)
        distance = _distance(ours[differ], theirs[differ], one)
        furthest = max(furthest, distance)
        for lane in differ[:2]:
            if len(row["differences"]) < SHOWN:
                inputs = {
                    other.name: hex(int(probe.columns[other.column, lane]))
                    for other in probe.stored
                    if other.statement == one.statement
                }
                row["differences"].append(
                    {
                        "statement": text,
                        "register": one.name,
                        "lane": int(lane),
                        "before": inputs,
                        "simulator": hex(int(ours[lane])),
                        "gpu": hex(int(theirs[lane])),
                        "last_places": distance,
                    }
                )
    row["statements_that_differ"] = [probe.statements[k] for k in np.flatnonzero(wrong)]
    if row["differ"]:
        row["furthest_last_places"] = furthest
    row["approximate"] = bool(re.search(r"\.approx|\.full|tanh|ex2|mma\.", probe.statements[0]))
    return row


_NAN = {
    "f32": (32, 0x7F800000, 0x7FFFFF),
    "f64": (64, 0x7FF << 52, (1 << 52) - 1),
    "f16": (16, 0x7C00, 0x3FF),
    "bf16": (16, 0x7F80, 0x7F),
}


def _both_nan(ours: np.ndarray, theirs: np.ndarray, one: Stored) -> np.ndarray:
    name = type_of(one.name)
    if name not in _NAN:
        return np.zeros(len(ours), bool)
    _, exponent, fraction = _NAN[name]
    e, f = np.uint64(exponent), np.uint64(fraction)
    return np.logical_and.reduce([(x & e == e) & (x & f != 0) for x in (ours, theirs)])


def _distance(ours: np.ndarray, theirs: np.ndarray, one: Stored) -> int:
    """The largest difference of the bits as whole numbers: units in the last place of floats of one sign."""
    return max(abs(int(a) - int(b)) for a, b in zip(ours, theirs, strict=True))


def exactly_differs(row: dict[str, Any]) -> bool:
    return bool(row.get("differ")) and not row["approximate"]


def written(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rows": []}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of forms.json")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--backend", default="cuda", choices=("cuda", "sim"), help="sim: against itself, as a trial")
    parser.add_argument("--only", default="", metavar="WORD", help="forms whose syntax holds this")
    parser.add_argument("--ptx", default="9.0", metavar="VERSION", help="of the modules")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no module after so long")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    path, begun = given.out / "forms.json", time.monotonic()
    before = written(path)
    rows, unfinished = [row for row in before["rows"] if not exactly_differs(row)], before.get("running", [])
    suspects = before.get("suspects", []) + unfinished
    if len(unfinished) == 1:  # it was alone, and its process did not end well
        rows.append(
            {
                "form": unfinished[0],
                "refused_by": "gpu",
                "statements": 0,
                "why": before.get("why", "the process that ran it hung, or died"),
            }
        )
    known = {row["form"] for row in rows}
    version, over = ir.Version(*map(int, given.ptx.split("."))), False

    def write(**more: Any) -> None:
        found = {"target": given.target, "backend": given.backend, "rows": rows, **more}
        if alone:
            found["suspects"] = [probe.form for probe in alone]
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    left = [probe for probe in probes(given.target, given.only) if probe.form not in known]
    alone = [probe for probe in left if probe.form in suspects]
    for group in [*([probe] for probe in alone), *batches(probe for probe in left if probe.form not in suspects)]:
        if time.monotonic() - begun > given.seconds:
            over = True
            break
        simulated, running = run(group, given.target, "sim", version), [probe.form for probe in group]
        write(running=running)
        try:
            measured = run(group, given.target, given.backend, version)
        except Faulted as fault:
            write(running=running, why=f"{fault}")
            print(f"the GPU is lost: {fault}", flush=True)
            return 3
        rows += map(compare, group, simulated, measured)
        write()
        print(
            f"{len(rows)} forms, {sum(row.get('differ', 0) > 0 for row in rows)} differ, "
            f"{sum('why' in row for row in rows)} refused, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    exact = list(filter(exactly_differs, rows))
    for row in exact:
        print(f"DIFFERS: {row['form']}: {row['differences'][0]}")
    print(f"{len(rows)} forms compared; {len(exact)} exact ones differ" + ("; time is over" if over else ""))
    return 2 if over else int(bool(exact))


if __name__ == "__main__":
    raise SystemExit(main())
