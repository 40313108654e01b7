"""Cluster launch control."""

from pyptx.isa._schema import Family, form

op = Family(__name__)

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
