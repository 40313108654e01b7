"""Atomics."""

from pyptx.isa._choices import SCOPE, SHARED, STRONG_SPACE
from pyptx.isa._schema import Family, form

op = Family(__name__)

op("atom", "Read, modify and write atomically; returns the old value.",
   "parallel-synchronization-and-communication-instructions-atom",
   form("atom{.sem}{.scope}{.space}.op{.L2::cache_hint}.type  d, [a], b{, cp if .L2::cache_hint}",
        sem=".relaxed@sm_70,ptx_60 .acquire@sm_70,ptx_60 .release@sm_70,ptx_60 .acq_rel@sm_70,ptx_60",
        scope=".cta@sm_60,ptx_50 .cluster@sm_90,ptx_78 .gpu@sm_60,ptx_50 .sys@sm_60,ptx_50", space=".global",
        op=".and .or .xor .exch", L2_cache_hint="sm_80 ptx_74", sink="d"),
   form("atom{.sem}{.scope}.space.op.type  d, [a], b",
        sem=".relaxed@sm_70,ptx_60 .acquire@sm_70,ptx_60 .release@sm_70,ptx_60 .acq_rel@sm_70,ptx_60",
        scope=".cta@sm_60,ptx_50 .cluster@sm_90,ptx_78 .gpu@sm_60,ptx_50 .sys@sm_60,ptx_50", space=SHARED,
        op=".and .or .xor .exch", sink="d"),
   form("atom{.sem}{.scope}{.space}.add.type  d, [a], b",
        sem=".relaxed@sm_70,ptx_60 .acquire@sm_70,ptx_60 .release@sm_70,ptx_60 .acq_rel@sm_70,ptx_60",
        scope=".cta@sm_60,ptx_50 .cluster@sm_90,ptx_78 .gpu@sm_60,ptx_50 .sys@sm_60,ptx_50",
        type=".u32 .s32 .u64 .f32 .f64@sm_60,ptx_50", sink="d"),
   form("atom{.sem}{.scope}{.space}.cas.type  d, [a], b, c", type=".b16 .b32@=sm_20,ptx_23 .b64@=sm_20,ptx_23",
        sink="d",
        needs="sm_70 ptx_63"),
   form("atom{.sem}{.scope}{.space}.op.b128  d, [a], b{, c if .cas}", scope=".cta .cluster .gpu .sys@ptx_84",
        op=".cas .exch", b="b128+imm", sink="d", needs="sm_90 ptx_83"),
   form("atom{.sem}{.scope}{.space}.add.noftz{.L2::cache_hint}.type  d, [a], b{, cp if .L2::cache_hint}",
        space=".global", L2_cache_hint="sm_80 ptx_74",
        type=".f16 .f16x2@=sm_60,ptx_62 .bf16@sm_90,ptx_78 .bf16x2@sm_90,ptx_78", sink="d", needs="sm_70 ptx_63"),
   form("atom{.sem}{.scope}.space.add.noftz.type  d, [a], b", space=SHARED,
        type=".f16 .f16x2@=sm_60,ptx_62 .bf16@sm_90,ptx_78 .bf16x2@sm_90,ptx_78", sink="d", needs="sm_70 ptx_63"),
   form("atom{.global}.op.noftz.vec.type  {d*vec}, [a], {b*vec}", vec=".v8", type=".f16 .bf16",
        regs={"d": {"any": "f16"}, "b": {"any": "f16"}}, effect="atomic:global", needs="sm_90 ptx_81"),
   form("atom{.sem}{.scope}{.space}.add.noftz.f32  d, [a], b", sink="d", needs="sm_90 ptx_94"),
   form("atom{.sem}{.scope}{.global}.add{.L2::cache_hint}.vec.f32  "
        "{d*vec}, [a], {b*vec}{, cp if .L2::cache_hint}", regs={"d": "any32", "b": "any32"}, effect="atomic:global",
        needs="sm_90 ptx_81"),
   form("atom{.sem}{.scope}{.global}.op.noftz{.L2::cache_hint}.vec.type  "
        "{d*vec}, [a], {b*vec}{, cp if .L2::cache_hint}", type=".f16 .bf16 .f16x2 .bf16x2",
        regs={"d": {"any": "f16"}, "b": {"any": "f16"}}, effect="atomic:global", needs="sm_90 ptx_81"),
   form("atom{.sem}{.scope}{.space}.op.type  d, [a], b",
        sem=".relaxed@sm_70,ptx_60 .acquire@sm_70,ptx_60 .release@sm_70,ptx_60 .acq_rel@sm_70,ptx_60",
        scope=".cta@sm_60,ptx_50 .cluster@sm_90,ptx_78 .gpu@sm_60,ptx_50 .sys@sm_60,ptx_50", op=".min .max",
        type=".u32 .s32 .u64@sm_32,ptx_40 .s64@sm_32,ptx_40", sink="d", needs="ptx_23"),
   form("atom{.sem}{.scope}{.space}.op.u32  d, [a], b",
        sem=".relaxed@sm_70,ptx_60 .acquire@sm_70,ptx_60 .release@sm_70,ptx_60 .acq_rel@sm_70,ptx_60",
        scope=".cta@sm_60,ptx_50 .cluster@sm_90,ptx_78 .gpu@sm_60,ptx_50 .sys@sm_60,ptx_50", op=".inc .dec",
        sink="d", regs={"d": "int+h2", "b": "int+h2"}, needs="ptx_23"),
   form("atom{.global}.op.L2::cache_hint.type  d, [a], b, cp", type=".u32 .s32 .u64", sink="d",
        effect="atomic:global", needs="sm_80 ptx_74"), sem=".relaxed .acquire .release .acq_rel", scope=SCOPE,
   space=STRONG_SPACE, op=".add .min .max", type=".b32 .b64@sm_32,ptx_40", cp="u64", effect="atomic:space",
   vec=".v2 .v4")
