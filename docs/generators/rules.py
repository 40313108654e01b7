"""The page of the sanitizer's rules."""

from __future__ import annotations

from collections.abc import Iterator

from pyptx.check.rules import NOTES, RULES

__all__ = ["rules"]


def rules() -> Iterator[str]:
    yield "# What a check finds"
    yield ""
    yield (
        f"{len(RULES)} rules. A finding names its rule, the lines and instructions of both sides, the array and the "
        "element, what happens and the usual fix. Notes are worth knowing and fail nothing; every other rule is an "
        "error, or a warning where the finding says so."
    )
    yield ""
    yield "| rule | |"
    yield "| --- | --- |"
    for rule, meaning in RULES.items():
        yield f'| <a id="{rule}"></a>`{rule}`{" (note)" if rule in NOTES else ""} | {meaning} |'
