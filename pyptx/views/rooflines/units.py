"""Numbers with SI prefixes, and logarithmic axes."""

from __future__ import annotations

from math import ceil, floor, log10

__all__ = ["axis", "number", "percent", "power", "quantity", "ticks"]

_LARGE = ("", "k", "M", "G", "T", "P", "E", "Z")
_SMALL = ("", "m", "µ", "n", "p")


def quantity(value: float, unit: str) -> str:
    """Return a value with an SI prefix and three digits: "989 TFLOP/s", "3.4 µs", "0 B"."""
    if value == 0:
        return f"0 {unit}"
    step = min(max(floor(log10(abs(value)) / 3), 1 - len(_SMALL)), len(_LARGE) - 1)
    if round(abs(value) / 1000**step, 9) >= 999.5 and step < len(_LARGE) - 1:
        step += 1
    prefix = _LARGE[step] if step >= 0 else _SMALL[-step]
    return f"{number(value / 1000**step)} {prefix}{unit}"


def number(value: float) -> str:
    """Return at least three significant digits, without trailing zeros: "0.125", "341", "1290"."""
    places = max(0, 2 - floor(log10(abs(value)))) if value else 0
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Return a share in percent: "75%", "6.1%", "0.05%"."""
    return f"{share:.0%}" if share >= 0.0995 else f"{100 * share:.2g}%"


def power(value: float) -> str:
    """Return the label of a tick without a unit: "0.01", "1", "1000", "10k"."""
    if 0.001 <= value < 10000:
        return f"{value:g}"
    return quantity(value, "").replace(" ", "")


def axis(values: list[float], below: float, above: float, decades: float) -> tuple[float, float]:
    """Return the range of a logarithmic axis: the values with a margin, a factor below and above, at least `decades`."""
    high = ceil(log10(max(values) * above) * 8) / 8
    return 10 ** min(floor(log10(min(values) / below) * 8) / 8, high - decades), 10**high


def ticks(low: float, high: float, most: int = 9) -> tuple[list[float], list[float]]:
    """Return (labeled powers of ten, unlabeled ticks) of an axis with at most `most` labels."""
    first, last = ceil(round(log10(low), 9)), floor(round(log10(high), 9))
    step = max(1, ceil((last - first + 1) / most))
    labeled = [10.0**n for n in range(first, last + 1) if (n - first) % step == 0]
    between = [10.0**n for n in range(first, last + 1) if (n - first) % step]
    if step == 1 and last - first < 6:
        between += [k * 10.0**n for n in range(first - 1, last + 1) for k in range(2, 10)]
    return labeled, [value for value in between if low <= value <= high]
