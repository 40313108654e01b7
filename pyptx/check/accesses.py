"""Two accesses that nothing orders, or that need a fence between them, in words: the rule, what happens, the fix."""

from __future__ import annotations

from dataclasses import dataclass

from pyptx.check.registers import RegisterUse
from pyptx.sim.watch import Side, Sighting

__all__ = ["Explained", "explain", "explain_registers"]

_DID = {"reads": "read", "writes": "wrote", "updates": "updated"}
_NOUNS = {"thread": "the thread at {who}", "cp.async": "the cp.async that {who} started",
          "bulk-read": "the bulk store that {who} started", "bulk": "the bulk store that {who} started",
          "wgmma": "the wgmma of {who}", "tcgen05": "the tcgen05 operation that {who} started",
          "tcgen05.ld": "tcgen05.ld of {who}", "tcgen05.st": "tcgen05.st of {who}",
          "mbarrier": "the copy that {who} started"}
_ENDS = {"cp.async": "cp.async.commit_group and cp.async.wait_group with a count small enough",
         "bulk-read": "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read by the thread that started it",
         "bulk": "cp.async.bulk.commit_group and cp.async.bulk.wait_group (no .read) by the thread that started it",
         "wgmma": "wgmma.commit_group and wgmma.wait_group with a count small enough",
         "tcgen05": "tcgen05.commit to an mbarrier, and a wait for it",
         "tcgen05.ld": "tcgen05.wait::ld", "tcgen05.st": "tcgen05.wait::st",
         "mbarrier": "a wait for the mbarrier that the copy completes, with the right parity"}
_BARRIER = ("bar.sync between the two (bar.warp.sync within a warp), or an mbarrier on which the first thread arrives "
            "and for which the second one waits")
_CLUSTER = ("barrier.cluster.arrive and barrier.cluster.wait (not .relaxed) by all threads of the cluster between the "
            "two")
_SCOPES = ("atomics or accesses with .release and .acquire of a scope that holds both threads, or a fence on both "
           "sides of a flag; threads of one CTA: bar.sync")


@dataclass(frozen=True, slots=True)
class Explained:
    """The rule, the message with {where}, {before} and {after}, the fix, the roles of the instructions."""

    rule: str
    message: str
    fix: str
    roles: tuple[str, ...]


def explain(seen: Sighting) -> Explained:
    """What was seen, in words."""
    return _EXPLAIN[seen.rule](seen)


def _name(side: Side, who: str) -> str:
    return _NOUNS[side.kind].format(who=f"{{{who}}}")


def _race(seen: Sighting) -> Explained:
    before, after = seen.before, seen.after
    first, second = _name(before, "before"), _name(after, "after")
    same = before.instruction == after.instruction
    roles = before.how, f"{after.how}{' as well' if same else ''}, in no order with it"
    if before.kind == after.kind == "thread":
        fix = _SCOPES if seen.space == "global" else _CLUSTER if before.rank != after.rank else _BARRIER
        return Explained("data-race", f"{_up(first)} {_DID[before.how]} {{where}}, and {second} {after.how} it; "
                         "nothing orders the two.", fix, roles)
    if before.kind != "thread" and after.how == "reads":
        return Explained("missing-wait", f"{_up(first)} {_DID[before.how]} {{where}}, and {second} {after.how} it, but "
                         "nobody has waited for the former: what is read may be old.",
                         f"{_ENDS[before.kind]} before it is used{_others(seen)}", roles)
    if before.kind != "thread":
        what = "reading" if before.how == "reads" else "writing"
        return Explained("stage-reuse", f"{_up(second)} {after.how} {{where}} while {first} may still be {what} it.",
                         f"{_ENDS[before.kind]} before the memory is used anew{_others(seen)}{_ring(seen)}", roles)
    if after.how == "reads":
        return Explained("data-race", f"{_up(first)} {_DID[before.how]} {{where}}, which {second} {after.how}; nothing "
                         "orders the two.", f"fence.proxy.async by the threads that write; then {_BARRIER}", roles)
    return Explained("stage-reuse", f"{_up(second)} {after.how} {{where}}, which {first} {_DID[before.how]} before; "
                     "nothing says that this is over.", f"{_BARRIER}, before the memory is used anew{_ring(seen)}",
                     roles)


def _others(seen: Sighting) -> str:
    alone = all(getattr(seen.before, at) == getattr(seen.after, at) for at in ("rank", "warp", "lane"))
    return "" if seen.before.kind == "mbarrier" or alone else ", then a barrier for the other threads"


def _ring(seen: Sighting) -> str:
    if seen.after.kind != "mbarrier":
        return ""
    return ("; in a ring of stages every reader arrives at the stage's empty mbarrier, whose count is that of all "
            "readers, and the copy is started after a wait for it")


def _proxy(seen: Sighting) -> Explained:
    return Explained("missing-proxy-fence", f"{_up(_name(seen.before, 'before'))} {_DID[seen.before.how]} {{where}} "
                     f"through the generic proxy, and {_name(seen.after, 'after')} {seen.after.how} it through the "
                     "async proxy; no fence makes the write visible there.",
                     "fence.proxy.async (ptx.fence.proxy_async_shared_cta()) by the threads that write, after the "
                     "writes and before the barrier", (seen.before.how, f"{seen.after.how} through the async proxy"))


def _init(seen: Sighting) -> Explained:
    return Explained("missing-mbarrier-fence", "The mbarrier at {where} was initialised by the thread at {before} and "
                     "is used by a copy that the thread at {after} started; no fence makes it visible to the async "
                     "proxy.",
                     "fence.mbarrier_init.release.cluster (ptx.fence.mbarrier_init()) or fence.proxy.async after "
                     "mbarrier.init, then a barrier", ("initialises the mbarrier", "completes on it"))


def _after(seen: Sighting) -> Explained:
    return Explained("missing-tcgen05-fence", f"{_up(_name(seen.after, 'after'))} {seen.after.how} {{where}} after "
                     f"{_name(seen.before, 'before')}; the threads have synchronised, but that alone does not order "
                     "tcgen05 operations.", "tcgen05.fence::after_thread_sync behind the barrier or wait, "
                     "tcgen05.fence::before_thread_sync in front of it", (seen.before.how, seen.after.how))


def _uninitialised(seen: Sighting) -> Explained:
    adds = seen.after.how == "updates" and seen.space == "global"
    return Explained("uninitialised-memory", f"{_up(_name(seen.after, 'after'))} {seen.after.how} {{where}}, which "
                     "nobody has written.",
                     "write it first; what hangs over the edge of an array has to be filled, too"
                     + "; of an output that the kernel adds to: Tile(..., zeroed=True), or zeros as out=" * adds,
                     (seen.after.how,))


_MATTERS = {"bulk-read": "Shared memory may be given to the next CTA while it is still read.",
            "cp.async": "It writes to shared memory that may belong to the next CTA by then.",
            "wgmma": "Its result is never used, or used too early.", "tcgen05": "Nothing says when it is done."}


def _unawaited(seen: Sighting) -> Explained:
    kind = seen.after.kind
    return Explained("unawaited-operation", f"{_up(_name(seen.after, 'after'))} is never waited for before the kernel "
                     f"ends. {_MATTERS[kind]}", f"{_ENDS[kind]}, at the latest before the thread ends",
                     ("is started here",))


def _unawaited_barrier(seen: Sighting) -> Explained:
    return Explained("unawaited-operation", "Nobody waits for the copy that {after} started, on the mbarrier at "
                     "{where}, before the kernel ends: it may write to shared memory that belongs to the next CTA by "
                     "then.",
                     "wait for the phase of the mbarrier that the copy completes, or do not start it",
                     ("is started here",))


def _peer(seen: Sighting) -> Explained:
    return Explained("peer-exited", f"{_up(_name(seen.after, 'after'))} uses the shared memory of another CTA of the "
                     "cluster, which may have ended by then: nothing makes it wait.",
                     "barrier.cluster.arrive and barrier.cluster.wait by all threads before the CTA ends",
                     ("uses the memory of a peer",))


def _missed(seen: Sighting) -> Explained:
    return Explained("missed-phase", "The thread at {after} waits for the mbarrier at {where} by its parity. The phase "
                     "it waits for is over, and so is the next one, ended by the thread at {before}: the wait ends at "
                     "once with data of a later phase, or goes on for a phase that may never come.",
                     "let the mbarrier begin a phase anew only when every thread that waits for it has seen the one "
                     "before: wait in every iteration, with a parity that flips each time, and have an empty mbarrier "
                     "for the other direction", ("ends the next phase", "waits for the phase before"))


def _dead(seen: Sighting) -> Explained:
    return Explained("dead-store", f"{_up(_name(seen.before, 'before'))} wrote {{where}}, and "
                     f"{_name(seen.after, 'after')} writes it again; nobody has read it in between.",
                     "leave out the first store, or check the index of one of the two",
                     ("is written over", "writes over it"))


def _map(seen: Sighting) -> Explained:
    return Explained("missing-tensormap-fence", f"{_up(_name(seen.before, 'before'))} wrote a tensor map at {{where}}, "
                     "and the thread at {after} starts a copy with it; copies read maps through a proxy of their own, "
                     "and no release and acquire of that proxy stand in between: an old map may be used.",
                     "tensormap.cp_fenceproxy, or fence.proxy.tensormap::generic.release.gpu behind the writes; then a "
                     "barrier, and fence.proxy.tensormap::generic.acquire.gpu [map], 128 by the threads that start "
                     "copies, or by one that they wait for", ("writes the map", "uses the map"))


def _image(seen: Sighting) -> Explained:
    return Explained("stale-texture", f"{_up(_name(seen.before, 'before'))} {_DID[seen.before.how]} {{where}}, and the "
                     "thread at {after} reads it as a texture or surface in the same launch: their cache does not see "
                     "what a launch writes, so what is read is undefined.",
                     "read it in a launch of its own, or by ld.global from the array (which is another memory on a "
                     "GPU than the texture's copy)", (seen.before.how, "reads it through the texture cache"))


def _swizzle(seen: Sighting) -> Explained:
    written, read = seen.swizzles
    return Explained("swizzle-mismatch", f"{_up(_name(seen.after, 'after'))} reads {{where}} by a descriptor with "
                     f"{_swizzled(read)}, and {_name(seen.before, 'before')} wrote it with {_swizzled(written)}: "
                     "what is taken for one piece of a row is another.",
                     'the same for both: Layout.TMA_128B, or TensorMap(swizzle="128B"), goes with '
                     "ptx.wgmma.SWIZZLE_128B in ptx.wgmma.make_descriptor and with swizzle=\"128B\" in "
                     "ptx.tcgen05.descriptor", ("writes", "reads"))


def _swizzled(name: str) -> str:
    return name if " " in name else f"swizzle {name}"


def _limit(seen: Sighting) -> Explained:
    return Explained("unwatched", f"Accesses are watched up to about warp-instruction {seen.offset:,} of the run and "
                     "not after it: the sanitizer remembers as much as it may.",
                     "check the kernel with smaller arrays, fewer CTAs or fewer iterations",
                     ("is the first access that is not watched",))


def _more(seen: Sighting) -> Explained:
    return Explained("unwatched", f"{seen.count:,} more accesses are wrong at pairs of lines that are not listed: 256 "
                     "pairs are.", "repair what is listed, then check again", ("is the first of those listed",))


_EXPLAIN = {"race": _race, "proxy": _proxy, "init-fence": _init, "fence-after": _after,
            "uninitialised": _uninitialised, "unawaited": _unawaited, "unawaited-barrier": _unawaited_barrier,
            "peer": _peer, "limit": _limit, "more": _more,
            "missed": _missed, "dead": _dead, "map": _map, "image": _image, "swizzle": _swizzle}


def explain_registers(use: RegisterUse) -> Explained:
    """A use of registers of wgmma against the rules, in words."""
    if use.rule == "accumulator-in-flight":
        return Explained(use.rule, f"{use.register} belongs to a wgmma that may still run here: it reads and writes "
                         "its registers at any time until it was waited for.",
                         f"{_ENDS['wgmma']} before its registers are used", ("is started here", "uses its registers"))
    what = ("This is the first wgmma" if use.register is None else
            f"{use.register} was written by another instruction since the last wgmma.fence")
    return Explained(use.rule, f"{what}, and no wgmma.fence orders what was written to its registers before it.",
                     "wgmma.fence.sync.aligned (ptx.wgmma.fence()) by all warps of the warpgroup before the first "
                     "wgmma of a group", ("starts without a fence",))


def _up(text: str) -> str:
    return text[0].upper() + text[1:]
