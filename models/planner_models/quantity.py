"""Kubernetes resource quantities as exact integers of nano-units, its own smallest precision.

The grammar is that of `resource.Quantity`: an optional sign, digits with an optional point, then a
decimal suffix (`n u m k M G T P E`), a binary one (`Ki Mi Gi Ti Pi Ei`) or a decimal exponent.
Finer values are rounded away from zero, so that who asks for something gets something.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

NANO = 10**9
INT64_MAX = 2**63 - 1

_CACHE_SIZE = 1 << 16
_NANO_PER_MILLI = 10**6
_LARGEST = Decimal(INT64_MAX * NANO)
_PATTERN = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?"
)
_DECIMAL_SUFFIXES = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY_SUFFIXES = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_BINARY_UNITS = {suffix: 1024**power for power, suffix in enumerate(_BINARY_SUFFIXES, start=1)}
_NANO_PER_SUFFIX = {
    **{suffix: Decimal(1000**power) for power, suffix in enumerate(_DECIMAL_SUFFIXES)},
    **{suffix: Decimal(size * NANO) for suffix, size in _BINARY_UNITS.items()},
}
_BYTE_RESOURCES = frozenset({"memory", "ephemeral-storage", "storage"})


def parse_quantity(text: str | int | float) -> int:
    """The quantity in nano-units; a JSON number stands for its text, as for the API server.

    Magnitudes above 2^63-1 are capped there. Kubernetes promises this for every quantity but caps
    only binary suffixes; larger decimal ones overflow when the scheduler reads them.
    """
    if isinstance(text, str):
        return _parse(text)
    if isinstance(text, bool):
        raise _refusal("true" if text else "false")
    if isinstance(text, int):
        return max(-INT64_MAX, min(text, INT64_MAX)) * NANO
    return _parse(repr(text))


@lru_cache(maxsize=_CACHE_SIZE)
def _parse(text: str) -> int:
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise _refusal(text)
    number, suffix, exponent = match.groups()
    shift = 0 if exponent is None else _shift(text, exponent)
    exact = Context(prec=len(text) + 40, Emin=MIN_EMIN, Emax=MAX_EMAX)
    scaled = exact.multiply(Decimal(number), _NANO_PER_SUFFIX[suffix or ""]).scaleb(shift, exact)
    magnitude = min(scaled.copy_abs(), _LARGEST).to_integral_value(ROUND_UP, exact)
    return int(magnitude.copy_sign(scaled))


def _shift(text: str, exponent: str) -> int:
    """The exponent, kept so near to zero that the arithmetic stays small.

    Beyond the text's own length and sixty places, a non-zero value is capped or one nano anyway.
    """
    digits = exponent.lstrip("+-").lstrip("0") or "0"
    if len(digits) > 19 or int(digits) > INT64_MAX:
        raise _refusal(text)
    shift = min(int(digits), len(text) + 60)
    return -shift if exponent[0] == "-" else shift


def _refusal(text: str) -> ValueError:
    return ValueError(f'"{text}" is not a quantity')


def milli_value(nano: int) -> int:
    """Thousandths, rounded away from zero: how the scheduler counts cpu."""
    return _rounded_away(nano, _NANO_PER_MILLI)


def whole_value(nano: int) -> int:
    """Whole units, rounded away from zero: how the scheduler counts everything but cpu."""
    return _rounded_away(nano, NANO)


def _rounded_away(nano: int, unit: int) -> int:
    """Capped at int64, where Kubernetes' own ScaledValue would overflow."""
    amount = min(-(-abs(nano) // unit), INT64_MAX)
    return amount if nano >= 0 else -amount


def format_cpu(milli: int) -> str:
    """Whole cores as `2`, anything else in milli-cores as `1500m`."""
    cores, rest = divmod(milli, 1000)
    return f"{milli}m" if rest else str(cores)


def format_bytes(amount: int) -> str:
    """The amount in the largest binary unit that shows it exactly with at most one decimal.

    Never rounded, so two amounts that differ never look alike in one sentence (`16Gi`, `14.5Gi`,
    `1280Mi`); an amount that no unit shows exactly stays a plain number.
    """
    size = abs(amount)
    for suffix, unit in reversed(_BINARY_UNITS.items()):
        if size >= unit and size * 10 % unit == 0:
            whole, tenths = divmod(size * 10 // unit, 10)
            sign = "-" if amount < 0 else ""
            return f"{sign}{whole}.{tenths}{suffix}" if tenths else f"{sign}{whole}{suffix}"
    return str(amount)


def format_resource(name: str, amount: int) -> str:
    """An amount in the scheduler's units (milli-cores, bytes, pieces) as people write it."""
    if name == "cpu":
        return format_cpu(amount)
    if name in _BYTE_RESOURCES or name.startswith("hugepages-"):
        return format_bytes(amount)
    return str(amount)


_BLANKS = " \x85\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What the API server drops around a quantity: it looks at the JSON text, where a tab is `\\t`."""


def _from_json(value: object) -> int:
    if not isinstance(value, str | int | float):
        raise ValueError("a quantity is a string or a number")
    return parse_quantity(value.strip(_BLANKS) if isinstance(value, str) else value)


def _not_negative(nano: int) -> int:
    if nano < 0:
        raise ValueError("must be greater than or equal to 0")
    return nano


Quantity = Annotated[int, BeforeValidator(_from_json)]
"""Nano-units, read from a string or number. A Python int is read as whole units, too."""

NonNegativeQuantity = Annotated[Quantity, AfterValidator(_not_negative)]

ResourceList = dict[str, Quantity]
"""Resource name to nano-units."""

NonNegativeResourceList = dict[str, NonNegativeQuantity]
"""A resource list as the API server accepts it for requests, limits, capacity and allocatable."""
