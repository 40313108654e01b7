"""The ISA table against ptxas: accepted examples, and refusals below the needed target or version."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Container
from functools import cache
from itertools import pairwise

import pytest
from oracle.examples import Example, choices_of, examples, supporting_target
from oracle.mutations import mutations
from oracle.nodes import instruction, type_of
from oracle.ptxas import TAIL, Ptxas, frame
from oracle.unusual import unusual

from pyptx import check_ptx, isa, validate
from pyptx.errors import FormError
from pyptx.isa import satisfied_needs, targets

FORMS = [form for op in isa.OPS.values() for form in op.forms]
LATEST = targets.LATEST_PTX
CHIPS = (
    "sm_75",
    "sm_80",
    "sm_89",
    "sm_90",
    "sm_90a",
    "sm_100",
    "sm_100f",
    "sm_100a",
    "sm_103a",
    "sm_107a",
    "sm_110f",
    "sm_120",
    "sm_120a",
    "sm_121a",
)
VERSIONS = ((7, 1), (7, 8), (8, 0), (8, 3), (8, 5), (8, 6), (8, 7), (8, 8), (9, 1), (9, 3))


def judged(ptxas: Ptxas, found: list[Example]) -> list[str]:
    """Return the examples that ptxas refuses on a supporting target, with its messages."""
    groups: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for example in found:
        groups[supporting_target(example), example.option].append(example)
    refused = []
    for (target, option), group in groups.items():
        version = LATEST if targets.parse(target).number >= 70 else (6, 3)
        for example, verdict in zip(group, ptxas.judge([e.text for e in group], target, version, option), strict=True):
            if verdict:
                refused.append(f"{target}: {example.text}  {verdict}")
    return refused


def test_ptxas_accepts_every_choice(ptxas: Ptxas) -> None:
    assert judged(ptxas, [e for form in FORMS for e in examples(form)]) == []


@cache
def statements_and_needs() -> tuple[tuple[str, tuple[targets.Needs, ...]], ...]:
    return tuple((e.text, e.needs) for form in FORMS for e in examples(form) if not e.option)


@cache
def first_versions(target: targets.Target) -> tuple[tuple[str, tuple[int, int] | None], ...]:
    """Return each statement with the PTX version from which the target supports it; None if it never does."""
    return tuple(
        (text, found.ptx if (found := satisfied_needs(needs, target)) is not None else None)
        for text, needs in statements_and_needs()
    )


def disagreements(
    ptxas: Ptxas, name: str, version: tuple[int, int], firsts: Container[tuple[int, int] | None] | None = None
) -> list[str]:
    """Return the statements on which ptxas and the table disagree; of those that appear in `firsts`, if given."""
    found = [s for s in first_versions(targets.parse(name)) if firsts is None or s[1] in firsts]
    verdicts = ptxas.judge([text for text, _ in found], name, version)
    return [
        f"{name} {version}: {text}  {verdict or 'accepted'}"
        for (text, first), verdict in zip(found, verdicts, strict=True)
        if (first is not None and first <= version) != (not verdict)
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CHIPS)
def test_a_form_is_supported_on_exactly_its_targets(ptxas: Ptxas, name: str) -> None:
    assert disagreements(ptxas, name, LATEST) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("version", VERSIONS, ids=lambda v: f"{v[0]}.{v[1]}")
def test_a_form_is_supported_from_exactly_its_version(ptxas: Ptxas, version: tuple[int, int]) -> None:
    name = "sm_100a" if version >= (8, 6) else "sm_90a" if version >= (8, 0) else "sm_80"
    assert disagreements(ptxas, name, version) == []


@pytest.mark.slow
@pytest.mark.parametrize("target", targets.ALL, ids=str)
def test_a_form_is_supported_on_exactly_its_targets_and_versions(ptxas: Ptxas, target: targets.Target) -> None:
    """All statements in the first and in the latest version; between them, those that the version or the next adds."""
    if target.number < 53:
        pytest.skip("the frame of the oracle declares f16x2, which requires sm_53")
    known = [(7, n) for n in range(1, 9)] + [(8, n) for n in range(9)] + [(9, n) for n in range(6)]
    versions = [version for version in known if version >= target.first_ptx]
    wrong = disagreements(ptxas, target.name, versions[0]) + disagreements(ptxas, target.name, versions[-1])
    for version, following in pairwise(versions):
        if version != versions[0]:
            wrong += disagreements(ptxas, target.name, version, (version, following))
    assert wrong == []


def agreement(ptxas: Ptxas, seed: int, per_example: float) -> tuple[int, list[str]]:
    """Return the number of mutations, and those on which the table and ptxas disagree."""
    rng = random.Random(seed)
    groups: dict[str, list[str]] = defaultdict(list)
    for form in FORMS:
        for example in examples(form):
            count = int(per_example) + (rng.random() < per_example % 1)
            if count and not example.option and targets.parse(supporting_target(example)).number >= 75:
                groups[supporting_target(example)] += mutations(example.text, form, rng, count)
    wrong, total = [], 0
    for name, statements in groups.items():
        target = targets.parse(name)
        for statement, verdict in zip(statements, ptxas.judge(statements, name, LATEST), strict=True):
            total += 1
            try:
                found = satisfied_needs(validate.bind(instruction(statement), type_of).needs, target)
                ours = "" if found is not None and found.ptx <= LATEST else "not on this target"
            except FormError as error:
                ours = str(error)
            if bool(ours) != bool(verdict):
                wrong.append(f"{name}: {statement[:200]}  ptxas: {verdict or 'accepted'}  table: {ours or 'accepted'}")
    return total, wrong


def test_ptxas_and_the_table_agree_on_98_percent_of_a_few_mutations(ptxas: Ptxas) -> None:
    total, wrong = agreement(ptxas, seed=4, per_example=0.12)
    print(f"{100 * (1 - len(wrong) / total):.2f} % of {total}")
    assert total > 600
    assert len(wrong) <= 0.02 * total, "\n".join(wrong[:40])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_ptxas_and_the_table_agree_on_99_percent_of_many_mutations(ptxas: Ptxas, seed: int) -> None:
    total, wrong = agreement(ptxas, seed, per_example=1)
    assert len(wrong) <= 0.01 * total, "\n".join(wrong[:40])


def test_special_registers_in_vectors_and_coordinates_without_braces(ptxas: Ptxas) -> None:
    """ptxas and check_ptx agree, except for destination vectors and matrices, which ptxas drops or expands."""
    rng, groups = random.Random(1), defaultdict(list)
    for form in FORMS:
        if (
            form.op.opcode in ("mma", "wmma", "wgmma", "tcgen05", "spcompress", "spdecompress")
            or form.op.name == "tex.grad"
        ):
            continue
        example = next(examples(form))
        for found in re.finditer(r"(?<= )\{[^{}]*\}|(?<=\[)[^\]]*\}(?=\])", example.text):
            if (
                example.option
                or targets.parse(supporting_target(example)).number < 75
                or _is_written(form, example.text, found)
                or found[0].count("{") > 1
            ):
                continue
            start = found[0].index("{") + 1
            elements = [element.strip() for element in found[0][start:-1].split(",")]
            at = rng.randrange(len(elements))
            spoiled = [*elements[:at], rng.choice(("%tid.x", "%laneid", "%clock64")), *elements[at + 1 :]]
            more = [spoiled, [*elements[:at], "%tid", *elements[at + 1 :]]]
            texts = ["{" + ", ".join(some) + "}" for some in more] + ([elements[0]] if len(elements) == 1 else [])
            groups[supporting_target(example)] += [
                example.text[: found.start() + start - 1] + text + example.text[found.end() :] for text in texts
            ]
    wrong = [
        f"{target}: {statement}  ptxas: {theirs or 'accepted'}  check_ptx: {ours or 'accepted'}"
        for target, statements in groups.items()
        for statement, theirs, ours in zip(
            statements, ptxas.judge(statements, target, LATEST), refusals(statements, target), strict=True
        )
        if bool(theirs) != bool(ours)
    ]
    print(f"{len(wrong)} of {sum(map(len, groups.values()))}")
    assert wrong == []


def _is_written(form: isa.Form, text: str, found: re.Match) -> bool:
    return text.index(" ") + 1 == found.start() and next(iter(form.operands.values())).role == "write"


def refusals(statements: list[str], target: str) -> list[str]:
    """Return the error of check_ptx for each statement in the frame of the oracle; "" for accepted ones."""
    head, found = frame(target, LATEST), [""] * len(statements)
    first = head.count("\n") + 1
    for fault in check_ptx(head + "\n".join(statements) + TAIL):
        if fault.severity == "error" and 0 <= fault.line - first < len(statements):
            found[fault.line - first] = fault.message
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7])
def test_check_ptx_refuses_unusual_operands_that_ptxas_refuses(ptxas: Ptxas, seed: int) -> None:
    """ptxas accepts much undocumented PTX, so the other direction agrees in only 95 % of the cases."""
    rng, groups = random.Random(seed), defaultdict(list)
    for number, example in enumerate(e for form in FORMS for e in examples(form) if not e.option):
        if number % 2 == 0 and targets.parse(supporting_target(example)).number >= 75:
            groups[supporting_target(example)].append(unusual(example.text, rng))
    total, looser, stricter = 0, [], []
    for target, statements in groups.items():
        verdicts = zip(statements, ptxas.judge(statements, target, LATEST), refusals(statements, target), strict=True)
        for statement, theirs, ours in verdicts:
            total += 1
            if bool(theirs) != bool(ours):
                (looser if theirs else stricter).append(f"{target}: {statement[:200]}  {theirs or ours}")
    print(f"{total} unusual statements: ptxas stricter in {len(looser)}, check_ptx in {len(stricter)}")
    assert total > 2500
    assert len(looser) <= 0.004 * total, "\n".join(looser)
    assert len(stricter) <= 0.05 * total, "\n".join(stricter[:40])


@pytest.mark.slow
def test_ptxas_accepts_the_full_cross_product(ptxas: Ptxas) -> None:
    """Every combination of choices of every form; a sample of 3000 where there are more."""
    rng = random.Random(1)
    found = []
    for form in FORMS:
        slots = list(form.slots.values())
        values = [(*((None,) if slot.optional else ()), *slot.choices) for slot in slots]
        product = (
            itertools.product(*values)
            if choices_of(form) <= 3000
            else (tuple(rng.choice(v) for v in values) for _ in range(3000))
        )
        for choices in product:
            chosen = dict(zip((slot.name for slot in slots), choices, strict=True))
            if form.some and all(chosen[name] is None for name in form.some):
                continue
            example = Example(form, chosen)
            needs = example.needs
            if any(satisfied_needs(needs, target) for target in targets.ALL) and _whole(form, chosen):
                found.append(example)
    assert len(found) > 50000
    assert judged(ptxas, found) == []


def _whole(form: isa.Form, chosen: dict) -> bool:
    """Return True if the words of each `{.a.b}` are all present or all absent."""
    groups = defaultdict(set)
    for word in form.words:
        if word.optional and word.slot is None:
            groups[word.pair].add(chosen[isa._schema.slot_name(word.text)] is None)
    return all(len(states) == 1 for states in groups.values())
