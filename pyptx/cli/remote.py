"""`pyptx remote`: install pyptx on another machine, and show what is there."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyptx.cli.kernels import CommandError, help_options

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    summary = "install pyptx on another machine by SSH, and show what is there"
    command = subparsers.add_parser(
        "remote",
        **help_options(
            summary,
            "pyptx remote setup ann@gpu-server",
            "pyptx remote setup gpu-server --from .              # this checkout",
            "pyptx remote status gpu-server",
            "PYPTX_BACKEND=ssh://gpu-server python train.py      # its launches run there",
            more="HOST is a host of your SSH configuration, user@host, or an address such as ssh://user@host:2222. Keys, "
            "agents and jump hosts are those of ssh; PYPTX_SSH replaces the command.",
        ),
    )
    actions = command.add_subparsers(metavar="ACTION", required=True, dest="action")
    setup = actions.add_parser(
        "setup",
        **help_options(
            "create an environment there with this version of pyptx",
            "pyptx remote setup gpu-server",
            "pyptx remote setup gpu-server --from dist/pyptx_workbench-0.1.0-py3-none-manylinux_2_17_x86_64.whl",
            more="The environment is ~/.local/share/pyptx/remote there. It is updated if it exists.",
        ),
    )
    status = actions.add_parser(
        "status",
        **help_options(
            "show Python, pyptx, GPU, its queue, and the cache there",
            "pyptx remote status gpu-server",
            "pyptx remote status gpu-server --json",
            more="Exit status: 0; 1 if the machine or its device cannot be used.",
        ),
    )
    for one in (setup, status):
        one.add_argument("host", metavar="HOST", help="a host, user@host, or ssh://user@host:port")
        one.add_argument("--python", metavar="PATH", default="", help="the Python to use there")
        one.add_argument("--json", action="store_true", help="print JSON")
    setup.add_argument(
        "--from",
        dest="source",
        metavar="WHEEL_OR_FOLDER",
        type=Path,
        help="send this wheel, or one built from this folder; default: the version of this pyptx from the package index",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from pyptx.remote import status  # late: NumPy takes time to load
    from pyptx.remote.address import Address
    from pyptx.remote.setup import install

    address = Address.parse(arguments.host, {"python": arguments.python} if arguments.python else None)
    if address.scheme != "ssh":
        raise CommandError(f"pyptx remote is for SSH, not for {address}")
    if arguments.action == "setup":
        install(address, arguments.source, (lambda line: None) if arguments.json else print)
        address = replace(address, python="")  # the environment's own from now on
    found = status.status(address)
    print(json.dumps(found, indent=1) if arguments.json else status.text(found))
    return int(found["device"]["backend"] is None)
