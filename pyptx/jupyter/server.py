"""What JupyterLab asks of its server: PTX checked, versions listed, views of versions and files. No kernel is needed.

Requests below `pyptx/`, answered with JSON; what cannot be done is answered with status 4xx and `{"message": text}`:
    POST check      {"text", "target"?}                    {"diagnostics": [...]}
    GET  kernels    ?notebook=FILE.ipynb                   {"kernels": [...]}, all without a notebook
    GET  view       ?version=REF or ?path=FILE             {"view": the view's JSON}
    GET  diff       ?before=REF&after=REF                  {"view": the view's JSON}
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web

from pyptx import history
from pyptx.errors import PtxError
from pyptx.jupyter import panel
from pyptx.jupyter.files import view_of
from pyptx.validate import check_ptx
from pyptx.views.diffs.diff import diff

__all__ = ["MOST_TEXT"]

MOST_TEXT = 2_000_000                                   # characters of PTX that are checked while somebody types


class Handler(APIHandler):
    """A request that is answered by a function, in a thread: tools take their time."""

    auth_resource = "contents"                          # who may read notebooks may ask

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
        if len(text) > MOST_TEXT:
            return self.refuse(f"{len(text)} characters are too many to check in passing; at most {MOST_TEXT}")
        await self.reply(lambda: {"diagnostics": diagnostics(text, target)})


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
        model = await ensure_async(self.contents_manager.get(path, type="file", format="base64"))
        data = base64.b64decode(model["content"])
        return await self.reply(lambda: {"view": view_of(PurePosixPath(path).name, data).to_json()})


class Diff(Handler):
    @web.authenticated
    @authorized
    async def get(self) -> None:
        before, after = self.get_query_argument("before"), self.get_query_argument("after")
        await self.reply(lambda: {"view": diff(history.version(before), history.version(after)).to_json()})


def diagnostics(text: str, target: str | None) -> list[dict[str, Any]]:
    """What check_ptx finds, as plain values; lines count from 1, columns from 0."""
    return [{"severity": found.severity, "message": found.message, "line": found.line, "column": found.column,
             "end_column": found.end_column, "hint": found.hint} for found in check_ptx(text, target or None)]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "pyptx.jupyter.server"}]


def _load_jupyter_server_extension(server_app) -> None:
    base = server_app.web_app.settings["base_url"]
    answers = {"check": Check, "kernels": Kernels, "view": View, "diff": Diff}
    server_app.web_app.add_handlers(".*$", [(url_path_join(base, "pyptx", name), handler)
                                            for name, handler in answers.items()])
