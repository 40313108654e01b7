"""Choices of slots that several rows share."""

RND = ".rn .rz .rm .rp"
RNDI = ".rni .rzi .rmi .rpi"
INT = ".u16 .u32 .u64 .s16 .s32 .s64"
INT8 = ".u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64"
SIGNED = ".s16 .s32 .s64"
BITS = ".b16 .b32 .b64"
CMP = ".eq .ne .lt .le .gt .ge"
CMP_UNSIGNED = ".lo .ls .hi .hs"
CMP_UNORDERED = ".equ .neu .ltu .leu .gtu .geu .num .nan"
CMP_FLOAT = ".eq .ne .lt .le .gt .ge .equ .neu .ltu .leu .gtu .geu .num .nan"
BOOL = ".and .or .xor"
S32 = ".u32 .s32"

SCALAR = ".b8 .b16 .b32 .b64 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f32 .f64"
IN_V4 = ".b8 .b16 .b32 .u8 .u16 .u32 .s8 .s16 .s32 .f32"
WIDE64 = ".b64 .u64 .s64 .f64"
WIDE32 = ".b32 .u32 .s32 .f32"
V24 = ".v2 .v4"
V248 = ".v2 .v4 .v8"
_SHARED = ".shared .shared::cta@ptx_78 .shared::cluster@sm_90,ptx_78"
LOAD_SPACE = ".const .global .local .param .param::entry@ptx_83 .param::func@ptx_83 " + _SHARED
STORE_SPACE = ".global .local .param .param::func@ptx_83 " + _SHARED
STRONG_SPACE = ".global " + _SHARED
VOLATILE_SPACE = ".global .local@ptx_91 " + _SHARED
SHARED = _SHARED
ADDRESSED = ".const .global@=ptx_23 .local@=ptx_23 .shared@=ptx_23 .shared::cta@ptx_78 .shared::cluster@sm_90,ptx_78 " \
            ".param@sm_70,ptx_77 .param::entry@sm_70,ptx_83"
COLLECTOR_A = ".collector::a::fill .collector::a::use .collector::a::lastuse .collector::a::discard"
COLLECTOR_B = " ".join(f".collector::b{i}::{use}" for i in range(4) for use in ("fill", "use", "lastuse", "discard"))
CTA_SHARED = ".shared .shared::cta@ptx_78"
SCOPE = ".cta .cluster@sm_90,ptx_78 .gpu .sys"
EVICT = " ".join(f".L1::{e}@sm_70,ptx_74" for e in
                 ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"))
L2_EVICT = ".L2::evict_normal .L2::evict_first .L2::evict_last"
PREFETCH = ".L2::64B@sm_75,ptx_74 .L2::128B@sm_75,ptx_74 .L2::256B@sm_80,ptx_74"
SCOPE_128 = ".cta .cluster@sm_90,ptx_78 .gpu .sys@ptx_84"
HINT = "L2_cache_hint prefetch"                     # slots, of which one is required
ANY_HINT = "evict L2_cache_hint prefetch"
STORE_HINT = "evict L2_cache_hint"
CLAMP = ".trap .clamp .zero"

WGMMA_N = " ".join(f".{n}" for n in range(8, 257, 8))
WGMMA_N_INT = " ".join(f".{n}" for n in (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240,
                                         256))
GROUP = ".cta_group::1 .cta_group::2"
