"""`pyptx doctor`: what this machine has of what pyptx uses, what works, and what would make the rest work."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from dataclasses import asdict

from pyptx.cli.kernels import about
from pyptx.cli.machine import abilities, findings

__all__ = ["add", "run"]

_WIDTH = 110


def add(subparsers) -> None:
    summary = "say what was found of tools, GPUs and frameworks, what works, and what would make the rest work"
    command = subparsers.add_parser("doctor", **about(
        summary, "pyptx doctor", "pyptx doctor --json",
        more="Exit status 1 when something is missing that kernels need to be assembled or to run fast; a missing GPU "
             "or framework is none of it."))
    command.add_argument("--json", action="store_true", help="print all of it as JSON")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    found = findings()
    works = abilities(found)
    broken = [ability for ability in works if ability.needed and not ability.works]
    if arguments.json:
        print(json.dumps({"ok": not broken, "findings": list(map(asdict, found)), "works": list(map(asdict, works))},
                         indent=1))
        return bool(broken)
    for finding in found:
        print(f"{finding.name:10} {finding.text}")
    print()
    told: dict[str, str] = {}                           # reason -> the first that it keeps from working
    for ability in works:
        print(f"{'works' if ability.works else 'BROKEN' if ability.needed else '-':6} {ability.name}", end="")
        if ability.works:
            print()
        elif ability.reason in told:
            print(f" (as {told[ability.reason]})")
        else:
            told[ability.reason] = ability.name
            print(f"\n{_indented(ability.reason)}")
            if ability.fix and not ability.needed:
                print(_indented(f"-> {ability.fix}"))
    for ability in broken:
        print(f"pyptx: {ability.fix or ability.reason}", file=sys.stderr)
    return bool(broken)


def _indented(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=" " * 7, subsequent_indent=" " * 10, break_long_words=False,
                         break_on_hyphens=False)
