"""Files of several compilers, edited through the protocol: after many partial edits the server has the editor's text."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from support.language_client import Editor

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = [
    *sorted(CORPUS.glob("*.ptx")),
    *(sorted((CORPUS / "ptx" / name).glob("*.ptx"))[0] for name in ("nvcc", "triton", "pyptx")),
]
PIECES = [
    "\n",
    "\r\n",
    "\r",
    "\t",
    "𝔸",
    "é",
    "\u2028",
    "\x0c",
    "/*",
    "*/",
    "//",
    "add.s32 %r1, %r2, 1;",
    "{",
    "}",
    '"',
    "%",
    ".reg",
    "L:",
    "",
]
EDITS = 40


def position(text: str, offset: int) -> lsp.Position:
    """A UTF-16 position; written without `pyptx.language`."""
    head = text[:offset]
    ends = head.count("\n") + head.count("\r") - head.count("\r\n")
    line = max(head.rfind("\n"), head.rfind("\r")) + 1
    return lsp.Position(ends, len(head[line:].encode("utf-16-le")) // 2)


def random_edit(text: str, source: random.Random) -> tuple[str, lsp.TextDocumentContentChangePartial]:
    start = source.randrange(len(text) + 1)
    end = min(len(text), start + source.choice([0, 0, 1, 5, 60]))
    while any(text[at - 1 : at + 1] == "\r\n" for at in (start, end)):  # an editor has no position inside of a line end
        start, end = max(start - 1, 0), min(end + 1, len(text))
    piece = source.choice(PIECES)
    span = lsp.Range(position(text, start), position(text, end))
    return text[:start] + piece + text[end:], lsp.TextDocumentContentChangePartial(range=span, text=piece)


@pytest.mark.slow
def test_partial_edits_give_the_text_of_the_editor():
    async def session() -> None:
        editor = Editor()
        await editor.start()
        for path in FILES:
            await edit(editor, path)
        await editor.end()

    asyncio.run(asyncio.wait_for(session(), 300))


async def edit(editor: Editor, path: Path) -> None:
    source, uri, fresh = random.Random(path.stem), f"file:///edited/{path.name}", f"file:///fresh/{path.name}"
    text = path.read_bytes().decode(errors="replace")
    editor.open(text, uri)
    for version in range(2, EDITS + 2):
        text, change = random_edit(text, source)
        editor.change(version, [change], uri)
        if version % 10 == 0:
            where, place = lsp.TextDocumentIdentifier(uri), change.range.start
            await editor.text_document_completion_async(lsp.CompletionParams(where, place))
            await editor.text_document_hover_async(lsp.HoverParams(where, place))
    editor.open(text, fresh)
    answers = []
    for one in (uri, fresh):
        where = lsp.TextDocumentIdentifier(one)
        found = await editor.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(where))
        answers.append(list(found.data))
    assert answers[0] == answers[1], path
    published: dict[str, lsp.PublishDiagnosticsParams] = {}
    while len(published) < 2 or published[uri].version != EDITS + 1:
        found = await editor.diagnostics()
        published[found.uri] = found
    assert published[uri].diagnostics == published[fresh].diagnostics, path
