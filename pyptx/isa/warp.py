"""Exchange and votes within a warp."""

from pyptx.isa._choices import BOOL
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("shfl", "Exchange a register between lanes of a warp.", "data-movement-and-conversion-instructions-shfl-sync",
   form("shfl.sync.mode.b32  d{|p}, a, b, c, mask", mask="u32", sink="p", needs="sm_30 ptx_60"),
   form("shfl.mode.b32  d{|p}, a, b, c", sink="p", needs="sm_30..62 ptx_30"), mode=".up .down .bfly .idx",
   effect="warp")

op("vote", "Vote over the lanes of a warp.", "parallel-synchronization-and-communication-instructions-vote-sync",
   form("vote.sync.mode.pred  p, a, m"),
   form("vote.sync.ballot.b32  d, a, m"),
   form("vote.mode.pred  p, a", needs="sm_20..62"),
   form("vote.ballot.b32  d, a", needs="sm_20..62"), mode=".all .any .uni", a="!pred", m="u32", needs="sm_30 ptx_60",
   effect="warp")

op("match", "Find lanes with equal values.", "parallel-synchronization-and-communication-instructions-match-sync",
   form("match.any.sync.type  d, a, m"),
   form("match.all.sync.type  d{|p}, a, m", sink="d p"), type=".b32 .b64", d="u32", m="u32", needs="sm_70 ptx_60",
   effect="warp")

op("activemask", "Mask of active lanes.", "parallel-synchronization-and-communication-instructions-activemask",
   form("activemask.b32  d", effect="warp", needs="sm_30 ptx_62"))

op("redux", "Reduce over the lanes of a warp.", "parallel-synchronization-and-communication-instructions-redux-sync",
   form("redux.sync.op.type  d, a, m", op=".add .min .max", type=".u32 .s32", regs={"d": "int", "a": "int"}),
   form("redux.sync.op.b32  d, a, m", op=BOOL, d="u32", a="u32"),
   form("redux.sync.op{.abs}{.NaN}.f32  d, a, m", op=".min .max", needs="100f* ptx_86"), m="u32",
   needs="sm_80 ptx_70", effect="warp")

op("elect", "Elect one lane.", "parallel-synchronization-and-communication-instructions-elect-sync",
   form("elect.sync  d|p, m", d="u32", m="u32", sink="d", effect="warp", needs="sm_90 ptx_80"))
