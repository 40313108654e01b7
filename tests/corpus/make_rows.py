"""Write tests/corpus/ptx/rows/*.ptx: one file for each instruction of the table and target that has it. Needs ptxas.

    python tests/corpus/make_rows.py [OPCODE ...]           # these, or all

Each form stands there in its shortest and its fullest spelling. What an example reads is loaded before it and what it
writes is stored behind it, so that the assembler drops nothing. Examples that cannot be assembled alone (an address
that must be a shared one, a protocol of several instructions) are left out, one by one, until ptxas takes the file.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the examples of tests/oracle

from corpus import write
from oracle.examples import Example, examples, statement, supporting_target
from oracle.ptxas import HEADER

from pyptx import isa
from pyptx.ir.nodes import RegisterOperand
from pyptx.ir.visit import leaves
from pyptx.isa import targets
from pyptx.parser import statements
from pyptx.toolchain.ptxas import run_ptxas

LATEST = targets.LATEST_PTX
MOST = 48  # examples in one file
_REGISTER = re.compile(r"%([a-z]+\d*(?:x2)?)_(\d+)$")
_BITS = {
    "b8": 8,
    "u8": 8,
    "s8": 8,
    "b16": 16,
    "u16": 16,
    "s16": 16,
    "f16": 16,
    "b64": 64,
    "u64": 64,
    "s64": 64,
    "f64": 64,
    "b128": 128,
}


def chosen(op: isa.Op) -> Iterator[Example]:
    """The first and the longest example of every form."""
    for form in op.forms:
        some = list(examples(form))
        yield some[0]
        longest = max(some, key=lambda e: len(e.text))
        if longest.text != some[0].text:
            yield longest


def registers(text: str) -> list[tuple[str, str]]:
    """Registers of a statement and their types, those of its first operand first."""
    found: dict[str, str] = {}
    for node in statements(text):
        for operand in node.operands:
            for leaf in leaves(operand):
                names = (
                    [leaf.name]
                    if isinstance(leaf, RegisterOperand)
                    else re.findall(r"%\w+", f"{getattr(leaf, 'base', '')} {getattr(leaf, 'offset', '')}")
                )
                plain = [n.partition(".")[0] for n in names]  # without a selector
                found |= {n: m[1] for n in plain if (m := _REGISTER.match(n))}
    return list(found.items())


def moved(name: str, kind: str, slot: int, *, load: bool) -> str:
    """A load or a store of one register, at a place of its own."""
    if kind == "pred":
        if load:
            return f"\tld.volatile.global.b32 %b32_259, [sym_global+{slot}];\n\tsetp.ne.b32 {name}, %b32_259, 0;\n"
        return f"\tselp.b32 %b32_259, 1, 0, {name};\n\tst.volatile.global.b32 [sym_global+{slot}], %b32_259;\n"
    bits = _BITS.get(kind, 32)
    volatile, where = ("", slot // 16 * 16) if bits == 128 else (".volatile", slot)
    if load:
        return f"\tld{volatile}.global.b{bits} {name}, [sym_global+{where}];\n"
    return f"\tst{volatile}.global.b{bits} [sym_global+{where}], {name};\n"


def module(target: str, option: str, found: Sequence[str]) -> str:
    """A module with one entry that holds the statements."""
    kinds = {"b32"} | {kind for text in found for _, kind in registers(text)}
    words = f"{target}, {option}" if option else target
    head = f".version {LATEST[0]}.{LATEST[1]}\n.target {words}\n.address_size 64\n\n{HEADER}"
    head = re.sub(r"\.extern (\.func .*\));\n", r"\1 { ret; }\n", head)
    if option:
        head += ".global .texref tex0; .global .samplerref smp0;\n"
    body = [
        ".local .align 16 .b8 sym_local[64];",
        ".param .b32 xa;",
        ".param .b32 xr;",
        "pr0: .callprototype _ ();",
        "pr1: .callprototype _ (.param .b32 _);",
        "pr2: .callprototype (.param .b32 _) _ (.param .b32 _);",
        "ts0: .branchtargets L0, L1;",
    ]
    text = f"{head}\n.visible .entry k(.param .align 128 .b8 p0[256])\n{{\n"
    text += "".join(f"\t{line}\n" for line in body) + "".join(f"\t.reg .{k} %{k}_<260>;\n" for k in sorted(kinds))
    for statement_text in found:
        used = registers(statement_text)
        text += "".join(moved(name, kind, 8 * i, load=True) for i, (name, kind) in enumerate(used[:120]))
        text += f"\t{statement_text}\n"
        text += "".join(moved(name, kind, 8 * i, load=False) for i, (name, kind) in enumerate(used[:120]))
    return text + "L0:\nL1:\n\tret;\n}\n"


def assembled(target: str, option: str, found: list[str]) -> list[str]:
    """The statements without those that ptxas refuses."""
    if not found:
        return []
    done = run_ptxas(module(target, option, found), target, (), limit_s=60)
    if done.cubin:
        return found
    if len(found) == 1:
        return []
    middle = len(found) // 2
    halves = [assembled(target, option, part) for part in (found[:middle], found[middle:])]
    both = halves[0] + halves[1]
    if not all(halves) or run_ptxas(module(target, option, both), target, (), limit_s=60).cubin:
        return both
    return max(halves, key=len)


def job(item: tuple[tuple[str, str, str], list[Example]]) -> tuple[str, str, str, list[str], int]:
    (opcode, target, option), some = item
    texts = list(dict.fromkeys(statement(e) for e in some))
    texts = texts[:: -(-len(texts) // MOST)]
    return opcode, target, option, assembled(target, option, texts), len(texts)


def main() -> None:
    jobs: dict[tuple[str, str, str], list[Example]] = defaultdict(list)
    unknown = set(sys.argv[1:]) - set(isa.OPS)
    if unknown:
        sys.exit(f"no opcodes of the table: {', '.join(sorted(unknown))}")
    for op in (isa.OPS[name] for name in sys.argv[1:] or isa.OPS):
        for example in chosen(op):
            target = supporting_target(example)
            if targets.parse(target).number >= 75:
                jobs[op.opcode, target, example.option].append(example)
    with ThreadPoolExecutor(2) as pool:
        for opcode, target, option, found, count in pool.map(job, jobs.items()):
            if found:
                name = f"rows/{opcode}.{target}{'_' + option.split('_')[0] if option else ''}.ptx"
                write(
                    name, module(target, option, found), source="../../pyptx/isa", generator="make_rows.py", options=[]
                )
            print(opcode, target, option, f"{len(found)} of {count}")


if __name__ == "__main__":
    main()
