"""PTX targets, their compatibility, and their hardware limits.

Sources: PTX ISA ".target"; first versions measured with ptxas 13.5; limits from NVIDIA's CCCL `arch_traits.h`, which
agrees with `cuda_occupancy.h`.
"""

from __future__ import annotations

from functools import cache

from pyptx._frozen import frozen
from pyptx.errors import OptionError, TableError

__all__ = ["ALL", "DEFAULT_PTX", "LATEST_PTX", "Limits", "Needs", "Target", "default_version", "needs", "parse"]

LATEST_PTX = (9, 5)
DEFAULT_PTX = (8, 5)                            # `.version` of a kernel whose target needs no later one

_FIRST = {                                      # target -> the first .version that names it
    "10": "1.0", "11": "1.0", "12": "1.2", "13": "1.2", "20": "2.0", "21": "2.0", "30": "3.0", "32": "4.0",
    "35": "3.1", "37": "4.1", "50": "4.0", "52": "4.1", "53": "4.2", "60": "5.0", "61": "5.0", "62": "5.0",
    "70": "6.0", "72": "6.1", "75": "6.3", "80": "7.0", "86": "7.1", "87": "7.4", "88": "9.0", "89": "7.8",
    "90": "7.8", "90a": "8.0", "100": "8.6", "100a": "8.6", "100f": "8.8", "103": "8.8", "103a": "8.8",
    "103f": "8.8", "107": "9.4", "107a": "9.4", "107f": "9.4", "110": "9.0", "110a": "9.0", "110f": "9.0",
    "120": "8.7", "120a": "8.7", "120f": "8.8", "121": "8.8", "121a": "8.8", "121f": "8.8"}
_RENAMED = {"101": "110"}                       # sm_101 is what sm_110 was called before 9.0 (from 8.6)
_FAMILIES = {100: (100, 103, 107), 103: (103, 107), 107: (107,), 110: (110,), 120: (120, 121), 121: (121,)}


@frozen
class Limits:
    """Resource limits of a compute capability, in bytes, 32-bit registers, warps and CTAs.

    `smem_per_cta` is the opt-in maximum; the system reserves `smem_reserved` bytes per CTA.
    """

    smem_per_sm: int
    smem_per_cta: int
    warps_per_sm: int
    ctas_per_sm: int
    smem_reserved: int = 1024
    smem_unit: int = 128
    regs_per_sm: int = 65536
    regs_per_cta: int = 65536
    regs_per_thread: int = 255
    regs_unit: int = 256                        # allocated per warp
    warp_unit: int = 4                          # warps of a CTA are rounded up to this: four sub-cores
    threads_per_cta: int = 1024
    tmem_columns: int = 0

    @property
    def threads_per_sm(self) -> int:
        return 32 * self.warps_per_sm


def _limits(smem_kib: int, warps: int, ctas: int, tmem: int = 0) -> Limits:
    return Limits(smem_kib * 1024, (smem_kib - 1) * 1024, warps, ctas, tmem_columns=tmem)


_LIMITS = {70: Limits(98304, 98304, 64, 32, 0, 256), 72: Limits(98304, 98304, 64, 32, 0, 256),
           75: Limits(65536, 65536, 32, 16, 0, 256), 80: _limits(164, 64, 32), 86: _limits(100, 48, 16),
           87: _limits(164, 48, 16), 88: _limits(100, 48, 16), 89: _limits(100, 48, 24), 90: _limits(228, 64, 32),
           100: _limits(228, 64, 32, 512), 103: _limits(228, 64, 32, 512), 107: _limits(328, 64, 16, 512),
           110: _limits(228, 48, 24, 512), 120: _limits(100, 48, 24), 121: _limits(100, 48, 24)}

_COMMON_SHARED = 227 * 1024  # bytes that a CTA can have on every data-center GPU from sm_90 on


def version(text: str) -> tuple[int, int]:
    """Parse a version: "8.6" -> (8, 6)."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


@frozen
class Target:
    """A `.target`, with its suffix: "", "a" (architecture-specific) or "f" (family-specific)."""

    name: str
    number: int
    suffix: str

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability, (9, 0) for sm_90a."""
        return divmod(self.number, 10)

    @property
    def first_ptx(self) -> tuple[int, int]:
        """Lowest `.version` that supports this target."""
        if self.name.startswith("sm_101"):
            return (8, 8) if self.suffix == "f" else (8, 6)
        return version(_FIRST[f"{self.number}{self.suffix}"])

    @property
    def limits(self) -> Limits:
        """Hardware limits.

        Raises:
            OptionError: The target is older than sm_70.
        """
        if self.number not in _LIMITS:
            raise OptionError(f"the hardware limits of {self.name} are unknown; expected sm_70 or later")
        return _LIMITS[self.number]

    @property
    def shared_memory_limit(self) -> int:
        """Bytes of shared memory that a CTA can have on a GPU that runs code for this target.

        Code without a suffix also runs on later GPUs, which may have more.
        """
        if self.suffix:
            return self.limits.smem_per_cta
        own = _LIMITS.get(self.number)
        return max(_COMMON_SHARED, own.smem_per_cta if own else 0)

    def runs_on(self, device: Target) -> bool:
        """Return True if code for this target runs on `device`, as determined by the suffix."""
        if self.suffix == "a":
            return device.number == self.number
        if self.suffix == "f":
            return device.number in _FAMILIES[self.number]
        return device.number >= self.number

    def __lt__(self, other: Target) -> bool:
        return (self.number, "fa".find(self.suffix)) < (other.number, "fa".find(other.suffix))

    def __str__(self) -> str:
        return self.name


@cache
def parse(name: str) -> Target:
    """Return the target called `name`.

    Raises:
        OptionError: The name is unknown; the message lists similar ones.
    """
    digits = name[3:].rstrip("af") if name.startswith("sm_") else ""
    number, suffix = _RENAMED.get(digits, digits), name[3 + len(digits):]
    if number + suffix in _FIRST:
        return Target(name, int(number), suffix)
    near = [f"sm_{known}" for known in _FIRST if digits.isdecimal() and known.startswith(digits)]
    near = near or [f"sm_{known}" for known in _FIRST if int(known.rstrip("af")) >= 75]
    raise OptionError(f"unknown target {name!r}; expected one of {', '.join(near)}")


ALL = tuple(sorted(Target("sm_" + n, int(n.rstrip("af")), n.lstrip("0123456789")) for n in _FIRST))
_NAMES = frozenset(t.name for t in ALL)


def default_version(arch: str) -> tuple[int, int]:
    """Return the default `.version` of a kernel for `arch`: `DEFAULT_PTX`, or the lowest that supports the target."""
    target = parse(arch)
    if target.number in (100, 110) and target.first_ptx <= (8, 8):
        return 8, 8
    return max(DEFAULT_PTX, target.first_ptx)


# needs -------------------------------------------------------------------------------------------------

@frozen
class Needs:
    """Targets and version that a feature needs.

    Attributes:
        text: as in the table, e.g. "sm_90 ptx_78", "100f* 110f*".
        targets: names of the supporting targets; None for all.
        ptx: lowest version.
        instead: True if a gate replaces the needs of its form instead of narrowing them.
    """

    text: str
    targets: frozenset[str] | None
    ptx: tuple[int, int]
    instead: bool = False

    def on(self, target: Target) -> bool:
        """Return True if `target` supports the feature."""
        return self.targets is None or _canonical(target) in self.targets

    @property
    def words(self) -> str:
        """Supporting targets in the wording of ptxas: "sm_90 or higher", "sm_100f, sm_100a or ..."."""
        if self.targets is None:
            return "any target"
        plain = sorted(parse(t) for t in self.targets if t[-1] not in "af")
        if plain and all(t.name in self.targets for t in ALL if not t.suffix and t.number >= plain[0].number):
            extra = sorted(parse(t) for t in self.targets if parse(t).number < plain[0].number)
            return " or ".join([*(t.name for t in extra), f"{plain[0].name} or higher"])
        names = [t.name for t in sorted(parse(t) for t in self.targets)]
        return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def _canonical(target: Target) -> str:
    return f"sm_{target.number}{target.suffix}"


ANYWHERE = Needs("", None, (1, 0))


@cache
def needs(text: str) -> Needs:
    """Parse needs such as "sm_90 ptx_78", "100f* 110f* 90a ptx_86" or "sm_30..62".

    `sm_90` denotes this target and all later ones, `100f*` a family with its later members, `90a` exactly this target,
    and `sm_30..62` a range.

    Raises:
        TableError: A word has none of these forms.
    """
    names: set[str] | None = None
    ptx = (1, 0)
    instead = text.startswith("=")
    for word in text.removeprefix("=").split():
        if word.startswith("ptx_"):
            ptx = int(word[4:-1]), int(word[-1])
            continue
        names = set() if names is None else names
        names |= _targets(word)
    return Needs(text, None if names is None else frozenset(names), ptx, instead)


def _targets(word: str) -> set[str]:
    low, _, high = word.removeprefix("sm_").partition("..")
    if word.startswith("sm_") and low.isdecimal() and (high.isdecimal() or not high):
        return {t.name for t in ALL if int(low) <= t.number <= int(high or 10 ** 6)}
    if word.endswith("f*") and word[:-2].isdecimal():
        members = _FAMILIES[int(word[:-2])]
        return {t.name for t in ALL if t.suffix and t.number in members}
    if f"sm_{word}" in _NAMES and word[-1] in "af":
        return {f"sm_{word}"}
    raise TableError(f"{word!r} is not a target word; expected sm_90, sm_30..62, 100f*, 90a or ptx_78")
