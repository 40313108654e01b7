"""Command line of the transpiler: `python -m pyptx.codegen FILE`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pyptx.codegen.transpile import ptx_to_python
from pyptx.errors import PtxError
from pyptx.parser import ParseError

__all__ = ["add_arguments", "main", "read_ptx", "transpile"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the transpiler to a parser."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="PTX file; - for standard input")
    parser.add_argument(
        "-o",
        dest="out",
        metavar="OUT",
        type=Path,
        help="output file, or a folder for several files (default: standard output)",
    )
    parser.add_argument(
        "--sugar",
        action="store_true",
        help="write C++ names, structured control flow, operators and loops where verified to be equivalent",
    )
    parser.add_argument("--name", metavar="NAME", help="Python name of the (first) kernel")
    parser.add_argument("--kernel", metavar="ENTRY", help="transpile this entry only")


def read_ptx(file: str) -> bytes:
    """Return the content of a file; "-" is standard input."""
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def transpile(arguments: argparse.Namespace, read: Callable[[str], bytes] = read_ptx) -> int:
    """Transpile the files of the command line.

    Args:
        read: returns the PTX of a file.

    Returns:
        Exit status: 1 if a file could not be read or transpiled; each such file gets a line on standard error.
    """
    failed = False
    for file in arguments.files:
        try:
            text = ptx_to_python(read(file), sugar=arguments.sugar, kernel_name=arguments.name, entry=arguments.kernel)
            _write(text, file, arguments.out, several=len(arguments.files) > 1)
        except (ParseError, PtxError, OSError, KeyError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            message = error.args[0] if isinstance(error, KeyError) else getattr(error, "strerror", None) or error
            line = f"{'standard input' if file == '-' else file}: {message}"
            print(line.encode(errors="backslashreplace").decode(), file=sys.stderr)  # it may quote undecodable bytes
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
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m pyptx.codegen", description="Write PTX as editable Python.")
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    if not arguments.files:
        parser.print_usage(sys.stderr)
        return 1
    return transpile(arguments)


if __name__ == "__main__":
    sys.exit(main())
