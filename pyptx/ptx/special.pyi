"""Written by `python -m pyptx.isa.generate`; do not edit."""

from pyptx.reg import Reg

__all__ = ["ctaid_x", "ctaid_y", "special", "sreg"]

class _Vector:
    def x(self) -> Reg: ...
    def y(self) -> Reg: ...
    def z(self) -> Reg: ...
    def w(self) -> Reg: ...

class _Special:
    tid: _Vector
    """thread index in the CTA"""
    ntid: _Vector
    """threads of the CTA in each dimension"""
    ctaid: _Vector
    """CTA index in the grid"""
    nctaid: _Vector
    """CTAs of the grid in each dimension"""
    def laneid(self) -> Reg:
        """lane in the warp, 0..31"""
    def warpid(self) -> Reg:
        """warp slot; may change while running, not tid / 32 by contract"""
    def nwarpid(self) -> Reg:
        """number of warp slots"""
    def smid(self) -> Reg:
        """SM number; may change while running"""
    def nsmid(self) -> Reg:
        """bound of SM numbers; there may be gaps"""
    def gridid(self) -> Reg:
        """number of the grid in its context"""
    def is_explicit_cluster(self) -> Reg:
        """true when launched with explicit cluster dimensions"""
    clusterid: _Vector
    """cluster index in the grid"""
    nclusterid: _Vector
    """clusters of the grid in each dimension"""
    cluster_ctaid: _Vector
    """CTA index in the cluster"""
    cluster_nctaid: _Vector
    """CTAs of the cluster in each dimension"""
    def cluster_ctarank(self) -> Reg:
        """flat CTA index in the cluster"""
    def cluster_nctarank(self) -> Reg:
        """CTAs in the cluster"""
    def lanemask_eq(self) -> Reg:
        """1 << laneid"""
    def lanemask_le(self) -> Reg:
        """mask of lanes up to the own one"""
    def lanemask_lt(self) -> Reg:
        """mask of lanes below the own one"""
    def lanemask_ge(self) -> Reg:
        """mask of lanes from the own one"""
    def lanemask_gt(self) -> Reg:
        """mask of lanes above the own one"""
    def clock(self) -> Reg:
        """cycle counter, low 32 bits"""
    def clock_hi(self) -> Reg:
        """cycle counter, high 32 bits"""
    def clock64(self) -> Reg:
        """cycle counter"""
    def pm0(self) -> Reg:
        """performance counter"""
    def pm1(self) -> Reg:
        """performance counter"""
    def pm2(self) -> Reg:
        """performance counter"""
    def pm3(self) -> Reg:
        """performance counter"""
    def pm4(self) -> Reg:
        """performance counter"""
    def pm5(self) -> Reg:
        """performance counter"""
    def pm6(self) -> Reg:
        """performance counter"""
    def pm7(self) -> Reg:
        """performance counter"""
    def pm0_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm1_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm2_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm3_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm4_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm5_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm6_64(self) -> Reg:
        """performance counter, 64 bits"""
    def pm7_64(self) -> Reg:
        """performance counter, 64 bits"""
    def envreg0(self) -> Reg:
        """set by the driver"""
    def envreg1(self) -> Reg:
        """set by the driver"""
    def envreg2(self) -> Reg:
        """set by the driver"""
    def envreg3(self) -> Reg:
        """set by the driver"""
    def envreg4(self) -> Reg:
        """set by the driver"""
    def envreg5(self) -> Reg:
        """set by the driver"""
    def envreg6(self) -> Reg:
        """set by the driver"""
    def envreg7(self) -> Reg:
        """set by the driver"""
    def envreg8(self) -> Reg:
        """set by the driver"""
    def envreg9(self) -> Reg:
        """set by the driver"""
    def envreg10(self) -> Reg:
        """set by the driver"""
    def envreg11(self) -> Reg:
        """set by the driver"""
    def envreg12(self) -> Reg:
        """set by the driver"""
    def envreg13(self) -> Reg:
        """set by the driver"""
    def envreg14(self) -> Reg:
        """set by the driver"""
    def envreg15(self) -> Reg:
        """set by the driver"""
    def envreg16(self) -> Reg:
        """set by the driver"""
    def envreg17(self) -> Reg:
        """set by the driver"""
    def envreg18(self) -> Reg:
        """set by the driver"""
    def envreg19(self) -> Reg:
        """set by the driver"""
    def envreg20(self) -> Reg:
        """set by the driver"""
    def envreg21(self) -> Reg:
        """set by the driver"""
    def envreg22(self) -> Reg:
        """set by the driver"""
    def envreg23(self) -> Reg:
        """set by the driver"""
    def envreg24(self) -> Reg:
        """set by the driver"""
    def envreg25(self) -> Reg:
        """set by the driver"""
    def envreg26(self) -> Reg:
        """set by the driver"""
    def envreg27(self) -> Reg:
        """set by the driver"""
    def envreg28(self) -> Reg:
        """set by the driver"""
    def envreg29(self) -> Reg:
        """set by the driver"""
    def envreg30(self) -> Reg:
        """set by the driver"""
    def envreg31(self) -> Reg:
        """set by the driver"""
    def globaltimer(self) -> Reg:
        """timer in ns"""
    def globaltimer_lo(self) -> Reg:
        """timer in ns, low 32 bits"""
    def globaltimer_hi(self) -> Reg:
        """timer in ns, high 32 bits"""
    def reserved_smem_offset_begin(self) -> Reg:
        """start of the shared memory the system reserves"""
    def reserved_smem_offset_end(self) -> Reg:
        """end of the shared memory the system reserves"""
    def reserved_smem_offset_cap(self) -> Reg:
        """capacity of the shared memory the system reserves"""
    def reserved_smem_offset_0(self) -> Reg:
        """offset in the reserved shared memory"""
    def reserved_smem_offset_1(self) -> Reg:
        """offset in the reserved shared memory"""
    def total_smem_size(self) -> Reg:
        """shared bytes of the CTA, static and dynamic, without the reserved ones"""
    def aggr_smem_size(self) -> Reg:
        """shared bytes of the CTA with the reserved ones"""
    def dynamic_smem_size(self) -> Reg:
        """dynamic shared bytes of the CTA"""
    def current_graph_exec(self) -> Reg:
        """handle of the running device graph, 0 if none"""
    def perctamemoryoffset(self) -> Reg:
        """needs .minperctamemory on the entry"""
    def perctamemorysize(self) -> Reg:
        """needs .minperctamemory on the entry"""

special: _Special

def ctaid_x() -> Reg: ...
def ctaid_y() -> Reg: ...
def sreg(name: str) -> Reg: ...
