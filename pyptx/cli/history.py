"""`pyptx history`: the recorded versions of kernels in notebook cells."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pyptx import history
from pyptx.cli.kernels import help_options

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    summary = "list, show, and label the versions of kernels compiled in notebook cells"
    command = subparsers.add_parser(
        "history",
        **help_options(
            summary,
            "pyptx history",
            "pyptx history gemm --json",
            "pyptx history --view gemm@-1",
            "pyptx history --name gemm@3 before-the-swizzle",
            more="REF is NAME@3 (as listed), NAME@-1 (the latest), a label, or a prefix of a key.",
        ),
    )
    command.add_argument("kernel", metavar="NAME", nargs="?", help="list versions of this kernel only")
    action = command.add_mutually_exclusive_group()
    action.add_argument("--view", metavar="REF", help="print Python, PTX, and SASS of a version, linked line by line")
    action.add_argument("--source", metavar="REF", help="print the cell of a version, or its Python functions")
    action.add_argument("--ptx", metavar="REF", help="print the PTX of a version")
    action.add_argument("--name", metavar=("REF", "LABEL"), nargs=2, help="give a version a label")
    command.add_argument("--json", action="store_true", help="print the list as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    def found(ref: str) -> history.Version:
        return history.version(ref, kernel=arguments.kernel)

    if arguments.view:
        print(found(arguments.view).view().text())
    elif arguments.source:
        version = found(arguments.source)
        print(version.source if version.cell_source is None else version.cell_source)
    elif arguments.ptx:
        print(found(arguments.ptx).ptx, end="")
    elif arguments.name:
        ref, label = arguments.name
        print(history.versions(history.name(found(ref), label).kernel).text())
    elif arguments.json:
        print(json.dumps([_facts(version) for version in history.versions(arguments.kernel)], indent=1))
    else:
        print(history.versions(arguments.kernel).text())
    return 0


def _facts(version: history.Version) -> dict[str, Any]:
    return {
        "ref": version.ref,
        "kernel": version.kernel,
        "labels": list(version.labels),
        "target": version.target,
        "params": dict(version.params),
        "options": list(version.options),
        "cell": version.cell,
        "notebook": version.notebook,
        "key": version.key,
    }
