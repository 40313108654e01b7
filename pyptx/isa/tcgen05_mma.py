"""tcgen05.mma: matrix multiply into tensor memory."""

from pyptx.isa._choices import COLLECTOR_A, COLLECTOR_B, GROUP
from pyptx.isa._schema import Family, form

op = Family(__name__)

KIND = ".kind::f16 .kind::tf32 .kind::f8f6f4 .kind::i8@100a,110a"
SCALED = ".kind::f16 .kind::tf32"                       # kinds whose input d may be scaled
SHIFTED = ".collector::a::lastuse .collector::a::discard"

op("tcgen05.mma", "Matrix multiply-accumulate into tensor memory.", "tcgen05-instructions-tcgen05-mma",
   form("tcgen05.mma.group.kind{.collector}  [d], ad, bd, id{, {dm*4*group}}, en", kind=KIND,
        collector=COLLECTOR_A),
   form("tcgen05.mma.group.kind{.collector}  [d], ad, bd, id{, {dm*4*group}}, en, si", kind=SCALED,
        collector=COLLECTOR_A, needs="100f* ptx_86"),
   form("tcgen05.mma.group.kind{.collector}  [d], [at], bd, id{, {dm*4*group}}, en", kind=KIND,
        collector=COLLECTOR_A),
   form("tcgen05.mma.group.kind{.collector}  [d], [at], bd, id{, {dm*4*group}}, en, si", kind=SCALED,
        collector=COLLECTOR_A, needs="100f* ptx_86"),
   form("tcgen05.mma.group.kind.ashift{.collector}  [d], [at], bd, id{, {dm*4*group}}, en", kind=KIND,
        collector=SHIFTED),
   form("tcgen05.mma.group.kind.ashift{.collector}  [d], [at], bd, id{, {dm*4*group}}, en, si",
        kind=SCALED, collector=SHIFTED, needs="100f* ptx_86"),
   form("tcgen05.mma.group.kind::f8f6f4.collector::a::<op>.collector::b::<bop>  [d], ad, bd, id, en",
        needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::ti16.collector::b::<bop>  [d], ad, bd, id, en", needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::f8f6f4.decompress::lut::b  [d], ad, bd, [lt], id, en", needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::ti16  [d], ad, bd, id, en", needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::mxf8f6f4.block_scale.block32.decompress::lut::b  "
        "[d], ad, bd, [lt], id, [sa], [sb], en", needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::ti16.collector::a::<op>{.collector_b}  [d], ad, bd, id, en",
        collector_b=".collector::b::fill .collector::b::use .collector::b::lastuse .collector::b::discard",
        needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::ti16.ashift{.collector}  [d], [at], bd, id, en",
        collector=SHIFTED, needs="107f* ptx_94"),
   form("tcgen05.mma.group.kind::mxf8f6f4.block_scale{.scale_vec}{.collector}  [d], ad, bd, id, [sa], [sb], en",
        collector=COLLECTOR_A),
   form("tcgen05.mma.group.kind::mxf8f6f4.block_scale{.scale_vec}{.collector}  [d], [at], bd, id, [sa], [sb], en",
        collector=COLLECTOR_A),
   form("tcgen05.mma.group.kind::mxf4.block_scale{.scale_vec}{.collector}  [d], ad, bd, id, [sa], [sb], en",
        scale_vec=".scale_vec::2X@100a,103a,107a,110a .block32@ptx_88", collector=COLLECTOR_A),
   form("tcgen05.mma.group.kind::mxf4.block_scale{.scale_vec}{.collector}  [d], [at], bd, id, [sa], [sb], en",
        scale_vec=".scale_vec::2X@100a,103a,107a,110a .block32@ptx_88", collector=COLLECTOR_A),
   form("tcgen05.mma.group.kind::mxf4nvf4.block_scale.scale_vec{.collector}  [d], ad, bd, id, [sa], [sb], en",
        scale_vec=".scale_vec::2X .scale_vec::4X .block16@=100f*,110f*,ptx_88 .block32@=100f*,110f*,ptx_88",
        collector=COLLECTOR_A, needs="100a 103a 107a 110a ptx_87"),
   form("tcgen05.mma.group.kind::mxf4nvf4.block_scale.scale_vec{.collector}  [d], [at], bd, id, [sa], [sb], en",
        scale_vec=".scale_vec::2X .scale_vec::4X .block16@=100f*,110f*,ptx_88 .block32@=100f*,110f*,ptx_88",
        collector=COLLECTOR_A, needs="100a 103a 107a 110a ptx_87"), group=GROUP,
   d="addrb32", ad="u64", bd="u64", id="u32", dm="b32", en="!pred", needs="100f* 110f* ptx_86", work="2*m*n*k flop",
   effect="async:mma", at="addrb32", si="imm in 0..15", op=".fill .use .lastuse .discard",
   bop=".fill .use .lastuse .discard", lt="addrb32", sa="addrb32", sb="addrb32",
   scale_vec=".scale_vec::1X@100a,103a,107a,110a .block32@ptx_88")

op("tcgen05.mma.sp", "Sparse matrix multiply-accumulate into tensor memory.", "tcgen05-instructions-tcgen05-mma-sp",
   form("tcgen05.mma.sp.group.kind{.collector}  [d], ad, bd, [mt], id{, {dm*4*group}}, en", kind=KIND,
        collector=COLLECTOR_A),
   form("tcgen05.mma.sp.group.kind{.collector}  [d], ad, bd, [mt], id{, {dm*4*group}}, en, si", kind=SCALED,
        collector=COLLECTOR_A, needs="100f* ptx_86"),
   form("tcgen05.mma.sp.group.kind{.collector}  [d], [at], bd, [mt], id{, {dm*4*group}}, en", kind=KIND,
        collector=COLLECTOR_A),
   form("tcgen05.mma.sp.group.kind{.collector}  [d], [at], bd, [mt], id{, {dm*4*group}}, en, si", kind=SCALED,
        collector=COLLECTOR_A, needs="100f* ptx_86"),
   form("tcgen05.mma.sp.group.kind.ashift{.collector}  [d], [at], bd, [mt], id{, {dm*4*group}}, en", kind=KIND,
        collector=SHIFTED),
   form("tcgen05.mma.sp.group.kind.ashift{.collector}  [d], [at], bd, [mt], id{, {dm*4*group}}, en, si",
        kind=SCALED, collector=SHIFTED, needs="100f* ptx_86"),
   form("tcgen05.mma.sp.group.kind::ti16  [d], ad, bd, [mt], id, en", needs="107f* ptx_94"),
   form("tcgen05.mma.sp.group.kind::mxf8f6f4.block_scale{.scale_vec}{.collector}  "
        "[d], ad, bd, [mt], id, [sa], [sb], en", collector=COLLECTOR_A),
   form("tcgen05.mma.sp.group.kind::mxf8f6f4.block_scale{.scale_vec}{.collector}  "
        "[d], [at], bd, [mt], id, [sa], [sb], en", collector=COLLECTOR_A),
   form("tcgen05.mma.sp.group.kind::mxf4.block_scale{.scale_vec}{.collector}  "
        "[d], ad, bd, [mt], id, [sa], [sb], en", scale_vec=".scale_vec::2X .block32@ptx_88", collector=COLLECTOR_A,
        needs="100a 103a 107a 110a ptx_86"),
   form("tcgen05.mma.sp.group.kind::mxf4.block_scale{.scale_vec}{.collector}  "
        "[d], [at], bd, [mt], id, [sa], [sb], en", scale_vec=".scale_vec::2X .block32@ptx_88",
        collector=COLLECTOR_A, needs="100a 103a 107a 110a ptx_86"),
   form("tcgen05.mma.sp.group.kind::mxf4nvf4.block_scale.scale_vec{.collector}  "
        "[d], ad, bd, [mt], id, [sa], [sb], en",
        scale_vec=".scale_vec::2X .scale_vec::4X .block16@ptx_88 .block32@ptx_88", collector=COLLECTOR_A,
        needs="100a 103a 107a 110a ptx_87"),
   form("tcgen05.mma.sp.group.kind::mxf4nvf4.block_scale.scale_vec{.collector}  "
        "[d], [at], bd, [mt], id, [sa], [sb], en",
        scale_vec=".scale_vec::2X .scale_vec::4X .block16@ptx_88 .block32@ptx_88", collector=COLLECTOR_A,
        needs="100a 103a 107a 110a ptx_87"), group=GROUP, d="addrb32", ad="u64", bd="u64",
   mt="addrb32", id="u32", dm="b32", en="!pred", needs="100f* 110f* ptx_86", work="2*m*n*k flop", effect="async:mma",
   at="addrb32", scale_vec=".scale_vec::1X@100a,103a,107a,110a .block32@ptx_88", sa="addrb32", sb="addrb32",
   si="imm in 0..15")

op("tcgen05.mma.ws", "Weight-stationary matrix multiply-accumulate into tensor memory.",
   "tcgen05-instructions-tcgen05-mma-ws",
   form("tcgen05.mma.ws.cta_group::1.kind{.collector}  [d], ad, bd, id, en{, zm}",
        kind=KIND),
   form("tcgen05.mma.ws.cta_group::1.kind{.collector}  [d], [at], bd, id, en{, zm}",
        kind=KIND, at="addrb32"),
   form("tcgen05.mma.ws.cta_group::1.kind::ti16{.collector}  [d], ad, bd, id, en{, zm}", needs="107f* ptx_94"),
   collector=COLLECTOR_B, d="addrb32", ad="u64", bd="u64", id="u32", en="!pred", zm="u64", needs="100f* 110f* ptx_86",
   work="2*m*n*k flop", effect="async:mma")

op("tcgen05.mma.ws.sp", "Sparse weight-stationary matrix multiply-accumulate into tensor memory.",
   "tcgen05-instructions-tcgen05-mma-ws-sp",
   form("tcgen05.mma.ws.sp.cta_group::1.kind{.collector}  [d], ad, bd, [mt], id, en{, zm}",
        kind=KIND),
   form("tcgen05.mma.ws.sp.cta_group::1.kind::ti16{.collector}  [d], ad, bd, [mt], id, en{, zm}",
        needs="107f* ptx_94"),
   form("tcgen05.mma.ws.sp.cta_group::1.kind{.collector}  [d], [at], bd, [mt], id, en{, zm}",
        kind=KIND, at="addrb32"), collector=COLLECTOR_B,
   d="addrb32", ad="u64", bd="u64", mt="addrb32", id="u32", en="!pred", zm="u64", needs="100f* 110f* ptx_86",
   work="2*m*n*k flop", effect="async:mma")
