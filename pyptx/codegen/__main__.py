"""`python -m pyptx.codegen FILE`: PTX to Python on the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pyptx.codegen.codegen import ptx_to_python
from pyptx.errors import PtxError
from pyptx.parser import ParseError

__all__ = ["add_arguments", "main", "transpile"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="PTX, - for standard input")
    parser.add_argument("-o", dest="out", metavar="OUT", type=Path,
                        help="where to write: a file, or a folder when there are several files; else standard output")
    parser.add_argument("--sugar", action="store_true",
                        help="C++ names, structured control flow, operators and loops, wherever proven to be the same")
    parser.add_argument("--name", metavar="NAME", help="the Python name of the (first) kernel")
    parser.add_argument("--kernel", metavar="ENTRY", help="leave out the other entries")


def transpile(arguments: argparse.Namespace) -> int:
    """What the arguments ask for; exit status 1 with a message where a file cannot be read or is no PTX."""
    failed = False
    for file in arguments.files:
        try:
            data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            text = ptx_to_python(data, sugar=arguments.sugar, kernel_name=arguments.name, entry=arguments.kernel)
            _write(text, file, arguments.out, several=len(arguments.files) > 1)
        except (ParseError, PtxError, OSError, KeyError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            message = error.args[0] if isinstance(error, KeyError) else getattr(error, "strerror", None) or error
            print(f"{'standard input' if file == '-' else file}: {message}", file=sys.stderr)
            failed = True
    return int(failed)


def _write(text: str, file: str, out: Path | None, *, several: bool) -> None:
    if out is None:
        sys.stdout.write(f"# {file}\n{text}" if several else text)
        return
    if several or out.is_dir():
        out.mkdir(parents=True, exist_ok=True)
        out = out / (Path(file).stem.replace("-", "stdin") + ".py")
    out.write_text(text, encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyptx.codegen", description="Write PTX as editable Python.")
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    if not arguments.files:
        parser.print_usage(sys.stderr)
        return 1
    return transpile(arguments)


if __name__ == "__main__":
    sys.exit(main())
