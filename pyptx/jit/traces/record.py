"""Records of traces: what a launch needs to know about a traced kernel, as JSON in the cache folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from os import stat, stat_result
from pathlib import Path
from typing import Any

from pyptx._loc import LOADED_NS, PACKAGE_DIR
from pyptx.ir.nodes import AddressSize, Function, FunctionDirective, Module, Param, Target, Version
from pyptx.ir.types import LinkingDirective, ScalarType, StateSpace

__all__ = ["Record", "package_files", "takes_part", "unchanged"]

# Parts of pyptx that a trace cannot execute: those of later layers; see the table of the architecture.
_LATER = frozenset(
    "analysis benchmarking check cli codegen compiled cuda_device debug history jax_support jupyter kernel language ledger "
    "nvrtc profiles program pytest_plugin remote renderer runtime sim store testing toolchain torch_support triton tune "
    "views workbench".split()
)
Files = dict[str, list[int]]


class Record:
    """A trace without its tree and text.

    Args:
        head: module with version, target, and the entry without its body.
        text_hash: SHA-256 of the PTX text, hexadecimal.
        dynamic_bytes, tma_tensors, cluster_needed: of the specialization.
    """

    def __init__(
        self,
        head: Module,
        text_hash: str,
        dynamic_bytes: int,
        tma_tensors: tuple[str, ...],
        cluster_needed: int | None,
    ):
        self.head, self.text_hash, self.dynamic_bytes = head, text_hash, dynamic_bytes
        self.tma_tensors, self.cluster_needed = tma_tensors, cluster_needed

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        entry = self.head.entries[0]
        return {
            "version": [self.head.version.major, self.head.version.minor],
            "targets": list(self.head.target.targets),
            "name": entry.name,
            "linking": entry.linking and entry.linking.value,
            "params": [_plain(param) for param in entry.params],
            "directives": [[directive.name, list(directive.values)] for directive in entry.directives],
            "text_hash": self.text_hash,
            "dynamic_bytes": self.dynamic_bytes,
            "tma_tensors": list(self.tma_tensors),
            "cluster_needed": self.cluster_needed,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """Return the record of plain values.

        Raises:
            KeyError, TypeError, ValueError: they are not those of a record.
        """
        entry = Function(
            True,
            data["name"],
            tuple(_param(param) for param in data["params"]),
            None,
            (),
            None if data["linking"] is None else LinkingDirective(data["linking"]),
            tuple(FunctionDirective(name, tuple(values)) for name, values in data["directives"]),
        )
        head = Module(Version(*data["version"]), Target(tuple(data["targets"])), AddressSize(64), (entry,))
        needed = data["cluster_needed"]
        return cls(
            head,
            str(data["text_hash"]),
            int(data["dynamic_bytes"]),
            tuple(map(str, data["tma_tensors"])),
            None if needed is None else int(needed),
        )


def _plain(param: Param) -> list[Any]:
    space = param.ptr_state_space
    return [
        param.state_space.value,
        param.type.value,
        param.name,
        param.array_size,
        param.alignment,
        None if space is None else space.value,
        param.ptr_alignment,
        param.vector,
        param.pointer,
        param.hidden,
    ]


def _param(data: list[Any]) -> Param:
    state, kind, name, size, alignment, space, ptr_alignment, vector, pointer, hidden = data
    return Param(
        StateSpace(state),
        ScalarType(kind),
        name,
        size,
        alignment,
        None if space is None else StateSpace(space),
        ptr_alignment,
        vector=vector,
        pointer=pointer,
        hidden=hidden,
    )


def package_files() -> Files | None:
    """Return times of modification and of change of status in ns, and size, of each file of pyptx that a trace may execute.

    They are those of the modules that are loaded now. A file that is not loaded takes no part in a trace unless one of
    them changes.

    Returns:
        None if this process may run other code than that of the files: in an archive, or changed since the import.
    """
    names = [name for name in list(sys.modules) if takes_part(name)]
    files = [getattr(sys.modules[name], "__file__", None) for name in ("pyptx", *names)]
    try:
        found = {str(Path(file).relative_to(PACKAGE_DIR)): _signature(stat(file)) for file in files if file is not None}
    except (OSError, ValueError):
        return None
    return None if any(max(times) >= LOADED_NS for *times, _ in found.values()) else found


def takes_part(module: str) -> bool:
    """Return True for the name of a module of pyptx that a trace may execute."""
    return module.startswith("pyptx.") and module.split(".", 2)[1] not in _LATER


def unchanged(files: Mapping[str, Iterable[int]]) -> bool:
    """Return True if the files of pyptx are as they were."""
    try:
        return all(_signature(stat(f"{PACKAGE_DIR}/{name}")) == known for name, known in files.items())
    except OSError:
        return False


def _signature(status: stat_result) -> list[int]:
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size]
