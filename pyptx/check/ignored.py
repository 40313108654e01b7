"""Ignored rules: findings that are right by the PTX ISA and accepted for a reason, such as idioms of a compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from pyptx.check.finding import Finding
from pyptx.check.rules import RULES
from pyptx.errors import OptionError

__all__ = ["checked_rules", "mark_ignored"]


def checked_rules(ignore: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the reasons by rule.

    Args:
        ignore: {"missing-mbarrier-fence": "the compiler omits it with one CTA"}; None: nothing is ignored.
    Raises:
        OptionError: a rule does not exist, or has no reason.
    """
    if ignore is None:
        return {}
    if not isinstance(ignore, Mapping):
        raise OptionError(f"ignore={ignore!r}; expected a mapping of rules to reasons")
    for rule, reason in ignore.items():
        if rule not in RULES:
            near = get_close_matches(str(rule), RULES, 1)
            raise OptionError(
                f"ignore: there is no rule {rule!r}",
                hint=f"did you mean {near[0]!r}?" if near else "see pyptx.check.RULES",
            )
        if not isinstance(reason, str) or not reason.strip():
            raise OptionError(
                f"ignore: the rule {rule!r} has no reason", hint=f"ignore={{{rule!r}: 'why it is accepted'}}"
            )
    return ignore


def mark_ignored(findings: Iterable[Finding], ignore: Mapping[str, str]) -> list[Finding]:
    """Return the findings; those of ignored rules as notes with the reason."""
    return [replace(one, severity="note", ignored=ignore[one.rule]) if one.rule in ignore else one for one in findings]
