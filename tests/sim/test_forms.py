"""Every form of the table is simulated or refused by name; sharing the decoding of a shape changes nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from oracle.examples import Example, examples
from oracle.nodes import instruction, type_of
from sim import coverage
from sim.engines import run_both
from sim.text import entry
from sim.text import statement as parse
from support.groups import check_each

from pyptx import ir, isa, parser
from pyptx import sim as simulator
from pyptx.errors import SimulationError
from pyptx.isa import satisfied_needs
from pyptx.isa.targets import Target
from pyptx.sim.actions import Compute
from pyptx.sim.core.encoding.actions import encode
from pyptx.sim.decode.refusals import REASONS, TARGETS
from pyptx.sim.program import program as resolving
from pyptx.sim.program import templates

FORMS = [form for op in isa.OPS.values() for form in op.forms]

_NAMES = """.shared .align 16 .b8 sym_shared[64]
.local .align 16 .b8 sym_local[64]"""
_CALLED = parser.parse(""".version 9.0
.target sm_90a
.address_size 64
.func fn0 { ret; }
.func fn1 (.param .b32 q) { ret; }
.func (.param .b32 r) fn2 { ret; }
.func (.param .b32 r) fn3 (.param .b32 q) { ret; }
.global .u64 taken[4] = {fn0, fn1, fn2, fn3};
.entry names {
    .param .b32 xa;
    .param .b32 xr;
    pr0: .callprototype _ ();
    pr1: .callprototype _ (.param .b32 _);
    pr2: .callprototype (.param .b32 _) _ (.param .b32 _);
}
""")
_MODULE = """.global .align 16 .b8 sym_global[64]
.const .align 16 .b8 sym_const[64]"""


def _module(statements: list[str], *guards: str) -> ir.Module:
    """The statements in an entry that declares what the examples name; statement k under guard k."""
    names = sorted({n for s in statements for n in re.findall(r"%[a-z]+\d*(?:x2)?_\d+", s)})
    body = [parse(f".reg .{type_of(n)} {n}") for n in names]
    body += [parse(line) for line in (*_NAMES.splitlines(), ".reg .pred %guard", "ts0: .branchtargets L0")]
    body += _CALLED.entries[0].body
    one: dict[ir.Operand, ir.Operand] = {}  # equal operands are one object, as the parser has them
    for k, text in enumerate(statements):
        node = instruction(text)
        guard = ir.Predicate("%guard", guards[k] == "!") if k < len(guards) and guards[k] else None
        body.append(
            ir.Instruction(node.opcode, node.modifiers, tuple(one.setdefault(o, o) for o in node.operands), guard)
        )
    body += [parse("L0:"), parse("ret")]
    shell = entry("", "u64 p0", declarations=_MODULE)
    *variables, function = shell.directives
    called = (d for d in _CALLED.directives if d is not _CALLED.entries[0])
    return ir.Module(
        shell.version,
        shell.target,
        shell.address_size,
        (*variables, *called, ir.Function(True, "test", function.params, body=tuple(body))),
    )


def _refusal(*statements: str) -> str | None:
    """Return the reason the first refused statement is not simulated; None if all are."""
    try:
        encode(simulator.load(_module([*statements])))
    except SimulationError as error:
        return error.message
    return None


@dataclass(frozen=True)
class Tried:
    """An example, the targets that have it, and the reason it is refused."""

    example: Example
    targets: tuple[Target, ...]
    refusal: str | None


@pytest.fixture(scope="module")
def tried() -> list[Tried]:
    """Every example of every form; one by one only where one of the form is refused."""
    found = []
    for form in FORMS:
        of_form = list(examples(form))
        refused = _refusal(*(example.text for example in of_form)) is not None
        for example in of_form:
            needs = example.needs
            targets = tuple(t for t in TARGETS if satisfied_needs(needs, t))
            found.append(Tried(example, targets, _refusal(example.text) if refused else None))
    return found


@pytest.mark.slow
def test_every_form_is_simulated_or_refused_for_a_reason_that_holds(tried):
    strange = [
        f"{one.example.text} {one.refusal}"
        for one in tried
        if one.refusal is not None
        and not any(one.refusal.endswith(f" is not simulated: {reason}") for reason in REASONS.values())
    ]
    assert not strange, f"{len(strange)}:\n" + "\n".join(strange[:20])
    assert not [
        one
        for one in tried
        if one.targets and one.refusal and one.refusal.endswith((REASONS["old"], REASONS["sm_107"]))
    ]


@pytest.mark.slow
def test_the_coverage_page_lists_the_refused_forms(tried, request):
    """The counts on the page may be out of date; the refused forms and their reasons are exact."""
    page = "\n".join(coverage.page([(one.example, one.targets, one.refusal) for one in tried])) + "\n"
    path = Path(__file__).parents[2] / "docs" / "reference" / "simulator.md"
    if request.config.getoption("--bless"):
        path.write_text(page, encoding="utf-8")

    def without_counts(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith("| sm_")]

    assert without_counts(page) == without_counts(path.read_text(encoding="utf-8")), (
        "if this is intended: pytest --bless, then review the diff"
    )


def _variants(text: str) -> list[str]:
    """The statement with its registers, with others, with one register everywhere, and with numbers as sources."""

    def numbered(change):
        return re.sub(r"(%[a-z]+\d*(?:x2)?_)(\d+)", lambda f: f"{f[1]}{change(int(f[2]))}", text)

    variants = [text, numbered(lambda n: n + 9), numbered(lambda n: 3 * n + 1)]
    head, comma, last = text.rstrip(";").rpartition(", ")
    if comma and re.fullmatch(r"%[a-z]+\d*_\d+", last):
        numbers = ("7", "0x10", "7", "-1") if not re.match(r"%(f|bf|pred)", last) else ("1.5", "0f3F800000", "1.5")
        variants += [f"{head}, {n};" for n in numbers]
    if address := re.search(r"\[(%[a-z]+\d*_\d+)\]", text):
        variants += [text.replace(address[0], f"[{address[1]}+{n}]") for n in (16, 32)]
    return variants if "{" in text else [*variants, numbered(lambda n: 0)]


def _encoded(module: ir.Module):
    program = simulator.load(module)
    return program, encode(program)


TEMPLATED = [f for f in FORMS if f.semantics or f.op.opcode in ("ld", "st", "cvta", "mov")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("opcode", sorted({form.op.opcode for form in TEMPLATED}))
def test_sharing_a_template_changes_nothing(opcode, monkeypatch):
    forms = (form for form in TEMPLATED if form.op.opcode == opcode)
    check_each(check_sharing, ((form.syntax, (form, monkeypatch)) for form in forms))


def check_sharing(form, monkeypatch) -> None:
    monkeypatch.setattr(templates, "_templates", {})
    variants = [_variants(example.text) for example in list(examples(form))[:4]]
    statements = [v for several in variants for v in several[::-1]]  # the aliased ones record the templates
    fit = statements if _refusal(*statements) is None else [s for s in statements if _refusal(s) is None]
    if not fit:
        return
    module = _module(fit, "", "@", "!", "@", "!")
    shared, code = _encoded(module)
    with monkeypatch.context() as patch:
        patch.setattr(resolving, "split", lambda *_: None)
        alone, plain = _encoded(module)
    for one, other in zip(shared.actions, alone.actions, strict=True):
        if isinstance(one, Compute):
            assert one.assignments == other.assignments
        else:
            assert one == other
    assert shared.guards == alone.guards and shared.undefined == alone.undefined
    for name in ("ops", "pool", "constants", "initial"):
        assert np.array_equal(getattr(code, name), getattr(plain, name)), name
    assert (code.reg_bytes, code.shared_addresses, code.param_rows) == (
        plain.reg_bytes,
        plain.shared_addresses,
        plain.param_rows,
    )


def test_vectors_are_read_before_they_are_written():
    module = entry(
        """
        .reg .b64 %out
        .reg .b32 %r<5>
        .reg .b16 %h<3>
        ld.param.u64 %out, [out]
        mov.b32 %r0, 1
        mov.b32 %r1, 2
        mov.b32 %r2, 3
        mov.b32 %r3, 4
        mov.v2.b32 {%r0, %r1}, {%r1, %r0}
        mov.v4.b32 {%r0, %r1, %r2, %r3}, {%r1, %r2, %r3, %r0}
        st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3}
        mov.b16 %h0, 5
        mov.b16 %h1, 6
        mov.v2.b16 {%h0, %h1}, {%h1, %h0}
        st.global.v2.b16 [%out+16], {%h0, %h1}
        ret""",
        "u64 out",
    )
    out = np.zeros(5, np.uint32)
    run_both(module, 1, 1, (out,))
    assert out.tolist() == [1, 3, 4, 2, 6 | 5 << 16]


def test_a_number_of_128_bits_is_stored_whole():
    module = entry(
        """
        .reg .b64 %out
        ld.param.u64 %out, [out]
        st.global.b128 [%out], -2
        st.global.b128 [%out+16], 7
        ret""",
        "u64 out",
    )
    out = np.zeros(4, np.uint64)
    run_both(module, 1, 1, (out,))
    assert out.tolist() == [2**64 - 2, 2**64 - 1, 7, 0]
