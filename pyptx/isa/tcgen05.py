"""Tensor memory."""

from pyptx.isa._choices import GROUP
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("tcgen05.alloc", "Allocate tensor memory.", "tcgen05-instructions-tcgen05-alloc",
   form("tcgen05.alloc.group.sync.aligned{.shared::cta}.b32  [a], n", needs="100f* 110f* ptx_86"),
   form("tcgen05.alloc.exclusive.group.sync.aligned{.shared::cta}.b32  [a], n", needs="100f* 110f* ptx_94"),
   group=GROUP, n="u32 in *32", effect="tmem")

op("tcgen05.dealloc", "Free tensor memory.", "tcgen05-instructions-tcgen05-dealloc",
   form("tcgen05.dealloc{.exclusive}.group.sync.aligned.b32  t, n", exclusive="ptx_94", group=GROUP, t="u32",
        n="u32 in *32", rw="", effect="tmem", needs="100f* 110f* ptx_86"))

op("tcgen05.relinquish_alloc_permit", "Give up the right to allocate tensor memory.",
   "tcgen05-instructions-tcgen05-relinquish-alloc-permit",
   form("tcgen05.relinquish_alloc_permit.group.sync.aligned", group=GROUP, effect="tmem",
        needs="100f* 110f* ptx_86"))

op("tcgen05.ld", "Load from tensor memory.", "tcgen05-instructions-tcgen05-ld",
   form("tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32  {r*num}, [t]", shape=".32x32b .16x64b"),
   form("tcgen05.ld.sync.aligned.16x128b.num{.pack::16b}.b32  {r*2*num}, [t]", num=".x1 .x2 .x4 .x8 .x16 .x32 .x64"),
   form("tcgen05.ld.sync.aligned.16x256b.num{.pack::16b}.b32  {r*4*num}, [t]", num=".x1 .x2 .x4 .x8 .x16 .x32"),
   form("tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32  {r*num}, [t], o", o="imm"),
   num=".x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128", t="addr32", needs="100f* 110f* ptx_86", effect="async:tmem")

op("tcgen05.ld.red", "Load from tensor memory and reduce.", "tcgen05-instructions-tcgen05-ld",
   form("tcgen05.ld.red.sync.aligned.32x32b.num.op{.abs}{.NaN}.f32  {r*num}, rv, [t]", rw="r rv"),
   form("tcgen05.ld.red.sync.aligned.32x32b.num.op.type  {r*num}, rv, [t]", rw="r rv",
        regs={"r": "any", "rv": "any"}),
   form("tcgen05.ld.red.sync.aligned.16x32bx2.num.op.type  {r*num}, rv, [t], o", rw="r rv",
        regs={"r": "any", "rv": "any"}),
   form("tcgen05.ld.red.sync.aligned.16x32bx2.num.op{.abs}{.NaN}.f32  {r*num}, rv, [t], o", rw="r rv"),
   num=".x2 .x4 .x8 .x16 .x32 .x64 .x128", op=".min .max", t="addr32", regs={"r": "any32", "rv": "any32"},
   needs="103f* 110f* ptx_88", effect="async:tmem", type=".u32 .s32", o="imm")

op("tcgen05.ld.spcompress", "Load from tensor memory and compress.", "tcgen05-instructions-tcgen05-ld",
   form("tcgen05.ld.spcompress.sync.aligned.32x32b.num.op.sp::2:4{.abs}.f32.b2  {m*(num+31)/32}, {c*num/2}, [t]",
        num=".x4 .x8 .x16 .x32 .x64 .x128", op=".min .max", m="b32", c="b32", t="addr32", rw="m c", effect="tmem",
        needs="107a ptx_94"))

op("tcgen05.st", "Store to tensor memory.", "tcgen05-instructions-tcgen05-st",
   form("tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32  [t], {r*num}", shape=".32x32b .16x64b"),
   form("tcgen05.st.sync.aligned.16x128b.num{.unpack::16b}.b32  [t], {r*2*num}",
        num=".x1 .x2 .x4 .x8 .x16 .x32 .x64"),
   form("tcgen05.st.sync.aligned.16x256b.num{.unpack::16b}.b32  [t], {r*4*num}", num=".x1 .x2 .x4 .x8 .x16 .x32"),
   form("tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32  [t], o, {r*num}", o="imm"),
   num=".x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128", t="addr32", needs="100f* 110f* ptx_86", effect="async:tmem")

op("tcgen05.wait", "Wait for tensor memory accesses.", "tcgen05-instructions-tcgen05-wait",
   form("tcgen05.wait::<what>.sync.aligned", what=".ld .st", effect="sync", needs="100f* 110f* ptx_86"))

op("tcgen05.fence", "Order tensor core operations with thread synchronization.", "tcgen05-instructions-tcgen05-fence",
   form("tcgen05.fence::<when_>", when_=".before_thread_sync .after_thread_sync", effect="fence",
        needs="100f* 110f* ptx_86"))

op("tcgen05.commit", "Track tensor core operations with an mbarrier.", "tcgen05-instructions-tcgen05-commit",
   form("tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.b64  [mb]"),
   form("tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64  [mb], mask",
        mask="u16"),
   form("tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster::32b.b64  [mb], mask",
        mask="u32", needs="107f* ptx_94"),
   form("tcgen05.commit.group.mbarrier::arrive::one.sync_restrict::shared::read::mma::a{.shared::cluster}.b64  "
        "[mb]", needs="107f* ptx_94"), group=GROUP, needs="100f* 110f* ptx_86", effect="async")

op("tcgen05.cp", "Copy from shared to tensor memory.", "tcgen05-instructions-tcgen05-cp",
   form("tcgen05.cp.group.shape  [t], sd"),
   form("tcgen05.cp.group.shape.b8x16.fmt  [t], sd"),
   form("tcgen05.cp.group.64x128b.mode  [t], sd"),
   form("tcgen05.cp.group.64x128b.mode.b8x16.fmt  [t], sd"),
   form("tcgen05.cp.group.32x128b.warpx4  [t], sd"),
   form("tcgen05.cp.group.32x128b.warpx4.b8x16.fmt  [t], sd"), group=GROUP, shape=".128x256b .4x256b .128x128b",
   t="addr32", sd="u64", needs="100f* 110f* ptx_86", effect="async:tmem", fmt=".b6x16_p32 .b4x16_p64",
   mode=".warpx2::02_13 .warpx2::01_23")

op("tcgen05.shift", "Shift rows of tensor memory.", "tcgen05-instructions-tcgen05-shift",
   form("tcgen05.shift.group.down  [t]", group=GROUP, t="addr32", effect="async:tmem",
        needs="100a 103a 107a 110a ptx_86"))
