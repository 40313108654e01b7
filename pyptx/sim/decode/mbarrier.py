"""mbarrier, and cp.async.mbarrier.arrive (in async_.py).

Primary and conditional phases end together and reports are zero in both layouts: nothing that can report (a fabric
operation, a copy of sm_107 with a report mechanism) is simulated (PTX ISA, "Contents of the mbarrier object").
"""

from __future__ import annotations

from pyptx.sim.actions import asynchronous as act
from pyptx.sim.actions.basic import Action, Address
from pyptx.sim.decode import decodes
from pyptx.sim.symbols.operands import Operands

__all__ = ["place"]


def place(o: Operands, name: str, *words: str) -> Address:
    """An address in shared memory: of the own CTA (shared), of any of the cluster (cluster), or generic.

    `words` are the modifiers that say which; without any of them the address is generic.
    """
    present = [m for m in o.instruction.modifiers if m in (words or (".shared", ".shared::cta", ".shared::cluster"))]
    if not present:
        return o.address(name, "")
    space = "cluster" if present[0] == ".shared::cluster" else "shared"
    found = o.address(name, "shared")
    return Address(space, found.base, found.offset)


@decodes("mbarrier")
def mbarrier(o: Operands) -> Action | None:
    modifiers = o.instruction.modifiers
    what, words = modifiers[0], set(modifiers)
    if what == ".check_layout":
        return act.MbarrierLayout(o.target("p"), place(o, "a"), int(".layout::v1" in words))
    if any(m.startswith(".multicast") for m in modifiers):
        return None
    if what == ".pending_count":
        return act.MbarrierPending(o.target("d"), o.value("st"))
    address = place(o, "a")
    match what:
        case ".init":
            return act.MbarrierInit(address, o.value("n"), int(".layout::v1" in words))
        case ".inval":
            return act.MbarrierInval(address)
        case ".expect_tx" | ".complete_tx":
            expect = what == ".expect_tx"
            return act.MbarrierArrive(None, address, o.value("n"), expect=expect, complete=not expect)
        case ".arrive" | ".arrive_drop":
            state = o.target("st") if "st" in o else None
            return act.MbarrierArrive(state, address, o.value("n") if "n" in o else None, expect=".expect_tx" in words,
                                      arrivals=int(".expect_tx" in words), drop=what == ".arrive_drop",
                                      no_complete=".noComplete" in words)
        case ".test_wait" | ".try_wait":
            kind = act.MbarrierTest if what == ".test_wait" else act.MbarrierWait
            parity = ".parity" in words
            report = tuple(o.target(name) for name in ("rp", "rv") if name in o)
            return kind(o.target("p"), address, o.value("ph" if parity else "st"), parity, report)
    return None
