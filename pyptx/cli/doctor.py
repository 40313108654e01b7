"""`pyptx doctor`: report detected tools, GPUs, and frameworks, and what works with them."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from dataclasses import asdict
from typing import Any

from pyptx.cli.environment import abilities, findings
from pyptx.cli.kernels import help_options

__all__ = ["add", "run"]

_WIDTH = 110


def add(subparsers: Any) -> None:
    summary = "report detected tools, GPUs, and frameworks, what works, and how to enable the rest"
    command = subparsers.add_parser(
        "doctor",
        **help_options(
            summary,
            "pyptx doctor",
            "pyptx doctor --json",
            more="Exit status 1 if something is missing that is needed to assemble kernels or to run them fast; GPUs and "
            "frameworks are optional.",
        ),
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    found = findings()
    works = abilities(found)
    broken = [ability for ability in works if ability.needed and not ability.works]
    if arguments.json:
        print(
            json.dumps(
                {"ok": not broken, "findings": list(map(asdict, found)), "works": list(map(asdict, works))}, indent=1
            )
        )
        return bool(broken)
    for finding in found:
        print(f"{finding.name:10} {finding.text}")
    print()
    reported: dict[str, str] = {}  # reason -> the first ability that it disables
    for ability in works:
        print(f"{'works' if ability.works else 'BROKEN' if ability.needed else '-':6} {ability.name}", end="")
        if ability.works:
            print()
            continue
        reason = ability.reason or ""
        if reason in reported:
            print(f" (as {reported[reason]})")
        else:
            reported[reason] = ability.name
            print(f"\n{_indented(reason)}")
            if ability.fix and not ability.needed:
                print(_indented(f"-> {ability.fix}"))
    for ability in broken:
        print(f"pyptx: {ability.fix or ability.reason}", file=sys.stderr)
    return bool(broken)


def _indented(text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=" " * 7, subsequent_indent=" " * 10, break_long_words=False, break_on_hyphens=False
    )
