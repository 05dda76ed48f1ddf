"""Quantities as Fleet holds them: an integer times a power of ten, with the text they come from.

Fleet compares properties exactly, but scores them in floating point, and there the same amount
written in another way can be another number: `12.5` is 125 times 0.1 and `12500m` is 12500 times
0.001. So the integer and the exponent are kept as `resource.ParseQuantity` keeps them. It takes
short texts as they are and brings longer ones to nano-units, rounded away from zero; only binary
suffixes are capped at 2^63-1.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import PlainSerializer, PlainValidator

from planner_models.quantity import INT64_MAX

_PATTERN = re.compile(
    r"([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)((?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,18})?)"
)
_DECIMAL = {suffix: 3 * power for power, suffix in enumerate("num", start=-3)} | {
    suffix: 3 * power for power, suffix in enumerate(("", "k", "M", "G", "T", "P", "E"))
}
_BINARY = {f"{suffix}i": 10 * power for power, suffix in enumerate("KMGTPE", start=1)}
_NANO = -9
_SHORT_DECIMAL = 18
_SHORT_BINARY = 14
"""Digits up to which a text is taken as it is; every ten binary places count as three."""

_MOST_PLACES = 10**6
_LARGEST_POWER, _SMALLEST_POWER = 308, -323
_POWERS_AT_ONCE = 32


class FleetQuantity(NamedTuple):
    """`unscaled` times ten to the power of `exponent`."""

    text: str
    unscaled: int
    exponent: int

    @property
    def exact(self) -> Decimal:
        """The value to compare by; of any size, because comparing decimals needs no rounding."""
        digits = tuple(map(int, str(abs(self.unscaled))))
        return Decimal((int(self.unscaled < 0), digits, self.exponent))

    @property
    def approximate(self) -> float:
        """Quantity.AsApproximateFloat64: two roundings, of the integer and of the power."""
        base = _float_of(self.unscaled)
        return base * _power_of_ten(self.exponent) if self.exponent else base


@lru_cache(maxsize=1 << 14)
def parse_fleet_quantity(text: str) -> FleetQuantity:
    """The quantity that Fleet reads from a text; ValueError where it reads none."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not a quantity')
    sign, whole, fraction, suffix = match.groups()
    whole = whole.lstrip("0") or "0"
    doublings = _BINARY.get(suffix)
    if doublings is None:
        short = len(whole) + len(fraction) <= _SHORT_DECIMAL
        exponent = _decimal_exponent(suffix) - len(fraction)
        unscaled = int(whole + fraction)
        if not short or exponent < _NANO:
            unscaled, exponent = _in_nano(unscaled, exponent)
    else:
        short = not fraction and len(whole) + doublings * 3 // 10 <= _SHORT_BINARY
        unscaled, exponent = int(whole + fraction) << doublings, -len(fraction)
        if not short:
            unscaled, exponent = _in_nano(unscaled, exponent)
            if unscaled > INT64_MAX * 10**-exponent:
                unscaled, exponent = INT64_MAX, 0
    return FleetQuantity(text, -unscaled if sign == "-" else unscaled, exponent)


def _decimal_exponent(suffix: str) -> int:
    """Kept within what any amount can have, so that the arithmetic stays small."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    return max(-_MOST_PLACES, min(int(suffix[1:]), _MOST_PLACES))


def _in_nano(unscaled: int, exponent: int) -> tuple[int, int]:
    """The same with exponent -9, rounded away from zero; beyond all floats it may stay as it is."""
    if not unscaled or exponent > _LARGEST_POWER:
        return unscaled, exponent
    if exponent >= _NANO:
        return unscaled * 10 ** (exponent - _NANO), _NANO
    too_fine = _NANO - exponent
    if too_fine > len(str(unscaled)):
        return 1, _NANO
    return -(-unscaled // 10**too_fine), _NANO


def _float_of(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _power_of_ten(exponent: int) -> float:
    """Go's math.Pow10, which multiplies or divides two powers that it has in tables."""
    if exponent < _SMALLEST_POWER:
        return 0.0
    if exponent > _LARGEST_POWER:
        return math.inf
    many, rest = divmod(abs(exponent), _POWERS_AT_ONCE)
    large, small = f"{many * _POWERS_AT_ONCE}", float(f"1e{rest}")
    return float(f"1e{large}") * small if exponent >= 0 else float(f"1e-{large}") / small


def _from_json(value: object) -> FleetQuantity:
    """A JSON number stands for its text, as for the API server."""
    if isinstance(value, FleetQuantity):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a quantity is a string or a number")
    return parse_fleet_quantity(value if isinstance(value, str) else repr(value))


def _text(quantity: FleetQuantity) -> str:
    return quantity.text


PropertyQuantity = Annotated[FleetQuantity, PlainValidator(_from_json), PlainSerializer(_text)]
"""A quantity read from a string or number, and written as it was read."""
