"""check_ptx against ptxas on whole modules: declarations, directives, linking, names, calls, constants."""

from __future__ import annotations

import random
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from oracle import modules
from oracle.ptxas import Ptxas

from pyptx import check_ptx

# Cases where check_ptx is stricter or more lenient than ptxas: reason -> pattern.
STRICTER = {
    "32-bit addresses outside shared memory, which ptxas parses but has not assembled since CUDA 12": r"\.address_size 32|mov\.[bus]32 %\w+, g\b|cvta\S*\.u32",
    "a 32-bit number as the address of a function": r"call %r1, P;",
    "a function in place of a shared address or a number": r"(mapa|cvta\.to|add)\S* .*\b(f1|k)\b",
    "constant memory and call sequences, which ptxas checks only when it generates machine code": (
        r"\.const \.b8 x\[(65537|40000)\]|ld\.param(::func)?\.b32 %r1, \[x[ar]\]"
    ),
    "a parameterized name of shared variables, which the manual allows only for registers": r"\.shared \.b32 r<3>",
}
LENIENT = {
    "ptxas accepts it with --compile-only": r"\.unified\(1,2\)\) \.b32",
}


CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"


@cache
def verdict(ptxas: Ptxas, text: str, arch: str = "compute_90") -> str:
    """Return "" if ptxas accepts the module, else its messages."""
    path = ptxas.folder / "module.ptx"
    path.write_text(text)
    done = subprocess.run(
        [ptxas.path, f"-arch={arch}", path, "-o", "/dev/null"], capture_output=True, text=True, timeout=60
    )
    return (done.stdout + done.stderr or "refused") if done.returncode else ""


def compared(ptxas: Ptxas, cases: dict[str, str]) -> list[str]:
    """Return the cases on which ptxas and `check_ptx` disagree for an unknown reason."""
    wrong = []
    for name, text in cases.items():
        theirs, ours = verdict(ptxas, text), [d for d in check_ptx(text) if d.severity == "error"]
        known = STRICTER if ours else LENIENT
        if bool(theirs) != bool(ours) and not any(re.search(pattern, name) for pattern in known.values()):
            wrong.append(f"{name}  ptxas: {theirs.strip() or 'accepted'}  check_ptx: {ours or 'accepted'}")
    return wrong


def test_check_ptx_agrees_with_ptxas_on_modules(ptxas: Ptxas):
    cases = list(modules.named().items())
    assert len(cases) > 500
    assert compared(ptxas, dict(cases[::4])) == []


def test_check_ptx_agrees_with_ptxas_on_version_specific_features(ptxas: Ptxas):
    cases = modules.versions()
    assert len(cases) > 40
    assert compared(ptxas, cases) == []


@pytest.mark.slow
def test_check_ptx_agrees_with_ptxas_on_all_modules(ptxas: Ptxas):
    assert compared(ptxas, modules.named()) == []


@pytest.mark.slow
def test_check_ptx_agrees_with_ptxas_on_names_of_every_state_space(ptxas: Ptxas):
    assert compared(ptxas, modules.uses()) == []


TOKEN = re.compile(r"[.%]?[\w$:]+|\S")


def mutated(text: str, rng: random.Random) -> str:
    """Drop, double or replace one token, or swap it with the next; the header is not changed."""
    tokens = [m.span() for m in TOKEN.finditer(text, text.index("64\n") + 3)]
    at = rng.randrange(len(tokens) - 1)
    (start, end), (later, last) = tokens[at], tokens[at + 1]
    word = text[start:end]
    match rng.randrange(4):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + " " + word + text[end:]
        case 2:
            return text[:start] + text[later:last] + text[end:later] + word + text[last:]
    other = rng.choice(tokens)
    return text[:start] + text[slice(*other)] + text[end:]


def disagreements(ptxas: Ptxas, seed: int, count: int) -> list[str]:
    rng, found = random.Random(seed), []
    good = [text for text in modules.named().values() if not verdict(ptxas, text)]
    for _ in range(count):
        text = mutated(rng.choice(good), rng)
        theirs, ours = verdict(ptxas, text), [d.message for d in check_ptx(text) if d.severity == "error"]
        if bool(theirs) != bool(ours):
            found.append(f"{text}\nptxas: {theirs or 'accepted'}\ncheck_ptx: {ours or 'accepted'}")
    return found


@pytest.mark.slow
def test_check_ptx_agrees_with_ptxas_on_97_percent_of_mutated_modules(ptxas: Ptxas):
    found = disagreements(ptxas, seed=1, count=250)
    assert len(found) <= 7, "\n\n".join(found)


@pytest.mark.slow
def test_check_ptx_agrees_with_ptxas_on_98_percent_of_mutated_corpus_files(ptxas: Ptxas):
    """Compiler output and table rows, with one mutated token per file."""
    rng, wrong, total = random.Random(5), [], 0
    files = [path for path in sorted(CORPUS.rglob("*.ptx")) if path.stat().st_size < 16000]
    for path in rng.choices(files, k=150):
        text = mutated(path.read_text(), rng)
        target = re.search(r"\.target\s+sm_(\w+)", text)
        if target is None or int(target[1].rstrip("af")) < 75:
            continue
        theirs = verdict(ptxas, text, f"compute_{target[1]}")
        ours = [d for d in check_ptx(text) if d.severity == "error"]
        total += 1
        if bool(theirs) != bool(ours):
            wrong.append(f"{path.name}\n{text}\nptxas: {theirs or 'accepted'}\ncheck_ptx: {ours or 'accepted'}")
    assert total > 100
    assert len(wrong) <= 0.02 * total, "\n\n".join(wrong)
