"""What the experiments of causes.py showed, in words, with the usual fix."""

from __future__ import annotations

from pyptx.check.causes import Cause
from pyptx.ir.nodes import Instruction

__all__ = ["explained"]


def explained(why: Cause, instructions: tuple[Instruction, ...], *, tickets: bool) -> tuple[str, str]:
    """The explanation and the fix.

    Args:
        tickets: whether the kernel uses what atomics return.
    """
    if tickets:
        return ("No asynchronous operation is needed for it: the order of warps decides. The kernel uses what atomics "
                "return, so this may be meant.", "make the result independent of who comes first, or ignore this")
    if why.order:
        return ("It is there with every asynchronous operation landing at once, so the order of the warps decides: "
                "threads use memory that others write, with no barrier in between. Which access it is is not known.",
                "ptx.bar.sync() (or an mbarrier, or bar.warp.sync within a warp) between writing and reading, and "
                "again before the memory is written anew")
    if why.weak:
        return ("It goes away when the wait marked below leaves nothing under way.",
                "let the wait leave fewer groups under way, or start fewer before it")
    if not why.late:
        rest = "" if why.complete else " (not all could be tried)"
        return (f"None of the {why.tried} lines that start asynchronous operations causes it alone{rest}; what does is "
                "not known.", "look at the waits between asynchronous operations and the use of what they write")
    return ("It depends on when the operations marked below land: what they write is used before they were waited for, "
            "or what they read or write over is still in use when they run.", _fix(instructions[why.late[0][0]]))


def _fix(instruction: Instruction) -> str:
    words = instruction.mnemonic.split(".")
    if "wgmma" in words:
        return ("wgmma.wait_group before the accumulators, or the shared memory of the operands, are used again; "
                "wgmma.commit_group closes the group")
    if "bulk" in words and any("mbarrier" in word for word in words):
        return ("wait for the mbarrier it completes, with the right parity, before its data is read; before it is "
                "started again, wait until every reader has arrived at the stage's empty barrier")
    if "bulk" in words:
        return "cp.async.bulk.commit_group and wait_group (.read before its source is written again) by the same thread"
    return ("cp.async.commit_group, cp.async.wait_group with a count small enough, then bar.sync before other threads "
            "read; and bar.sync before the next copy into the same memory")
