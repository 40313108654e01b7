"""The local stack."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("stacksave", "Read the stack pointer.", "data-movement-and-conversion-instructions-stacksave",
   form("stacksave.type  d", type=".u64 .u32", effect="stack", needs="sm_52 ptx_73"))

op("stackrestore", "Set the stack pointer.", "data-movement-and-conversion-instructions-stackrestore",
   form("stackrestore.type  a", type=".u64 .u32", a="type-imm", rw="", effect="stack", needs="sm_52 ptx_73"))

op("alloca", "Allocate stack memory.", "data-movement-and-conversion-instructions-alloca",
   form("alloca.type  d, sz{, align}", type=".u64 .u32", align="imm", effect="stack", needs="sm_52 ptx_73"))
