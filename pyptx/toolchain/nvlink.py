"""Linking of relocatable cubins (`ptxas -c`) with nvlink, or with nvJitLink where nvlink is not installed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyptx.errors import MissingToolError
from pyptx.toolchain.locate import find, version_of
from pyptx.toolchain.nvjitlink import jit_link, library_version
from pyptx.toolchain.process import TIME_LIMIT_S, run_tool, workspace
from pyptx.toolchain.ptxas import Assembled
from pyptx.toolchain.ptxas_log import Resources

__all__ = ["link_cubins", "linked_resources", "linker"]


def linker() -> str:
    """Return name and version of the installed linker, "nvlink 13.5.37".

    Raises:
        MissingToolError: neither nvlink nor nvJitLink is installed; the message names both packages.
    """
    try:
        return f"nvlink {version_of('nvlink')}"
    except MissingToolError as missing:
        try:
            return f"nvJitLink {library_version()}"
        except MissingToolError:
            raise MissingToolError(
                missing.message, hint=f"{missing.hint}; or pip install 'pyptx-workbench[tools]': nvJitLink links, too"
            ) from None


def link_cubins(objects: Sequence[bytes], target: str, *, limit_s: float = TIME_LIMIT_S) -> Assembled:
    """Link relocatable cubins to one that can be loaded; the cubin is empty if the linker refused, see the log.

    Raises:
        MissingToolError, ToolError: no linker is installed, it does not start, or exceeds `limit_s`.
    """
    if linker().startswith("nvJitLink"):
        return jit_link(objects, target)
    find("nvlink")
    with workspace() as name:
        folder = Path(name)
        files = [f"{number}.cubin" for number in range(1, len(objects) + 1)]
        for file, data in zip(files, objects, strict=True):
            (folder / file).write_bytes(data)
        ran = run_tool("nvlink", "-v", f"-arch={target}", *files, "-o", "linked", folder=folder, limit_s=limit_s)
        linked = folder / "linked"
        log = ran.log + ran.output
        if ran.status and "error" not in log and "fatal" not in log:
            log += f"\nnvlink fatal   : nvlink ended with status {ran.status}"
        return Assembled(linked.read_bytes() if ran.status == 0 and linked.exists() else b"", log)


_USED = re.compile(
    r"Function properties for '?([^\s']+?)'?:?\s*\n"
    r".*?used (\d+) registers, (?:used (\d+) barriers, )?(\d+) stack, (\d+) bytes smem"
)


def linked_resources(assembled: Mapping[str, Resources], log: str) -> dict[str, Resources]:
    """Return the resources of each entry after linking, which counts registers and stack of the functions it calls.

    Args:
        assembled: resources before linking, by entry.
        log: output of the linker.
    """
    found = dict(assembled)
    for name, registers, barriers, stack, shared in _USED.findall(log):
        if name in found:
            found[name] = replace(
                found[name],
                registers=int(registers),
                barriers=int(barriers or found[name].barriers),
                stack_bytes=int(stack),
                shared_bytes=int(shared),
            )
    return found
