"""What the sanitizer found, in words, where it happens."""

from __future__ import annotations

from typing import Any

from pyptx.check.observed import finding_of
from pyptx.check.places import Places

__all__ = ["found_text"]


def found_text(session: Any) -> str:
    """Findings that were not told yet: what, the lines of both sides, the usual fix. Empty: there are none."""
    seen = session.run.machine.sightings(session.told)
    session.told += len(seen)
    places, program = Places(session.variant, session.run.program), session.run.program
    findings = [found for one in seen if (found := finding_of(program, one, places)) is not None]
    return "\n".join(line for found in findings for line in _lines(session, found))


def _lines(session: Any, found: Any) -> list[str]:
    lines = [f"{found.severity}[{found.rule}]: {found.message}"]
    for at in found.places:
        where = f"PTX line {at.ptx_line}" if at.place is None else str(at.place)
        lines.append(f"  {at.role}: {where}: {at.ptx if at.place is None else at.place.source_line.strip() or at.ptx}")
    return [*lines, *([f"  fix: {found.fix}"] if found.fix else [])]
