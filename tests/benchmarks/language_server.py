"""Latency of the language server on a long file, as an editor sees it: `python tests/benchmarks/language_server.py`.

A client opens a file of 20,000 lines, types, and asks for completion and hover right after each key, and for semantic
tokens after each tenth, as editors do.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from lsprotocol import types as lsp
from support.language_client import Editor

URI = "file:///long.ptx"


def long_text(lines: int) -> str:
    """PTX of entries with 1,000 lines each."""
    text = [".version 8.5", ".target sm_90a", ".address_size 64"]
    for number in range(max(1, lines // 1000)):
        text += [
            f".visible .entry k{number}(.param .u64 p{number})",
            "{",
            "\t.reg .b32 %r<1000>;",
            "\t.reg .b64 %rd<4>;",
        ]
        text += [f"\tld.param.u64 %rd1, [p{number}];"]
        text += [f"\tmad.lo.s32 %r{i}, %r{i - 1}, {i}, %r1; // step {i}" for i in range(2, 990)]
        text += ["\tst.global.u32 [%rd1], %r900;", "\tret;", "}"]
    return "\n".join(text) + "\n"


async def timed(request: Awaitable) -> tuple[float, object]:
    started = time.perf_counter()
    answer = await request
    return 1000 * (time.perf_counter() - started), answer


async def session(lines: int, keys: int, tokens_every: int) -> dict[str, list[float]]:
    editor, document, text = Editor(), lsp.TextDocumentIdentifier(URI), long_text(lines)
    await editor.start()
    found: dict[str, list[float]] = {name: [] for name in ("first diagnostics", "completion", "hover", "diagnostics")}
    started = time.perf_counter()
    editor.open(text, URI)
    await editor.diagnostics()
    found["first diagnostics"].append(1000 * (time.perf_counter() - started))
    row = lines // 2
    background = []
    for key in range(keys):
        typed = "\n\tadd.s32 %r1, %r2, %r3;"[key % 24]
        column = 0 if key % 24 == 0 else key % 24 - 1
        place = lsp.Position(row if key % 24 == 0 else row + 1, column)
        edit = lsp.TextDocumentContentChangePartial(range=lsp.Range(place, place), text=typed)
        editor.change(key + 2, [edit], URI)
        after = lsp.Position(row + 1, column + (key % 24 > 0))
        took, _ = await timed(editor.text_document_completion_async(lsp.CompletionParams(document, after)))
        found["completion"].append(took)
        took, answer = await timed(
            editor.text_document_hover_async(lsp.HoverParams(document, lsp.Position(row - 3, 2)))
        )
        assert answer is not None
        found["hover"].append(took)
        if tokens_every and key % tokens_every == tokens_every - 1:
            tokens = editor.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
            background.append(asyncio.ensure_future(tokens))
        await asyncio.sleep(0.12)  # a fast typist
    started = time.perf_counter()
    await editor.diagnostics()
    found["diagnostics"].append(1000 * (time.perf_counter() - started))
    await asyncio.gather(*background, return_exceptions=True)
    await editor.end()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=72)
    parser.add_argument(
        "--tokens", type=int, default=10, metavar="KEYS", help="semantic tokens after so many keys; 0: never"
    )
    options = parser.parse_args()
    for name, times in asyncio.run(session(options.lines, options.keys, options.tokens)).items():
        ordered = sorted(times)
        print(
            f"{name:18} {len(times):3} times: median {statistics.median(times):7.1f} ms, "
            f"90 % {ordered[int(0.9 * (len(ordered) - 1))]:7.1f} ms, most {ordered[-1]:7.1f} ms"
        )


if __name__ == "__main__":
    main()
