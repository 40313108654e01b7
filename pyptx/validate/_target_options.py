"""Checks of the options of `.target`."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.ir.nodes import DwarfLine, Module, Section
from pyptx.isa import targets
from pyptx.isa.targets import Target
from pyptx.validate._messages import requires_version

__all__ = ["option_problems"]

_SINCE = {"texmode_unified": (1, 5), "texmode_independent": (1, 5), "debug": (3, 0), "map_f64_to_f32": (1, 0)}
_MAPS_F64 = 12  # the newest target without .f64


def option_problems(module: Module, chip: Target, version: tuple[int, int]) -> Iterator[str]:
    """Yield the errors in what follows the first target of `.target`.

    Source: PTX ISA, "PTX Module Directives: .target".
    """
    options = module.target.targets[1:]
    for option in options:
        if option.startswith(("sm_", "compute_")):
            yield from _other_target(option, version)
            continue
        since = _SINCE.get(option)
        if since is None:
            yield f".target has no option {option}; expected {', '.join(_SINCE)}"
        elif version < since:
            yield requires_version(f".target option {option}", since, version)
    if "texmode_unified" in options and "texmode_independent" in options:
        yield ".target has both texmode_unified and texmode_independent; a module has one texture mode"
    if "map_f64_to_f32" in options and chip.number > _MAPS_F64:
        yield f".target option map_f64_to_f32 is for targets without .f64; {chip.name} has it"
    if "debug" in options and not any(isinstance(d, Section | DwarfLine) for d in module.directives):
        yield ".target option debug requires debug information; the module has no .section"


def _other_target(name: str, version: tuple[int, int]) -> Iterator[str]:
    try:
        first = targets.parse(name.replace("compute_", "sm_")).first_ptx
    except ValueError as error:
        yield str(error)
        return
    if first > version:
        yield requires_version(f".target {name}", first, version)
