"""Fabric operations."""

from pyptx.isa._choices import BOOL
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("fabric.try_get.async", "Read through the fabric asynchronously.",
   "parallel-synchronization-and-communication-instructions-fabric",
   form("fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128  "
        "[d], [le, off], sz, [mb]", le="u32", off="u64", sz="u32", effect="async", needs="sm_100 ptx_93"))

op("fabric.try_put.async", "Write through the fabric asynchronously.",
   "parallel-synchronization-and-communication-instructions-fabric",
   form("fabric.try_put.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
        ".relaxed.sys.b128  "
        "[le, off], [s], sz, [mb]"),
   form("fabric.try_put.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
        ".counted::bytes.relaxed.sys.b128  "
        "[le, off, co], [s], sz, [mb]", co="u64"),
   form("fabric.try_put.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
        ".cp_mask.relaxed.sys.b128  "
        "[le, off], [s], sz, [mb], bm", bm="u16"), le="u32", off="u64", sz="u32", needs="sm_100 ptx_93",
   effect="async")

op("fabric.try_red.async", "Reduce through the fabric asynchronously.",
   "parallel-synchronization-and-communication-instructions-fabric",
   form("fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
        ".relaxed.sys.op.type  "
        "[le, off], [s], sz, [mb]", op=BOOL, type=".b32 .b64"),
   form("fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
        ".relaxed.sys.op.type  "
        "[le, off], [s], sz, [mb]", op=".min .max", type=".u32 .s32 .u64 .s64 .f16 .bf16"),
   form("fabric.try_red.async{.multimem}.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric"
        ".relaxed.sys.add.type  "
        "[le, off], [s], sz, [mb]", type=".u32 .u64 .f16 .bf16 .f32 .f64"), le="u32", off="u64", sz="u32",
   needs="sm_100 ptx_93", effect="async")

op("fabric.submit", "Submit fabric operations.", "parallel-synchronization-and-communication-instructions-fabric",
   form("fabric.submit{.op_restrict::fetching}", effect="async", needs="sm_100 ptx_93"))

op("fabric.wait", "Wait for fabric operations.", "parallel-synchronization-and-communication-instructions-fabric",
   form("fabric.wait.sync_restrict::reads", effect="async", needs="sm_100 ptx_93"))

op("fabric.try_pullred.async", "Pull and reduce through the fabric asynchronously.",
   "parallel-synchronization-and-communication-instructions-fabric",
   form("fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
        ".relaxed.sys.op.type.sync  "
        "[d], [le, off], sz, [mb], m", op=BOOL, type=".b32 .b64"),
   form("fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
        ".relaxed.sys.op.type.sync  "
        "[d], [le, off], sz, [mb], m", op=".min .max", type=".u32 .s32 .u64 .s64 .bf16 .f16"),
   form("fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
        ".relaxed.sys.add.type.sync  "
        "[d], [le, off], sz, [mb], m", type=".u32 .u64 .f16 .bf16 .f32"),
   form("fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
        ".relaxed.sys.add.acc::f32.type.sync  "
        "[d], [le, off], sz, [mb], m", type=".f16 .bf16", needs="100f* 110f* 120f* ptx_93"),
   form("fabric.try_pullred.async.multimem.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric"
        ".relaxed.sys.add.acc::f16.type.sync  "
        "[d], [le, off], sz, [mb], m", type=".e4m3 .e5m2", needs="100f* 110f* 120f* ptx_93"), le="u32", off="u64",
   sz="u32", needs="sm_100 ptx_93", effect="async", m="imm in 4294967295")
