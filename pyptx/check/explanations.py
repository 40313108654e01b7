"""Explanations of findings: the rule, the message, the usual fix, and the roles of the instructions."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.check.causes import Cause
from pyptx.check.wgmma_registers import RegisterUse
from pyptx.errors import InputError
from pyptx.ir.nodes import Instruction
from pyptx.sim.sanitizer import Access, AccessFinding

__all__ = ["SANITIZER_RULES", "Explanation", "explain_access", "explain_cause", "explain_register_use"]

# Rules about accesses that the sanitizer found, with their descriptions; `RULES` of rules.py lists the others, too.
SANITIZER_RULES = {
    "data-race": "Two threads access the same memory, at least one of them writes, and nothing orders the accesses.",
    "missing-wait": "The result of an asynchronous operation is used before the operation is waited for.",
    "stage-reuse": "Memory is overwritten while an earlier access may still be in progress.",
    "missing-proxy-fence": "An asynchronous operation reads what threads wrote without a fence.proxy.async in between.",
    "unproven-order": "Two accesses are ordered in practice, but not by the text of the PTX ISA.",
    "missing-tensormap-fence": "A copy uses a tensor map that the kernel wrote, without the tensormap proxy fences.",
    "stale-texture": "A texture or surface is read where the same launch has written.",
    "swizzle-mismatch": "A matrix instruction reads shared memory with another swizzle than the copy that filled it.",
    "missing-mbarrier-fence": "A copy completes on an mbarrier whose initialization no fence made visible to it.",
    "missing-tcgen05-fence": "tcgen05 operations of several threads are ordered by a barrier without a tcgen05.fence.",
    "uninitialized-memory": "Uninitialized memory is read: shared memory, tensor memory, or a new result array.",
    "dead-store": "A result is written twice without a read in between.",
    "missed-phase": "A thread waits for a phase of an mbarrier that has already advanced past the next phase.",
    "unawaited-operation": "An asynchronous operation is not waited for before the kernel ends.",
    "peer-exited": "The shared memory of another CTA is accessed, although that CTA may have exited.",
    "unwatched": "Part of the run is not watched, or not all findings are listed: a limit of the sanitizer is reached.",
}

_PAST = {"reads": "read", "writes": "wrote", "updates": "updated"}
_SUBJECTS = {
    "thread": "the thread at {who}",
    "cp.async": "the cp.async issued by {who}",
    "bulk-read": "the bulk store issued by {who}",
    "bulk": "the bulk store issued by {who}",
    "wgmma": "the wgmma of {who}",
    "tcgen05": "the tcgen05 operation issued by {who}",
    "tcgen05.ld": "the tcgen05.ld of {who}",
    "tcgen05.st": "the tcgen05.st of {who}",
    "mbarrier": "the copy issued by {who}",
}
_WAITS = {
    "cp.async": "cp.async.commit_group and cp.async.wait_group with a small enough count",
    "bulk-read": "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read by the issuing thread",
    "bulk": "cp.async.bulk.commit_group and cp.async.bulk.wait_group (no .read) by the issuing thread",
    "wgmma": "wgmma.commit_group and wgmma.wait_group with a small enough count",
    "tcgen05": "tcgen05.commit to an mbarrier, and a wait for it",
    "tcgen05.ld": "tcgen05.wait::ld",
    "tcgen05.st": "tcgen05.wait::st",
    "mbarrier": "a wait for the mbarrier that the copy completes on, with the right parity",
}
_BARRIER = (
    "bar.sync between the two accesses (bar.warp.sync within a warp), or an mbarrier on which the first thread arrives "
    "and for which the second one waits"
)
_CLUSTER = (
    "barrier.cluster.arrive and barrier.cluster.wait (not .relaxed) by all threads of the cluster between the two "
    "accesses"
)
_SCOPES = (
    "atomics or accesses with .release and .acquire at a scope that includes both threads, or a fence on both sides of "
    "a flag; bar.sync for threads of one CTA"
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a finding.

    Attributes:
        message: what happens, with the fields {where}, {before}, and {after}.
        roles: the role of each instruction that takes part.
    """

    rule: str
    message: str
    fix: str
    roles: tuple[str, ...]


# accesses that the sanitizer found --------------------------------------------------------------------------------------


def explain_access(seen: AccessFinding) -> Explanation:
    """Explain a finding of the sanitizer that has at least one access."""
    after = seen.after
    if after is None:
        raise InputError(f"a finding of the rule {seen.rule} has no access")
    if seen.before is None:
        return _SINGLE[seen.rule](seen, after)
    return _PAIRS[seen.rule](seen, seen.before, after)


def _subject(access: Access, who: str) -> str:
    return _SUBJECTS[access.kind].format(who=f"{{{who}}}")


def _race(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    first, second = _subject(before, "before"), _subject(after, "after")
    same = before.instruction == after.instruction
    roles = before.how, f"{'also ' if same else ''}{after.how}, unordered"
    if before.kind == after.kind == "thread":
        fix = _SCOPES if seen.space == "global" else _CLUSTER if before.rank != after.rank else _BARRIER
        return Explanation(
            "data-race",
            f"{_capitalized(first)} {_PAST[before.how]} {{where}}, and {second} {after.how} it; nothing orders the two "
            "accesses.",
            fix,
            roles,
        )
    if before.kind != "thread" and after.how == "reads":
        return Explanation(
            "missing-wait",
            f"{_capitalized(first)} {_PAST[before.how]} {{where}}, and {second} {after.how} it without waiting for the "
            "former: the value may be stale.",
            f"{_WAITS[before.kind]} before it is used{_barrier_for_others(before, after)}",
            roles,
        )
    if before.kind != "thread":
        what = "reading" if before.how == "reads" else "writing"
        return Explanation(
            "stage-reuse",
            f"{_capitalized(second)} {after.how} {{where}} while {first} may still be {what} it.",
            f"{_WAITS[before.kind]} before the memory is reused{_barrier_for_others(before, after)}{_ring(after)}",
            roles,
        )
    if after.how == "reads":
        return Explanation(
            "data-race",
            f"{_capitalized(first)} {_PAST[before.how]} {{where}}, which {second} {after.how}; nothing orders the two "
            "accesses.",
            f"fence.proxy.async by the writing threads; then {_BARRIER}",
            roles,
        )
    return Explanation(
        "stage-reuse",
        f"{_capitalized(second)} {after.how} {{where}}, which {first} {_PAST[before.how]} before; nothing orders the "
        "two accesses.",
        f"{_BARRIER}, before the memory is reused{_ring(after)}",
        roles,
    )


def _barrier_for_others(before: Access, after: Access) -> str:
    same_thread = (before.rank, before.warp, before.lane) == (after.rank, after.warp, after.lane)
    return "" if before.kind == "mbarrier" or same_thread else ", then a barrier for the other threads"


def _ring(after: Access) -> str:
    if after.kind != "mbarrier":
        return ""
    return (
        "; in a ring of stages every reader arrives at the stage's empty mbarrier, whose count is the number of readers, "
        "and the copy is issued after a wait for it"
    )


def _proxy(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "missing-proxy-fence",
        f"{_capitalized(_subject(before, 'before'))} {_PAST[before.how]} {{where}} through the generic proxy, and "
        f"{_subject(after, 'after')} {after.how} it through the async proxy; no fence makes the write visible there.",
        "fence.proxy.async (ptx.fence.proxy_async_shared_cta()) by the writing threads, after the writes and before the "
        "barrier",
        (before.how, f"{after.how} through the async proxy"),
    )


def _default_scope(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "unproven-order",
        "The thread at {before} arrives at the mbarrier at {where} of another CTA, and the thread at {after} waits for it; one "
        "of the two has no scope. The default scope, .cta, includes one CTA only, so that the PTX ISA does not order what "
        "one thread did before and the other one does after; shipped kernels rely on it.",
        "mbarrier.arrive.release.cluster, and mbarrier.try_wait with .acquire.cluster",
        ("arrives at a peer's mbarrier", "waits for it"),
    )


def _fence_elsewhere(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "unproven-order",
        f"{_capitalized(_subject(before, 'before'))} {_PAST[before.how]} {{where}} through the generic proxy, and "
        f"{_subject(after, 'after')} in another CTA {after.how} it through the async proxy; the only fence.proxy.async in "
        "between was executed outside of that CTA. The PTX ISA does not state that such a fence is sufficient.",
        "fence.proxy.async also by the CTA that issues the copy, after the synchronization",
        (before.how, f"{after.how} through the async proxy"),
    )


def _mbarrier_fence(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "missing-mbarrier-fence",
        "The mbarrier at {where} was initialized by the thread at {before} and is used by a copy that the thread at "
        "{after} issued; no fence makes the initialization visible to the async proxy.",
        "fence.mbarrier_init.release.cluster (ptx.fence.mbarrier_init()) or fence.proxy.async after mbarrier.init, then "
        "a barrier",
        ("initializes the mbarrier", "completes on it"),
    )


def _tcgen05_fence(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "missing-tcgen05-fence",
        f"{_capitalized(_subject(after, 'after'))} {after.how} {{where}} after {_subject(before, 'before')}; the threads "
        "synchronized, but that alone does not order tcgen05 operations.",
        "tcgen05.fence::after_thread_sync after the barrier or wait, tcgen05.fence::before_thread_sync before it",
        (before.how, after.how),
    )


def _live_mbarrier(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "mbarrier",
        f"{_capitalized(_subject(after, 'after'))} {after.how} {{where}}, which is part of a live mbarrier: only mbarrier "
        "instructions may access it until mbarrier.inval.",
        "mbarrier.inval, then a barrier, before the memory is reused; or other memory",
        ("initializes or updates the mbarrier", after.how),
    )


def _missed_phase(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "missed-phase",
        "The thread at {after} waits for the mbarrier at {where} by its parity. The phase it waits for has completed, and "
        "so has the next one, completed by the thread at {before}: the wait either returns at once with data of a later "
        "phase, or waits for a phase that may never complete.",
        "let the mbarrier start a new phase only after every waiting thread has observed the previous one: wait in every "
        "iteration, with a parity that flips each time, and use an empty mbarrier for the opposite direction",
        ("completes the next phase", "waits for the previous phase"),
    )


def _dead_store(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "dead-store",
        f"{_capitalized(_subject(before, 'before'))} wrote {{where}}, and {_subject(after, 'after')} writes it again "
        "without a read in between.",
        "remove the first store, or check the index of one of the two",
        ("is overwritten", "overwrites it"),
    )


def _tensormap_fence(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "missing-tensormap-fence",
        f"{_capitalized(_subject(before, 'before'))} wrote a tensor map at {{where}}, and the thread at {{after}} issues a "
        "copy with it; copies read tensor maps through the tensormap proxy, and no release and acquire of that proxy "
        "order the two: the copy may use a stale map.",
        "tensormap.cp_fenceproxy, or fence.proxy.tensormap::generic.release.gpu after the writes; then a barrier, and "
        "fence.proxy.tensormap::generic.acquire.gpu [map], 128 by the threads that issue copies, or by one that they "
        "wait for",
        ("writes the map", "uses the map"),
    )


def _stale_texture(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    return Explanation(
        "stale-texture",
        f"{_capitalized(_subject(before, 'before'))} {_PAST[before.how]} {{where}}, and the thread at {{after}} reads it "
        "as a texture or surface in the same launch: the texture cache is not coherent with writes of the launch, so the "
        "value is undefined.",
        "read it in another launch, or by ld.global from the array (which is other memory than the texture's copy on a "
        "GPU)",
        (before.how, "reads it through the texture cache"),
    )


def _swizzle(seen: AccessFinding, before: Access, after: Access) -> Explanation:
    written, read = seen.swizzles
    return Explanation(
        "swizzle-mismatch",
        f"{_capitalized(_subject(after, 'after'))} reads {{where}} through a descriptor with {_swizzle_text(read)}, and "
        f"{_subject(before, 'before')} wrote it with {_swizzle_text(written)}: the elements of a row are permuted.",
        'use the same swizzle for both: Layout.TMA_128B, or TensorMap(swizzle="128B"), matches ptx.wgmma.SWIZZLE_128B in '
        'ptx.wgmma.make_descriptor and swizzle="128B" in ptx.tcgen05.descriptor',
        ("writes", "reads"),
    )


def _swizzle_text(name: str) -> str:
    return name if " " in name else f"swizzle {name}"


def _uninitialized(seen: AccessFinding, after: Access) -> Explanation:
    adds = after.how == "updates" and seen.space == "global"
    return Explanation(
        "uninitialized-memory",
        f"{_capitalized(_subject(after, 'after'))} {after.how} {{where}}, which is uninitialized.",
        "write it first, including elements beyond the edge of an array"
        + "; for an output that the kernel adds to: Tile(..., zeroed=True), or zeros as out=" * adds,
        (after.how,),
    )


_CONSEQUENCES = {
    "bulk-read": "Shared memory may be assigned to the next CTA while it is still being read.",
    "cp.async": "It writes to shared memory that may then belong to the next CTA.",
    "wgmma": "Its result is never used, or used too early.",
    "tcgen05": "Nothing indicates when it completes.",
}


def _unawaited(seen: AccessFinding, after: Access) -> Explanation:
    return Explanation(
        "unawaited-operation",
        f"{_capitalized(_subject(after, 'after'))} is never waited for before the kernel ends. "
        f"{_CONSEQUENCES[after.kind]}",
        f"{_WAITS[after.kind]}, before the thread exits",
        ("is issued here",),
    )


def _unawaited_barrier(seen: AccessFinding, after: Access) -> Explanation:
    return Explanation(
        "unawaited-operation",
        "The copy that {after} issued, on the mbarrier at {where}, is never waited for before the kernel ends: it may "
        "write to shared memory that then belongs to the next CTA.",
        "wait for the phase of the mbarrier that the copy completes, or do not issue it",
        ("is issued here",),
    )


def _peer_exited(seen: AccessFinding, after: Access) -> Explanation:
    return Explanation(
        "peer-exited",
        f"{_capitalized(_subject(after, 'after'))} accesses the shared memory of another CTA of the cluster, which may "
        "have exited: nothing makes that CTA wait.",
        "barrier.cluster.arrive and barrier.cluster.wait by all threads before the CTA exits",
        ("accesses a peer's memory",),
    )


def _watch_limit(seen: AccessFinding, after: Access) -> Explanation:
    return Explanation(
        "unwatched",
        f"Accesses are watched up to about warp-instruction {seen.offset:,} of the run, not after it: the sanitizer "
        "reached its memory limit.",
        "check the kernel with smaller arrays, fewer CTAs, or fewer iterations",
        ("is the first access that is not watched",),
    )


def _more_pairs(seen: AccessFinding, after: Access) -> Explanation:
    return Explanation(
        "unwatched",
        f"{seen.count:,} more findings concern pairs of lines that are not listed: the limit is 256 pairs.",
        "fix the listed findings, then check again",
        ("is the first of those not listed",),
    )


_PAIRS = {
    "race": _race,
    "proxy": _proxy,
    "default-scope": _default_scope,
    "fence-elsewhere": _fence_elsewhere,
    "init-fence": _mbarrier_fence,
    "fence-after": _tcgen05_fence,
    "missed": _missed_phase,
    "dead": _dead_store,
    "map": _tensormap_fence,
    "image": _stale_texture,
    "swizzle": _swizzle,
    "live-mbarrier": _live_mbarrier,
}
_SINGLE = {
    "uninitialized": _uninitialized,
    "unawaited": _unawaited,
    "unawaited-barrier": _unawaited_barrier,
    "peer": _peer_exited,
    "limit": _watch_limit,
    "more": _more_pairs,
}


# registers of wgmma -----------------------------------------------------------------------------------------------------


def explain_register_use(use: RegisterUse) -> Explanation:
    """Explain an invalid use of wgmma registers."""
    if use.rule == "accumulator-in-flight":
        return Explanation(
            use.rule,
            f"{use.register} belongs to a wgmma that may still be in progress here: it reads and writes its registers at "
            "any time until it is waited for.",
            f"{_WAITS['wgmma']} before its registers are used",
            ("is issued here", "uses its registers"),
        )
    what = (
        "This is the first wgmma"
        if use.register is None
        else f"{use.register} was written by another instruction since the last wgmma.fence"
    )
    return Explanation(
        use.rule,
        f"{what}, and no wgmma.fence orders earlier writes to its registers.",
        "wgmma.fence.sync.aligned (ptx.wgmma.fence()) by all warps of the warpgroup before the first wgmma of a group",
        ("starts without a fence",),
    )


# causes of differences between schedules --------------------------------------------------------------------------------


def explain_cause(cause: Cause, instructions: tuple[Instruction, ...], *, uses_atomics: bool) -> tuple[str, str]:
    """Return the explanation and the usual fix of a difference between schedules.

    Args:
        uses_atomics: the kernel uses values that atomics return.
    """
    if uses_atomics:
        return (
            "The order of the warps alone causes it, without asynchronous operations. The kernel uses values that "
            "atomics return, so this may be intended.",
            "make the result independent of the order of the threads, or ignore this",
        )
    if cause.order:
        return (
            "It remains when every asynchronous operation completes immediately, so the order of the warps causes it: "
            "threads access memory that others write, without a barrier in between. The access is unknown.",
            "ptx.bar.sync() (or an mbarrier, or bar.warp.sync within a warp) between the write and the read, and again "
            "before the memory is overwritten",
        )
    if cause.weak:
        return (
            "It disappears when the wait marked below waits for all groups.",
            "let the wait leave fewer groups pending, or issue fewer before it",
        )
    if not cause.late:
        rest = "" if cause.complete else " (not all were tried)"
        return (
            f"None of the {cause.tried} lines that issue asynchronous operations causes it alone{rest}; the cause is "
            "unknown.",
            "check the waits between asynchronous operations and the use of their results",
        )
    return (
        "It depends on when the operations marked below complete: their results are used before they are waited for, or "
        "the memory that they access is still in use when they run.",
        _wait_fix(instructions[cause.late[0][0]]),
    )


def _wait_fix(instruction: Instruction) -> str:
    parts = instruction.mnemonic.split(".")
    if "wgmma" in parts:
        return (
            "wgmma.wait_group before the accumulators, or the shared memory of the operands, are used again; "
            "wgmma.commit_group closes the group"
        )
    if "bulk" in parts and any("mbarrier" in part for part in parts):
        return (
            "wait for the mbarrier that it completes on, with the right parity, before its data is read; before it is "
            "issued again, wait until every reader has arrived at the stage's empty barrier"
        )
    if "bulk" in parts:
        return "cp.async.bulk.commit_group and wait_group (.read before its source is overwritten) by the same thread"
    return (
        "cp.async.commit_group, cp.async.wait_group with a small enough count, then bar.sync before other threads read; "
        "and bar.sync before the next copy into the same memory"
    )


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]
