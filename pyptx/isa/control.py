"""Control flow and miscellaneous."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

op("nanosleep", "Sleep for about that many nanoseconds.", "miscellaneous-instructions-nanosleep",
   form("nanosleep.u32  t", rw="", effect="control", needs="sm_70 ptx_62"))

op("bra", "Branch.", "control-flow-instructions-bra",
   form("bra{.uni}  target", target="label", effect="control"))

op("brx.idx", "Branch through a table.", "control-flow-instructions-brx-idx",
   form("brx.idx{.uni}  i, targets", i="u32", targets="label", rw="", effect="control", needs="sm_30 ptx_60"))

op("call", "Call a function.", "control-flow-instructions-call",
   form("call{.uni}  f"),
   form("call{.uni}  f, proto", f="u64-imm", rw="", needs="ptx_21"),
   form("call{.uni}  f, (params)"),
   form("call{.uni}  f, (params), proto", f="u64-imm", rw="", needs="ptx_21"),
   form("call{.uni}  (results), f"),
   form("call{.uni}  (results), f, (params)"),
   form("call{.uni}  (results), f, (params), proto", f="u64-imm", rw="", needs="ptx_21"), f="function",
   effect="control", proto="label")

op("ret", "Return from a function, or end the thread of a kernel.", "control-flow-instructions-ret",
   form("ret{.uni}", effect="control"))

op("exit", "End the thread.", "control-flow-instructions-exit",
   form("exit", effect="control"))

op("trap", "Abort the grid.", "miscellaneous-instructions-trap",
   form("trap", effect="control"))

op("brkpt", "Stop in the debugger.", "miscellaneous-instructions-brkpt",
   form("brkpt", effect="control"))

op("pmevent", "Trigger performance monitor events.", "miscellaneous-instructions-pmevent",
   form("pmevent  n", n="imm in 0..15"),
   form("pmevent.mask  n", n="imm in 1..65535", needs="ptx_30"), effect="control")

op("setmaxnreg", "Change the registers of the warpgroup.", "miscellaneous-instructions-setmaxnreg",
   form("setmaxnreg.action.sync.aligned.u32  n", action=".inc .dec", n="imm in 24..256*8", effect="control",
        needs="100f* 110f* 120f* 90a ptx_80"))

op("griddepcontrol", "Control dependent grids.",
   "parallel-synchronization-and-communication-instructions-griddepcontrol",
   form("griddepcontrol.what", what=".launch_dependents .wait", effect="control", needs="sm_90 ptx_78"))
