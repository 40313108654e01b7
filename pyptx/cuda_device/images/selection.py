"""Choice of the PTX that a device runs, from what a program passes to `cuModuleLoadData` or `cuLibraryLoadData`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyptx.cuda_device.images import fat_binary
from pyptx.cuda_device.images.cubins import entries_of, ptx_of_cubin, target_of
from pyptx.errors import DeviceError, InputError, MissingToolError, OptionError
from pyptx.isa import targets

__all__ = ["INVALID_IMAGE", "INVALID_PTX", "NO_BINARY_FOR_GPU", "ptx_of"]

INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX = 200, 209, 218  # CUresult
_ELF = b"\x7fELF"
_WRAPPER = (0x466243B1).to_bytes(4, "little")
_FAT = fat_binary.MAGIC.to_bytes(4, "little")
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
_NAMES_SHOWN = 6


def ptx_of(image: bytes, target: str) -> str:
    """Return the PTX text of an image for a device.

    PTX runs on devices of its target and later ones, `sm_90a` only on sm_90, `sm_100f` on its family. Of several images in
    a fat binary, the one with the highest target that runs on the device is chosen; a cubin counts if it embeds its PTX.

    Args:
        image: PTX text (with or without a terminating zero), a fat binary, or a cubin.
        target: target of the device, "sm_90a".
    Raises:
        DeviceError: `code` is 200 (the image is invalid), 209 (it has no PTX that runs on the device) or 218 (PTX for
            another device); the message names the kernels and architectures that the image has.
        MissingToolError: the package that decompresses the image is not installed.
        OptionError: the target is unknown.
    """
    device = targets.parse(target)
    try:
        if image.startswith(_FAT):
            return _of_parts(list(fat_binary.parts(image)), device)
        if image.startswith(_ELF):
            return _of_parts([fat_binary.Part("cubin", target_of(image), lambda: image)], device)
        if image.startswith(_WRAPPER):
            raise InputError("a fat binary wrapper holds a pointer; pass the fat binary that it points to")
        return _of_text(image, device)
    except InputError as error:
        raise DeviceError(f"invalid image: {error.message}", code=INVALID_IMAGE, hint=error.hint) from error


def _of_text(image: bytes, device: targets.Target) -> str:
    text = image.partition(b"\0")[0].decode(errors="replace")
    blank = _BLANK.match(text)
    if blank is None or not text.startswith(".version", blank.end()):
        start = image[:16].hex(" ") or "nothing"
        raise InputError(f"it is not PTX, a fat binary or a cubin; it starts with {start}")
    found = _TARGET.search(text)
    if found and not _runs(found[1], device):
        raise DeviceError(
            f"PTX for {found[1]} does not run on a device of {device}",
            code=INVALID_PTX,
            hint=f"compile for {_compute(device.name)}, or choose a device that runs {found[1]}",
        )
    return text


@dataclass(frozen=True)
class _Candidate:
    """PTX that runs on the device, of an image that may have to be decompressed first."""

    target: targets.Target
    is_ptx: bool
    read: Callable[[], str | None]

    @property
    def rank(self) -> tuple[int, int, bool]:
        return self.target.number, "fa".find(self.target.suffix or "-"), self.is_ptx


def _of_parts(images: list[fat_binary.Part], device: targets.Target) -> str:
    candidates = [
        _Candidate(targets.parse(part.target), part.kind == "PTX", _reader(part))
        for part in images
        if part.kind in ("PTX", "cubin") and _runs(part.target, device)
    ]
    for candidate in sorted(candidates, key=lambda c: c.rank, reverse=True):
        text = candidate.read()
        if text is not None:
            return text
    raise _no_ptx(images, device)


def _reader(part: fat_binary.Part) -> Callable[[], str | None]:
    if part.kind == "PTX":
        return lambda: part.data.partition(b"\0")[0].decode(errors="replace")
    return lambda: ptx_of_cubin(part.data)


def _runs(target: str, device: targets.Target) -> bool:
    try:
        return targets.parse(target).runs_on(device)
    except OptionError:  # a target newer than the table
        return False


def _compute(target: str) -> str:
    return target.replace("sm_", "compute_")


def _no_ptx(images: list[fat_binary.Part], device: targets.Target) -> DeviceError:
    """Return the error that names what the images are, and how to build one that runs."""
    compute = _compute(device.name)
    had = [
        *_listed("PTX for", (_compute(part.target) for part in images if part.kind == "PTX")),
        *_listed("machine code for", (part.target for part in images if part.kind == "cubin")),
        *_listed("", (f"{part.kind} for {part.target}" for part in images if part.kind not in ("PTX", "cubin"))),
    ]
    names = list(dict.fromkeys(name for part in images if part.kind == "cubin" for name in _entries(part)))
    if len(names) > _NAMES_SHOWN:
        names[_NAMES_SHOWN:] = [f"{len(names) - _NAMES_SHOWN} more"]
    kernels = f" (kernels {', '.join(names)})" if names else ""
    return DeviceError(
        f"no PTX that runs on a device of {device}: the image has {' and '.join(had) or 'no code'}{kernels}",
        code=NO_BINARY_FOR_GPU,
        hint=f"the simulator runs PTX, not machine code: build with nvcc -gencode arch={compute},code={compute}; "
        "with -lineinfo, machine code for the device embeds its PTX",
    )


def _listed(before: str, names: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(names))
    return [f"{before} {', '.join(distinct)}".strip()] if distinct else []


def _entries(part: fat_binary.Part) -> tuple[str, ...]:
    try:
        return entries_of(part.data)
    except (InputError, MissingToolError):  # the message names what can be read
        return ()
