"""The Jupyter server extension: checks PTX and CUDA C++, completes and explains PTX, lists versions, returns views of versions and files, without a kernel.

Requests below `pyptx/` are answered with JSON, or with status 4xx and `{"message": text}`:
    POST check      {"text", "target"?}                    {"diagnostics": [...]} of PTX
    POST complete   {"text", "offset", "python"}           {"found": {"start", "end", "offers"} or null}
    POST help       {"text", "offset", "python"}           {"found": {"start", "end", "text": Markdown} or null}
    POST check-cuda {"text", "path"?}                      {"diagnostics": [...]} of a .cu file, or a %%cuda cell of a notebook
    GET  kernels    ?notebook=FILE.ipynb                   {"kernels": [...]}, all without a notebook
    GET  view       ?version=REF or ?path=FILE             {"view": the view's JSON}
    GET  diff       ?before=REF&after=REF                  {"view": the view's JSON}
    POST page       {"view": a linked view's JSON}         {"page": one HTML file}
    GET  compare    ?version=REF&version=REF...            {"view": the view's JSON}
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web

from pyptx import history
from pyptx.errors import InputError, OptionError, PtxError
from pyptx.jupyter import panel
from pyptx.jupyter.cuda_checks import CudaText, check_cuda, read_cell
from pyptx.jupyter.file_views import view_file
from pyptx.jupyter.language_requests import complete_text, help_at
from pyptx.language.diagnostics import MAX_CHARACTERS, find_diagnostics
from pyptx.views import LinkedView
from pyptx.workbench.comparing import diff
from pyptx.workbench.side_by_side import compare

__all__ = ["MAX_TEXT"]

MAX_TEXT = MAX_CHARACTERS


class Handler(APIHandler):
    """A request answered by a function in a thread, because the tools take seconds."""

    auth_resource = "contents"  # same permission as reading notebooks

    async def reply(self, answer: Callable[[], dict[str, Any]]) -> None:
        try:
            result = await asyncio.to_thread(answer)
        except PtxError as error:
            self.set_status(422)
            result = {"message": str(error)}
        self.finish(json.dumps(result))

    def refuse(self, message: str) -> None:
        self.set_status(400)
        self.finish(json.dumps({"message": message}))


class Check(Handler):
    @web.authenticated
    @authorized(action="read")
    async def post(self) -> None:
        body = self.get_json_body() or {}
        text, target = body.get("text"), body.get("target")
        if not isinstance(text, str) or not isinstance(target, str | None):
            return self.refuse('expected {"text": PTX, "target": name or null}')
        if len(text) > MAX_TEXT:
            return self.refuse(f"{len(text)} characters; at most {MAX_TEXT} are checked while typing")
        await self.reply(lambda: {"diagnostics": diagnostics(text, target)})


class AtOffset(Handler):
    """A request about an offset of a text."""

    find: staticmethod

    @web.authenticated
    @authorized(action="read")
    async def post(self) -> None:
        body = self.get_json_body() or {}
        text, offset, python = body.get("text"), body.get("offset"), body.get("python", False)
        if not isinstance(text, str) or not isinstance(offset, int) or not isinstance(python, bool):
            return self.refuse(
                'expected {"text": PTX or Python, "offset": in UTF-16 units, "python": whether it is Python}'
            )
        if len(text) > MAX_TEXT:
            return self.refuse(f"{len(text)} characters; at most {MAX_TEXT} are read while typing")
        await self.reply(lambda: {"found": self.find(text, offset, python=python)})


class Complete(AtOffset):
    find = staticmethod(complete_text)


class Help(AtOffset):
    find = staticmethod(help_at)


class CheckCuda(Handler):
    @web.authenticated
    @authorized(action="execute", resource="kernels")  # a compiler reads the headers that a text includes
    async def post(self) -> None:
        body = self.get_json_body() or {}
        text, path = body.get("text"), body.get("path")
        if not isinstance(text, str) or not isinstance(path, str | None):
            return self.refuse('expected {"text": CUDA C++ or a cell, "path": of the file or null}')
        if len(text) > MAX_TEXT:
            return self.refuse(f"{len(text)} characters; at most {MAX_TEXT} are checked while typing")
        root = getattr(self.contents_manager, "root_dir", None)  # of a manager that stores files in a folder
        folder = Path(root, path).parent if root and path else None
        await self.reply(lambda: {"diagnostics": cuda_diagnostics(text, folder)})


class Kernels(Handler):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        notebook = self.get_query_argument("notebook", None)
        await self.reply(lambda: {"kernels": panel.kernels(notebook)})


class View(Handler):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        version, path = self.get_query_argument("version", None), self.get_query_argument("path", None)
        if (version is None) == (path is None):
            return self.refuse("expected one of version=REF and path=FILE")
        if version is not None:
            return await self.reply(lambda: {"view": history.version(version).view().to_json()})
        assert path is not None, "one of version and path was given"
        model = await ensure_async(self.contents_manager.get(path, type="file", format="base64"))
        data = base64.b64decode(model["content"])
        root = getattr(self.contents_manager, "root_dir", None)  # of a manager that stores files in a folder
        roots = [Path(root)] if root else []
        folder = Path(root, path).parent if root else None
        return await self.reply(lambda: {"view": view_file(PurePosixPath(path).name, data, roots, folder).to_json()})


class Diff(Handler):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        before, after = self.get_query_argument("before"), self.get_query_argument("after")
        await self.reply(lambda: {"view": diff(history.version(before), history.version(after)).to_json()})


class Page(Handler):
    @web.authenticated
    @authorized(action="read")
    async def post(self) -> None:
        view = (self.get_json_body() or {}).get("view")
        if not isinstance(view, dict):
            return self.refuse('expected {"view": the JSON of a linked view}')
        await self.reply(lambda: {"page": shared_page(view)})


class Compare(Handler):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        versions = self.get_query_arguments("version")
        if len(versions) < 2:
            return self.refuse("expected two or more of version=REF")
        await self.reply(lambda: {"view": compare(*map(history.version, versions)).to_json()})


def shared_page(view: dict[str, Any]) -> str:
    """Return the standalone page of a linked view.

    Raises:
        InputError: it is not the JSON of a linked view.
    """
    try:
        return LinkedView.from_json(view).page()
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, PtxError):
            raise
        raise InputError(f"this is not the JSON of a linked view: {type(error).__name__}: {error}") from None


def diagnostics(text: str, target: str | None) -> list[dict[str, Any]]:
    """Return the findings of find_diagnostics as JSON values; lines count from 1, columns from 0."""
    return [
        {
            "severity": found.severity,
            "message": found.message,
            "line": found.line,
            "column": found.column,
            "end_column": found.end_column,
            "hint": found.hint,
        }
        for found in find_diagnostics(text, target)
    ]


def cuda_diagnostics(text: str, folder: Path | None) -> list[dict[str, Any]]:
    """Return the findings of the compiler in a file or a `%%cuda` cell, as `check_cuda` does.

    Args:
        folder: of the file or notebook.
    """
    if not text.lstrip().startswith("%%cuda"):
        return check_cuda(CudaText(text, folder))
    try:
        return check_cuda(read_cell(text, folder))
    except OptionError as error:  # of the magic
        line = text[: len(text) - len(text.lstrip())].count("\n") + 1
        none = {"column": None, "end_column": None, "hint": error.hint}
        return [{"severity": "error", "message": error.message or str(error), "line": line, **none}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "pyptx.jupyter.server"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    base = server_app.web_app.settings["base_url"]
    handlers = {
        "check": Check,
        "complete": Complete,
        "help": Help,
        "check-cuda": CheckCuda,
        "kernels": Kernels,
        "view": View,
        "diff": Diff,
        "compare": Compare,
        "page": Page,
    }
    server_app.web_app.add_handlers(
        ".*$", [(url_path_join(base, "pyptx", name), handler) for name, handler in handlers.items()]
    )
