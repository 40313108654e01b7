"""`pyptx package`: write kernels as a package for the Hugging Face Hub."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import ModuleType
from typing import Any

from pyptx.cli.hub_package import package_files
from pyptx.cli.kernels import CommandError, help_options, load_module, suggestion

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "package",
        **help_options(
            "write kernels as a package that the `kernels` library of Hugging Face loads",
            "pyptx package rms-norm examples/rms_norm.py:rms_norm --license apache-2.0",
            "pyptx package activation my_kernels:gelu my_kernels:swiglu --version 2 --license mit",
            more="The package holds the modules of the kernels and the modules these import, except installed ones. "
            "Load it with kernels.get_local_kernel, or upload it with the `kernels` command; pyptx must be installed "
            "where it is loaded.",
        ),
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder to write; its name is that of the package")
    parser.add_argument(
        "kernels", metavar="KERNEL", nargs="+", help="FILE.py:NAME or module:NAME; without NAME all kernels of the file"
    )
    parser.add_argument("--version", metavar="N", type=int, default=1, help="version of the package (default: 1)")
    parser.add_argument("--license", metavar="SPDX", required=True, help="license of the kernels, such as apache-2.0")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the package.

    Raises:
        CommandError: a kernel does not exist, or the folder contains another package.
    """
    if arguments.version < 1:
        raise CommandError(f"--version {arguments.version}: expected 1 or more")
    exports = [export for text in arguments.kernels for export in _exports(text)]
    files = package_files(
        arguments.folder.resolve().name, exports, version=arguments.version, license=arguments.license
    )
    build = arguments.folder / "build"
    if build.exists():
        raise CommandError(f"{build} exists; remove it, or write to another folder")
    for path, text in files.items():
        target = arguments.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    print(f"{arguments.folder}: {', '.join(name for _, name in exports)}, {len(files)} files")
    return 0


def _exports(text: str) -> list[tuple[ModuleType, str]]:
    """Return the module and the names of the kernels that an argument names."""
    source, colon, wanted = text.rpartition(":")
    if not colon or wanted.endswith(".py"):
        source, wanted = text, ""
    module = load_module(source)
    names = [name for name, value in vars(module).items() if hasattr(type(value), "recorded_identity")]
    if wanted:
        if wanted not in names:
            listed = ", ".join(names) or "none"
            raise CommandError(f"{source} has no kernel {wanted!r}; kernels there: {listed}{suggestion(wanted, names)}")
        return [(module, wanted)]
    if not names:
        raise CommandError(f"{source} has no kernel")
    return [(module, name) for name in names]
