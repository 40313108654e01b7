"""The project's wording: phrases that documentation, docstrings, messages and notebooks do not use.

`PHRASES` lists the refused patterns with their replacements; `OPENINGS` are words that no docstring starts with. Quoted code
in documentation is not prose and is left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# (a word that every match contains, pattern, replacement)
PHRASES = [
    # idiom
    ("what would do", r"what would do\b", "a suggested fix"),
    ("nobody", r"\bnobody\b", "the passive voice: 'was not given', 'is never read'"),
    ("anew", r"\banew\b", "again"),
    ("mend", r"\bmend(s|ed|ing)?\b", "fix"),
    ("for ever", r"\bfor ever\b", "never completes"),
    ("on where", r"\bgo(es)? on where\b", "resumes"),
    ("told", r"\b(is|are|was|were|be) told\b", "'is reported', 'was given'"),
    ("is none", r"\b(that|which) is none\b", "is not a ..."),
    (
        "is no ",
        r"\bis no (?:PTX|type|register|multiple|number|array|kernel|file|scalar|entry|pointer|name|module)\b",
        "is not a",
    ),
    ("none of ptx", r"\bnone of PTX's\b", "not a PTX ..."),
    ("road", r"\bby another road\b|\bthe road of\b", "'through a different path', 'life of'"),
    ("in words", r"\bin words\b", "as text, as a sentence"),
    ("what was found", r"\bsay what was found\b", "report"),
    ("nothing certain", r"\bholds nothing certain\b", "is uninitialized"),
    ("the roofs", r"\bunder the roofs\b", "on the roofline"),
    ("of a kind", r"\ba call of a kind\b", "a call with a known signature"),
    ("that is there", r"\ba lane that is there\b", "an active lane"),
    ("waits where", r"\bwho waits where for what\b", "the waiting warps and their barriers"),
    ("never done", r"\bnever done twice\b", "cached"),
    ("no words", r"\bhas no words for\b", "cannot express"),
    ("came out", r"\bwhat came out\b", "results"),
    # American spelling
    ("colour", r"colour", "color"),
    ("behaviour", r"behaviour", "behavior"),
    ("neighbour", r"neighbour", "neighbor"),
    ("modell", r"model(led|ling)\b", "modeled, modeling"),
    ("labell", r"labell(ed|ing)\b", "labeled, labeling"),
    ("cancell", r"cancell(ed|ing)\b", "canceled, canceling"),
    ("initialis", r"initialis", "initialize"),
    (
        "is",
        r"\b(?:recogn|optim|special|normal|serial|synchron|summar|organ|minim|maxim|vector|parallel)"
        r"is(?:e|ed|es|ing|ation)\b",
        "-ize",
    ),
    ("licence", r"\blicence\b", "license"),
    ("centre", r"\bcentre\b", "center"),
    ("grey", r"\bgrey\b", "gray"),
]
OPENINGS = r"(What|Whether|Of|Which|How|Where|Why|Who|Whose|The same|Those|That which)\b"

_PATTERNS = [(word, re.compile(pattern, re.IGNORECASE), replacement) for word, pattern, replacement in PHRASES]
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`|\]\([^)]*\)|<[^>\n]+>", re.M | re.S)


def refused(text: str) -> Iterator[tuple[int, str]]:
    """Offset and advice for each refused phrase of a text."""
    lower = text.lower()
    for word, pattern, replacement in _PATTERNS:
        if word in lower:
            for found in pattern.finditer(text):
                yield found.start(), f"{found[0]!r}: write {replacement!r}"


def prose(markdown: str) -> str:
    """The text of a Markdown page with code blanked out, line for line."""
    return _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), markdown)


def in_markdown(path: Path) -> Iterator[str]:
    text = prose(path.read_text(encoding="utf-8"))
    for offset, advice in refused(text):
        yield f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, offset) + 1}: {advice}"


def in_notebook(path: Path) -> Iterator[str]:
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "markdown":
            for _, advice in refused(prose("".join(cell["source"]))):
                yield f"{path.relative_to(ROOT)}, cell {number}: {advice}"


def in_python(path: Path) -> Iterator[str]:
    """Offenses in docstrings and in strings that read like messages: those with a blank between two words."""
    name = path.relative_to(ROOT)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                docstrings.add(id(first.value))
                if opening := re.match(OPENINGS, first.value.value.strip()):
                    yield f"{name}:{first.lineno}: a docstring starts with a verb or a noun phrase, not {opening[0]!r}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[a-z,] [a-z]", node.value):
            for offset, advice in refused(prose(node.value) if id(node) in docstrings else node.value):
                yield f"{name}:{node.lineno + node.value.count(chr(10), 0, offset)}: {advice}"


@pytest.mark.parametrize("folder", ["pyptx", "examples"])
def test_docstrings_and_messages_are_in_the_projects_words(folder: str):
    found = [offense for path in sorted((ROOT / folder).rglob("*.py")) for offense in in_python(path)]
    assert not found, "\n".join(found)


def test_documentation_is_in_the_projects_words():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]
    pages = [page for page in pages if "generated" not in page.parts]
    found = [offense for path in sorted(pages) for offense in in_markdown(path)]
    assert not found, "\n".join(found)


def test_notebooks_are_in_the_projects_words():
    found = [offense for path in sorted((ROOT / "notebooks").glob("*.ipynb")) for offense in in_notebook(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text, count",
    [
        ("A register which nobody wrote is told anew.", 3),
        ("`%f2` is no register of ours; the colour is modelled.", 3),
        ("`nobody` in code is not prose", 0),
        ("A modeled color, reported again", 0),
    ],
)
def test_the_reader_sees(text: str, count: int):
    assert len(list(refused(prose(text)))) == count
