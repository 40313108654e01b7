"""Load PTX text as a `Program` of `Entry` objects; defined in `pyptx.workbench.program`."""

from pyptx.workbench.program import Entry, Program, load

__all__ = ["Entry", "Program", "load"]
