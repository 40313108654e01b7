"""Control flow, cluster launch control and miscellaneous."""

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

op("clusterlaunchcontrol.try_cancel.async", "Ask to cancel a cluster that has not been launched yet.",
   "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel",
   form("clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes.b128  [a], [mb]",
        needs="sm_100 ptx_86"),
   form("clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes"
        ".multicast::cluster::all.b128  "
        "[a], [mb]", needs="100f* 110f* 120f* ptx_86"), effect="async")

op("clusterlaunchcontrol.query_cancel", "Decode the answer to a cancel request.",
   "parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-query-cancel",
   form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  p, h"),
   form("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  {d*4}, h"),
   form("clusterlaunchcontrol.query_cancel.query.b32.b128  d, h",
        query=".get_first_ctaid::x .get_first_ctaid::y .get_first_ctaid::z"), h="b128+imm", needs="sm_100 ptx_86",
   d="b32")
