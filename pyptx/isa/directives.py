"""Rules for function directives, those between the parameters and the body.

Source: PTX ISA, "Performance-Tuning Directives" and "Other Directives"; every cell measured with ptxas 13.5.
"""

from __future__ import annotations

from pyptx._frozen import frozen
from pyptx.isa.targets import ANYWHERE, Needs, needs

__all__ = ["DIRECTIVES", "SUMMARIES", "FunctionRule"]


@frozen
class FunctionRule:
    """Rule for a function directive.

    Attributes:
        on: "entry", "func" or "both"; followed by " body" if a declaration may not have the directive.
        values: minimum and maximum number of values.
        span: smallest and largest value.
        texts: strings accepted instead of a number; ("*",) accepts any string and no number.
        needs: targets and version.
        excludes, requires: other directives of the function.
    """

    on: str
    values: tuple[int, int] = (0, 0)
    span: tuple[int, int] = (0, 2**32 - 1)
    texts: tuple[str, ...] = ()
    needs: Needs = ANYWHERE
    excludes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


_POSITIVE = (1, 2**32 - 1)
_LANGUAGES = ("cuda c++", "fortran", "nvvm", "optix", "ptx", "tile ir", "unknown")      # in any case

DIRECTIVES = {
    "maxntid": FunctionRule("entry", (1, 3), _POSITIVE, excludes=("reqntid",)),
    "reqntid": FunctionRule("entry", (1, 3), _POSITIVE, needs=needs("ptx_21"), excludes=("maxntid",)),
    "maxnreg": FunctionRule("entry", (1, 1), _POSITIVE),
    "minnctapersm": FunctionRule("entry", (1, 1), _POSITIVE, needs=needs("ptx_20")),
    "reqnctapercluster": FunctionRule("entry", (1, 3), needs=needs("sm_90 ptx_78"), excludes=("maxclusterrank",)),
    "explicitcluster": FunctionRule("entry", needs=needs("sm_90 ptx_78")),
    "maxclusterrank": FunctionRule("entry", (1, 1), needs=needs("sm_90 ptx_78"), excludes=("reqnctapercluster",)),
    "blocksareclusters": FunctionRule("entry", needs=needs("sm_90 ptx_90"), requires=("reqntid", "reqnctapercluster")),
    "minperctamemory": FunctionRule("entry", (1, 1), needs=needs("sm_80 ptx_94")),
    "noreturn": FunctionRule("func", needs=needs("sm_30 ptx_64")),
    "abi_preserve": FunctionRule("func", (1, 1), needs=needs("sm_80 ptx_90")),
    "abi_preserve_control": FunctionRule("func", (1, 1), needs=needs("sm_80 ptx_90")),
    "language": FunctionRule("both body", (1, 1), (0, 10), _LANGUAGES, needs("ptx_92")),
    "pragma": FunctionRule("entry", (1, 99), texts=("*",), needs=needs("ptx_20")),
}

# One line for each directive, for editors.
SUMMARIES = {
    ".version": "PTX ISA version of the module",
    ".target": "architecture of the module, such as sm_90a",
    ".address_size": "bits of an address: 64 or 32",
    ".entry": "kernel",
    ".func": "device function",
    ".visible": "visible to other modules",
    ".extern": "defined in another module",
    ".weak": "may be defined again in another module",
    ".common": "shared by modules that declare the same name",
    ".reg": "registers",
    ".shared": "memory shared by the threads of a CTA",
    ".global": "memory of the GPU",
    ".const": "constant memory",
    ".local": "private memory of a thread",
    ".param": "parameter",
    ".align": "alignment in bytes",
    ".ptr": "parameter that points to a state space, with an alignment",
    ".attribute": "attributes of a variable or function",
    ".maxntid": "maximum number of threads of a CTA",
    ".reqntid": "exact number of threads of a CTA",
    ".minnctapersm": "minimum number of CTAs on an SM",
    ".maxnctapersm": "maximum number of CTAs on an SM (deprecated)",
    ".maxnreg": "maximum number of registers of a thread",
    ".reqnctapercluster": "exact number of CTAs of a cluster",
    ".explicitcluster": "must be launched with cluster dimensions",
    ".maxclusterrank": "maximum number of CTAs of a cluster",
    ".blocksareclusters": "grid dimensions of the launch count clusters",
    ".minperctamemory": "minimum memory for each CTA",
    ".noreturn": "the function does not return",
    ".abi_preserve": "data registers that the function preserves",
    ".abi_preserve_control": "control registers that the function preserves",
    ".language": "source language of the function",
    ".pragma": "hint to the assembler",
    ".file": "name of a source file, for .loc",
    ".loc": "source line of the following instructions",
    ".section": "section of debug information",
    ".alias": "second name of a function",
    ".branchtargets": "labels that brx.idx may branch to",
    ".calltargets": "functions that an indirect call may reach",
    ".callprototype": "signature of an indirect call",
}
