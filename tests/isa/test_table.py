"""Consistency of the ISA table."""

from __future__ import annotations

import ast
import itertools
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from pyptx import isa
from pyptx.errors import TableError
from pyptx.isa import generate, semantics, stubs, targets
from pyptx.isa._match import positions_of
from pyptx.isa._schema import Family, form
from pyptx.isa._syntax import Part
from pyptx.isa._versions import may_need_later
from pyptx.isa.identifiers import to_identifier

FORMS = [f for op in isa.OPS.values() for f in op.forms]


def one(syntax: str, **cells) -> isa.Form:
    op = Family("test")
    op(syntax.split(".")[0].split("{")[0].split(" ")[0], "Test.", "test", form(syntax, **cells))
    row = next(iter(op.ops.values()))
    row.check()
    return row.forms[0]


# rows -------------------------------------------------------------------------------------------------------------


def test_a_syntax_line_is_parsed_as_in_the_manual():
    row = one("add{.rnd}{.ftz}.f32  d, a, b", rnd=".rn .rz@sm_90")
    assert [s.name for s in row.slots.values()] == ["rnd", "ftz"]
    assert row.slots["rnd"].gates["rz"].words == "sm_90 or higher"
    assert {o.name: (o.role, o.type) for o in row.operands.values()} == {
        "d": ("write", "f32"),
        "a": ("read", "f32"),
        "b": ("read", "f32"),
    }


def test_vectors_addresses_pairs_and_conditions_are_parsed():
    row = one(
        "op.m64n<n>k16.f32  {d*n/2}, [tm, {c*3}], p{|q}, {x, y}{, cp if .L2::hint}{, k}",
        n=".8 .16",
        c="s32",
        x="u16",
        y="u16",
        cp="u64",
        k="imm in 0..3",
    )
    assert row.count(row.operands["d"], {"n": "16"}) == 8
    assert (row.operands["tm"].kind, row.operands["c"].kind, row.operands["c"].count) == ("address", "vector", "3")
    assert row.operands["cp"].condition == ".L2::hint"
    assert row.operands["k"].optional and row.operands["k"].values == "0..3"


@pytest.mark.parametrize(
    ("syntax", "cells", "says"),
    [
        ("add.f32  d, a", {"rdn": ".rn"}, "are not slots or operands"),
        ("add.f32  d, a", {"sink": "x"}, "are not operands"),
        ("add.f32  d, a", {"regs": {"x": "any"}}, "are not operands or slots"),
        ("add.f32  d, a", {"a": "f33"}, "is neither a type nor a slot"),
        ("add  d, a", {}, "has no type"),
        ("add.type  d, a", {"type": ".f32 f64"}, "has no dot"),
        ("add.f32  d, [a", {}, "expected"),
        ("add.f32 .x  d", {}, "cannot read"),
    ],
)
def test_an_invalid_row_is_refused(syntax, cells, says):
    with pytest.raises(TableError, match=says):
        one(syntax, **cells)


def test_an_unused_default_is_refused():
    op = Family("test")
    op("add", "Add.", "add", form("add.f32  d, a"), rnd=".rn")
    with pytest.raises(TableError, match="of any form"):
        op.ops["add"].check()


def test_the_table_is_complete():
    assert len(FORMS) > 950
    for op in isa.OPS.values():
        op.check()
    assert all(f.op.summary.endswith(".") and f.op.section for f in FORMS)
    assert all(set(f.operands) >= set(f.some) - set(f.slots) for f in FORMS)


# one form for each mnemonic and operand shape ---------------------------------------------------------------------


def mnemonics(row: isa.Form, limit: int, rng: random.Random) -> Iterator[tuple[str, ...]]:
    places = [([()] if p.optional else []) + [(word,) for word in p.choices] for p in positions_of(row)]
    size = 1
    for words in places:
        size *= len(words)
    sample = (tuple(rng.choice(p) for p in places) for _ in range(limit))
    picked = itertools.product(*places) if size <= limit else sample
    for words in picked:
        yield tuple(itertools.chain.from_iterable(words))


def shape(part: Part, match: isa.Match) -> object:
    row = match.form
    if part.kind == "operand":
        operand = row.operands[part.name]
        if operand.kind in ("register", "vector"):
            return row.type_of(operand, match.choices) == "pred", operand.bare
        return operand.kind
    if part.kind == "literal":
        return part.name
    if part.kind == "vector":
        return "{", row.count(row.operands[part.parts[0].name], match.choices) if part.count else len(part.parts)
    if part.kind == "address":
        return "[", tuple(shape(p, match) for p in part.parts[1:]), part.suffix
    return part.kind


def shapes(match: isa.Match) -> set[tuple]:
    """Yield every operand shape of a form, as tuples."""
    there = {"." + word for word in match.choices.values() if word}
    there |= {w.text for w in match.form.words if not w.optional}
    found: set[tuple] = {()}
    for item in match.form.items:
        if item.condition and item.condition not in there:
            continue
        options = [(shape(item.part, match),)]
        if item.part.kind == "pair" and item.part.optional:
            options.append((shape(item.part.parts[0], match),))
        if item.optional and not item.condition:
            options.append(())
        found = {before + option for before in found for option in options}
    return found


def test_mnemonic_and_operand_shape_determine_one_form():
    rng = random.Random(1)
    shared, none = set(), set()
    for row in FORMS:
        for words in mnemonics(row, 120, rng):
            matches = isa.match(row.op.opcode, words)
            if row not in [m.form for m in matches] and not row.some:
                repeated = len({w.slot for w in row.words if w.slot}) < sum(1 for w in row.words if w.slot)
                paired = len({w.pair for w in row.words if w.optional}) < sum(1 for w in row.words if w.optional)
                if not (repeated or paired):
                    none.add((row.syntax, words))
            for a, b in itertools.combinations(matches, 2):
                if shapes(a) & shapes(b):
                    shared.add((a.form.syntax, b.form.syntax, words))
    assert shared == set()
    assert none == set()


# semantics --------------------------------------------------------------------------------------------------------


def test_semantics_use_known_primitives_and_operands():
    for row in FORMS:
        if row.semantics:
            check_semantics(row)


def check_semantics(row):
    values = [
        (*((None,) if s.optional else ()), *s.choices)[: None if f"{{{s.name}}}" in row.semantics else 1]
        for s in row.slots.values()
    ]
    for picked in itertools.product(*values):
        chosen = dict(zip(row.slots, picked, strict=True))
        text = semantics.semantics_of(row, chosen)
        assert set(semantics.calls(text)) <= semantics.PRIMITIVES.keys(), (row.syntax, text)
        assert semantics.names(text) <= row.operands.keys(), (row.syntax, text)
        written = {o.name for o in row.operands.values() if o.role == "write"}
        assert {part.split("=")[0].strip() for part in text.split(";")} <= written, (row.syntax, text)


def test_every_pure_form_has_semantics_or_is_listed_here():
    handled = {
        "isspacep",
        "cvta",
        "mapa",
        "getctarank",
        "createpolicy",
        "clusterlaunchcontrol",
        "txq",
        "suq",
        "istypep",
        "tensormap",
        "vadd",
        "vsub",
        "vabsdiff",
        "vmin",
        "vmax",
        "vavrg2",
        "vshl",
        "vshr",
        "vmad",
        "vset",
    }
    without = {f.op.opcode for f in FORMS if f.effect == "pure" and not f.semantics}
    assert {name.rstrip("24") for name in without} - {name.rstrip("24") for name in handled} == set()


# files and lookups ------------------------------------------------------------------------------------------------


def test_generated_files_are_up_to_date():
    stale = [path.name for path, text in generate.files().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run: python -m pyptx.isa.generate"


def test_an_instruction_that_needs_a_later_version_than_the_default_is_not_overlooked():
    rng = random.Random(5)
    for row in FORMS:
        mandatory = sum(1 for item in row.items if not item.optional)
        for words in mnemonics(row, 4, rng):
            for found in (found for found in isa.match(row.op.opcode, words) if found.form is row):
                for present, operands in ((frozenset(), mandatory), (frozenset(row.operands), len(row.items))):
                    needed = max(needs.ptx for needs in isa.form_needs(row, found.choices, present))
                    for version in (targets.DEFAULT_PTX, (8, 8), (9, 2)):
                        possible = may_need_later(row.op.opcode, words, operands, version)
                        assert possible or needed <= version, (row, words, operands)


def test_instructions_without_later_needs_are_told_by_their_modifiers_and_number_of_operands():
    assert not may_need_later("add", (".f32",), 3, (8, 5))
    assert may_need_later("add", (".f32x2",), 3, (8, 5))
    assert not may_need_later("add", (".f32x2",), 3, (8, 6))
    assert not may_need_later("max", (".f32",), 3, (8, 5))
    assert may_need_later("max", (".f32",), 4, (8, 5))
    assert may_need_later("add", (".f32",), 3, (8, 0)), "below the default version, the forms decide"


def classes() -> dict[str, dict[str, str]]:
    """Return the classes of the stub of `ptx.inst`: attribute -> class of the attribute."""
    return {
        node.name: {item.target.id: item.annotation.id for item in node.body if isinstance(item, ast.AnnAssign)}
        for node in ast.parse(stubs.instruction_stub()).body
        if isinstance(node, ast.ClassDef)
    }


def test_the_stub_declares_every_mnemonic():
    found, rng = classes(), random.Random(3)
    assert found["_Instructions"] == {to_identifier(opcode): f"_{opcode}" for opcode in isa.OPS}
    for row in FORMS:
        for words in mnemonics(row, 3, rng):
            at = f"_{row.op.opcode}"
            for part in (part for word in words for part in word[1:].split(".")):
                if (spelled := to_identifier(part)).isidentifier():  # not sp::2:4
                    assert spelled in found[at], (row, words)
                    at = found[at][spelled]


def test_the_stub_offers_the_modifiers_after_fixed_words():
    found = classes()
    assert set(found["_wgmma"]) == {"commit_group", "fence", "mma_async", "wait_group"}
    assert {"bulk", "ca", "cg", "wait_group"} <= set(found["_cp_async"]) and "tile" not in found["_cp_async"]
    assert found["_cp_async_bulk"]["tensor"] == "_cp_async_bulk_tensor"
    assert {"tile", "im2col", "_2d"} <= set(found["_cp_async_bulk_tensor"])


def test_the_table_imports_only_the_standard_library():
    code = "import sys, pyptx.isa; print(*{m.partition('.')[0] for m in sys.modules} - set(sys.stdlib_module_names))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=generate.PATH.parents[2]
    )
    assert set(done.stdout.split()) <= {
        "pyptx",
        "__main__",
        "sitecustomize",
        "_numba_cuda_redirector",  # numba-cuda installs a .pth file
        "_distutils_hack",
        "__mp_main__",
        "pyximport",
    }


def test_modifiers_match_in_any_order_except_types_and_fixed_words():
    assert isa.match("add", (".f32", ".ftz", ".rn"))[0].choices == {"rnd": "rn", "ftz": "ftz", "sat": None}
    assert isa.match("cvt", (".rn", ".f32", ".f64"))[0].form is not isa.match("cvt", (".rn", ".f64", ".u32"))[0].form
    assert not isa.match("cp", (".bulk", ".async", ".commit_group"))
    assert isa.match("cp", (".async", ".bulk", ".commit_group"))
    assert not isa.match("add", (".rn", ".rn", ".f32"))
    assert isa.match("add", (".sat", ".sat", ".f32"))
    assert isa.match("nothing", ()) == ()


def test_match_accepts_multi_word_modifiers():
    assert isa.match("min", (".xorsign", ".abs", ".f32"))
    assert not isa.match("min", (".xorsign", ".f32"))
    assert isa.match("fence", (".proxy", ".async", ".shared::cta"))


def test_completion_follows_the_manual():
    assert isa.complete("add", (".rn", ".ftz")) == [".sat", ".f32", ".f32x2", ".f16", ".f16x2"]
    assert ".async" in isa.complete("cp")
    assert isa.complete("nothing") == []
    assert isa.complete("wgmma", (".mma_async", ".sync", ".aligned", ".m64n8k16", ".f32", ".bf16")) == [".bf16"]
    for row in FORMS:
        if len({w.slot for w in row.words if w.slot}) < sum(1 for w in row.words if w.slot):
            continue  # a word twice: the second must be as the first
        for words in mnemonics(row, 1, random.Random(2)):
            for end in range(len(words)):
                assert words[end] in isa.complete(row.op.opcode, words[:end]) or words[end] in words[:end], (row, words)


def test_hover_shows_syntax_summary_and_needs():
    text = isa.hover("cp.async.bulk.tensor")
    assert "TMA" in text and "[sm_90 and up, PTX ISA 8.0]" in text
    assert isa.hover("add.rn.f32").splitlines()[1].strip().startswith("add{.rnd}{.ftz}{.sat}.f32  d, a, b")
    assert isa.hover("shl.b32").splitlines() == [
        "shl.b32: Shift left.",
        "    shl.type  d, a, b    d = shl(a, b)",
        "        type: .b16 .b32 .b64",
        "        d, a: .type;  b: .u32",
        "PTX ISA: #logic-and-shift-instructions-shl",
    ]
    assert "[sm_90a, PTX ISA 8.0]" in isa.hover("wgmma.fence") and "mma_async" not in isa.hover("wgmma.fence")
    assert "n: 8 16 24" in isa.hover("wgmma.mma_async") and "predicate" in isa.hover("wgmma.mma_async")
    assert "[sm_100f and its family, PTX ISA 8.6]" in isa.hover("redux.sync.min.f32")
    assert isa.hover("nothing") == ""
