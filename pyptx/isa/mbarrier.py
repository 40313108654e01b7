"""mbarrier objects."""

from collections.abc import Iterator

from pyptx.isa._choices import CTA_SHARED, SHARED
from pyptx.isa._schema import Family, Form, form

op = Family(__name__)

op("mbarrier.init", "Initialize an mbarrier.", "parallel-synchronization-and-communication-instructions-mbarrier-init",
   form("mbarrier.init{.space}.b64  [a], n", needs="sm_80 ptx_70"),
   form("mbarrier.init.layout::<layout>{.space}.b64  [a], n", layout=".v0 .v1", needs="sm_90 ptx_93"),
   space=CTA_SHARED, n="u32 in 1..1048575", effect="mbarrier:shared")

op("mbarrier.inval", "Invalidate an mbarrier.",
   "parallel-synchronization-and-communication-instructions-mbarrier-inval",
   form("mbarrier.inval{.space}.b64  [a]", space=CTA_SHARED, effect="mbarrier:shared", needs="sm_80 ptx_70"))

op("mbarrier.expect_tx", "Expect more transaction bytes.",
   "parallel-synchronization-and-communication-instructions-mbarrier-expect-tx",
   form("mbarrier.expect_tx{.space}.b64  [a], n"),
   form("mbarrier.expect_tx.relaxed.scope{.space}.b64  [a], n"),
   form("mbarrier.expect_tx.relaxed.scope.shared::cluster.multicast::cluster::32b.b64  [a], n, mask",
        mask="u32 in 0..4294967295", needs="107f* ptx_94"), space=SHARED, n="u32",
   needs="sm_90 ptx_80", effect="mbarrier:shared", scope=".cta .cluster")

op("mbarrier.complete_tx", "Complete transaction bytes.",
   "parallel-synchronization-and-communication-instructions-mbarrier-complete-tx",
   form("mbarrier.complete_tx{.space}.b64  [a], n"),
   form("mbarrier.complete_tx.relaxed.scope{.space}.b64  [a], n"),
   form("mbarrier.complete_tx.relaxed.scope.shared::cluster.multicast::cluster::32b.b64  [a], n, mask",
        mask="u32 in 0..4294967295", needs="107f* ptx_94"), space=SHARED, n="u32",
   needs="sm_90 ptx_80", effect="mbarrier:shared", scope=".cta .cluster")

op("mbarrier.arrive", "Arrive at an mbarrier.",
   "parallel-synchronization-and-communication-instructions-mbarrier-arrive",
   form("mbarrier.op{.space}.b64  st, [a]", needs="sm_80 ptx_70"),
   form("mbarrier.op{.space}.b64  st, [a], n", needs="sm_90 ptx_78"),
   form("mbarrier.op.sem.scope{.space}.b64  st, [a]{, n}", sem=".release .relaxed@sm_90,ptx_86",
        scope=".cta .cluster@sm_90", n="u32 in 1..4294967295@sm_90", sink="st", needs="sm_80 ptx_80"),
   form("mbarrier.op{.space}.b64  _, [a]{, n}", op=".arrive .arrive_drop@=ptx_70",
        space=".shared::cluster@sm_90,ptx_80 .shared .shared::cta@ptx_78", n="u32 in 1..4294967295@sm_90,ptx_78",
        needs="sm_80 ptx_71"),
   form("mbarrier.op.sem.scope.shared::cluster.b64  _, [a]{, n}"),
   form("mbarrier.op.expect_tx{.space}.b64  st, [a], n", n="u32", sink="st"),
   form("mbarrier.op.expect_tx.sem.scope{.space}.b64  st, [a], n", n="u32", sink="st"),
   form("mbarrier.op.expect_tx.sem.scope.shared::cluster.b64  _, [a], n", n="u32"),
   form("mbarrier.op.noComplete{.space}.b64  st, [a], n", sink="st", needs="sm_80 ptx_70"),
   form("mbarrier.op.noComplete.release.cta{.space}.b64  st, [a], n", sink="st", needs="sm_80 ptx_80"),
   form("mbarrier.arrive.sem.scope.shared::cluster.multicast::cluster::32b.b64  _, [a], mask",
        sem=".release .relaxed", mask="u32 in 0..4294967295", needs="107f* ptx_94"), op=".arrive .arrive_drop",
   space=CTA_SHARED, st="u64", needs="sm_90 ptx_80", effect="mbarrier:shared", n="u32 in 1..4294967295",
   sem=".release .relaxed@ptx_86", scope=".cta .cluster")


def phased(wait: str, time: str = "") -> Iterator[Form]:
    """Yield the waits with a `.phase_type`, with and without an error report."""
    both = ".phase_type::primary .phase_type::conditional"
    for order in ("", ".sem.scope"):
        plain, parity = f"mbarrier.{wait}{order}", f"mbarrier.{wait}.parity{order}"
        end, report = "{.space}.b64", {"rw": "p rp rv", "sink": "rp"}
        yield form(f"{plain}.phase_type::primary{end}  p, [a], st{time}", needs="sm_90 ptx_93")
        yield form(f"{parity}.phase{end}  p, [a], ph{time}", phase=both, needs="sm_90 ptx_93")
        yield form(f"{plain}.phase_type::primary{end}  p|rp, rv, [a], st{time}", needs="sm_90 ptx_93", **report)
        yield form(f"{parity}.phase_type::primary{end}  p|rp{{, rv}}, [a], ph{time}", ph="u32 in 0..1",
                   needs="sm_90 ptx_93", **report)


op("mbarrier.test_wait", "Test whether an mbarrier phase is over.",
   "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait",
   form("mbarrier.test_wait{.space}.b64  p, [a], st", needs="sm_80 ptx_70"),
   form("mbarrier.test_wait.sem.scope{.space}.b64  p, [a], st", needs="sm_80 ptx_80"),
   form("mbarrier.test_wait.parity{.space}.b64  p, [a], ph", needs="sm_80 ptx_71"),
   form("mbarrier.test_wait.parity.sem.scope{.space}.b64  p, [a], ph", needs="sm_80 ptx_80"),
   *phased("test_wait"), space=CTA_SHARED, st="u64", effect="mbarrier:shared", sem=".acquire .relaxed@sm_90,ptx_86",
   scope=".cta .cluster@sm_90", ph="u32 in 0/1", rp="pred", rv="u8")

op("mbarrier.try_wait", "Wait for an mbarrier phase, for a bounded time.",
   "parallel-synchronization-and-communication-instructions-mbarrier-test-wait-try-wait",
   form("mbarrier.try_wait{.space}.b64  p, [a], st{, t}"),
   form("mbarrier.try_wait.sem.scope{.space}.b64  p, [a], st{, t}", needs="sm_90 ptx_80"),
   form("mbarrier.try_wait.parity{.space}.b64  p, [a], ph{, t}"),
   form("mbarrier.try_wait.parity.sem.scope{.space}.b64  p, [a], ph{, t}", needs="sm_90 ptx_80"),
   *phased("try_wait", "{, t}"), space=CTA_SHARED, st="u64", t="u32", needs="sm_90 ptx_78", effect="mbarrier:shared",
   sem=".acquire .relaxed@ptx_86", scope=".cta .cluster", ph="u32 in 0/1", rp="pred", rv="u8")

op("mbarrier.pending_count", "Pending count in an mbarrier state.",
   "parallel-synchronization-and-communication-instructions-mbarrier-pending-count",
   form("mbarrier.pending_count.b64  d, st", needs="sm_80 ptx_70"),
   form("mbarrier.pending_count.layout::v0.b64  d, st", needs="sm_90 ptx_93"), d="u32", st="u64",
   effect="mbarrier:shared")

op("mbarrier.check_layout", "Test the layout of an mbarrier.",
   "parallel-synchronization-and-communication-instructions-mbarrier-check-layout",
   form("mbarrier.check_layout.layout::<layout>{.shared::cta}.b64  p, [a]", layout=".v0 .v1",
        effect="mbarrier:shared", needs="sm_90 ptx_93"))
