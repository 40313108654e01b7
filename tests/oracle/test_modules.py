"""ptxas judges whole modules: declarations, directives, linking, names and their state spaces, calls, constants."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from oracle import modules
from oracle.judge import Ptxas

from pyptx import check_ptx

# what ptxas takes and we do not, or the other way round, and why
STRICTER = {
    "addresses of 32 bits outside of shared memory, which ptxas reads and has not assembled since CUDA 12":
        r"\.address_size 32|mov\.[bus]32 %\w+, g\b|cvta\S*\.u32",
    "a number of 32 bits as the address of a function": r"call %r1, P;",
    "a function where an address in shared memory or a number is due": r"(mapa|cvta\.to|add)\S* .*\b(f1|k)\b",
    "a family of shared variables, which the manual gives registers only": r"\.shared \.b32 r<3>",
}
LOOSER = {
    "ptxas assembles it with --compile-only": r"\.unified\(1,2\)\) \.b32",
}


CORPUS = Path(__file__).parents[1] / "corpus" / "ptx"


def verdict(ptxas: Ptxas, text: str, arch: str = "compute_90") -> str:
    """"" when ptxas takes the module, else what it says."""
    path = ptxas.folder / "module.ptx"
    path.write_text(text)
    done = subprocess.run([ptxas.path, f"-arch={arch}", path, "-o", "/dev/null"], capture_output=True, text=True,
                          timeout=60)
    return (done.stdout + done.stderr or "refused") if done.returncode else ""


def compared(ptxas: Ptxas, cases: dict[str, str]) -> list[str]:
    """Cases ptxas and `check_ptx` see differently, and no reason is known for."""
    wrong = []
    for name, text in cases.items():
        theirs, ours = verdict(ptxas, text), [d for d in check_ptx(text) if d.severity == "error"]
        known = STRICTER if ours else LOOSER
        if bool(theirs) != bool(ours) and not any(re.search(pattern, name) for pattern in known.values()):
            wrong.append(f"{name}  ptxas: {theirs.strip() or 'accepted'}  check_ptx: {ours or 'accepted'}")
    return wrong


def test_modules_are_judged_alike(ptxas: Ptxas):
    cases = list(modules.named().items())
    assert len(cases) > 500
    assert compared(ptxas, dict(cases[::4])) == []


def test_what_only_some_versions_have_is_judged_alike(ptxas: Ptxas):
    cases = modules.eras()
    assert len(cases) > 40
    assert compared(ptxas, cases) == []


@pytest.mark.slow
def test_all_modules_are_judged_alike(ptxas: Ptxas):
    assert compared(ptxas, modules.named()) == []


@pytest.mark.slow
def test_names_are_judged_alike_in_every_state_space(ptxas: Ptxas):
    assert compared(ptxas, modules.uses()) == []


TOKEN = re.compile(r"[.%]?[\w$:]+|\S")


def mutated(text: str, rng: random.Random) -> str:
    """The text with one token dropped, doubled, swapped with the next, or replaced by another; not in the header."""
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
def test_mutated_modules_are_judged_alike_in_97_of_100(ptxas: Ptxas):
    found = disagreements(ptxas, seed=1, count=500)
    assert len(found) <= 15, "\n\n".join(found)


@pytest.mark.slow
def test_mutated_files_of_the_corpus_are_judged_alike_in_98_of_100(ptxas: Ptxas):
    """Whole files of compilers and of the table, one token of each spoiled."""
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
