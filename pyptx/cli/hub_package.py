"""Kernel packages for the Hugging Face Hub: kernels and the modules they need, in the layout of universal kernels.

    DIR/build/torch-universal/
        metadata.json         name, unique id, version, license, backend
        __init__.py           exports the kernels
        _ops.py               the namespace of their operators
        NAME/__init__.py      the same exports, for older versions of the `kernels` library
        _sources/             the modules, whose imports of each other are made relative

Sources: huggingface/kernels, "Kernel requirements" (names of variants, required files) and "Writing kernels" (`_ops.py`).
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

from pyptx.cli.kernels import CommandError

__all__ = ["package_files"]

VARIANT = Path("build", "torch-universal")
_SOURCES = "_sources"
_OPS = '''"""The operators of the kernels: all kernels of pyptx are calls of `pyptx::launch`."""

import torch

ops = torch.ops.pyptx


def add_op_namespace_prefix(op_name: str) -> str:
    """Return the qualified name of an operator."""
    return f"pyptx::{op_name}"
'''


def package_files(
    name: str, exports: Iterable[tuple[ModuleType, str]], *, version: int, license: str
) -> dict[Path, str]:
    """Return the files of a package by their path in its folder.

    Args:
        name: of the package; letters, digits, `-` and `_`.
        exports: modules and the names of their kernels.
        version: of the package, 1 or more.
        license: SPDX identifier.
    Raises:
        CommandError: the name is invalid, two kernels have one name, or a module's source cannot be packaged.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise CommandError(f"package name {name!r}: expected a letter, then letters, digits, - and _")
    exports = list(exports)
    names = [kernel for _, kernel in exports]
    if twice := {kernel for kernel in names if names.count(kernel) > 1}:
        raise CommandError(f"two kernels are named {min(twice)}; a package exports each name once")
    modules: dict[str, ModuleType] = {}
    for module, _ in exports:
        _collect(module, _name_of(module), modules)
    sources = {_path_in_package(name, modules): _relocated(module, name, modules) for name, module in modules.items()}
    for path in list(sources):
        for folder in path.parents:
            sources.setdefault(folder / "__init__.py", "")
    python_name = name.replace("-", "_")
    unique = hashlib.sha256(json.dumps(sorted((str(p), text) for p, text in sources.items())).encode()).hexdigest()[:7]
    metadata = {
        "name": name.replace("_", "-").lower(),
        "id": f"_{python_name.lower()}_universal_{unique}",
        "version": version,
        "license": license,
        "python-depends": [],
        "backend": {"type": "cpu"},
    }
    imports = "\n".join(f"from .{_SOURCES}.{_name_of(module)} import {kernel}" for module, kernel in exports)
    listed = ", ".join(map(repr, names))
    files = {
        Path("metadata.json"): json.dumps(metadata, indent=2) + "\n",
        Path("__init__.py"): f'"""Kernels written with pyptx, which must be installed."""\n\n{imports}\n\n'
        f"__all__ = [{listed}]\n",
        Path("_ops.py"): _OPS,
        Path(python_name, "__init__.py"): _COMPATIBILITY,
        **{Path(_SOURCES) / path: text for path, text in sources.items()},
    }
    return {VARIANT / path: text for path, text in files.items()}


# Older versions of `kernels` import this folder instead of the one above it.
_COMPATIBILITY = '''"""The kernels, for older versions of the `kernels` library."""

import importlib.util
import sys
from pathlib import Path

_file = Path(__file__).parents[1] / "__init__.py"
_spec = importlib.util.spec_from_file_location(f"{__name__}_kernels", _file)
_module = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
__all__ = _module.__all__
globals().update({name: getattr(_module, name) for name in __all__})
'''


def _name_of(module: ModuleType) -> str:
    spec = module.__spec__
    return spec.name if spec is not None else module.__name__


def _collect(module: ModuleType, name: str, found: dict[str, ModuleType]) -> None:
    """Add a module and the modules outside of installed packages that it imports."""
    if name in found or not getattr(module, "__file__", None):
        return
    found[name] = module
    for _, imported, names in _imports(module, name):
        for target in (imported, *(f"{imported}.{item}" for item in names)):
            other = sys.modules.get(target)
            if other is not None and _is_users(other):
                _collect(other, target, found)


def _is_users(module: ModuleType) -> bool:
    """Return True for a module that is neither installed nor part of pyptx."""
    file = getattr(module, "__file__", None) or ""
    top = module.__name__.partition(".")[0]
    installed = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    return bool(file) and top != "pyptx" and top not in sys.stdlib_module_names and not file.startswith(installed)


def _source(module: ModuleType) -> str:
    """Return the source; of a package that is not an `__init__.py`, only the docstring is needed."""
    file = Path(module.__file__ or "")
    if file.suffix != ".py":
        raise CommandError(f"{file}: only Python modules can be packaged")
    if hasattr(module, "__path__") and file.name != "__init__.py":
        return ""
    return file.read_text(encoding="utf-8")


def _imports(module: ModuleType, name: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str, list[str]]]:
    """Yield each import statement with the absolute name of its module and the names it takes from it."""
    package = name if hasattr(module, "__path__") else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name, []
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package if node.level else ""
            yield node, ".".join(filter(None, (base, node.module))), [alias.name for alias in node.names]


def _path_in_package(name: str, modules: Mapping[str, ModuleType]) -> Path:
    path = Path(*name.split("."))
    return path / "__init__.py" if hasattr(modules[name], "__path__") else path.with_suffix(".py")


def _relocated(module: ModuleType, name: str, modules: Mapping[str, ModuleType]) -> str:
    """Return the source with absolute imports of packaged modules made relative, on the same lines."""
    lines = _source(module).splitlines(keepends=True)
    dots = "." * (name.count(".") + (2 if hasattr(module, "__path__") else 1))
    for node, imported, _ in _imports(module, name):
        if imported not in modules or (isinstance(node, ast.ImportFrom) and node.level):
            continue
        old, line = re.escape(imported), lines[node.lineno - 1]
        head, rest = line[: node.col_offset], line[node.col_offset :]
        if isinstance(node, ast.ImportFrom):
            changed = re.sub(rf"^from\s+{old}(?=\s)", f"from {dots}{imported}", rest)
        elif len(node.names) == 1 and (node.names[0].asname or "." not in imported):
            package, _, last = imported.rpartition(".")
            alias = f" as {node.names[0].asname}" if node.names[0].asname else ""
            changed = re.sub(rf"^import\s+{old}(\s+as\s+\w+)?", f"from {dots}{package} import {last}{alias}", rest)
        else:
            changed = rest
        if changed == rest:
            raise CommandError(
                f"{module.__file__}:{node.lineno}: this import cannot be packaged",
                hint=f"write it as: from {imported} import ...",
            )
        lines[node.lineno - 1] = head + changed
    return "".join(lines)
