"""`pyptx lsp`, started as an editor starts it, and driven by pygls' client."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from support.language_client import Editor, at

from pyptx import cli
from pyptx.cli import lsp as command
from pyptx.cli.language_server.compilations import Compilations

URI = "file:///kernel.ptx"
TEXT = """.version 8.5
.target sm_90a
.address_size 64
.entry k()
{
	.reg .b32 %r<3>;
	mov.u32 %r1, %tid.x ;
	add.s32 %r2, %r1, %r9;
	ret;
}
"""
FIXED = TEXT.replace("%r9", "1")


def test_a_session_of_an_editor():
    asyncio.run(asyncio.wait_for(session(), 60))


async def session() -> None:
    editor, document = Editor(), lsp.TextDocumentIdentifier(URI)
    offers = (await editor.start()).capabilities
    assert offers.rename_provider and offers.folding_range_provider and offers.semantic_tokens_provider

    editor.open(TEXT)
    found = await editor.diagnostics()
    [problem] = found.diagnostics
    assert problem.range.start.line == 7 and "%r9 is not declared" in problem.message

    help_ = await editor.text_document_hover_async(lsp.HoverParams(document, lsp.Position(7, 2)))
    assert help_ is not None and "d = a + b" in help_.contents.value
    items = await editor.text_document_completion_async(lsp.CompletionParams(document, lsp.Position(6, 5)))
    assert ".u32" in [item.label for item in items]
    place = await editor.text_document_definition_async(lsp.DefinitionParams(document, lsp.Position(7, 16)))
    assert place.range == lsp.Range(lsp.Position(5, 11), lsp.Position(5, 13))
    context = lsp.ReferenceContext(include_declaration=False)
    places = await editor.text_document_references_async(lsp.ReferenceParams(context, document, lsp.Position(5, 12)))
    assert [(one.range.start.line, one.range.start.character) for one in places] == [(6, 9), (7, 9), (7, 14)]

    change = await editor.text_document_rename_async(lsp.RenameParams(document, lsp.Position(6, 10), "%x"))
    assert [edit.new_text for edit in change.changes[URI]] == ["%x"] * 4
    with pytest.raises(JsonRpcException, match="not a valid name"):
        await editor.text_document_rename_async(lsp.RenameParams(document, lsp.Position(6, 10), "1"))
    span = await editor.text_document_prepare_rename_async(lsp.PrepareRenameParams(document, lsp.Position(6, 11)))
    assert span == lsp.Range(lsp.Position(6, 9), lsp.Position(6, 11))

    symbols = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert [(one.name, [child.name for child in one.children]) for one in symbols] == [("k", ["%r<3>"])]
    folds = await editor.text_document_folding_range_async(lsp.FoldingRangeParams(document))
    assert [(fold.start_line, fold.end_line) for fold in folds] == [(4, 8)]
    tokens = await editor.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
    assert len(tokens.data) % 5 == 0 and tuple(tokens.data[:5]) == (0, 0, 8, 3, 0)
    options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
    edits = await editor.text_document_formatting_async(lsp.DocumentFormattingParams(document, options))
    assert (edits[0].range.start, edits[0].new_text) == (lsp.Position(5, 0), "    ")

    for version, text in enumerate([TEXT + "\0\ufeff/*", '"', FIXED], 2):  # only the last one is checked
        editor.change(version, [lsp.TextDocumentContentChangeWholeDocument(text)])
    found = await editor.diagnostics()
    assert (found.version, list(found.diagnostics)) == (4, []) and editor.published.empty()

    editor.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
    assert not (await editor.diagnostics()).diagnostics
    await editor.end()


def part(text: str, old: str, new: str) -> tuple[str, lsp.TextDocumentContentChangePartial]:
    """The text with `new` for the first `old`, and the edit that an editor sends for it."""
    span = lsp.Range(at(text, old, -len(old)), at(text, old))
    return text.replace(old, new, 1), lsp.TextDocumentContentChangePartial(range=span, text=new)


HOSTILE = "// 𝔸\u2028é\x0c\x0b \x85\t%r9\r more\r\n" + TEXT.replace("\n", "\r\n").replace("k()", "k() /* 𝔸 */")


def test_edits_of_parts_of_hostile_texts():
    """Line ends inside of lines, as Python's splitlines sees them, and characters of two UTF-16 units."""

    async def session() -> None:
        editor, other = Editor(), "file:///other.ptx"
        await editor.start()
        editor.open(HOSTILE)
        editor.open(FIXED, other)
        first = {found.uri: found.diagnostics for found in [await editor.diagnostics(), await editor.diagnostics()]}
        assert [one.range.start.line for one in first[URI]] == [9] and not first[other]
        text, one = part(HOSTILE, "/* 𝔸 */", "/*𝔸𝔸é*/")
        text, two = part(text, "%r9;", "1; /*𝔸*/ mov.u32 %r1, %r8;")
        editor.change(2, [one, two])
        editor.change(2, [part(FIXED, "add.s32", "addd.s32")[1]], other)
        second = {found.uri: found.diagnostics for found in [await editor.diagnostics(), await editor.diagnostics()]}
        problem = second[URI][0]
        assert len(second[URI]) == 1, second[URI]
        assert "%r8" in problem.message and problem.range.start == at(text, "/*𝔸*/ ")
        [problem] = second[other]
        assert "did you mean 'add'" in problem.message and problem.range.start == lsp.Position(7, 1)
        await editor.end()

    asyncio.run(asyncio.wait_for(session(), 60))


PYTHON = """# 𝔸 ptx
import pyptx
PROGRAM = pyptx.load('''/* 𝔸 */
.version 8.5
.target sm_90a
.address_size 64
.entry k() {
  .reg .b32 %r<3>;
  /* 𝔸 */ add.s32 %r1, %r2, %r9;
}''')
TEXT = ".version 8.5\\n.target sm_90\\n" ".entry 𝔸"
def kernel(a):
    "𝔸"; ptx.inst.addd.f32(a, a, a)
    ptx.inst.add.rn.f32(a, a, a)
"""


def test_ptx_in_python_strings():
    async def session() -> None:
        editor, uri = Editor(), "file:///kernels.py"
        document = lsp.TextDocumentIdentifier(uri)
        await editor.start()
        editor.open(PYTHON, uri, "python")
        undeclared, invalid, unknown = (await editor.diagnostics()).diagnostics
        assert "%r9" in undeclared.message and undeclared.range.start == at(PYTHON, "/* 𝔸 */ ", 0)
        assert invalid.range.start == at(PYTHON, ".entry 𝔸", -1)
        assert unknown.range == lsp.Range(at(PYTHON, "ptx.inst."), at(PYTHON, "ptx.inst.addd.f32"))
        inside = at(PYTHON, "add.s32 %r1")
        help_ = await editor.text_document_hover_async(lsp.HoverParams(document, inside))
        assert help_ is not None and ".reg .b32 %r<3>" in help_.contents.value
        assert help_.range == lsp.Range(at(PYTHON, "add.s32 "), inside)
        help_ = await editor.text_document_hover_async(lsp.HoverParams(document, at(PYTHON, "ptx.inst.add.r")))
        assert help_ is not None and "add{.rnd}" in help_.contents.value
        for outside in (at(PYTHON, "import py"), at(PYTHON, "''')")):
            assert await editor.text_document_hover_async(lsp.HoverParams(document, outside)) is None
            assert not await editor.text_document_completion_async(lsp.CompletionParams(document, outside))
        items = await editor.text_document_completion_async(lsp.CompletionParams(document, at(PYTHON, "add.")))
        shown = next(item for item in items if item.label == ".u64")
        assert shown.text_edit.range.end == at(PYTHON, "add.")
        change = await editor.text_document_rename_async(lsp.RenameParams(document, inside, "%x"))
        assert [edit.range.start.line for edit in change.changes[uri]] == [7, 8, 8]
        assert change.changes[uri][1].range.start == at(PYTHON, "add.s32 ")
        options = lsp.FormattingOptions(tab_size=4, insert_spaces=True)
        assert not await editor.text_document_formatting_async(lsp.DocumentFormattingParams(document, options))
        await editor.end()

    asyncio.run(asyncio.wait_for(session(), 60))


def test_columns_are_those_of_the_encoding_that_the_editor_chose():
    """Also after half a character, as in a text that an editor sends while it replaces one of two UTF-16 units."""

    async def session() -> None:
        editor = Editor()
        general = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind.Utf8])
        await editor.start(capabilities=lsp.ClientCapabilities(general=general))
        line = "/* 𝔸 */ bad"
        editor.open(TEXT.replace("mov", "// \ud835\n\tmov") + line)
        found = (await editor.diagnostics()).diagnostics[-1]
        assert found.range.start == lsp.Position(TEXT.count("\n") + 1, len(line.encode()) - 3)
        await editor.end()

    asyncio.run(asyncio.wait_for(session(), 60))


SUPPORTED = lsp.ClientCapabilities(
    workspace=lsp.WorkspaceClientCapabilities(
        inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        code_lens=lsp.CodeLensWorkspaceClientCapabilities(refresh_support=True),
    ),
    window=lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(support=True)),
    text_document=lsp.TextDocumentClientCapabilities(
        document_symbol=lsp.DocumentSymbolClientCapabilities(dynamic_registration=True),
        folding_range=lsp.FoldingRangeClientCapabilities(dynamic_registration=True),
        formatting=lsp.DocumentFormattingClientCapabilities(dynamic_registration=True),
        semantic_tokens=lsp.SemanticTokensClientCapabilities(
            lsp.ClientSemanticTokensRequestOptions(), [], [], [], dynamic_registration=True
        ),
    ),
)
COSTLY = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	add.s32 %r1, %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
"""


@pytest.mark.slow
def test_live_registers_and_machine_code(tmp_path):
    async def session() -> None:
        editor, document = Editor(), lsp.TextDocumentIdentifier(URI)
        environment = {**os.environ, "PYPTX_CACHE_DIR": str(tmp_path)}
        offers = (await editor.start(capabilities=SUPPORTED, env=environment)).capabilities
        assert offers.document_formatting_provider is None  # registered for PTX only, later
        editor.open(COSTLY)
        assert not (await editor.diagnostics()).diagnostics
        hints = lsp.InlayHintParams(document, lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0)))
        assert not await editor.text_document_inlay_hint_async(hints)
        assert {await asyncio.wait_for(editor.refreshed.get(), 60) for _ in range(2)} == {"hints", "lenses"}
        assert "textDocument/formatting" in editor.registered
        shown = await editor.text_document_inlay_hint_async(hints)
        assert all(one.label.endswith(" live") for one in shown)
        [stored] = [one for one in shown if one.position.line == 11]
        assert stored.position == at(COSTLY, "[%rd1], %r1;") and 0 < int(stored.label.split()[0]) < 20
        [lens] = await editor.text_document_code_lens_async(lsp.CodeLensParams(document))
        assert lens.range.start == at(COSTLY, ".entry ")
        assert "registers, no spills" in lens.command.title
        command = lsp.ExecuteCommandParams(lens.command.command, lens.command.arguments)
        path = Path(await editor.workspace_execute_command_async(command))
        [opened], listing = editor.opened, path.read_text()
        assert opened.uri == path.as_uri() and "STG" in listing
        assert listing.split("\n")[opened.selection.start.line].startswith("k:")

        place = lsp.Range(lsp.Position(9, 0), lsp.Position(9, 0))
        action = lsp.CodeActionParams(document, place, lsp.CodeActionContext([]))
        [offered] = await editor.text_document_code_action_async(action)
        assert offered.title == "View SASS"

        _, change = part(COSTLY, "mov.u32 %r1, %tid.x;", "mov.u32 %r1, %ctaid.x;\n")
        editor.change(2, [change])  # before it is compiled again, other lines keep their hints
        moved = await editor.text_document_inlay_hint_async(hints)
        before = [one.position.line for one in shown]
        assert [one.position.line for one in moved] == [line + (line > 9) for line in before if line != 9]
        await editor.end()
        assert not path.exists()

    asyncio.run(asyncio.wait_for(session(), 120))


@pytest.mark.slow
def test_without_ptxas_the_command_says_how_to_get_it(tmp_path):
    async def session() -> None:
        editor = Editor()
        paths = {"PYPTX_PTXAS": str(tmp_path / "absent"), "PYPTX_CACHE_DIR": str(tmp_path)}
        await editor.start(env={**os.environ, **paths})
        editor.open(COSTLY)
        assert not (await editor.diagnostics()).diagnostics
        command = lsp.ExecuteCommandParams("pyptx.viewSass", [URI, 0, "k"])
        with pytest.raises(JsonRpcException, match="no SASS of k: PYPTX_PTXAS"):
            await editor.workspace_execute_command_async(command)
        assert editor.said == []  # the editor shows the error itself
        await editor.end()

    asyncio.run(asyncio.wait_for(session(), 60))


@pytest.fixture
def slow_assembler(monkeypatch, tmp_path):
    """An assembler that writes the number of its process group to the file that is returned, and waits."""
    noted, tool = tmp_path / "group", tmp_path / "ptxas"
    script = f"import os, time\nopen({str(noted)!r}, 'w').write(f'{{os.getpgid(0)}}.')\ntime.sleep(60)\n"
    tool.write_text(f"#!{sys.executable}\n{script}")
    tool.chmod(0o755)
    monkeypatch.setenv("PYPTX_PTXAS", str(tool))
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))
    return noted


async def group_in(noted: Path) -> int:
    while not (noted.exists() and noted.read_text().endswith(".")):
        await asyncio.sleep(0.02)
    return int(noted.read_text()[:-1])


async def ended(group: int) -> bool:
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.slow
def test_a_compilation_is_stopped_with_its_processes(slow_assembler):
    async def session() -> None:
        task = asyncio.create_task(Compilations(None).compile(COSTLY))
        group = await group_in(slow_assembler)
        assert group != os.getpgid(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await ended(group)

    asyncio.run(asyncio.wait_for(session(), 60))


@pytest.mark.slow
@pytest.mark.parametrize("leave", ["shutdown", "vanish"])
def test_an_editor_that_leaves_during_a_compilation_leaves_no_process(slow_assembler, leave):
    async def session() -> None:
        editor, document = Editor(), lsp.TextDocumentIdentifier(URI)
        await editor.start()
        editor.open(COSTLY)
        await editor.diagnostics()
        await editor.text_document_code_lens_async(lsp.CodeLensParams(document))
        group = await group_in(slow_assembler)
        if leave == "shutdown":
            await editor.end()
        else:
            editor._server.stdin.close()
            await asyncio.wait_for(editor._server.wait(), 20)
        assert await ended(group)

    asyncio.run(asyncio.wait_for(session(), 90))


def test_the_command_names_the_extra_and_refuses_an_unknown_target(monkeypatch, capsys):
    assert cli.main(["lsp", "--arch", "sm_1"]) == 1
    assert "unknown target 'sm_1'" in capsys.readouterr().err
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert cli.main(["lsp"]) == 1
    assert "pip install 'pyptx-workbench[lsp]'" in capsys.readouterr().err
